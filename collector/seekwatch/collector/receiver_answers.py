"""One decision for both transports: what a request is answered, and what is counted for it."""

import hmac
import logging
from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from seekwatch.collector.encodings import EncodingError, TooLargeError, decompress
from seekwatch.collector.intake import Intake, Receipt
from seekwatch.collector.receiver_metrics import (
    ReceiverMetrics,
    RequestResult,
    SpanResult,
    Transport,
)
from seekwatch.core.errors import PermanentError, RetryableError, UndecodableError
from seekwatch.core.model import Record
from seekwatch.core.records import Signal

_LOG: Final = logging.getLogger(__name__)

METRICS_SIGNAL: Final = "metrics"
SIGNALS: Final = (Signal.TRACES.value, Signal.LOGS.value, METRICS_SIGNAL)
"""What OTLP exporters send. Metrics are accepted so that no agent logs an error, and dropped."""

DEFAULT_RETRY_AFTER: Final = 1.0
"""Seconds that a sender is asked to wait when the log names no time of its own."""


class Answer(Record, frozen=True, kw_only=True):
    """What a request is answered.

    Attributes:
        message: for the sender, when the result is not ok.
        response: the OTLP response message of a stored request.
        retry_after: seconds, when the same request may be stored later.
    """

    result: RequestResult
    message: str = ""
    response: Any = None
    retry_after: float | None = None


class Answers:
    """Authorises, decodes, stores and counts.

    Args:
        intake: stores traces and logs.
        metrics: counts.
        token: the bearer token that every request must bear; None for none.
        max_request_bytes: of a decompressed request.
    """

    def __init__(
        self,
        intake: Intake,
        metrics: ReceiverMetrics,
        *,
        token: str | None,
        max_request_bytes: int,
    ) -> None:
        self._intake = intake
        self._metrics = metrics
        self._token = None if token is None else token.encode()
        self._max_request_bytes = max_request_bytes

    def is_authorized(self, authorization: str | bytes | None) -> bool:
        """Compare an Authorization header with the token, in a time that tells nothing."""
        if self._token is None:
            return True
        given = authorization or b""
        scheme, _, token = (given.encode() if isinstance(given, str) else given).partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)

    def refuse(self, signal: str, transport: Transport, answer: Answer) -> Answer:
        """Count an answer that was decided outside, and return it."""
        self._metrics.request(signal, transport, answer.result)
        return answer

    def unauthorized(self, signal: str, transport: Transport) -> Answer:
        """Answer a request without the token."""
        return self.refuse(
            signal,
            transport,
            Answer(result=RequestResult.UNAUTHORIZED, message="missing or wrong bearer token"),
        )

    def answer(self, signal: str, transport: Transport, body: bytes, encoding: str) -> Answer:
        """Decode and store an authorised request; returns when it is durable."""
        return self.refuse(signal, transport, _decided(lambda: self._store(signal, body, encoding)))

    def _store(self, signal: str, body: bytes, encoding: str) -> Answer:
        value = decompress(body, encoding, self._max_request_bytes)
        if signal == METRICS_SIGNAL:
            _check_metrics(value)
            return Answer(result=RequestResult.OK, response=ExportMetricsServiceResponse())
        receipt = self._intake.store(value, Signal(signal))
        self._metrics.spans(SpanResult.ACCEPTED, receipt.accepted)
        self._metrics.spans(SpanResult.REJECTED, receipt.rejected)
        self._metrics.spans(SpanResult.IGNORED, receipt.ignored)
        result = RequestResult.PARTIAL if receipt.rejected else RequestResult.OK
        return Answer(result=result, response=_response(Signal(signal), receipt))


def _decided(store: Callable[[], Answer]) -> Answer:
    """Turn every failure into the answer that makes the sender do the right thing."""
    try:
        return store()
    except TooLargeError as error:
        return Answer(result=RequestResult.TOO_LARGE, message=str(error))
    except EncodingError as error:
        result = RequestResult.INVALID if error.supported else RequestResult.UNSUPPORTED
        return Answer(result=result, message=str(error))
    except UndecodableError as error:
        return Answer(result=RequestResult.INVALID, message=str(error))
    except RetryableError as error:
        return Answer(
            result=RequestResult.UNAVAILABLE,
            message=str(error),
            retry_after=error.retry_after or DEFAULT_RETRY_AFTER,
        )
    except PermanentError as error:
        _LOG.exception("a request could not be stored")
        return Answer(result=RequestResult.ERROR, message=str(error))


def _check_metrics(value: bytes) -> None:
    """Say no to what is no metrics request: a sender with a wrong URL should learn of it."""
    if value.lstrip()[:1] == b"{":
        return
    try:
        ExportMetricsServiceRequest.FromString(value)
    except Exception as error:
        raise UndecodableError(f"no OTLP metrics request: {error}", reason="protobuf") from error


def _response(signal: Signal, receipt: Receipt) -> Message:
    if signal is Signal.LOGS:
        logs = ExportLogsServiceResponse()
        if receipt.rejected:
            logs.partial_success.CopyFrom(
                ExportLogsPartialSuccess(
                    rejected_log_records=receipt.rejected, error_message=receipt.message
                )
            )
        return logs
    traces = ExportTraceServiceResponse()
    if receipt.rejected:
        traces.partial_success.CopyFrom(
            ExportTracePartialSuccess(
                rejected_spans=receipt.rejected, error_message=receipt.message
            )
        )
    return traces
