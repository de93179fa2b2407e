"""OpenTelemetry's instrumentors of the HTTP libraries, to be switched on before or after ours.

Those of requests and httpx are the real ones. Those of urllib3 and aiohttp are not released for
every version of OpenTelemetry that the tests run on: here are stand-ins which lie where they lie
and make the spans that they make.
"""

from collections.abc import Callable
from typing import Any, Final, cast

import aiohttp
import urllib3
import wrapt
from opentelemetry import trace
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.instrumentation.utils import (
    is_http_instrumentation_enabled,
    suppress_http_instrumentation,
)
from opentelemetry.trace import SpanKind

Off = Callable[[], None]


def requests_on() -> Off:
    """Wrap `Session.send`."""
    instrumentor: Any = RequestsInstrumentor()
    instrumentor.instrument()
    return cast("Off", instrumentor.uninstrument)


def httpx_on() -> Off:
    """Wrap the transports of httpx, where `instrument` has not done so."""
    instrumentor: Any = HTTPXClientInstrumentor()
    if instrumentor.is_instrumented_by_opentelemetry:
        return lambda: None
    instrumentor.instrument()
    return cast("Off", instrumentor.uninstrument)


def urllib3_on() -> Off:
    """Wrap `HTTPConnectionPool.urlopen`."""
    tracer = trace.get_tracer("opentelemetry.instrumentation.urllib3")

    def urlopen(wrapped: Any, instance: Any, args: Any, options: Any) -> Any:
        if not is_http_instrumentation_enabled():
            return wrapped(*args, **options)
        method = options.get("method") or args[0]
        url = options.get("url") or args[1]
        described = {
            "http.method": method,
            "http.url": f"{instance.scheme}://{instance.host}:{instance.port}{url}",
        }
        with (
            tracer.start_as_current_span(method, kind=SpanKind.CLIENT, attributes=described),
            suppress_http_instrumentation(),
        ):
            return wrapped(*args, **options)

    pool: Any = urllib3.HTTPConnectionPool
    below = pool.urlopen
    pool.urlopen = wrapt.FunctionWrapper(below, urlopen)

    def off() -> None:
        pool.urlopen = below

    return off


def aiohttp_on() -> Off:
    """Give every session a trace configuration."""
    tracer = trace.get_tracer("opentelemetry.instrumentation.aiohttp_client")

    async def started(_: Any, context: Any, request: Any) -> None:
        described = {"http.request.method": request.method, "url.full": str(request.url)}
        context.span = tracer.start_span(request.method, kind=SpanKind.CLIENT, attributes=described)

    async def ended(_: Any, context: Any, __: Any) -> None:
        context.span.end()

    configuration = aiohttp.TraceConfig()
    configuration.on_request_start.append(started)
    configuration.on_request_end.append(ended)
    session: Any = aiohttp.ClientSession
    below = session.__init__

    def initialise(wrapped: Any, _: Any, args: Any, options: Any) -> Any:
        return wrapped(*args, trace_configs=[configuration], **options)

    session.__init__ = wrapt.FunctionWrapper(below, initialise)

    def off() -> None:
        session.__init__ = below

    return off


STOCK: Final[dict[str, Callable[[], Off]]] = {
    "requests": requests_on,
    "urllib3": urllib3_on,
    "httpx": httpx_on,
    "aiohttp": aiohttp_on,
}
"""By library: switches its instrumentor on, and returns what switches it off."""
