"""The HTTP libraries that an agent may use, each brought to the one form of `_http`."""
