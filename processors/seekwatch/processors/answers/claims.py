"""The statements of an answer: where each sentence begins and ends, in English, Chinese and mixed.

Offsets are exact: `answer[claim.start:claim.end] == claim.text`. Models write Markdown, so list
items and lines end a sentence too; a heading or a list of references is no statement.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Span(NamedTuple):
    """A half-open range of characters."""

    start: int
    end: int


MAX_CLAIMS: Final = 400

_BOUNDARY: Final = re.compile(r"(?:[.!?…]+|\.\.\.)[\"'”’»)\]]*(?=\s|$)|[。！？｡]+[”’」』）\]]*|\n+")
_MARK_AFTER: Final = re.compile(
    r"(?:[ \t]*(?:\[\^?[\w.,\- ]{1,20}\](?:\(<?https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*>?"
    r"(?:\s+\"[^\"\n]*\")?\))?|【[^】\n]{1,60}】|\(\[[^\]\n]{1,200}\]\(https?://[^\s()]+\)\)|[¹²³⁴-⁹]+))+[.。]?"
)
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\[\"“])(?:[A-Z]|[A-Z]\.[A-Z]|[a-z]\.[a-z]|Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|Mt|No|no|Nr|Fig|"
    r"Eq|Sec|Ch|Vol|vs|etc|cf|al|approx|ca|Inc|Ltd|Co|Corp|Gov|Gen|Sen|Rep|Jan|Feb|Mar|Apr|Jun|"
    r"Jul|Aug|Sep|Sept|Oct|Nov|Dec|U\.S|U\.K|e\.g|i\.e|p|pp)\.$"
)
_LIST_MARK: Final = re.compile(r"\s*(?:[-*+•·>#]+\s+|\d{1,3}[.)、]\s*)*")
_WORDY: Final = re.compile(r"[^\W\d_]")
_HEADING: Final = re.compile(r"\s*#{1,6}\s")
_URL: Final = re.compile(r"https?://\S+")


def sentences(text: str) -> Iterator[Span]:
    """Split a text into sentences, a citation mark behind the full stop included.

    Empty ones, headings, and those without a letter are left out.
    """
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        if boundary.start() < start:
            continue
        if text[boundary.start()] == "." and _ABBREVIATION.search(
            text[max(start, boundary.start() - 12) : boundary.start() + 1]
        ):
            continue
        end = boundary.end()
        marks = _MARK_AFTER.match(text, end)
        if marks is not None and text[boundary.start()] != "\n":
            end = marks.end()
        yield from _statement(text, start, end)
        start = end
    yield from _statement(text, start, len(text))


def _statement(text: str, start: int, end: int) -> Iterator[Span]:
    if _HEADING.match(text, start, end):
        return
    lead = _LIST_MARK.match(text, start, end)
    if lead is not None:
        start = lead.end()
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end and _WORDY.search(_URL.sub("", text[start:end])):
        yield Span(start, end)
