"""Shell patterns, compiled once: they are asked of every request, on the agent's thread."""

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import Final

_WILD: Final = "*?["


def is_wild(pattern: str) -> bool:
    """Tell a pattern from a plain word."""
    return any(character in pattern for character in _WILD)


class Patterns:
    """A few shell patterns, any of which may fit; letters of either case differ.

    Example:
        >>> Patterns(["/search", "/v?/find"]).fit("/v1/find")
        True
    """

    __slots__ = ("_fits_all", "_plain", "_wild")

    def __init__(self, patterns: Iterable[str]) -> None:
        given = tuple(patterns)
        self._fits_all = "*" in given
        self._plain = frozenset(each for each in given if not is_wild(each))
        wild = "|".join(translate(each) for each in given if is_wild(each))
        self._wild = re.compile(wild) if wild else None

    def fit(self, text: str) -> bool:
        """Tell whether one of them fits the whole text."""
        if self._fits_all or text in self._plain:
            return True
        return self._wild is not None and self._wild.match(text) is not None
