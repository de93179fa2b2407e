"""Whether a quotation stands on a page: tolerant of typography, case, white space and elision.

Never of another word: numbers, negations and names must be the page's own. Beyond an exact run of
words, only function words may differ.
"""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

from rapidfuzz import fuzz

from seekwatch.processors.text.fold import CJK, KANA, fold
from seekwatch.processors.text.lexicon import STOP_WORDS

_SEPARATORS: Final = re.compile(r"[^\w%$€£¥°]+|_")
_CJK_SPACE: Final = re.compile(f"(?<=[{CJK}{KANA}]) | (?=[{CJK}{KANA}])")
_ELISION: Final = re.compile(r"\s*(?:\[?\(?(?:\.{3,}|…+|\. \. \.)\)?\]?|\[[^\]]{0,40}\])\s*")
_QUOTED: Final = re.compile(r"[\"“”«]([^\"“”«»]{20,600})[\"“”»]|[「『]([^」』]{8,300})[」』]")
_NEGATIONS: Final = frozenset(
    {"not", "no", "nor", "never", "without", "cannot", "t", "none", "neither"}
)
_FREE: Final = STOP_WORDS - _NEGATIONS
_ELIDED_REACH: Final = 3_000
"""Characters that an ellipsis may stand for."""


def searchable(text: str) -> str:
    """A page's text as quotations are searched in it: folded words, one space around each."""
    plain = " ".join(_SEPARATORS.sub(" ", fold(text)).split())
    if not plain.isascii():
        plain = _CJK_SPACE.sub("", plain)
    return f" {plain} "


def stands_on(quote: str, page: str, similarity: float = 100.0) -> bool:
    """Tell whether a quotation stands on a page.

    Args:
        quote: as written; `…`, `...` and `[…]` stand for left-out words.
        page: of `searchable`.
        similarity: 0 to 100 (token ratio); 100 allows no differing word at all.
    """
    position = 0
    pieces = [piece for piece in map(searchable, _ELISION.split(quote)) if piece.strip()]
    for index, piece in enumerate(pieces):
        window = page[position : position + _ELIDED_REACH + len(piece)] if index else page
        at = _find(piece, window)
        if at < 0:
            return (
                len(pieces) == 1
                and similarity < 100
                and _differs_in_function_words(piece, page, similarity)
            )
        # The first piece may stand on the page more than once; its first place is good enough.
        position += at + len(piece) - 1
    return bool(pieces)


def quotations(text: str) -> list[str]:
    """Quotations in a claim that are long enough to be looked for."""
    return [match[1] or match[2] for match in _QUOTED.finditer(text)]


def _find(piece: str, page: str) -> int:
    at = page.find(piece)
    if at < 0 and not piece.isascii():
        at = page.find(piece.strip())
    return at


def _differs_in_function_words(piece: str, page: str, similarity: float) -> bool:
    aligned = fuzz.partial_ratio_alignment(piece, page, score_cutoff=similarity)
    if aligned is None:
        return False
    start = page.rfind(" ", 0, aligned.dest_start + 1)
    end = page.find(" ", max(aligned.dest_end - 1, 0))
    theirs = page[max(start, 0) : end if end >= 0 else len(page)].split()
    ours = piece.split()
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for operation, first, last, other_first, other_last in matcher.get_opcodes():
        if operation == "equal":
            continue
        edge = operation == "insert" and (other_first == 0 or other_last == len(theirs))
        if not edge and not _all_free([*ours[first:last], *theirs[other_first:other_last]]):
            return False
    return True


def _all_free(words: Iterable[str]) -> bool:
    return all(word in _FREE for word in words)
