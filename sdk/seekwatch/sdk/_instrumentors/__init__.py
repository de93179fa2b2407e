"""Instrumentors of other people: found where they are installed, and switched on, each once."""
