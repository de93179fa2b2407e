"""Instrumentors of other people: found where they are installed, and switched on, each once."""

from .switching import Switched, install, switched

__all__ = ["Switched", "install", "switched"]
