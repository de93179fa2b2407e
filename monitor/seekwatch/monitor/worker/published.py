"""What the scores partition says is published already, so that a replay publishes nothing twice."""

from collections.abc import Iterable

from seekwatch.core.archive import decode_score_line
from seekwatch.core.model import Record
from seekwatch.core.records import Assignment, StoredOutput
from seekwatch.core.scorecard import ScoreEntry
from seekwatch.processors.cuts import RecordedCut


class Published(Record, frozen=True, kw_only=True):
    """The scorecards that lie beyond a partition's committed scores offset.

    Attributes:
        cuts: trace id to the cut that was published last, and the scores offset of the *first* of
            its entries: reading from there on finds them all.
        agents: (agent, lane) pairs that were seen.
    """

    cuts: dict[str, tuple[RecordedCut, int]]
    agents: frozenset[tuple[str, str]]


def read_published(assignment: Assignment) -> Published:
    """Decode what an assignment brings.

    Raises:
        UndecodableError: the topic holds entries of a schema that this version does not read.
    """
    cuts: dict[str, tuple[RecordedCut, int]] = {}
    agents: set[tuple[str, str]] = set()
    for record in assignment.published:
        for entry in entries(record):
            trace = entry.envelope.trace
            first = cuts[trace][1] if trace in cuts else record.offset
            cuts[trace] = (RecordedCut.of(entry.envelope), first)
            agents.add((entry.scorecard.agent, entry.scorecard.lane))
    return Published(cuts=cuts, agents=frozenset(agents))


def entries(record: StoredOutput) -> Iterable[ScoreEntry]:
    """Decode the lines of one record of the scores topic."""
    return [decode_score_line(line) for line in record.value.splitlines() if line]


def scores_end(assignment: Assignment) -> int:
    """Return a lower bound of the end of the scores partition at this moment."""
    after_last = (record.offset + 1 for record in assignment.published)
    return max(after_last, default=assignment.position.scores_offset)
