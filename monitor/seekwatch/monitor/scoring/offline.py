"""Scoring without a log: files of spans, or an archive, through the same parts as the worker.

The requests of a file are one partition whose records all carry one time; then the clock runs on
until every trace has closed. What a scorecard says does not depend on how its trace came, so the
lines are those of the scores topic, byte for byte.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from seekwatch.core.archive import ArchiveEntry
from seekwatch.core.errors import ConfigurationError, UndecodableError, why_unreadable
from seekwatch.core.records import LogRecord, PartitionState, Position, Signal
from seekwatch.core.scorecard import Scorecard
from seekwatch.exporters.archive_reader import looks_like_archive, read_archive
from seekwatch.processors.assembly import PartitionAssembler
from seekwatch.processors.closing import ClosingRules
from seekwatch.processors.cuts import Cut
from seekwatch.processors.score import score

from .episode_scorer import EpisodeScorer
from .otlp_files import Request, read_requests

_TIME: Final = 1
"""Milliseconds since the epoch at which every record of a file is taken to have come."""


def score_files(
    paths: Iterable[Path], scorer: EpisodeScorer, rules: ClosingRules
) -> Iterator[Scorecard]:
    """Yield the scorecards of OTLP files or archives, in the order in which traces close.

    Raises:
        ConfigurationError: a file cannot be read, holds neither, or is a damaged archive.
    """
    requests: list[Request] = []
    for path in paths:
        if _is_archive(path):
            yield from (_rescored(entry, scorer) for entry in _current(_archived(path)))
        else:
            requests += read_requests(path)
    for cut in cuts_of(requests, rules):
        episode = scorer.episode(cut)
        if episode is not None:
            card = scorer.score(cut, episode, scorer.known(episode)).scorecard
            if card is not None:
                yield card


def _is_archive(path: Path) -> bool:
    try:
        archive = looks_like_archive(path)
    except OSError as error:
        raise ConfigurationError("FILE", str(path), why_unreadable(error)) from error
    if path.is_dir() and not archive:
        raise ConfigurationError(
            "FILE", str(path), "is a folder without an archive in it; give its files one by one"
        )
    return archive


def _archived(path: Path) -> Iterator[ArchiveEntry]:
    try:
        yield from read_archive(path)
    except OSError as error:
        raise ConfigurationError("FILE", str(path), why_unreadable(error)) from error
    except UndecodableError as error:
        raise ConfigurationError(
            "FILE", str(path), f"is a damaged archive ({error}); score its other files one by one"
        ) from error


def cuts_of(requests: Iterable[Request], rules: ClosingRules) -> tuple[Cut, ...]:
    """Return the traces of requests, each whole, as the assembler cuts them."""
    offsets = dict.fromkeys(Signal, 0)
    records: list[LogRecord] = []
    for request in requests:
        records.append(_record(request, offsets[request.signal]))
        offsets[request.signal] += 1
    assembler = PartitionAssembler(0, rules, Position(offsets=dict.fromkeys(Signal, 0)))
    assembler.add(records, 0.0)
    state = PartitionState(partition=0, read=offsets, end=offsets, at_end=True)
    # Beyond every deadline: a trace opened at one moment is closed max age later at the latest.
    after = rules.max_age + max(rules.quiet, rules.idle) + 60.0
    return assembler.advance(state, after).cuts


def _record(request: Request, offset: int) -> LogRecord:
    return LogRecord(
        signal=request.signal,
        partition=0,
        offset=offset,
        timestamp=_TIME,
        key=None,
        value=request.value,
    )


def _current(entries: Iterable[ArchiveEntry]) -> list[ArchiveEntry]:
    """Return each trace once, in its last revision."""
    latest: dict[str, ArchiveEntry] = {}
    for entry in entries:
        known = latest.get(entry.scorecard.trace)
        if known is None or entry.envelope.revision >= known.envelope.revision:
            latest[entry.scorecard.trace] = entry
    return list(latest.values())


def _rescored(entry: ArchiveEntry, scorer: EpisodeScorer) -> Scorecard:
    evidence = scorer.known(entry.episode, entry.evidence)
    return score(entry.episode, evidence, scorer.policy)
