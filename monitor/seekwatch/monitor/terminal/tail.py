"""Scorecards as they come, read from the scores topic like any other consumer does."""

import heapq
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rich.console import Console
from rich.text import Text

from seekwatch.core.records import OutputReader, StoredOutput
from seekwatch.core.scorecard import (
    Axis,
    AxisVerdict,
    Outcome,
    Scorecard,
    ScoreEntry,
    encode_line,
)
from seekwatch.core.topics import unpack_scores
from seekwatch.core.verdicts import Verdict
from seekwatch.monitor.backoff import patiently

from .plain_text import plain
from .scorecard_view import header, line, ranking

_PATIENCE: Final = 1.0
"""Seconds of one wait for more."""
_OUTAGE: Final = 3_600.0
"""Seconds for which a log that is away is waited for."""

_NAMED: Final = 8
"""Agents that are named to somebody who asked for another."""


class Patience(NamedTuple):
    """Seconds without a record after which the past is taken to be read.

    Attributes:
        first: before anything has come.
        then: between one batch and the next.
    """

    first: float
    then: float


LOCAL: Final = Patience(0.2, 0.2)
"""A file answers at once."""
REMOTE: Final = Patience(5.0, 1.5)
"""A broker has to be asked for its partitions first, and one may be slower than the others."""


class Filter(NamedTuple):
    """Which runs are shown.

    Attributes:
        agent: runs of this agent; None: of every one.
        axis: runs that are bad on it; None: whatever the verdicts are.
        outcomes: runs that ended in one of them; empty: whatever the outcome is.
    """

    agent: str | None = None
    axis: Axis | None = None
    outcomes: frozenset[Outcome] = frozenset()

    def __call__(self, card: Scorecard) -> bool:
        """Tell whether a run is shown."""
        if self.agent is not None and card.agent != self.agent:
            return False
        if self.outcomes and card.outcome not in self.outcomes:
            return False
        return self.axis is None or card.axis(self.axis).verdict is Verdict.BAD


class Tail:
    """Shows what a reader brings.

    Args:
        reader: of the scores topic, from its beginning; the caller closes it.
        shown: which runs to show.
        console: where to.
        as_json: lines of the scores topic as they are, instead of a picture.
        patience: when the past is taken to be read.
        pending: ids of traces that have come and may not be scored yet; empty where unknown.
        quiet: seconds without a span after which a trace is scored.
    """

    def __init__(
        self,
        reader: OutputReader,
        shown: Filter,
        console: Console,
        *,
        as_json: bool,
        patience: Patience = LOCAL,
        pending: Iterable[str] = (),
        quiet: float = 10.0,
    ) -> None:
        self._reader = reader
        self._wait = patience
        self._shown = shown
        self._console = console
        self._as_json = as_json
        self._pending = set(pending)
        self._quiet = quiet
        self._agents: Counter[str] = Counter()

    def follow(self, last: int, *, wait: bool) -> None:
        """Show the `last` runs of the past, then what comes, until interrupted."""
        past = heapq.nlargest(last, self._past(), key=_when)
        if not self._as_json:
            self._console.print(header(self._console.width))
        for entry in reversed(past):
            self._show(entry)
        if not self._as_json:
            self._explain(is_empty=not past and last > 0)
        while wait:
            more = patiently(lambda: self._reader.read(_PATIENCE), seconds=_OUTAGE)
            for entry in sorted(self._chosen(more), key=_when):
                self._show(entry)

    def worst(self, number: int, axis: Axis | None) -> None:
        """Show the runs that are bad, lowest score first; of each trace the last revision."""
        latest = {entry.scorecard.trace: entry for entry in self._past()}
        ranked = sorted(latest.values(), key=lambda entry: _rank(entry.scorecard, axis))
        chosen = [entry for entry in ranked if _bad(entry.scorecard, axis)][:number]
        if self._as_json:
            for entry in chosen:
                self._show(entry)
        elif chosen:
            self._console.print(ranking((entry.scorecard for entry in chosen), axis))
        else:
            what = "no run is bad" if axis is None else f"no run is bad on {axis}"
            self._console.print(self._unknown_agent() or what)

    def _past(self) -> Iterator[ScoreEntry]:
        records = self._reader.read(self._wait.first)
        while records:
            yield from self._chosen(records)
            records = self._reader.read(self._wait.then)

    def _chosen(self, records: Iterable[StoredOutput]) -> Iterator[ScoreEntry]:
        for record in records:
            for entry in unpack_scores(record.value):
                self._agents[entry.scorecard.agent] += 1
                self._pending.discard(entry.scorecard.trace)
                if self._shown(entry.scorecard):
                    yield entry

    def _explain(self, *, is_empty: bool) -> None:
        """Say why nothing is shown, and what is still to come."""
        if is_empty:
            runs = self._agents.total()
            what = f"none of the {runs} runs on the log is like that" if runs else "no run so far"
            self._console.print(Text(self._unknown_agent() or what, style="dim"))
        if self._pending:
            number = len(self._pending)
            what = "1 trace has" if number == 1 else f"{number} traces have"
            self._console.print(Text(f"{what} just come and not been scored yet", style="dim"))
        if self._pending or (is_empty and not self._agents):
            when = f"a run is scored when no span of its trace has come for {self._quiet:g} s"
            self._console.print(Text(f"{when} (closing.quiet)", style="dim"))

    def _unknown_agent(self) -> str | None:
        """Say which agents there are, where the one that was asked for is none of them."""
        agent = self._shown.agent
        if agent is None or agent in self._agents or not self._agents:
            return None
        known = [plain(name, 40) for name, _ in self._agents.most_common(_NAMED)]
        more = ", …" if len(self._agents) > _NAMED else ""
        return f"no run of {plain(agent, 40)} so far; known agents: {', '.join(known)}{more}"

    def _show(self, entry: ScoreEntry) -> None:
        if self._as_json:
            sys.stdout.buffer.write(encode_line(entry) + b"\n")
            sys.stdout.buffer.flush()
        else:
            self._console.print(
                line(entry.scorecard, self._console.width, revision=entry.envelope.revision)
            )


def _when(entry: ScoreEntry) -> tuple[int, int]:
    """Order by the end of the run: partitions are read one after the other."""
    return (entry.scorecard.end, entry.envelope.revision)


def _bad(card: Scorecard, axis: Axis | None) -> bool:
    return any(verdict.verdict is Verdict.BAD for verdict in _asked(card, axis))


def _rank(card: Scorecard, axis: Axis | None) -> tuple[float, int, str]:
    """Order by the lowest score of a bad axis; younger runs first among equals."""
    scores = [
        verdict.score or 0.0 for verdict in _asked(card, axis) if verdict.verdict is Verdict.BAD
    ]
    return (min(scores, default=1.0), -card.end, card.trace)


def _asked(card: Scorecard, axis: Axis | None) -> tuple[AxisVerdict, ...]:
    return card.axes if axis is None else (card.axis(axis),)
