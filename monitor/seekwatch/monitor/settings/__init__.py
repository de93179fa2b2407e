"""The settings: every key with its unit, default and meaning of zero, and how they are read."""
