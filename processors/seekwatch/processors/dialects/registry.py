"""Which dialect reads a span: one list, one documented order.

A span is given to the first dialect that claims it, by the keys on it: never by its resource, for
one trace often holds three dialects, and not by its scope alone, for applications write spans of
every convention under scopes of their own.

Order, and why:

1. `seekwatch`: our own spans carry the keys of two other conventions as well.
2. `openinference`: `openinference.span.kind` is explicit about what a span is, and instrumentors
   that add GenAI keys beside it mean the same span.
3. `genai`: `gen_ai.operation.name`, explicit too, but on spans of other vendors a retelling.
4. `http`: what any HTTP client's instrumentation says; the last, since every span above may carry
   HTTP keys.

A dialect that is added goes in the order of `openinference.span.kind` and its kin, then
`langfuse.observation.type`, `mlflow.spanType`, `langsmith.span.kind`, `traceloop.span.kind`, then
`gen_ai.operation.name`, `llm.request.type`, `mcp.method.name`, HTTP keys, span names.
"""

from typing import Final

from seekwatch.core.otlp.view import LogView, SpanView
from seekwatch.processors.dialects.base import Dialect, SpanFacts
from seekwatch.processors.dialects.genai import GenAi
from seekwatch.processors.dialects.http import PlainHttp
from seekwatch.processors.dialects.openinference import OpenInference
from seekwatch.processors.dialects.seekwatch_sdk import SeekwatchSdk
from seekwatch.processors.spans.cleaning import Cleaner

DIALECTS: Final[tuple[Dialect, ...]] = (SeekwatchSdk(), OpenInference(), GenAi(), PlainHttp())
"""In order of precedence."""

UNKNOWN: Final = "unknown"


def read_span(span: SpanView, logs: list[LogView], cleaner: Cleaner) -> SpanFacts:
    """Read a span by the first dialect that claims it; a span of none only has its place."""
    for dialect in DIALECTS:
        if dialect.claims(span):
            return dialect.read(span, logs, cleaner)
    return SpanFacts(span, UNKNOWN)
