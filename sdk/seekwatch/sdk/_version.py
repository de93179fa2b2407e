"""What the SDK calls itself: the scope of its spans and the installed version, read once."""

import functools
from importlib import metadata
from typing import Final

SCOPE: Final = "seekwatch.sdk"
"""Name of the instrumentation scope of every span of ours."""


@functools.cache
def version() -> str:
    """Return the version of the installed package, `0` when it runs from a bare source tree."""
    try:
        return metadata.version("seekwatch")
    except metadata.PackageNotFoundError:
        return "0"
