"""One HTTP call of the agent, from before it is sent until its body is over.

On the agent's thread only what must be there: start the spans, note times and references. What
the spans will say is worked out on the finisher's thread (`spans`).
"""

import time
from typing import TYPE_CHECKING, Any, Final, Literal

from opentelemetry.context import Context, get_current, get_value
from opentelemetry.instrumentation.utils import is_http_instrumentation_enabled
from opentelemetry.trace import Span, SpanKind, get_current_span, set_span_in_context

from seekwatch.core import attributes
from seekwatch.sdk._context import attach, detach
from seekwatch.sdk._guard import guarded
from seekwatch.sdk._llm import calls
from seekwatch.sdk._runs.run import parent_context
from seekwatch.sdk._runtime import Runtime, current
from seekwatch.sdk._search.apis import SearchApi

from .bodies import Capture
from .exchanges import Exchange
from .messages import RequestView, ResponseView
from .spans import Ended

if TYPE_CHECKING:
    from seekwatch.sdk._fetch.apis import FetchApi

Kind = Literal["fetch", "search", "llm", "look"]
"""A look for the answer of an earlier call has no spans of its own."""

_READ_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
STOCK_SCOPES: Final = frozenset(
    f"opentelemetry.instrumentation.{library}"
    for library in ("httpx", "requests", "urllib3", "aiohttp_client")
)
"""Scopes of OpenTelemetry's own spans of the libraries that we wrap."""
_OTLP_PATHS: Final = ("/v1/traces", "/v1/metrics", "/v1/logs")


class HttpCall:
    """The spans of one call and what is known about it so far."""

    __slots__ = (
        "_ended",
        "_token",
        "adapter",
        "api",
        "counted_above",
        "exchanges",
        "fetch_api",
        "kind",
        "outer",
        "parent",
        "request",
        "runtime",
        "started_ns",
        "wire",
    )

    def __init__(
        self,
        runtime: Runtime,
        request: RequestView,
        kind: Kind,
        api: SearchApi | None,
    ) -> None:
        self.runtime = runtime
        self.request = request
        self.kind: Kind = kind
        self.api = api
        self.adapter = "search" if kind == "search" else "fetch"
        """How the page was got: one of the closed set of `seekwatch.fetch.adapter`."""
        self.fetch_api: FetchApi | None = None
        """The API that fetches pages for the agent, where the call goes to one."""
        self.counted_above = False
        """Of a model call: the current span is another telling of it, with its tokens."""
        self.exchanges: list[Exchange] = []
        self.outer: Span | None = None
        """The RETRIEVER or LLM span; None for a plain fetch."""
        self.parent: Context | None = None
        """The context that the TOOL span was started in."""
        self.wire: Span | None = None
        """The TOOL span; None for a model call."""
        self._ended = False
        self._token: Any = None
        self.started_ns = time.time_ns()

    def start(self) -> None:
        """Start the spans and make the innermost one current."""
        # A look opens no run, as it has no spans.
        context = get_current() if self.kind == "look" else self.open(parent_context())
        self._token = attach(context)

    def open(self, context: Context) -> Context:
        """Start the spans with the call's own start; returns the context of the innermost one.

        Args:
            context: what they belong to.
        """
        if self.kind != "fetch":
            name, kind, operation = _OUTER[self.kind]
            self.outer = self.runtime.start_span(
                name if self.api is None else f"{name} {self.api.name}",
                context,
                SpanKind.CLIENT,
                {
                    **self.runtime.common,
                    attributes.SPAN_KIND: kind,
                    attributes.OPERATION_NAME: operation,
                },
                self.started_ns,
            )
            context = set_span_in_context(self.outer, context)
        self.parent = context
        if self.kind != "llm":
            tool = self.adapter
            self.wire = self.runtime.start_span(
                f"execute_tool {tool}",
                context,
                SpanKind.INTERNAL,
                {
                    **self.runtime.common,
                    attributes.SPAN_KIND: attributes.KIND_TOOL,
                    attributes.OPERATION_NAME: attributes.OPERATION_EXECUTE_TOOL,
                    attributes.GENAI_TOOL_NAME: tool,
                },
                self.started_ns,
            )
            context = set_span_in_context(self.wire, context)
        return context

    @property
    def action(self) -> str:
        """What the call does to the other side, as far as its method tells."""
        if self.request.method in _READ_METHODS or self.kind == "search" or self.fetch_api:
            return "read"
        return "destructive" if self.request.method == "DELETE" else "write"

    def exchange(self, asked: RequestView | str) -> Exchange:
        """Begin one request inside the call, known by itself or by its URL alone."""
        exchange = Exchange(asked)
        self.exchanges.append(exchange)
        return exchange

    def leave(self) -> None:
        """Make the agent's own span current again; the caller's context is its own."""
        detach(self._token)

    @guarded("a failed request")
    def failed(self, error: BaseException) -> None:
        """End the spans of a call that raised."""
        self.end(Ended(self, time.time_ns(), error=error))

    def answered(self, response: ResponseView) -> None:
        """End the spans of a call whose whole answer is there."""
        self.end(Ended(self, time.time_ns(), response))

    def over(
        self, response: ResponseView, capture: Capture, error: BaseException | None = None
    ) -> None:
        """End the spans of a call whose body was streamed, once it is over."""
        self.end(Ended(self, time.time_ns(), response, error, capture))

    @property
    def recording(self) -> bool:
        """Whether there is a span that its answer would end; an unsampled call has none."""
        if self.kind == "look":
            return not self._ended
        span = self.wire or self.outer
        return not self._ended and span is not None and span.is_recording()

    def end(self, ended: Ended) -> None:
        """Hand the call over to be told; only the first time counts."""
        if not self.recording:
            return
        self._ended = True
        self.runtime.finisher.submit(ended)


_OUTER: Final = {
    "search": ("retrieval", attributes.KIND_RETRIEVER, attributes.OPERATION_RETRIEVAL),
    "llm": ("chat", attributes.KIND_LLM, attributes.OPERATION_CHAT),
}


def begin(request: RequestView) -> HttpCall | None:
    """Start the spans of a call; None when it is to go through unseen by us."""
    call = _recognised(request)
    if call is not None:
        call.start()
    return call


def is_told(request: RequestView) -> bool:
    """Tell whether a request that is sent now would have spans of ours."""
    call = _recognised(request)
    return call is not None and call.kind != "look"


def _recognised(request: RequestView) -> HttpCall | None:
    runtime = current()
    if runtime is None or _is_suppressed(get_current()) or _is_excluded(runtime, request):
        return None
    method, host, port, path = request.method, request.host, request.port, request.path
    api = runtime.index.find(method, host, port, path, lambda: (request.query, _form(request)))
    if api is not None:
        call = HttpCall(runtime, request, "search", api)
    elif (asked := calls.recognise(request)) is None:
        call = HttpCall(runtime, request, "fetch", None)
        fetch_api = runtime.fetch_index.find(method, host, port, path)
        if fetch_api is not None:
            call.fetch_api = fetch_api
            call.adapter = fetch_api.adapter
    elif asked == "generation":
        covered = calls.coverage(get_current_span(), request)
        if covered is calls.Coverage.FULL:
            return None
        call = HttpCall(runtime, request, "llm", None)
        call.counted_above = covered is calls.Coverage.COUNTED
    elif asked == "look":
        call = HttpCall(runtime, request, "look", None)
    else:
        return None
    return call


def _is_suppressed(context: Context) -> bool:
    for key in context:
        # Each release has keys of its own for it, and all of them begin so.
        if key.startswith("suppress"):
            break
    else:
        return False
    if get_value("suppress_instrumentation"):
        return True
    if is_http_instrumentation_enabled():
        return False
    # A stock instrumentation that lies around ours keeps others from telling its request again;
    # what it tells is not what we do.
    scope: Any = getattr(get_current_span(), "instrumentation_scope", None)
    return getattr(scope, "name", None) not in STOCK_SCOPES


def _is_excluded(runtime: Runtime, request: RequestView) -> bool:
    """Tell what goes to a collector, or is on the user's own list."""
    port = request.port or (443 if request.scheme == "https" else 80)
    if (request.host, port) in runtime.ignored_hosts:
        return True
    if request.method == "POST" and request.path.endswith(_OTLP_PATHS):
        return True
    return runtime.excluded is not None and runtime.excluded(request.url)


def _form(request: RequestView) -> str:
    """Return a form body as it was sent; one that is streamed is not waited for."""
    if request.method != "POST":
        return ""
    if not (request.header("content-type") or "").startswith("application/x-www-form-urlencoded"):
        return ""
    return (request.body() or b"").decode("ascii", "replace")
