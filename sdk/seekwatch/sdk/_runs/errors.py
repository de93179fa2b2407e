"""Marks spans as failed, with no more of the exception than may leave the process."""

from opentelemetry.trace import Span, Status, StatusCode

from seekwatch.core import attributes
from seekwatch.sdk._guard import guard
from seekwatch.sdk._runtime import Runtime


def mark_error(span: Span, error: BaseException, runtime: Runtime | None) -> None:
    """Mark a span as failed: type, status, and the exception as an event.

    Where content is withheld the message stays in the process: it may quote a question or a page.
    """
    with guard("marking an error"):
        name = type(error).__qualname__
        span.set_attribute(attributes.ERROR_TYPE, name)
        if runtime is not None and runtime.withholder is not None:
            span.set_status(Status(StatusCode.ERROR, name))
            return
        # First without the message: an exception's own `__str__` may raise.
        span.set_status(Status(StatusCode.ERROR, name))
        message = str(error)
        told: dict[str, str] = {}
        if runtime is not None and runtime.shared:
            message = runtime.redactor.text(message)
            told["exception.message"] = message
            told["exception.stacktrace"] = runtime.described_failure(error)
        span.set_status(Status(StatusCode.ERROR, f"{name}: {message}"))
        if isinstance(error, Exception):
            span.record_exception(error, told)
