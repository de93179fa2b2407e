"""The last stage before the wire: redact everything, withhold content, split by bytes.

It sees every span that leaves through our exporter, those of other instrumentations included, so
a secret in a stock HTTP span's URL or in an exception's message is masked like one of our own.
"""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, Status

from seekwatch.core import attributes
from seekwatch.core.redaction import Redactor
from seekwatch.sdk._finisher import YIELD_SECONDS
from seekwatch.sdk._guard import failed, guard, say
from seekwatch.sdk._privacy.carriers import Carriers
from seekwatch.sdk._privacy.masking import Masking
from seekwatch.sdk._privacy.withholding import Withholder
from seekwatch.sdk._shapes import as_list, is_list, is_mapping
from seekwatch.sdk._version import SCOPE

from .batching import EndedSpan, held_attributes
from .quiet import quietly

REQUEST_BYTES: Final = 3 * 1024 * 1024
"""Bound for one request: gRPC servers refuse messages over 4 MiB by default."""
# How an oversized span is cut: strings to this length, then to a quarter of it, and so on.
_CUT_STRING: Final = 64 * 1024
_SHORTEST_CUT: Final = 64
_KEPT_EVENTS: Final = 16
_KEPT_ITEMS: Final = 64
_TURN_SPANS: Final = 8
"""After so many spans the agent's threads get their turn; see `YIELD_SECONDS`."""
REASONS_REFUSED: Final = ("request", "rejected", "unprepared")
"""The whole request failed; the collector took the others of it; a redaction of the user's own
raised, so the span must not leave the process."""


class ExportStage:
    """Makes spans fit to leave the process and sends them."""

    def __init__(
        self,
        exporter: SpanExporter,
        redactor: Redactor,
        withholder: Withholder | None = None,
        *,
        request_bytes: int = REQUEST_BYTES,
    ) -> None:
        self._exporter = exporter
        self._redactor = redactor
        self._withholder = withholder
        self._carriers = Carriers(redactor, withholder)
        self._request_bytes = request_bytes
        self.exported = 0
        """Spans that the collector took."""
        self.refused: dict[str, int] = dict.fromkeys(REASONS_REFUSED, 0)
        """Spans that did not arrive although there was room for them, by reason."""
        self._answers: Any = getattr(exporter, "answers", None)
        self._told = False
        self._ending = False
        self._ended = False
        # Reentrant: a signal may interrupt an export here and export in its turn.
        self._lock = threading.RLock()

    @property
    def nobody_at(self) -> str | None:
        """Where nobody listened when spans were sent last."""
        found: str | None = getattr(self._answers, "nobody_at", None)
        return found

    def hurry(self) -> None:
        """Send what is left without waiting for a collector that is not there."""
        self._ending = True
        if self._answers is not None:
            self._answers.hurry()

    @property
    def failed_spans(self) -> int:
        """Spans in requests that the collector did not take, or that could not be prepared."""
        return sum(self.refused.values())

    def export(self, batch: list[EndedSpan]) -> None:
        """Send a batch in requests of bounded size; a request that fails is not sent again."""
        request: list[ReadableSpan] = []
        size = 0
        for number, ended in enumerate(batch, 1):
            if self._ended:
                return
            if number % _TURN_SPANS == 0:
                time.sleep(YIELD_SECONDS)
            try:
                span = self._prepared(ended)
                weight = encoded_size(span)
                if weight > self._request_bytes:
                    span = _cut(span, self._request_bytes)
                    weight = encoded_size(span)
            except Exception as error:  # noqa: BLE001 - a redaction of the user's own may fail
                failed("preparing a span for export", error)
                with self._lock:
                    self.refused["unprepared"] += not self._ended
                continue
            if request and size + weight > self._request_bytes:
                self._send(request, size)
                request, size = [], 0
            request.append(span)
            size += weight
        if request:
            self._send(request, size)

    def _send(self, spans: list[ReadableSpan], size: int) -> None:
        if self._ended:
            return
        result = SpanExportResult.FAILURE
        before = self._rejected()
        with guard("sending spans"), quietly():
            result = self._exporter.export(spans)
        rejected = min(len(spans), self._rejected() - before)
        arrived = result is SpanExportResult.SUCCESS
        with self._lock:
            if self._ended:
                # Given up at the shutdown, and counted there.
                return
            if arrived:
                self.exported += len(spans) - rejected
                self.refused["rejected"] += rejected
            else:
                self.refused["request"] += len(spans)
        if not arrived:
            self._tell(spans, size, getattr(self._answers, "last_answer", "it failed"))
        elif rejected:
            self._tell(spans, size, f"it rejected {rejected} of them")

    def _rejected(self) -> int:
        return getattr(self._answers, "rejected", 0)

    def _tell(self, spans: list[ReadableSpan], size: int, why: str) -> None:
        # The first failure is told, later ones are for whoever looks: a collector that is down
        # for an hour must not fill the agent's log.
        # And what is lost at the end for want of a listener is told there, with all the rest.
        is_quiet = self._told or (self._ending and self.nobody_at is not None)
        level = logging.DEBUG if is_quiet else logging.WARNING
        self._told = True
        largest = max(spans, key=encoded_size)
        context = largest.context
        say(
            level,
            "the collector did not take %d spans (%d bytes): %s; the largest: %s, trace %s, "
            "span %s, %d bytes",
            len(spans),
            size,
            why,
            largest.name,
            format(context.trace_id, "032x") if context else "none",
            format(context.span_id, "016x") if context else "none",
            encoded_size(largest),
        )

    def shutdown(self) -> None:
        """Close the exporter; an export that waits to be retried is given up.

        What has not been counted by now never is: whoever shuts down counts it as lost.
        """
        with self._lock:
            self._ended = True
        self._exporter.shutdown()

    def _prepared(self, ended: EndedSpan) -> ReadableSpan:
        span = ended.span
        masked = Masking(self._redactor, ended.clean)
        values = masked.attributes(held_attributes(span))
        name = masked.text(span.name)
        events = tuple(masked.event(event) for event in span.events)
        links = tuple(masked.link(link) for link in span.links)
        status = masked.status(span.status)
        resource = self._carriers.resource(span.resource)
        scope = self._carriers.scope(span.instrumentation_scope)
        carried = resource is span.resource and scope is span.instrumentation_scope
        withholder = self._withholder
        if withholder is not None:
            values = {**withholder.attributes(values), attributes.CONTENT_WITHHELD: True}
            if scope is not None and scope.name != SCOPE:
                name, scope = withholder.name(name), withholder.scope(scope)
            events = tuple(map(withholder.event, events))
            links = tuple(map(withholder.link, links))
            status = withholder.status(status)
        elif carried and not masked.changed:
            return span
        if masked.count:
            values[attributes.REDACTIONS] = masked.count + _already(span)
        return PreparedSpan(span, name, values, events, links, status, resource, scope)


def _already(span: ReadableSpan) -> int:
    counted = (span.attributes or {}).get(attributes.REDACTIONS)
    return counted if isinstance(counted, int) else 0


class PreparedSpan(ReadableSpan):
    """A copy of an ended span with other values and the original's counts of what was dropped."""

    def __init__(
        self,
        original: ReadableSpan,
        name: str,
        values: Mapping[str, Any],
        events: Sequence[Event],
        links: Sequence[Link],
        status: Status,
        resource: Resource | None = None,
        scope: InstrumentationScope | None = None,
    ) -> None:
        super().__init__(
            name=name,
            context=original.context,
            parent=original.parent,
            resource=resource or original.resource,
            attributes=values,
            events=events,
            links=links,
            kind=original.kind,
            status=status,
            start_time=original.start_time,
            end_time=original.end_time,
            instrumentation_scope=scope or original.instrumentation_scope,
        )
        self._original = original

    @property
    def dropped_attributes(self) -> int:
        """Attributes that the original lost to its limits."""
        return self._original.dropped_attributes

    @property
    def dropped_events(self) -> int:
        """Events that the original lost to its limits."""
        return self._original.dropped_events

    @property
    def dropped_links(self) -> int:
        """Links that the original lost to its limits."""
        return self._original.dropped_links


def encoded_size(span: ReadableSpan) -> int:
    """Estimate a span's protobuf bytes, a little too high rather than too low."""
    size = 200 + _bytes(span.name) + _bytes(span.status.description or "")
    size += _value_size(held_attributes(span))
    size += sum(40 + _bytes(event.name) + _value_size(event.attributes) for event in span.events)
    return size + sum(60 + _value_size(link.attributes) for link in span.links)


def _value_size(value: object) -> int:
    if isinstance(value, str):
        return 16 + _bytes(value)
    if is_mapping(value):
        return 16 + sum(_bytes(key) + _value_size(item) for key, item in value.items())
    if is_list(value):
        return 16 + sum(_value_size(item) for item in as_list(value))
    return 16 + (len(value) if isinstance(value, bytes) else 8)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _cut(span: ReadableSpan, limit: int) -> ReadableSpan:
    """Make one oversized span fit: the body goes first, then long strings and events are cut."""
    values = dict(span.attributes or {})
    if values.pop(attributes.CONTENT_BODY, None) is not None:
        values.pop(attributes.CONTENT_ENCODING, None)
        values[attributes.CONTENT_OMITTED] = "too-large"
    length = _CUT_STRING
    while True:
        cut = _with_strings_cut(span, values, length)
        if encoded_size(cut) <= limit or length <= _SHORTEST_CUT:
            return cut
        length //= 4


def _with_strings_cut(span: ReadableSpan, values: Mapping[str, Any], length: int) -> ReadableSpan:
    def shortened(given: Mapping[str, Any] | None) -> dict[str, Any]:
        return {key: _shortened(value, length) for key, value in (given or {}).items()}

    events = tuple(
        Event(event.name[:length], shortened(event.attributes), event.timestamp)
        for event in list(span.events)[:_KEPT_EVENTS]
    )
    return PreparedSpan(span, span.name[:length], shortened(values), events, (), span.status)


def _shortened(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return value[:length]
    if is_list(value):
        return tuple(_shortened(item, length) for item in value[:_KEPT_ITEMS])
    return value
