"""The receiver's side of the log on Kafka.

At least once: a request that failed halfway may have left records behind, and its retry brings them
again. A span seen twice counts once, so that does no harm.
"""

from collections.abc import Sequence
from typing import Any, Final

from seekwatch.collector.batching import BatchingAppender
from seekwatch.collector.kafka_client import KafkaSettings, producer
from seekwatch.collector.kafka_errors import KafkaError, kafka_errors
from seekwatch.core.errors import RetryableError
from seekwatch.core.records import NewRecord

_DELIVERY_MS: Final = 20_000
"""After this a sender is told to come again; its own timeout is often 10 s."""

_BLOCK_MS: Final = 5_000
_LINGER_MS: Final = 2
_CLOSE_SECONDS: Final = 5.0


class KafkaAppender(BatchingAppender):
    """Appends to the input topics; what comes at the same time is sent together.

    Args:
        settings: how to reach Kafka.

    Raises:
        ConfigurationError: the client refuses an option.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        settings.check()
        super().__init__(_Writer(settings))


class _Writer:
    """An Appender for one thread at a time."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._producer: Any = None

    def append(self, records: Sequence[NewRecord]) -> None:
        if self._producer is None:
            self._producer = self._made()
        try:
            with kafka_errors("appending"):
                self._send(records)
        except BaseException:
            # An idempotent producer whose batch has expired never sends again.
            self._discard()
            raise

    def close(self) -> None:
        self._discard()

    def _send(self, records: Sequence[NewRecord]) -> None:
        topics = self._settings.topics
        futures = [
            self._producer.send(topics.of(record.signal), value=record.value, key=record.key)
            for record in records
        ]
        self._producer.flush(_DELIVERY_MS / 1000)
        for future in futures:
            if not future.is_done:
                raise RetryableError("Kafka, appending: no answer in time")
            if future.exception is not None:
                raise future.exception

    def _made(self) -> Any:
        return producer(
            self._settings,
            acks="all",
            enable_idempotence=True,
            linger_ms=_LINGER_MS,
            max_block_ms=_BLOCK_MS,
            delivery_timeout_ms=_DELIVERY_MS,
            request_timeout_ms=_DELIVERY_MS // 2,
        )

    def _discard(self) -> None:
        made, self._producer = self._producer, None
        if made is None:
            return
        try:
            made.close(timeout=_CLOSE_SECONDS)
        except KafkaError:
            # Batches are left that nobody waits for any more; their request was told to come again.
            made._sender.force_close()
