"""A worker in a process of its own, to be killed: it publishes each record's value as a score.

Run as `python -m tests.services.log_worker DESCRIPTION`. It prints a line for every commit, so that
a test can choose the moment. With `--open-transaction` (Kafka alone) it stops for ever inside its
first commit: all is sent, nothing committed.
"""

import importlib
import sys
import time
from typing import Any

from seekwatch.core.errors import FencedError, RetryableError
from seekwatch.core.records import (
    Batch,
    LogRecord,
    Output,
    OutputRecord,
    Position,
    Signal,
    TraceLog,
)
from tests.services.log_worlds import described

_READ_SECONDS = 0.2


class CopyingWorker:
    """Publishes what it reads, and commits right behind it."""

    def __init__(self, log: TraceLog) -> None:
        self._log = log
        self._positions: dict[int, dict[Signal, int]] = {}

    def turn(self) -> int:
        """Read once and commit; return how many records were published."""
        try:
            batch = self._log.read(_READ_SECONDS)
            self._learn(batch)
            if not batch.records:
                return 0
            self._log.commit(self._moved(batch), [_score(item) for item in batch.records])
        except (FencedError, RetryableError) as error:
            print(f"again: {error}", flush=True)
            return 0
        return len(batch.records)

    def _learn(self, batch: Batch) -> None:
        for partition in {*batch.revoked, *batch.lost}:
            self._positions.pop(partition, None)
        for assignment in batch.assigned:
            self._positions[assignment.partition] = dict(assignment.position.offsets)

    def _moved(self, batch: Batch) -> dict[int, Position]:
        for record in batch.records:
            self._positions[record.partition][record.signal] = record.offset + 1
        touched = {record.partition for record in batch.records}
        return {
            partition: Position(offsets=dict(self._positions[partition])) for partition in touched
        }


def _score(record: LogRecord) -> OutputRecord:
    return OutputRecord(
        output=Output.SCORES, partition=record.partition, value=record.value, key=record.key
    )


def _stop_inside_transactions() -> None:
    """Replace the last step of a transaction by a halt, as if the process were killed there."""
    producer: Any = importlib.import_module("kafka").KafkaProducer

    def halt(self: Any) -> None:
        self.flush()
        print("transaction open", flush=True)
        time.sleep(3600)

    producer.commit_transaction = halt


def main() -> None:
    """Work until killed."""
    if "--open-transaction" in sys.argv:
        _stop_inside_transactions()
    log = described(sys.argv[1]).trace_log()
    worker = CopyingWorker(log)
    print("started", flush=True)
    while True:
        published = worker.turn()
        if published:
            print(f"committed {published}", flush=True)


if __name__ == "__main__":
    main()
