"""One run of an agent as the SDK would trace it, built step by step for tests."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from seekwatch.core import attributes as names
from seekwatch.core.fixed_clock import FixedClock
from seekwatch.core.otlp.building import (
    START,
    AttributeMap,
    AttributeValue,
    log_record,
    span,
    span_id,
    trace_id,
    traces_request,
)
from seekwatch.core.otlp.requests import RawItem, raw_items
from seekwatch.core.otlp.view import STATUS_ERROR
from seekwatch.core.records import LogRecord, Signal
from seekwatch.core.sdk_shapes import (
    body_attributes,
    generation_attributes,
    header_attributes,
    hops_json,
    search_attributes,
    timestamp,
)

_SECOND: Final = 1_000_000_000
_STEP: Final = 1_000_000


class TraceBuilder:
    """One run of an agent that the SDK instruments, step by step.

    Every step adds a span under the current parent and moves the builder's clock on by its
    duration plus a millisecond. `agent()` comes first; `answer()` or `stop()` ends the run.

    Args:
        name: the agent's name.
        seed: ids depend on it and the order of the steps alone; defaults to the name.
        start: nanoseconds since the epoch.
        environment, release, service: resource attributes; None leaves one out.
    """

    def __init__(
        self,
        name: str = "test-agent",
        *,
        seed: str | None = None,
        start: int = START,
        environment: str | None = "production",
        release: str | None = "1.0.0",
        service: str | None = None,
    ) -> None:
        self.name = name
        self.seed = name if seed is None else seed
        self.trace = trace_id(self.seed)
        self.clock = FixedClock(start)
        self.resource: dict[str, AttributeValue | None] = {
            names.SERVICE_NAME: service or name,
            names.SERVICE_VERSION: release,
            names.ENVIRONMENT: environment,
            names.SDK_VERSION: "0.1.0",
        }
        self._start = start
        self._root: dict[str, AttributeValue | None] | None = None
        self._root_status = 0
        self._children: list[ProtoSpan] = []
        self._count = 0
        self._attempts: dict[tuple[str, str], int] = {}

    @property
    def root_id(self) -> str:
        """Span id of the run's AGENT span."""
        return span_id(f"{self.seed}/root")

    @property
    def last_id(self) -> str:
        """Span id of the step that was added last."""
        return self._children[-1].span_id.hex()

    def agent(self, question: str, **attributes: AttributeValue) -> Self:
        """Begin the run; keywords are attributes of ours by their short name (`lane="canary"`)."""
        self._root = {
            names.SPAN_KIND: names.KIND_AGENT,
            names.OPERATION_NAME: names.OPERATION_INVOKE_AGENT,
            names.AGENT_NAME: self.name,
            names.QUESTION: question,
            names.INPUT_VALUE: question,
        }
        return self.context(**attributes)

    def context(self, **attributes: AttributeValue) -> Self:
        """Set run attributes by the last part of their name: `lane`, `case`, `as_of` and so on."""
        self._set({f"seekwatch.run.{key}": value for key, value in attributes.items()})
        return self

    def limits(self, **limits: float) -> Self:
        """Set the run's limits: `deadline` (s), `budget` (US dollars), `attempts` and so on."""
        self._set({f"{names.LIMIT_PREFIX}{key}": value for key, value in limits.items()})
        return self

    def attribute(self, key: str, value: AttributeValue | None) -> Self:
        """Set any attribute of the run's AGENT span."""
        self._set({key: value})
        return self

    def search(
        self,
        query: str,
        results: Sequence[Mapping[str, Any]] | None = (),
        *,
        provider: str = "tavily",
        seconds: float = 0.3,
        unread_reason: str | None = None,
        error: str | None = None,
    ) -> Self:
        """Add a RETRIEVER span and the TOOL span of its wire call.

        Args:
            query: as sent.
            results: see `result`; None with an `unread_reason` for a response that was not read.
            provider: name of the search API.
            seconds: duration.
            unread_reason: a word of `attributes.SEARCH_UNREAD`.
            error: `error.type`.
        """
        documents = None if results is None else [dict(item) for item in results]
        for rank, document in enumerate(documents or [], start=1):
            document.setdefault("id", document.get("url"))
            document.setdefault("rank", rank)
        retriever = self._next_id()
        start = self.clock.nanoseconds()
        self._wire_search(retriever, provider, seconds, error)
        self._add(
            f"retrieval {provider}",
            search_attributes(query, documents, provider, unread_reason, error),
            span=retriever,
            start=start,
            seconds=seconds,
            error=error,
        )
        return self

    def fetch(
        self,
        url: str,
        *,
        status: int | None = 200,
        html: str | None = None,
        method: str = "GET",
        adapter: str = "fetch",
        final_url: str | None = None,
        hops: Sequence[tuple[str, int, str | None]] = (),
        content_type: str | None = "text/html; charset=utf-8",
        headers: Mapping[str, str] | None = None,
        sent: Mapping[str, str] | None = None,
        error: str | None = None,
        truncated: bool = False,
        omitted: str | None = None,
        seconds: float = 0.2,
        **attributes: AttributeValue,
    ) -> Self:
        """Add a TOOL span of a page fetch.

        Args:
            url: as requested.
            status: None when no response came.
            html: the body; None for none.
            method: upper case.
            adapter: cache, fetch, search, crawl, browser or stealth.
            final_url: after redirects.
            hops: (url, status, location) of each redirect followed.
            content_type: of the response.
            headers: response headers, of `attributes.RESPONSE_HEADERS`.
            sent: request headers, of `attributes.REQUEST_HEADERS`.
            error: `error.type`.
            truncated: say that the body is only a beginning.
            omitted: why there is no body.
            seconds: duration.
            attributes: more of ours by the last part of their name (`cache_scope="user-1"`).
        """
        attempt = self._attempts.get((method, url), 0) + 1
        self._attempts[method, url] = attempt
        start = self.clock.nanoseconds()
        self._add(
            f"{method} {adapter}",
            {
                names.SPAN_KIND: names.KIND_TOOL,
                names.OPERATION_NAME: names.OPERATION_EXECUTE_TOOL,
                names.TOOL_NAME: "fetch",
                names.HTTP_METHOD: method,
                names.URL_FULL: url,
                names.HTTP_STATUS: status,
                names.HTTP_DURATION: seconds,
                names.ERROR_TYPE: error,
                names.FETCH_ADAPTER: adapter,
                names.FETCH_ATTEMPT: attempt,
                names.FETCH_FINAL_URL: final_url or (url if status is not None else None),
                names.FETCH_HOPS: hops_json(hops),
                names.RETRIEVED_AT: timestamp(start + round(seconds * _SECOND)),
                names.CONTENT_TRUNCATED: True if truncated else None,
                names.CONTENT_OMITTED: omitted,
                **header_attributes(names.REQUEST_HEADER, sent or {}),
                **header_attributes(names.RESPONSE_HEADER, headers or {}),
                **body_attributes(html, content_type),
                **{f"seekwatch.fetch.{key}": value for key, value in attributes.items()},
            },
            seconds=seconds,
            error=error,
        )
        return self

    def generation(
        self,
        model: str | None = "gpt-4o-mini",
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        text: str | None = None,
        provider: str = "openai",
        error: str | None = None,
        seconds: float = 0.5,
    ) -> Self:
        """Add an LLM span; `text` is what the model wrote, token counts of None are not sent."""
        self._add(
            f"chat {model}",
            generation_attributes(model, input_tokens, output_tokens, text, provider, error),
            seconds=seconds,
            error=error,
        )
        return self

    def rail(self, name: str, *, label: str, score: float | None = None) -> Self:
        """Add a GUARDRAIL span with its result."""
        self._add(
            name,
            {
                names.SPAN_KIND: names.KIND_GUARDRAIL,
                names.EVALUATION_NAME: name,
                names.EVALUATION_LABEL: label,
                names.EVALUATION_SCORE: score,
            },
            seconds=0.01,
        )
        return self

    def answer(
        self,
        text: str,
        citations: Sequence[Mapping[str, Any]] | None = None,
        *,
        stop_reason: str = "answered",
    ) -> Self:
        """End the run with an answer; `citations` are objects with at least a `url`."""
        self._set(
            {
                names.ANSWER: text,
                names.OUTPUT_VALUE: text,
                names.STOP_REASON: stop_reason,
                names.CITATIONS: (
                    None
                    if citations is None
                    else json.dumps([dict(item) for item in citations], ensure_ascii=False)
                ),
            }
        )
        return self

    def stop(self, reason: str, *, error: str | None = None) -> Self:
        """End the run without an answer: refused, deadline, budget or crashed."""
        self._set({names.STOP_REASON: reason, names.ERROR_TYPE: error})
        if error is not None:
            self._root_status = STATUS_ERROR
        return self

    def wait(self, seconds: float) -> Self:
        """Let time pass without a span."""
        self.clock.advance(seconds)
        return self

    def span(self, built: ProtoSpan) -> Self:
        """Add a span made elsewhere, as it is; see the function `span`."""
        self._children.append(built)
        return self

    def spans(self, *, root: bool = True) -> list[ProtoSpan]:
        """Return the spans, children first as an SDK exports them; without the root it is open."""
        if not root:
            return list(self._children)
        return [*self._children, self._root_span()]

    def request(self, *, root: bool = True) -> bytes:
        """Return the run as one OTLP export request."""
        return self._encode(self.spans(root=root))

    def requests(self, size: int) -> list[bytes]:
        """Return the run as several requests of at most `size` spans, in order."""
        spans = self.spans()
        return [self._encode(spans[at : at + size]) for at in range(0, len(spans), size)]

    def items(self, *, root: bool = True) -> list[RawItem]:
        """Return the run's spans as the assembler holds them."""
        return raw_items(self.request(root=root), Signal.TRACES)

    def record(self, *, offset: int = 0, partition: int = 0, root: bool = True) -> LogRecord:
        """Return the run as one record of the log, stamped with the builder's time."""
        return log_record(
            self.request(root=root),
            offset=offset,
            partition=partition,
            timestamp=self.clock.milliseconds(),
            key=self.trace,
        )

    def _encode(self, spans: Sequence[ProtoSpan]) -> bytes:
        return traces_request(
            spans, resource=self.resource, scope="seekwatch.sdk", scope_version="0.1.0"
        )

    def _set(self, attributes: AttributeMap) -> None:
        if self._root is None:
            raise ValueError("call agent(question) first: it begins the run")
        self._root.update(attributes)

    def _root_span(self) -> ProtoSpan:
        if self._root is None:
            raise ValueError("call agent(question) first: it begins the run")
        return span(
            f"invoke_agent {self.name}",
            self._root,
            trace=self.trace,
            span=self.root_id,
            start=self._start,
            end=self.clock.nanoseconds(),
            status=self._root_status,
        )

    def _next_id(self) -> str:
        self._count += 1
        return span_id(f"{self.seed}/{self._count}")

    def _wire_search(
        self, retriever: str, provider: str, seconds: float, error: str | None
    ) -> None:
        start = self.clock.nanoseconds() + _STEP
        self._add(
            "POST search",
            {
                names.SPAN_KIND: names.KIND_TOOL,
                names.OPERATION_NAME: names.OPERATION_EXECUTE_TOOL,
                names.TOOL_NAME: "search",
                names.HTTP_METHOD: "POST",
                names.URL_FULL: f"https://api.{provider}.com/search",
                names.HTTP_STATUS: None if error else 200,
                names.FETCH_ADAPTER: "search",
                names.ERROR_TYPE: error,
            },
            parent=retriever,
            start=start,
            seconds=max(0.0, seconds - 0.002),
            error=error,
        )

    def _add(
        self,
        name: str,
        attributes: AttributeMap,
        *,
        seconds: float,
        span: str | None = None,
        parent: str | None = None,
        start: int | None = None,
        error: str | None = None,
    ) -> None:
        begin = self.clock.nanoseconds() if start is None else start
        end = begin + round(seconds * _SECOND)
        self._children.append(
            _span(
                name,
                attributes,
                trace=self.trace,
                span=span or self._next_id(),
                parent=parent or self.root_id,
                start=begin,
                end=end,
                status=STATUS_ERROR if error else 0,
            )
        )
        self.clock.advance(max(0, end + _STEP - self.clock.nanoseconds()) / _SECOND)


_span = span
"""The builder's methods shadow the name."""
