"""Times as people say them."""

from typing import Final

_UNITS: Final = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))


def ago(seconds: float) -> str:
    """Return `3 min ago`; anything below a second is `just now`."""
    return "just now" if seconds < 1 else f"{duration(seconds)} ago"


def duration(seconds: float) -> str:
    """Return a length of time in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.1f} s"
