"""Is anything arriving, from whom, and is it all of it?"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seekwatch.core.attributes import SERVICE_NAME
from seekwatch.core.errors import UndecodableError
from seekwatch.core.otlp.requests import RawItem, raw_items
from seekwatch.core.otlp.view import Group
from seekwatch.core.records import Signal

from .durations import ago
from .findings import Arrived, Finding, note, ok, wrong

_SILENT: Final = 3_600.0
"""Seconds without a span that are worth a word."""

_THRESHOLD: Final = re.compile(r"(?:^|[,;])\s*ot=[^,]*\bth:([0-9a-f]{1,14})")
"""OpenTelemetry's consistent sampling: `tracestate` carries the rejection threshold, of 56 bits
(W3C tracestate `ot=th:…`)."""


def examine_arrivals(arrived: Sequence[Arrived], *, now: float, endpoint: str) -> list[Finding]:
    """Look at the newest records of spans.

    Args:
        arrived: oldest first.
        now: seconds since the epoch.
        endpoint: where agents are to send to.
    """
    if not arrived:
        return [
            wrong(
                "spans",
                "none has ever arrived",
                f'in the agent: instrument("my-agent", endpoint="{endpoint}")',
            )
        ]
    spans = list(_spans(arrived))
    services = Counter(service for service, _ in spans)
    named = ", ".join(f"{name} ({number})" for name, number in services.most_common(8))
    silence = now - arrived[-1].timestamp / 1000
    what = f"the newest arrived {ago(silence)}; of the last {len(spans)}: {named}"
    if silence > _SILENT:
        step = "is the agent at work, and does it send here? See its log for export errors"
        return [note("spans", what, step), *_sampling(spans)]
    return [ok("spans", what), *_sampling(spans)]


def _sampling(spans: Iterable[tuple[str, Span]]) -> Iterator[Finding]:
    """Find services whose spans were sampled before they came."""
    ratios: dict[str, float] = {}
    for service, span in spans:
        match = _THRESHOLD.search(span.trace_state)
        if match:
            threshold = int(match[1].ljust(14, "0"), 16)
            ratios[service] = 1 - threshold / (1 << 56)
    for service, ratio in sorted(ratios.items()):
        if ratio < 1:
            yield note(
                "sampling",
                f"{service} sends {ratio:.1%} of its traces",
                "counts are of those runs alone; for all of them set OTEL_TRACES_SAMPLER="
                "parentbased_always_on, and sample after Seekwatch",
            )


def _spans(arrived: Iterable[Arrived]) -> Iterator[tuple[str, Span]]:
    for record in arrived:
        try:
            items = raw_items(record.value, Signal.TRACES)
        except UndecodableError:
            continue  # the worker has put it among the dead letters, which are looked at too
        for item in items:
            try:
                yield _service(item), Span.FromString(item.raw)
            except DecodeError:
                continue


def _service(item: RawItem) -> str:
    try:
        return Group(item.resource, b"").resource.text(SERVICE_NAME) or "without service.name"
    except UndecodableError:
        return "unreadable resource"
