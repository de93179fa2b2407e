"""Reading what a monitor has published, beside it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.core.records import Output
from seekwatch.core.scorecard import Envelope, ScoreEntry
from seekwatch.core.topics import unpack_scores
from tests.services.kafka_client import read_all


def embedded_scores(path: Path) -> list[ScoreEntry]:
    """Return every score entry of an embedded log."""
    log = EmbeddedLog(path)
    try:
        reader = log.output_reader([Output.SCORES])
        found: list[ScoreEntry] = []
        while records := reader.read(0.05):
            found += [entry for record in records for entry in unpack_scores(record.value)]
        return found
    finally:
        log.close()


def kafka_scores(bootstrap: str, topic: str) -> list[ScoreEntry]:
    """Return every score entry of a topic, in the order of each partition."""
    records = read_all(bootstrap, topic)
    return [entry for record in records for entry in unpack_scores(record.value or b"")]


def twice(entries: Sequence[ScoreEntry]) -> list[Envelope]:
    """Return the envelopes of revisions that were published more than once."""
    counted = Counter((entry.scorecard.trace, entry.envelope.revision) for entry in entries)
    return [
        entry.envelope
        for entry in entries
        if counted[entry.scorecard.trace, entry.envelope.revision] > 1
    ]
