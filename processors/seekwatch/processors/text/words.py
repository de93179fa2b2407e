"""Content words of short texts in any script, so that a question and a query can be compared.

Scripts with spaces give stemmed words; Han text, which has none, gives pairs of neighbouring
characters, cut at function characters. For questions, queries and claims only: page-sized text is
searched as a string (`text/support.py`), never split.
"""

import re
from functools import lru_cache
from typing import Final

from seekwatch.processors.text.fold import CJK, HIRAGANA, KATAKANA, fold
from seekwatch.processors.text.lexicon import CJK_FUNCTION, STOP_WORDS

MAX_CHARACTERS: Final = 8_000
"""Longer questions and queries are compared on their beginning."""

_RUN: Final = re.compile(
    f"(?P<cjk>[{CJK}]+)|(?P<kana>[{KATAKANA}]+)|[{HIRAGANA}]+|"
    rf"(?P<word>(?:(?![{CJK}{HIRAGANA}{KATAKANA}])[^\W_])+"
    rf"(?:(?:[.']|(?<=\d),(?=\d))(?:(?![{CJK}{HIRAGANA}{KATAKANA}])[^\W_])+)*)"
)
_ASCII_WORD: Final = re.compile(r"[a-z0-9]+(?:(?:[.']|(?<=\d),(?=\d))[a-z0-9]+)*")
"""The words of `_RUN` in a folded text that has no other characters, found three times as fast."""
_CJK_FUNCTION: Final = re.compile("|".join(sorted(map(re.escape, CJK_FUNCTION), key=len)[::-1]))
_SUFFIXES: Final = (
    ("ies", "y", 5),
    ("sses", "ss", 5),
    ("ations", "at", 9),
    ("ation", "at", 8),
    ("ings", "", 7),
    ("ing", "", 6),
    ("ied", "y", 5),
    ("ed", "", 5),
    ("ers", "", 6),
    ("er", "", 6),
    ("es", "", 5),
    ("s", "", 4),
    ("ly", "", 6),
)
_HANGUL_PARTICLES: Final = re.compile(
    "(?<=[가-힣]{2})(?:에서|으로|은|는|이|가|을|를|의|에|로|와|과|도)$"
)


def words(text: str) -> list[str]:
    """Every word of `text`, folded, function words included, Han runs as pairs of characters."""
    folded = fold(text[:MAX_CHARACTERS])
    if folded.isascii():
        return [word.replace(",", "") for word in _ASCII_WORD.findall(folded)]
    found: list[str] = []
    for match in _RUN.finditer(folded):
        kind = match.lastgroup
        if kind == "word":
            found.append(match.group().replace(",", ""))
        elif kind == "cjk":
            found.extend(_pairs(match.group()))
        elif kind == "kana":
            found.append(match.group())
    return found


@lru_cache(maxsize=512)
def content_words(text: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning, in order, each once.

    Remembered, because one claim is held against several pages and one question against several
    queries.
    """
    stems = dict.fromkeys(stem(word) for word in words(text) if word not in STOP_WORDS)
    return tuple(word for word in stems if word)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Cut possessives and the commonest English endings; other scripts pass unchanged."""
    if not word.isascii():
        return _HANGUL_PARTICLES.sub("", word)
    word = word.removesuffix("'s")
    if word.isdigit() or len(word) < 4:
        return word
    for ending, replacement, shortest in _SUFFIXES:
        if word.endswith(ending) and len(word) >= shortest and not word.endswith("ss"):
            cut = word[: -len(ending)] + replacement
            return cut.rstrip("e") if len(cut) > 3 else cut
    return word.rstrip("e") if len(word) > 4 else word


def _pairs(run: str) -> list[str]:
    pairs: list[str] = []
    for piece in _CJK_FUNCTION.split(run):
        if len(piece) < 3:
            if piece:
                pairs.append(piece)
        else:
            pairs.extend(piece[index : index + 2] for index in range(len(piece) - 1))
    return pairs
