"""Traces, log records and clocks for tests: what an instrumented agent would send, made by hand.

Your tests and ours need the same three things: a trace whose every number is known, the log record
that would carry it, and a clock that stands still. Everything here is deterministic: equal calls
give equal bytes.

    request = (
        TraceBuilder("finder")
        .agent("When did the bridge open?")
        .search("bridge opening date", [result("https://example.org/bridge", title="The bridge")])
        .fetch("https://example.org/bridge", html="<p>The bridge opened in 1932.</p>")
        .generation("gpt-4o-mini", input_tokens=120, output_tokens=20)
        .answer("It opened in 1932.", citations=[{"url": "https://example.org/bridge"}])
        .request()
    )

`span`, `log`, `traces_request` and `logs_request` build telemetry of any other dialect.
"""

from seekwatch.core.extras import needs

with needs("monitor"):
    from seekwatch.core.fixed_clock import FixedClock
    from seekwatch.core.otlp.building import (
        START,
        AttributeMap,
        AttributeValue,
        log,
        log_record,
        logs_request,
        span,
        span_id,
        trace_id,
        traces_request,
    )
    from seekwatch.core.sdk_shapes import body_attributes, result, timestamp
    from seekwatch.core.trace_builder import TraceBuilder

__all__ = [
    "START",
    "AttributeMap",
    "AttributeValue",
    "FixedClock",
    "TraceBuilder",
    "body_attributes",
    "log",
    "log_record",
    "logs_request",
    "result",
    "span",
    "span_id",
    "timestamp",
    "trace_id",
    "traces_request",
]
