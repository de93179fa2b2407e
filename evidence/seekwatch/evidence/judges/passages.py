"""The stretches of a page that a model gets to read about a claim."""

import re
from typing import Final

from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.words import content_words

_PARAGRAPH: Final = re.compile(r"\n+")
_LONGEST: Final = 800
_MOST: Final = 2_000
"""Stretches of one page that are compared."""


def best_passages(about: str, page: str, length: int) -> str:
    """Return the stretches of a page that share most words with a text, in the page's order.

    Args:
        about: the claim or answer.
        page: text of the page.
        length: characters to return at most.
    """
    if len(page) <= length:
        return page.strip()
    wanted = set(content_words(fold(about)))
    pieces = _pieces(page)[:_MOST]
    shared = [sum(1 for word in wanted if word in fold(piece)) for piece in pieces]
    chosen: list[int] = []
    left = length
    for index in sorted(range(len(pieces)), key=lambda i: (-shared[i], i)):
        if len(pieces[index]) <= left:
            chosen.append(index)
            left -= len(pieces[index]) + 1
        if left < _LONGEST // 4:
            break
    return "\n".join(pieces[index] for index in sorted(chosen))


def _pieces(page: str) -> list[str]:
    found: list[str] = []
    for paragraph in _PARAGRAPH.split(page):
        text = paragraph.strip()
        found += [text[i : i + _LONGEST] for i in range(0, len(text), _LONGEST)]
    return found
