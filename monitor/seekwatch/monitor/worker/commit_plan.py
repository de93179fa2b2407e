"""What one commit publishes and moves: built in one go, so that it is all or nothing."""

from collections.abc import Iterable
from typing import Final

from seekwatch.core.otlp.requests import encode_request
from seekwatch.core.records import Output, OutputRecord, Position
from seekwatch.core.topics import pack_episodes, pack_scores
from seekwatch.monitor.scoring.episode_scorer import Scored
from seekwatch.processors.record_decoder import DeadLetter

from .partition_work import PartitionWork

REASON_NOT_SCORED: Final = "not-scored"
"""Of dead letters that decode and yet made a scorer fail."""


class CommitPlan:
    """The commit of some partitions.

    Attributes:
        positions: where each partition moves to.
        records: what is published with it.
    """

    def __init__(self, works: Iterable[PartitionWork]) -> None:
        self._works: list[PartitionWork] = []
        self.positions: dict[int, Position] = {}
        self.records: list[OutputRecord] = []
        for work in works:
            position = work.position()
            if work.is_changed_by(position):
                self._works.append(work)
                self.positions[work.partition] = position
                self.records += _outputs(work)

    def __bool__(self) -> bool:
        """Tell whether the commit would change anything."""
        return bool(self._works)

    @property
    def works(self) -> list[PartitionWork]:
        """The partitions that it moves."""
        return self._works


def _outputs(work: PartitionWork) -> Iterable[OutputRecord]:
    scores = [entry for item in work.scored if (entry := item.entry) is not None]
    episodes = [item.archived for item in work.scored if item.archived is not None]
    for value in pack_scores(scores):
        yield OutputRecord(output=Output.SCORES, partition=work.partition, value=value)
    for value in pack_episodes(episodes):
        yield OutputRecord(output=Output.EPISODES, partition=work.partition, value=value)
    for letter in work.dead_letters:
        yield _undecodable(letter)
    for item in work.scored:
        if item.failure is not None:
            yield _unscored(item, work.partition)


def _undecodable(letter: DeadLetter) -> OutputRecord:
    record = letter.record
    return OutputRecord(
        output=Output.DEAD_LETTERS,
        partition=record.partition,
        key=record.key,
        value=letter.value,
        headers=_headers(
            str(record.signal), record.partition, str(record.offset), letter.reason, letter.message
        ),
    )


def _unscored(item: Scored, partition: int) -> OutputRecord:
    """Keep the spans of a trace that made a scorer fail, as one request that can be sent again."""
    envelope = item.cut.envelope
    return OutputRecord(
        output=Output.DEAD_LETTERS,
        partition=partition,
        key=item.cut.trace.encode(),
        value=encode_request(list(item.cut.spans)),
        headers=_headers(
            "traces",
            partition,
            str(envelope.first_offsets.get("traces", -1)),
            REASON_NOT_SCORED,
            item.failure or "",
        ),
    )


def _headers(
    signal: str, partition: int, offset: str, reason: str, error: str
) -> tuple[tuple[str, bytes], ...]:
    return (
        ("signal", signal.encode()),
        ("partition", str(partition).encode()),
        ("offset", offset.encode()),
        ("reason", reason.encode()),
        ("error", error.encode()[:1000]),
    )
