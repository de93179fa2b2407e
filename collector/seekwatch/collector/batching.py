"""Group commit: appends that come at the same time are stored together.

A durable append costs an fsync or a round trip whatever its size; a receiver under load has many
requests waiting, and one such step can answer them all.
"""

import logging
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Final

from seekwatch.core.errors import PermanentError, RetryableError, SeekwatchError
from seekwatch.core.records import Appender, NewRecord

_LOG: Final = logging.getLogger(__name__)

_MAX_BATCH_BYTES: Final = 16 << 20
"""A group ends here, so that one slow write does not keep everybody waiting."""

_MAX_WAITING_BYTES: Final = 256 << 20
"""Beyond this the log is slower than its senders, who are asked to come again."""


class BatchingAppender:
    """An Appender for many threads over one that serves a single thread.

    Args:
        inner: called by one thread only. When it fails, every request of the group fails.
        max_waiting_bytes: values held in memory at most; more is refused as retryable.
    """

    def __init__(self, inner: Appender, *, max_waiting_bytes: int = _MAX_WAITING_BYTES) -> None:
        self._inner = inner
        self._max_waiting_bytes = max_waiting_bytes
        self._waiting: deque[tuple[Sequence[NewRecord], int, Future[None]]] = deque()
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="seekwatch-append", daemon=True)
        self._thread.start()

    def append(self, records: Sequence[NewRecord]) -> None:
        """Store all records durably, or none; returns when they are.

        Raises:
            RetryableError: the log is full, unreachable, behind or closed; nothing was stored.
        """
        if not records:
            return
        size = sum(len(record.value) for record in records)
        stored: Future[None] = Future()
        with self._changed:
            if self._closed:
                raise RetryableError("the log is closed", retry_after=1.0)
            if self._waiting and self._waiting_bytes + size > self._max_waiting_bytes:
                raise RetryableError(
                    f"{self._waiting_bytes} bytes already wait to be stored", retry_after=1.0
                )
            self._waiting.append((records, size, stored))
            self._waiting_bytes += size
            self._changed.notify()
        stored.result()

    def close(self) -> None:
        """Store what waits, then close the appender below; calling it again does nothing."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify()
        self._thread.join()
        self._inner.close()

    def _run(self) -> None:
        while group := self._next_group():
            failure = self._store([record for records, _, _ in group for record in records])
            for records, _, stored in group:
                # What can never be stored came with one request; its neighbours have another try.
                if isinstance(failure, PermanentError) and len(group) > 1:
                    _settle(stored, self._store(records))
                else:
                    _settle(stored, failure)

    def _store(self, records: Sequence[NewRecord]) -> SeekwatchError | None:
        try:
            self._inner.append(records)
        except SeekwatchError as error:
            return error
        except Exception as error:  # noqa: BLE001 - every request would wait for ever without us
            _LOG.exception("appending %d records failed", len(records))
            return PermanentError(f"appending failed: {error!r}")
        return None

    def _next_group(self) -> list[tuple[Sequence[NewRecord], int, Future[None]]]:
        """Wait for requests; return none when there are none and no more will come."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            group: list[tuple[Sequence[NewRecord], int, Future[None]]] = []
            held = 0
            while self._waiting and (not group or held + self._waiting[0][1] <= _MAX_BATCH_BYTES):
                group.append(self._waiting.popleft())
                held += group[-1][1]
            self._waiting_bytes -= held
            return group


def _settle(stored: "Future[None]", failure: SeekwatchError | None) -> None:
    if failure is None:
        stored.set_result(None)
    else:
        stored.set_exception(failure)
