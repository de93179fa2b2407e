"""A run in which everything is right, and the parts that tests bend to make one thing wrong."""

from collections.abc import Sequence
from typing import Any

from seekwatch.core.model import Episode, Lane, RunContext
from seekwatch.core.testing import START, TraceBuilder, result
from tests.services.pages import article

DAY = 86_400 * 10**9
QUESTION = "What is the latest stable version of Zephyr in September 2026?"
QUERY = "Zephyr latest stable version September 2026"
FIRST = "https://zephyr-news.org/releases"
SECOND = "https://daily-builds.net/zephyr-4"
FIRST_FACT = "Zephyr 4.2 is the latest stable version, released in September 2026."
SECOND_FACT = "Zephyr 4.2 needs a kernel of at least 6.1."


def searched(
    question: str = QUESTION,
    query: str = QUERY,
    *,
    published: str | None = "2026-09-15",
    seed: str | None = None,
) -> TraceBuilder:
    """A run that has searched: two results on two sites."""
    return (
        TraceBuilder("finder", seed=seed)
        .agent(question)
        .search(
            query,
            [
                result(FIRST, title="Zephyr releases", content=FIRST_FACT, published=published),
                result(SECOND, title="Zephyr 4 builds", content=SECOND_FACT, published=published),
            ],
        )
    )


def read(builder: TraceBuilder) -> TraceBuilder:
    """Add a fetch of both results, each with a page that holds its fact."""
    return builder.fetch(FIRST, html=article(FIRST_FACT, title="Zephyr releases")).fetch(
        SECOND, html=article(SECOND_FACT, title="Zephyr builds")
    )


def answered(
    builder: TraceBuilder,
    text: str | None = None,
    urls: Sequence[str] = (FIRST, SECOND),
    **citation: Any,
) -> TraceBuilder:
    """End the run with an answer that cites these addresses."""
    return builder.generation("zephyr-llm", input_tokens=900, output_tokens=80).answer(
        f"{FIRST_FACT} {SECOND_FACT}" if text is None else text,
        citations=[{"url": url, **citation} for url in urls],
    )


def good_run() -> TraceBuilder:
    """A run with nothing to complain about."""
    return answered(read(searched()))


def episode(**fields: Any) -> Episode:
    """An episode made directly, for what no builder writes."""
    values: dict[str, Any] = {
        "trace": "0" * 31 + "1",
        "root": "0" * 15 + "1",
        "start": START,
        "end": START + 10**9,
        "context": RunContext(agent="finder", lane=Lane.LIVE),
    }
    return Episode(**{**values, **fields})
