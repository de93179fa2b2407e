"""The loop that every exporter shares: read, deliver, commit, and again.

A record is committed only after its delivery, so at least once is the contract and idempotent ids
make it once. A backend that is away is waited for; a record that it will never take is counted and
passed, so that one of them cannot hold up the rest.
"""

import logging
from collections.abc import Callable, Sequence
from threading import Event
from typing import Final, Protocol, TypeVar

import tenacity

from seekwatch.core.errors import PermanentError, RetryableError
from seekwatch.core.model import Record
from seekwatch.core.records import OutputReader, StoredOutput

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

READ_SECONDS: Final = 1.0
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
LONGEST_WISH: Final = 600.0
"""Seconds of a backend's own wish (`Retry-After`) that are honoured."""


class Sink(Protocol):
    """Where an exporter delivers to."""

    def deliver(self, records: Sequence[StoredOutput]) -> None:
        """Deliver records so that they survive a crash when this returns.

        Delivering some of them again changes nothing.

        Raises:
            RetryableError: try the same call later.
            PermanentError: one of the records cannot be delivered, ever.
        """

    def close(self) -> None:
        """Release; calling it again does nothing."""


class ConsumerCounts(Record, frozen=True, kw_only=True):
    """What a consumer has done since its start, in records."""

    delivered: int = 0
    retried: int = 0
    refused: int = 0


class StoppedError(Exception):
    """The consumer was told to stop while it waited; what it had read is not committed."""


class Consumer:
    """Moves records from a reader into a sink until it is stopped.

    Args:
        name: of the exporter, for the log and the counts.
        reader: a reader of its own; this object closes it.
        sink: where to deliver; this object closes it.
        count: called with (name, `delivered` | `retried` | `refused`, records), for metrics.
        first_pause, longest_pause: seconds between attempts, doubling with jitter.
    """

    def __init__(
        self,
        name: str,
        reader: OutputReader,
        sink: Sink,
        *,
        count: Callable[[str, str, int], None] | None = None,
        first_pause: float = FIRST_PAUSE,
        longest_pause: float = LONGEST_PAUSE,
    ) -> None:
        self.name = name
        self._reader = reader
        self._sink = sink
        self._count = count
        self._backoff = tenacity.wait_exponential(
            multiplier=first_pause, max=longest_pause
        ) + tenacity.wait_random(0, first_pause)
        self._stopping = Event()
        self._ended = Event()
        self._ended.set()
        self._counts = {"delivered": 0, "retried": 0, "refused": 0}

    @property
    def counts(self) -> ConsumerCounts:
        """What was done so far."""
        return ConsumerCounts(**self._counts)

    def run(self) -> None:
        """Work until `stop()`; an error that no retry mends is raised and ends the consumer."""
        self._ended.clear()
        try:
            while not self._stopping.is_set():
                self.step(READ_SECONDS)
        except StoppedError:
            _log.info("%s stopped while it waited; its last records come again", self.name)
        except Exception:
            _log.exception("%s ended; its records wait in the topic", self.name)
            raise
        finally:
            try:
                self._sink.close()
            finally:
                self._reader.close()
                self._ended.set()

    def step(self, timeout: float) -> int:
        """Read once, deliver and commit.

        Returns:
            How many records were read.

        Raises:
            StoppedError: told to stop before all was done.
        """
        records = self._persistently(lambda: self._reader.read(timeout))
        if not records:
            return 0
        self._deliver(records)
        self._persistently(self._reader.commit)
        return len(records)

    def stop(self, deadline: float = 5.0) -> bool:
        """Ask the loop to end and wait for it; calling it again does nothing.

        Args:
            deadline: seconds to wait.

        Returns:
            Whether it has ended.
        """
        self._stopping.set()
        return self._ended.wait(deadline)

    def _deliver(self, records: Sequence[StoredOutput]) -> None:
        """Deliver all records; when one cannot be, the others still are."""
        try:
            self._persistently(lambda: self._sink.deliver(records), affected=len(records))
        except PermanentError as error:
            if len(records) > 1:
                for record in records:
                    self._deliver([record])
                return
            self._refuse(records[0], error)
        else:
            self._add("delivered", len(records))

    def _refuse(self, record: StoredOutput, error: PermanentError) -> None:
        _log.error(
            "%s passes over %s, partition %d, offset %d: %s",
            self.name,
            record.output,
            record.partition,
            record.offset,
            error,
        )
        self._add("refused", 1)

    def _persistently(self, call: Callable[[], _Result], affected: int = 0) -> _Result:
        """Call until it succeeds, pausing after retryable errors."""
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(RetryableError),
            wait=self._pause,
            sleep=self._sleep,
            before_sleep=lambda state: self._retried(state, affected),
        )
        return retrying(call)

    def _pause(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next attempt: the backend's wish, else exponential with jitter."""
        error = state.outcome.exception() if state.outcome else None
        wished = error.retry_after if isinstance(error, RetryableError) else None
        backoff = self._backoff(state)
        return backoff if wished is None else max(backoff, min(wished, LONGEST_WISH))

    def _sleep(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise StoppedError(self.name)

    def _retried(self, state: tenacity.RetryCallState, affected: int) -> None:
        error = state.outcome.exception() if state.outcome else None
        _log.warning("%s tries again (attempt %d): %s", self.name, state.attempt_number, error)
        if affected:
            self._add("retried", affected)

    def _add(self, result: str, number: int) -> None:
        self._counts[result] += number
        if self._count is not None:
            self._count(self.name, result, number)
