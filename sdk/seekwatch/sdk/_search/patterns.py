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

    __slots__ = ("_endings", "_fits_all", "_plain", "_wild")

    def __init__(self, patterns: Iterable[str]) -> None:
        given = tuple(patterns)
        wild = [each for each in given if is_wild(each)]
        self._fits_all = "*" in wild
        self._plain = frozenset(each for each in given if not is_wild(each))
        # What most wild ones are, for a tenth of what an expression costs.
        self._endings = tuple(each[1:] for each in wild if _is_ending(each))
        rest = "|".join(translate(each) for each in wild if not _is_ending(each))
        self._wild = re.compile(rest) if rest else None

    def fit(self, text: str) -> bool:
        """Tell whether one of them fits the whole text."""
        if self._fits_all or text in self._plain or text.endswith(self._endings):
            return True
        return self._wild is not None and self._wild.match(text) is not None


def _is_ending(pattern: str) -> bool:
    return pattern.startswith("*") and not is_wild(pattern[1:])
