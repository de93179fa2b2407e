"""From the facts of all spans of a trace to one run: the root, and each piece of work once."""
