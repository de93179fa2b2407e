"""What a receiver reports about itself; the metrics gateway implements it."""

from enum import StrEnum
from typing import Protocol


class Transport(StrEnum):
    """How a request came."""

    GRPC = "grpc"
    HTTP = "http"


class RequestResult(StrEnum):
    """How a request was answered."""

    OK = "ok"
    PARTIAL = "partial"
    INVALID = "invalid"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    UNAUTHORIZED = "unauthorized"
    UNAVAILABLE = "unavailable"
    ERROR = "error"


class SpanResult(StrEnum):
    """What became of a span or log record of an answered request."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    IGNORED = "ignored"


class ReceiverMetrics(Protocol):
    """Counts requests and spans. Called from many threads."""

    def request(self, signal: str, transport: Transport, result: RequestResult) -> None:
        """Count one request of a signal: traces, logs or metrics."""

    def spans(self, result: SpanResult, count: int) -> None:
        """Count spans and log records."""


class NoMetrics:
    """Counts nothing."""

    def request(self, signal: str, transport: Transport, result: RequestResult) -> None:
        """Do nothing."""

    def spans(self, result: SpanResult, count: int) -> None:
        """Do nothing."""
