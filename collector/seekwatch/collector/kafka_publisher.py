"""One Kafka transaction a commit: what is published and where reading stands, or neither.

The library's transactions have no timeout and do not survive every error, so each runs under a
deadline of ours, and after any failure the producer is thrown away. The next one has the same
transactional id: its start ends whatever the old one left open.
"""

import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from seekwatch.collector.kafka_client import KafkaSettings, close_quietly, producer, within
from seekwatch.collector.kafka_errors import PERMANENT, KafkaError, kafka_errors
from seekwatch.core.records import Output, OutputRecord

_LOG: Final = logging.getLogger(__name__)

_RETRY_BACKOFF_MS: Final = 5
"""A transaction right after another meets a coordinator that is still busy with it: with the
library's 100 ms a commit takes four times as long."""

_CLOSE_SECONDS: Final = 2.0


class Publisher:
    """The transactional producer of one worker. Used by one thread."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._id: Final = f"{settings.group_id}-{settings.member or uuid.uuid4().hex}"
        self._producer: Any = None

    def prepare(self) -> None:
        """Have a producer whose earlier transactions are all ended.

        Raises:
            RetryableError: no broker answers in time.
            PermanentError: the broker refuses.
        """
        if self._producer is not None:
            return
        made = producer(
            self._settings,
            transactional_id=self._id,
            transaction_timeout_ms=int(self._settings.transaction_timeout * 1000),
            retry_backoff_ms=_RETRY_BACKOFF_MS,
        )
        try:
            with kafka_errors("beginning to publish"):
                within(self._settings.commit_deadline, "beginning", made.init_transactions)
        except BaseException:
            _dispose(made)
            raise
        self._producer = made

    def publish(
        self, records: Sequence[OutputRecord], offsets: Mapping[Any, Any], group: Any
    ) -> dict[int, int]:
        """Publish records and offsets in one transaction.

        Returns:
            The offset after the last score, for each partition that got one.

        Raises:
            FencedError: the group has a newer generation than `group`.
            RetryableError: nothing is known to be published; call `prepare()`, and then ask the
                broker what is committed.
            PermanentError: a record is too large, or the broker refuses.
        """
        self.prepare()
        futures: list[tuple[OutputRecord, Any]] = []

        def transact() -> bool:
            self._transact(records, offsets, group, futures)
            return True

        try:
            with kafka_errors("committing", committing=True):
                try:
                    within(self._settings.commit_deadline, "committing", transact)
                except KafkaError as error:
                    raise _cause(futures, error) from error
        except BaseException:
            self.discard()
            raise
        return _ends(futures)

    def discard(self) -> None:
        """Throw the producer away."""
        made, self._producer = self._producer, None
        if made is not None:
            _dispose(made)

    def _transact(
        self,
        records: Sequence[OutputRecord],
        offsets: Mapping[Any, Any],
        group: Any,
        futures: list[tuple[OutputRecord, Any]],
    ) -> None:
        made = self._producer
        made.begin_transaction()
        for record in records:
            future = made.send(
                self._settings.topics.of(record.output),
                value=record.value,
                key=record.key,
                headers=list(record.headers),
                partition=record.partition,
            )
            futures.append((record, future))
        if offsets:
            made.send_offsets_to_transaction(dict(offsets), group)
        made.commit_transaction()


def _cause(futures: Sequence[tuple[OutputRecord, Any]], error: Exception) -> Exception:
    """Prefer what a broker said of one record to "the producer is in an error state"."""
    for _, future in futures:
        if future.is_done and isinstance(future.exception, PERMANENT):
            refused: Exception = future.exception
            return refused
    return error


def _ends(futures: Sequence[tuple[OutputRecord, Any]]) -> dict[int, int]:
    ends: dict[int, int] = {}
    for record, future in futures:
        if record.output is Output.SCORES:
            # Committed, so the answer is here already.
            offset = future.get(timeout=1).offset
            ends[record.partition] = max(ends.get(record.partition, 0), offset + 1)
    return ends


def _dispose(made: Any) -> None:
    """Close a producer that may be wedged: nothing of it may be waited for."""
    complaint = close_quietly(made, timeout=_CLOSE_SECONDS)
    if complaint is not None:
        _LOG.info("a producer did not close in good order: %s", complaint)
        # The library's close() gives up before it ends its thread when batches are left.
        made._sender.force_close()
