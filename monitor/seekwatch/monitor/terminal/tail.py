"""Scorecards as they come, read from the scores topic like any other consumer does."""

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rich.console import Console

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

from .scorecard_view import header, line, ranking

_PATIENCE: Final = 1.0
"""Seconds of one wait for more."""
_OUTAGE: Final = 3_600.0
"""Seconds for which a log that is away is waited for."""


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
    """

    def __init__(
        self,
        reader: OutputReader,
        shown: Filter,
        console: Console,
        *,
        as_json: bool,
        patience: Patience = LOCAL,
    ) -> None:
        self._reader = reader
        self._wait = patience
        self._shown = shown
        self._console = console
        self._as_json = as_json

    def follow(self, last: int, *, wait: bool) -> None:
        """Show the `last` runs of the past, then what comes, until interrupted."""
        past: deque[ScoreEntry] = deque(maxlen=last)
        past.extend(self._past())
        if not self._as_json:
            self._console.print(header(self._console.width))
        for entry in past:
            self._show(entry)
        while wait:
            more = patiently(lambda: self._reader.read(_PATIENCE), seconds=_OUTAGE)
            for entry in self._chosen(more):
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
            self._console.print("no run is bad" if axis is None else f"no run is bad on {axis}")

    def _past(self) -> Iterator[ScoreEntry]:
        records = self._reader.read(self._wait.first)
        while records:
            yield from self._chosen(records)
            records = self._reader.read(self._wait.then)

    def _chosen(self, records: Iterable[StoredOutput]) -> Iterator[ScoreEntry]:
        for record in records:
            for entry in unpack_scores(record.value):
                if self._shown(entry.scorecard):
                    yield entry

    def _show(self, entry: ScoreEntry) -> None:
        if self._as_json:
            sys.stdout.buffer.write(encode_line(entry) + b"\n")
            sys.stdout.buffer.flush()
        else:
            self._console.print(
                line(entry.scorecard, self._console.width, revision=entry.envelope.revision)
            )


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
