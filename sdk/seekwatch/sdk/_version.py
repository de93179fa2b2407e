"""The installed version, read once when it is first wanted."""

import functools
from importlib import metadata


@functools.cache
def version() -> str:
    """Return the version of the installed package, `0` when it runs from a bare source tree."""
    try:
        return metadata.version("seekwatch")
    except metadata.PackageNotFoundError:
        return "0"
