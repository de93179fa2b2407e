"""What an examination finds, each with the next step: a finding without one helps nobody."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Protocol

from seekwatch.core.model import Record
from seekwatch.core.records import StoredOutput
from seekwatch.core.scorecard import ScoreEntry


class Status(StrEnum):
    """How serious a finding is."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


class Finding(Record, frozen=True, kw_only=True):
    """One thing that was looked at.

    Attributes:
        subject: what was looked at: `spans`, `log`, an agent's name.
        what: what was seen, in one sentence.
        next_step: what to do; empty when all is well.
    """

    status: Status
    subject: str
    what: str
    next_step: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether somebody has to do something."""
        return self.status is Status.WRONG


def ok(subject: str, what: str) -> Finding:
    """Return a finding that all is well."""
    return Finding(status=Status.OK, subject=subject, what=what)


def note(subject: str, what: str, next_step: str) -> Finding:
    """Return a finding that may be meant so."""
    return Finding(status=Status.NOTE, subject=subject, what=what, next_step=next_step)


def wrong(subject: str, what: str, next_step: str) -> Finding:
    """Return a finding that makes the monitor blind or wrong."""
    return Finding(status=Status.WRONG, subject=subject, what=what, next_step=next_step)


class Arrived(Record, frozen=True, kw_only=True):
    """One record of the input topics.

    Attributes:
        timestamp: milliseconds since the epoch.
        value: an OTLP request of spans.
    """

    timestamp: int
    value: bytes


class Sight(Protocol):
    """A log as an onlooker sees it: no position is kept, nothing is moved."""

    def checks(self) -> Iterable[Finding]:
        """Look at the log itself: topics, retention, space."""
        ...

    def spans(self, limit: int) -> Sequence[Arrived]:
        """Return the newest records of spans, oldest first."""
        ...

    def first_arrival(self) -> float | None:
        """Return when the oldest span on the log arrived, in seconds since the epoch."""
        ...

    def scores(self, limit: int) -> Sequence[ScoreEntry]:
        """Return the newest scorecards, oldest first."""
        ...

    def dead_letters(self, limit: int) -> Sequence[StoredOutput]:
        """Return the newest dead letters, oldest first."""
        ...

    def close(self) -> None:
        """Let go of the log."""
        ...
