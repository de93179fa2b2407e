"""The words of the load: questions, search results, pages and answers that hang together.

An answer repeats sentences of the pages that it cites and the queries keep most of the question's
constraints, so that every axis has its real work to do and few checks end early.
"""

import random
from dataclasses import dataclass
from typing import Any, Final

_PROSE: Final = """
annual report shows steady growth across northern region while analysts expect further gains
from public transport funding after council approved budget for harbour tunnel repair and
new railway bridge between old town and airport district residents asked whether opening
date will move because contractors found damaged cables under main road engineers replaced
seven beams before winter traffic returned museum visitors rose by nearly twelve percent
local university published study about river water quality measurements taken every hour
since spring show less nitrogen than previous decade minister said government would keep
current limits until next review company announced cheaper battery model with longer range
and faster charging tests in cold weather confirmed claims partly independent laboratory
found lower capacity at minus ten degrees shares fell slightly then recovered during
afternoon session
"""
_WORDS: Final = tuple(_PROSE.split())
_FOREIGN: Final = (
    "Die Brücke über den Fluss wurde im Frühjahr nach längerer Prüfung wieder für Züge geöffnet.",
    "桥梁在春季检修后重新开放,市政府公布了新的时间表。",
    "Le musée a rouvert ses portes après des travaux, et l’entrée reste gratuite le dimanche.",
)
_HOSTS: Final = tuple(
    f"{name}.{suffix}"
    for name in ("daily-herald", "city-news", "transport-watch", "open-data", "science-today")
    for suffix in ("com", "org", "co.uk", "gov", "example.de")
)
_SUBJECTS: Final = (
    "harbour tunnel",
    "Linden bridge",
    "Acme Battery X2",
    "river Tamm",
    "city museum",
)
_MONTHS: Final = ("January", "March", "June", "September", "November")
_FOREIGN_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Search:
    """A query and its five results, as keywords of `seekwatch.core.testing.result`."""

    query: str
    documents: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page; `modified` is its HTTP date."""

    url: str
    html: str
    text: str
    modified: str


@dataclass(frozen=True, slots=True)
class Story:
    """All that is said in one run."""

    question: str
    plan: str
    searches: list[Search]
    pages: list[Page]
    answer: str
    cited: list[str]


def story(source: random.Random, *, page_bytes: int) -> Story:
    """Return one run's texts.

    Args:
        source: all choices are its own.
        page_bytes: HTML of each of the two pages, about.
    """
    subject, month = source.choice(_SUBJECTS), source.choice(_MONTHS)
    year = source.choice((2024, 2025, 2026))
    question = (
        f"What changed at the {subject} in {month} {year}, and how many people use it per day, "
        f"not counting holidays?"
    )
    queries = (f"{subject} changes {month} {year}", f"{subject} daily users {year}")
    searches = [
        Search(query, [_document(source, subject, year) for _ in range(5)]) for query in queries
    ]
    pages = [_page(source, search.documents[0], page_bytes) for search in searches]
    cited = [page.url for page in pages] + [searches[0].documents[1]["url"]]
    answer = " ".join(
        f"{_sentence_of(source, page.text)} [{number}]"
        for number, page in enumerate((*pages, pages[0]), start=1)
    )
    plan = f"I will search for: {queries[0]}; {queries[1]}. {_prose(source, 300)}"
    return Story(question, plan, searches, pages, answer, cited)


def _document(source: random.Random, subject: str, year: int) -> dict[str, Any]:
    host, number = source.choice(_HOSTS), source.randrange(10**6)
    content = _prose(source, source.randint(200, 500))
    if source.random() < _FOREIGN_SHARE:
        content = f"{source.choice(_FOREIGN)} {content}"
    return {
        "url": f"https://www.{host}/{subject.lower().replace(' ', '-')}/{number}",
        "title": f"{subject}: {_sentence(source)}",
        "content": content,
        "published": f"{year}-{source.randint(1, 12):02d}-{source.randint(1, 28):02d}",
        "score": round(source.random(), 4),
    }


def _page(source: random.Random, document: dict[str, Any], size: int) -> Page:
    paragraphs = [str(document["content"])]
    while sum(map(len, paragraphs)) < size * 0.7:
        paragraphs.append(_prose(source, 400))
    body = "".join(f'<p class="story-text">{text}</p>\n' for text in paragraphs)
    links = "".join(f'<li><a href="/{n}">{_sentence(source)}</a></li>' for n in range(size // 600))
    html = (
        f"<!doctype html><html><head><title>{document['title']}</title>"
        f'<meta property="article:published_time" content="{document["published"]}T08:00:00Z">'
        f"</head><body><nav><ul>{links}</ul></nav><article>{body}</article></body></html>"
    )
    modified = "Mon, 02 Mar 2026 08:00:00 GMT"
    return Page(str(document["url"]), html, "\n\n".join(paragraphs), modified)


def _sentence(source: random.Random) -> str:
    words = source.choices(_WORDS, k=source.randint(6, 14))
    return " ".join(words).capitalize() + "."


def _prose(source: random.Random, size: int) -> str:
    sentences: list[str] = []
    length = 0
    while length < size:
        sentences.append(_sentence(source))
        length += len(sentences[-1]) + 1
    return " ".join(sentences)


def _sentence_of(source: random.Random, text: str) -> str:
    return source.choice([part for part in text.split(". ") if len(part) > 20]).strip(". ") + "."
