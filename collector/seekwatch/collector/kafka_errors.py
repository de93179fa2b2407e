"""Kafka's errors as ours: one table, used at every call of the client."""

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from seekwatch.core.errors import FencedError, PermanentError, RetryableError, SeekwatchError

# The client ships no type information; these two modules are where it is touched.
_errors: Any = importlib.import_module("kafka.errors")

KafkaError: type[Exception] = _errors.KafkaError

FENCED: Final[tuple[type[Exception], ...]] = (
    _errors.CommitFailedError,
    _errors.IllegalGenerationError,
    _errors.UnknownMemberIdError,
    _errors.FencedInstanceIdError,
    _errors.RebalanceInProgressError,
)
"""The group has given our partitions, or our place in it, to somebody else."""

PERMANENT: Final[tuple[type[Exception], ...]] = (
    _errors.MessageSizeTooLargeError,
    _errors.RecordListTooLargeError,
    _errors.InvalidRecordError,
    _errors.OffsetMetadataTooLargeError,
    _errors.AuthorizationError,
    _errors.SaslAuthenticationFailedError,
    _errors.UnsupportedVersionError,
    _errors.UnsupportedCodecError,
    _errors.InvalidTopicError,
    _errors.InvalidTransactionTimeoutError,
)
"""The same call would fail in the same way again."""

# Everything else may pass: brokers come back, and a fenced or wedged producer is replaced. That
# includes ProducerFencedError and InvalidProducerEpochError: nobody else has our transactional id,
# so they only tell that a transaction took longer than its timeout.


def translated(error: Exception, doing: str, *, committing: bool = False) -> SeekwatchError:
    """Return the error of ours that an error of the client stands for.

    Elsewhere than in a commit, a place lost in the group is only a reason to join again.
    """
    message = f"Kafka, {doing}: {type(error).__name__}: {error}"
    if committing and isinstance(error, FENCED):
        return FencedError(message)
    if isinstance(error, PERMANENT):
        return PermanentError(message)
    return RetryableError(message)


@contextmanager
def kafka_errors(doing: str, *, committing: bool = False) -> Generator[None]:
    """Translate errors of the client that the block raises."""
    try:
        yield
    except KafkaError as error:
        raise translated(error, doing, committing=committing) from error
