"""Turns on OpenTelemetry's own httpx instrumentation, in the convention that has seconds.

Its metric `http.client.request.duration` exists only under the stable HTTP convention. Where the
user has chosen one for HTTP (`OTEL_SEMCONV_STABILITY_OPT_IN`), theirs holds; else the stable one
is chosen for httpx alone, and what every other instrumentation does stays as it is.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor


def install(tracer_provider: Any, meter_provider: Any) -> Callable[[], None]:
    """Instrument httpx unless the agent already did; returns what undoes it."""
    instrumentor = HTTPXClientInstrumentor()
    if instrumentor.is_instrumented_by_opentelemetry:
        return lambda: None
    with _stable_http_convention():
        instrumentor.instrument(
            tracer_provider=tracer_provider,
            meter_provider=meter_provider,
            # Both packages are our own dependencies; the check reads every installed one.
            skip_dep_check=True,
        )
    return lambda: instrumentor.uninstrument()


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
