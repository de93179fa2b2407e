"""Turns on OpenTelemetry's own httpx instrumentation, in the convention that has seconds.

Its metric `http.client.request.duration` exists only under the stable HTTP convention. Where the
user has chosen one for HTTP (`OTEL_SEMCONV_STABILITY_OPT_IN`), theirs holds; else the stable one
is chosen for httpx alone, and what every other instrumentation does stays as it is.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, cast

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Span

from seekwatch.core.redaction import MASK
from seekwatch.sdk._guard import guard

_INSTRUMENTORS: Final = {
    "httpx": "HTTPXClientInstrumentor",
    "httpx2": "HTTPX2ClientInstrumentor",
}
_URL_KEYS: Final = ("url.full", "http.url")

Prepare = Callable[[dict[str, Any]], dict[str, Any]]
"""From attributes to what of them may stand on a span."""


def install(
    tracer_provider: Any,
    meter_provider: Any,
    prepare: Prepare | None = None,
    library: str = "httpx",
) -> Callable[[], None]:
    """Instrument httpx unless the agent already did; returns what undoes it.

    Args:
        tracer_provider: where its spans go.
        meter_provider: where its metric goes.
        prepare: cleans the URLs on its spans as they start, for processors that are not ours.
        library: `httpx`, or `httpx2`, which has an instrumentor from release 0.66 on.
    """
    # It imports httpx2 wherever that is installed: not before it is needed.
    from opentelemetry.instrumentation import httpx as instrumentors

    found = getattr(instrumentors, _INSTRUMENTORS[library], None)
    instrumentor = None if found is None else found()
    if instrumentor is None or instrumentor.is_instrumented_by_opentelemetry:
        return lambda: None
    with _stable_http_convention():
        instrumentor.instrument(
            tracer_provider=tracer_provider,
            meter_provider=meter_provider,
            **({} if prepare is None else _hooks(prepare)),
            # Both packages are our own dependencies; the check reads every installed one.
            skip_dep_check=True,
        )
    return lambda: instrumentor.uninstrument()


def _hooks(prepare: Prepare) -> dict[str, Any]:
    def clean(span: Span, _: object) -> None:
        if not isinstance(span, ReadableSpan) or not span.is_recording():
            return
        held = span.attributes or {}
        urls = {key: held[key] for key in _URL_KEYS if key in held}
        # A redaction of the user's own may fail; what it did not clean does not stay then.
        ready: dict[str, Any] = dict.fromkeys(urls, MASK)
        with guard("cleaning the URL of a stock span"):
            ready = prepare(urls)
        span.set_attributes(ready)

    async def clean_async(span: Span, request: object) -> None:
        clean(span, request)

    return {"request_hook": clean, "async_request_hook": clean_async}


@contextmanager
def _stable_http_convention() -> Generator[None]:
    opted_in = os.environ.get("OTEL_SEMCONV_STABILITY_OPT_IN", "").split(",")
    if {part.strip() for part in opted_in} & {"http", "http/dup"}:
        yield
        return
    from opentelemetry.instrumentation import _semconv

    # The instrumentor reads the process-wide choice once, while it is being turned on.
    stability = cast("Any", _semconv)._OpenTelemetrySemanticConventionStability
    signal = cast("Any", _semconv)._OpenTelemetryStabilitySignalType.HTTP
    stability._initialize()
    modes: dict[Any, Any] = stability._OTEL_SEMCONV_STABILITY_SIGNAL_MAPPING
    before = modes.get(signal)
    modes[signal] = cast("Any", _semconv)._StabilityMode.HTTP
    try:
        yield
    finally:
        modes[signal] = before
