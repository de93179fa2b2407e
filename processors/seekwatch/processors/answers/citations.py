"""The sources that an answer names, where it names them, and the passages that it quotes.

Structured citations come first. An answer without them is read: Markdown links, numbered marks with
a list of references, bare URLs. Offsets are characters of the answer as the episode holds it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

from seekwatch.core.model import Answer, Citation, Claim
from seekwatch.processors.answers.claims import MAX_CLAIMS, Span, sentences
from seekwatch.processors.urls import is_web_url, url_key

MAX_CITATIONS: Final = 500

_URL_BODY: Final = r"https?://[^\s<>\"'`\[\]{}|\\^，。；、！？）】》」』“”]+"
_LINK: Final = re.compile(
    r"\[(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]*\]){0,300})\]"
    r"\(\s*<?(?P<url>https?://[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+[\"'][^\"'\n]*[\"'])?\s*\)"
)
_BARE: Final = re.compile(_URL_BODY)
_REFERENCE: Final = re.compile(
    rf"(?m)^[ \t]*(?:[-*+]\s+)?(?:\[\^?(?P<n>\w{{1,12}})\](?!\():?|(?P<m>\d{{1,3}})[.)])[ \t]*"
    rf"(?P<before>[^\n]*?)<?(?P<url>{_URL_BODY})>?(?P<after>[^\n]*)$"
)
_MARK: Final = re.compile(
    r"\[(\^?\w{1,12}(?:\s*[,;]\s*\^?\w{1,12}){0,9})\](?![(:])|【(\d{1,3})[^】\n]{0,40}】"
)
_QUOTE: Final = re.compile(
    r"\"([^\"\n]{12,1000})\"|“([^“”]{12,1000})”|«\s?([^«»]{12,1000})\s?»|「([^「」]{6,1000})」|"
    r"『([^『』]{6,1000})』|„([^„“”]{12,1000})[“”]"
)
_BLOCK_QUOTE: Final = re.compile(r"(?m)(?:^[ \t]*>[^\n]*\n?)+")
_LABELS: Final = re.compile(r"\s*[,;]\s*")
_REFERENCE_HEADING: Final = re.compile(
    r"(?im)^[ \t#*_]*(?:sources?|references?|citations?|quellen|参考(?:资料|文献|来源)?|"
    r"来源|出典|引用)[ \t*_]*[:：]?[ \t*_]*$"
)
_QUOTE_REACH: Final = 200
"""Characters between a quotation and the mark that says where it is from."""
_CJK_QUOTE_MINIMUM: Final = 6


class _Mark(NamedTuple):
    """A place in the answer that points at a source."""

    start: int
    end: int
    url: str
    title: str | None


def build_answer(text: str, span: str, structured: tuple[Citation, ...] | None) -> Answer:
    """Read an answer: its citations, quotes and claims.

    Args:
        text: the answer, cleaned.
        span: id of the span that wrote it.
        structured: what the agent said it cites; None when it has no way to say so, empty when it
            said that it cites nothing (marks in the text are read in both cases).
    """
    references = _references(text)
    marks = _marks(text, references)
    if structured:
        citations = _placed(structured, marks or _numbered(text, structured), text)
    else:
        citations = [
            Citation(url=mark.url, title=mark.title, start=mark.start, end=mark.end)
            for mark in marks
        ]
    body_end = min((reference.start for reference in references.values()), default=len(text))
    citations = _with_quotes(citations, text, body_end)
    listed = _Ranges((entry.start, entry.end) for entry in references.values())
    statements = [
        span
        for span in islice(sentences(text), MAX_CLAIMS)
        if not listed.hold(span.start)
        and _REFERENCE_HEADING.match(text, span.start, span.end) is None
    ]
    return Answer(
        text=text,
        span=span,
        claims=_claims(text, statements, citations),
        citations=tuple(citations),
    )


def trim_url(url: str) -> str:
    """Drop what a sentence put behind a URL: punctuation, and brackets that it did not open."""
    while url:
        last = url[-1]
        if last in ".,;:!?*_~'\"" or (last == ")" and url.count("(") < url.count(")")):
            url = url[:-1]
        else:
            break
    return url


def _references(text: str) -> dict[str, _Mark]:
    """Read a list of references at the end: label to source."""
    if "://" not in text:
        return {}
    found: dict[str, _Mark] = {}
    heading = _REFERENCE_HEADING.search(text)
    listed_from = len(text) if heading is None else heading.end()
    for match in _REFERENCE.finditer(text):
        if match["n"] is None and match.start() < listed_from:
            # A numbered statement that holds a link is no entry of a list of references.
            continue
        title = re.sub(r"[\[\](*_]+|[\s:：\-–—]+$", "", match["before"]).strip() or None
        found[match["n"] or match["m"]] = _Mark(
            match.start(), match.end(), trim_url(match["url"]), title
        )
    return found


class _Ranges:
    """Parts of the answer, asked whether they hold a position."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def hold(self, position: int) -> bool:
        index = bisect_right(self._starts, position) - 1
        return index >= 0 and position < self._ends[index]


def _marks(text: str, references: dict[str, _Mark]) -> list[_Mark]:
    """Find every place that points at a source, in order, without overlaps."""
    listed = _Ranges((entry.start, entry.end) for entry in references.values())
    found = [
        _Mark(match.start(), match.end(), match["url"], _title(match["label"]))
        for match in (_LINK.finditer(text) if "://" in text else ())
        if not listed.hold(match.start())
    ]
    cited: set[str] = set()
    for match in _MARK.finditer(text) if references else ():
        if listed.hold(match.start()):
            continue
        for label in _LABELS.split((match[1] or match[2]).replace("^", "")):
            source = references.get(label)
            if source is not None:
                cited.add(label)
                found.append(_Mark(match.start(), match.end(), source.url, source.title))
    found.extend(mark for label, mark in references.items() if label not in cited)
    taken = [(mark.start, mark.end) for mark in (*found, *references.values())]
    found.extend(_bare(text, _Ranges(taken)))
    return sorted(found, key=lambda mark: (mark.start, mark.end))[:MAX_CITATIONS]


def _bare(text: str, taken: _Ranges) -> Iterable[_Mark]:
    for match in _BARE.finditer(text) if "://" in text else ():
        if taken.hold(match.start()):
            continue
        url = trim_url(match.group())
        if is_web_url(url):
            yield _Mark(match.start(), match.start() + len(url), url, None)


def _title(label: str) -> str | None:
    """A link's label is a title unless it is only a number."""
    label = label.strip("[]^*_ ")
    return label if label and not label.isdigit() else None


def _placed(structured: tuple[Citation, ...], marks: list[_Mark], text: str) -> list[Citation]:
    """Give structured citations without offsets the place of their mark in the text.

    A source that is marked in several places becomes several citations.
    """
    by_key: dict[str, list[_Mark]] = {}
    for mark in marks:
        by_key.setdefault(url_key(mark.url) or mark.url, []).append(mark)
    placed: list[Citation] = []
    for citation in structured[:MAX_CITATIONS]:
        if citation.start is not None and citation.end is not None:
            inside = citation.end <= len(text)
            placed.append(citation if inside else _moved(citation, None))
            continue
        places = by_key.pop(url_key(citation.url) or citation.url, [])
        placed.extend(_moved(citation, place) for place in places)
        if not places:
            placed.append(citation)
    return placed


def _numbered(text: str, structured: tuple[Citation, ...]) -> list[_Mark]:
    """Read `[n]` as the n-th stated citation, where the text has no list of its own to say so.

    Only if every number in the text names one of them: one that does not shows that the numbers
    count something else.
    """
    found: list[_Mark] = []
    for match in _MARK.finditer(text):
        for label in _LABELS.split((match[1] or match[2]).replace("^", "")):
            number = int(label) if label.isascii() and label.isdigit() else 0
            if not 1 <= number <= len(structured):
                return []
            cited = structured[number - 1]
            found.append(_Mark(match.start(), match.end(), cited.url, cited.title))
    return found[:MAX_CITATIONS]


def _moved(citation: Citation, mark: _Mark | None) -> Citation:
    return Citation(
        url=citation.url,
        title=citation.title if citation.title or mark is None else mark.title,
        quote=citation.quote,
        start=None if mark is None else mark.start,
        end=None if mark is None else mark.end,
    )


def _with_quotes(citations: list[Citation], text: str, body_end: int) -> list[Citation]:
    """Give each citation the nearest quotation before it, in reach, that is not yet taken."""
    quotes = _quotations(text, body_end)
    if not quotes:
        return citations
    completed: list[Citation] = []
    for index, citation in enumerate(citations):
        quote = None
        if citation.quote is None and citation.start is not None and citation.end is not None:
            floor = citations[index - 1].end if index else 0
            quote = _quote_for(citation.start, citation.end, quotes, text, floor or 0)
        completed.append(
            citation
            if quote is None
            else Citation(
                url=citation.url,
                title=citation.title,
                quote=quote,
                start=citation.start,
                end=citation.end,
            )
        )
    return completed


class _Quote(NamedTuple):
    start: int
    end: int
    text: str


def _quotations(text: str, body_end: int) -> list[_Quote]:
    found: list[_Quote] = []
    for match in _QUOTE.finditer(text, 0, body_end):
        words = next((group for group in match.groups() if group), "").strip()
        if " " in words or not words.isascii():
            found.append(_Quote(match.start(), match.end(), words))
    for match in _BLOCK_QUOTE.finditer(text, 0, body_end):
        words = re.sub(r"(?m)^[ \t]*>[ \t]?", "", match.group())
        words = re.sub(r"\s+", " ", words).strip().strip('"“”«»')
        if len(words) >= _CJK_QUOTE_MINIMUM:
            found.append(_Quote(match.start(), match.end(), words))
    return found


def _quote_for(start: int, end: int, quotes: list[_Quote], text: str, floor: int) -> str | None:
    """Pick the quotation that a mark at `start` belongs to.

    The nearest before it in the same paragraph wins; else one that the mark introduces ("According
    to [X](url), “…”") with nothing but a few words between.
    """
    before = [q for q in quotes if floor <= q.end <= start and start - q.end <= _QUOTE_REACH]
    for quote in reversed(before):
        if "\n\n" not in text[quote.end : start]:
            return _without_marks(quote.text)
    for quote in quotes:
        if end <= quote.start <= end + 60 and not re.search(r"[.。!?\n]", text[end : quote.start]):
            return _without_marks(quote.text)
    return None


def _without_marks(quote: str) -> str:
    return _MARK.sub("", _LINK.sub("", quote)).strip()


def _claims(text: str, statements: list[Span], citations: list[Citation]) -> tuple[Claim, ...]:
    """Attach each citation to the statement that holds its mark, else to the one right before."""
    of_statement: dict[int, list[int]] = {}
    for index, citation in enumerate(citations):
        if citation.start is None:
            continue
        owner = _owner(citation.start, statements, text)
        if owner is not None:
            of_statement.setdefault(owner, []).append(index)
    return tuple(
        Claim(
            text=text[span.start : span.end],
            start=span.start,
            end=span.end,
            citations=tuple(of_statement.get(number, ())),
        )
        for number, span in enumerate(statements)
    )


def _owner(position: int, statements: list[Span], text: str) -> int | None:
    previous: int | None = None
    for number, span in enumerate(statements):
        if span.start <= position < span.end:
            return number
        if span.end <= position:
            previous = number
    if previous is not None and "\n\n" not in text[statements[previous].end : position]:
        return previous
    return None
