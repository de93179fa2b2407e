"""From a page that the agent read, by an API or a browser, to the verdict on its citation."""

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import sync_playwright

from seekwatch.core.model import Adapter
from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Verdict
from seekwatch.sdk import agent_run, flush, instrument
from tests.packages.observed import Run, scored
from tests.services.chromium import FLAGS, chromium
from tests.services.otlp_sink import HttpSink
from tests.services.unavailable import UnavailableError, unavailable
from tests.services.web import Answer, LocalWeb

QUESTION = "When did the Storstrom Bridge open to trains?"
CITED = "https://news.example/bridge"
SENTENCE = "The first trains crossed the Storstrom Bridge on 12 September 2026."
ELSEWHERE = "The bridge was closed to all trains for the whole of that year."
MARKDOWN = f"# The bridge\n\nIt took nine years to build.\n\n{SENTENCE}"
DRAWN = (
    "<html><head><title>The bridge</title></head><body><p id=text>Loading</p><script>"
    f"setTimeout(() => {{ text.textContent = '{SENTENCE}'; text.className = 'drawn' }}, 50)"
    "</script></body></html>"
)

Fetch = Callable[[httpx.Client], object]


def by_firecrawl(client: httpx.Client) -> object:
    return client.post("https://api.firecrawl.dev/v2/scrape", json={"url": CITED})


def by_jina(client: httpx.Client) -> object:
    return client.get(f"https://r.jina.ai/{CITED}")


def answered(request: httpx.Request) -> httpx.Response:
    """Answer as the two APIs do: the page in JSON, with its own status, and the page as it is."""
    if request.url.host == "r.jina.ai":
        return httpx.Response(200, text=MARKDOWN, headers={"content-type": "text/plain"})
    metadata = {"sourceURL": CITED, "url": CITED, "statusCode": 200}
    return httpx.Response(200, json={"data": {"markdown": MARKDOWN, "metadata": metadata}})


def refused(_: httpx.Request) -> httpx.Response:
    return httpx.Response(403, json={"error": "unauthorized"})


@pytest.fixture
def agent(sink: HttpSink) -> HttpSink:
    instrument("reader", endpoint=sink.url)
    return sink


def cite(url: str, quote: str, read: Callable[[], object]) -> None:
    """Make a run that reads a page and answers with a sentence that it says is from there."""
    with agent_run(QUESTION) as run:
        read()
        run.answer(f"{quote} [1]({url})", [{"url": url, "quote": quote}])
    assert flush()


def judged(sink: HttpSink) -> tuple[Run, AxisVerdict, dict[str, Verdict]]:
    """Return the one run, its verdict on citations, and how each check ended."""
    [run] = scored(sink)
    axis = run.scorecard.axis(Axis.CITATION_VALIDITY)
    return run, axis, {check.name: check.verdict for check in axis.checks}


def read_by(fetch: Fetch, answer: Callable[[httpx.Request], httpx.Response]) -> object:
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        return fetch(client)


@pytest.mark.parametrize(
    ("fetch", "adapter"), [(by_firecrawl, Adapter.CRAWL), (by_jina, Adapter.FETCH)]
)
@pytest.mark.parametrize(("quote", "verdict"), [(SENTENCE, Verdict.GOOD), (ELSEWHERE, Verdict.BAD)])
def test_a_citation_is_judged_by_the_page_that_a_reader_brought(
    agent: HttpSink, fetch: Fetch, adapter: Adapter, quote: str, verdict: Verdict
) -> None:
    cite(CITED, quote, lambda: read_by(fetch, answered))
    run, axis, checks = judged(agent)
    [page] = run.episode.fetches
    assert (page.url, page.adapter) == (CITED, adapter)
    assert checks["seen"] is checks["resolves"] is Verdict.GOOD
    assert checks["passage"] is axis.verdict is verdict
    [passage] = [check for check in axis.checks if check.name == "passage"]
    assert page.span in passage.spans, "the verdict rests on the reader's span"


def test_a_reader_that_refuses_its_caller_says_nothing_of_the_page(agent: HttpSink) -> None:
    cite(CITED, SENTENCE, lambda: read_by(by_jina, refused))
    run, _, checks = judged(agent)
    [page] = run.episode.fetches
    assert (page.url, page.status, page.error) == (CITED, None, "403")
    assert checks["resolves"] is checks["passage"] is Verdict.UNSCORABLE


def test_a_page_that_another_reader_is_asked_for_next_was_not_denied(agent: HttpSink) -> None:
    def read() -> None:
        read_by(by_jina, refused)
        read_by(by_firecrawl, answered)

    cite(CITED, SENTENCE, read)
    run, axis, _ = judged(agent)
    assert [each.adapter for each in run.episode.fetches] == [Adapter.FETCH, Adapter.CRAWL]
    assert axis.verdict is Verdict.GOOD
    assert not {FailureTag.FORBIDDEN_ACTION, FailureTag.DEAD_LINK} & set(run.scorecard.tags)


@pytest.mark.parametrize(("quote", "verdict"), [(SENTENCE, Verdict.GOOD), (ELSEWHERE, Verdict.BAD)])
def test_a_citation_is_judged_by_the_page_as_the_browser_had_drawn_it(
    agent: HttpSink, web: LocalWeb, quote: str, verdict: Verdict
) -> None:
    try:
        executable = chromium()
    except UnavailableError as error:
        unavailable(error)
    web.pages["/bridge"] = lambda _: Answer(200, DRAWN.encode())
    url = "http://news.example/bridge"

    def read() -> None:
        rules = f"--host-resolver-rules=MAP news.example {web.authority}"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=[*FLAGS, rules])
            page = browser.new_page()
            page.goto(url)
            page.wait_for_selector(".drawn")
            page.content()
            browser.close()

    cite(url, quote, read)
    run, axis, checks = judged(agent)
    [loaded] = run.episode.fetches
    assert (loaded.adapter, loaded.status) == (Adapter.BROWSER, 200)
    assert checks["passage"] is axis.verdict is verdict
    [passage] = [check for check in axis.checks if check.name == "passage"]
    assert loaded.span in passage.spans
