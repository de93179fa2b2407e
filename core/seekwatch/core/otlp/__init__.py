"""OTLP as a monitor reads it: cheap, lazy and forgiving of one bad span."""
