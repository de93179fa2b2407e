"""What the local model and the local search API know: a few questions and the pages about them.

Both ends share the table, so that a run has one right query, dated sources and an answer that they
support, whichever agent framework is in between.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Document:
    """One page: where it is, what it says, and since when."""

    url: str
    """Reached through `tests.services.internet`; no two documents are of one site."""
    title: str
    published: str
    """ISO date."""
    sentence: str

    @property
    def html(self) -> str:
        """The page."""
        date = f'<meta property="article:published_time" content="{self.published}T08:00:00Z">'
        return (
            f'<html lang="en"><head><title>{self.title}</title>{date}</head>'
            f"<body><article><h1>{self.title}</h1><p>{self.sentence}</p></article></body></html>"
        )


@dataclass(frozen=True)
class Topic:
    """A question, the query that the model makes of it, and the pages that the search finds."""

    question: str
    query: str
    documents: tuple[Document, ...]


TOPICS: Final = (
    Topic(
        "When did the Storstrom Bridge open to trains?",
        "Storstrom Bridge open trains date",
        (
            Document(
                "https://storstrom-post.example/storstrom-trains",
                "First trains on the Storstrom Bridge",
                "2026-09-14",
                "Trains have crossed the new Storstrom Bridge since 12 September 2026.",
            ),
            Document(
                "https://road-notes.example/storstrom-road",
                "Road lanes of the Storstrom Bridge",
                "2026-08-30",
                "The road lanes of the bridge opened on 28 August 2026.",
            ),
        ),
    ),
    Topic(
        "How high is the new lighthouse on Utsira?",
        "new lighthouse Utsira height metres",
        (
            Document(
                "https://utsira-times.example/utsira-lighthouse",
                "A new lighthouse for Utsira",
                "2026-10-02",
                "The new lighthouse on Utsira is 31 metres high.",
            ),
            Document(
                "https://west-coast-lights.example/utsira-history",
                "Lighthouses of the west coast",
                "2026-05-11",
                "The older light on Utsira is 13 metres high.",
            ),
        ),
    ),
    Topic(
        "Which team won the Vestfjord regatta in 2026?",
        "Vestfjord regatta 2026 winner team",
        (
            Document(
                "https://vestfjord-sailing.example/vestfjord-regatta",
                "Vestfjord regatta: the results",
                "2026-07-19",
                "Team Skagen won the Vestfjord regatta in 2026 by two minutes.",
            ),
            Document(
                "https://wind-diary.example/vestfjord-weather",
                "Wind over the regatta",
                "2026-07-18",
                "The last race was held in a wind of nine metres a second.",
            ),
        ),
    ),
    Topic(
        "What does a ticket for the Lofoten ferry cost?",
        "Lofoten ferry ticket cost",
        (
            Document(
                "https://lofoten-ferries.example/lofoten-fares",
                "Fares of the Lofoten ferry",
                "2026-11-03",
                "A ticket for the Lofoten ferry costs 240 kroner.",
            ),
            Document(
                "https://northern-travel.example/lofoten-timetable",
                "Winter timetable of the ferry",
                "2026-10-21",
                "In winter the ferry leaves Bodo three times a day.",
            ),
        ),
    ),
    Topic(
        "Who designed the town library of Tampere?",
        "town library Tampere designer architect",
        (
            Document(
                "https://tampere-review.example/tampere-library",
                "The library that looks like a bird",
                "2026-03-27",
                "Raili and Reima Pietila designed the town library of Tampere.",
            ),
            Document(
                "https://roof-and-wall.example/tampere-repairs",
                "Library roof to be repaired",
                "2026-06-09",
                "The copper roof of the library will be repaired in 2027.",
            ),
        ),
    ),
)

DOCUMENTS: Final = {each.url: each for topic in TOPICS for each in topic.documents}
SITES: Final = tuple(sorted({urlsplit(url).netloc for url in DOCUMENTS}))
QUESTIONS: Final = tuple(topic.question for topic in TOPICS)


def topic_asked(text: str) -> Topic | None:
    """Return the topic whose question was asked last in `text`."""
    found = [(text.rfind(topic.question), topic) for topic in TOPICS if topic.question in text]
    return max(found, key=lambda each: each[0])[1] if found else None


def topic_searched(query: str) -> Topic | None:
    """Return the topic that shares most words with a query; None when it shares none."""
    words = set(query.lower().rstrip("?").split())
    shared = [(len(words & set(topic.query.lower().split())), topic) for topic in TOPICS]
    most, topic = max(shared, key=lambda each: each[0])
    return topic if most else None


def document_at(url: str) -> Document | None:
    """Return the document at a URL."""
    return DOCUMENTS.get(url)
