"""Traffic of which every number is known: runs in several requests, some of them left open.

What the monitor has to say of each run is computed from the whole run at once, without a log.
"""

from collections.abc import Sequence
from typing import NamedTuple

from seekwatch.core.policy import Policy
from seekwatch.core.records import NewRecord, Signal
from seekwatch.core.scorecard import encode_line
from seekwatch.core.testing import TraceBuilder, result
from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer
from seekwatch.monitor.scoring.offline import cuts_of
from seekwatch.monitor.scoring.otlp_files import Request
from seekwatch.processors.closing import ClosingRules

_PAGE = "<html><body><p>The {0} bridge opened in {1}, says the museum.</p></body></html>"
_PUBLISHED = "2026-09-01"
"""Of every source, so that no axis of these runs goes unscored."""


class Run(NamedTuple):
    """One run of an agent.

    Attributes:
        trace: id, 32 hex characters.
        requests: OTLP requests, to be sent in this order.
        is_open: its root never comes.
    """

    trace: str
    requests: tuple[bytes, ...]
    is_open: bool


def runs(count: int, *, seed: str = "run", open_every: int = 5) -> list[Run]:
    """Return runs of two agents; every `open_every`-th is left open, every third cites nothing."""
    return [
        _run(number, seed, is_open=number % open_every == open_every - 1) for number in range(count)
    ]


def records(run: Run) -> list[NewRecord]:
    """Return a run as a receiver appends it."""
    return [
        NewRecord(signal=Signal.TRACES, key=run.trace.encode(), value=request)
        for request in run.requests
    ]


def expected_scorecards(sent: Sequence[Run]) -> dict[str, bytes]:
    """Return the line of each run's scorecard by trace id."""
    scorer = EpisodeScorer(Policy())
    lines: dict[str, bytes] = {}
    for run in sent:
        requests = [Request(Signal.TRACES, value) for value in run.requests]
        for cut in cuts_of(requests, ClosingRules()):
            episode = scorer.episode(cut)
            assert episode is not None
            card = scorer.score(cut, episode, scorer.known(episode)).scorecard
            assert card is not None
            lines[cut.trace] = encode_line(card)
    return lines


def _run(number: int, seed: str, *, is_open: bool) -> Run:
    year = 1900 + number % 100
    hosts = (f"museum{number}.example.org", f"city{number}.example.com")
    urls = [f"https://{host}/bridge" for host in hosts]
    builder = TraceBuilder(f"agent-{number % 2}", seed=f"{seed}-{number}")
    builder.agent(f"When did the bridge number {number} open?")
    builder.search(
        f"bridge number {number} opening",
        [result(url, title="The bridge", content="opened", published=_PUBLISHED) for url in urls],
    )
    for url in urls:
        builder.fetch(url, html=_PAGE.format(number, year))
    builder.generation(input_tokens=100 + number, output_tokens=20)
    cited = [] if number % 3 == 0 else [{"url": url} for url in urls]
    builder.answer(f"It opened in {year}.", citations=cited)
    requests = builder.requests(2)
    return Run(builder.trace, tuple(requests[:-1] if is_open else requests), is_open)
