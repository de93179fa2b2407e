"""Tells a finished call to a fetch API as fetches of the pages that it brought.

The first page is the call's own TOOL span; every other one is a span beside it, so that each can
be the evidence for a citation.
"""

from typing import TYPE_CHECKING, Any

from opentelemetry.trace import Span, SpanKind

from seekwatch.core import attributes
from seekwatch.sdk._http import bodies
from seekwatch.sdk._http.bodies import Body
from seekwatch.sdk._http.messages import ResponseView

from .apis import FetchApi
from .pages import UNKNOWN_SHAPE, FetchedPage, read_pages, targets

if TYPE_CHECKING:
    from seekwatch.sdk._http.call import HttpCall


def fetched_pages(
    api: FetchApi, call: "HttpCall", response: ResponseView | None, body: Body
) -> list[FetchedPage]:
    """Return the pages of a call, at least one: where nothing came, what was asked for."""
    asked = targets(api, call.request)
    pages: list[FetchedPage] = []
    answered = response is not None and (response.status < 400 or response.status in api.passed)
    if response is not None and answered and body.whole:
        pages = read_pages(
            api, asked, body.data, response.header("content-type") or "", response.header
        )
    return pages or [FetchedPage(url) for url in asked[:1]] or [FetchedPage(None)]


def page_attributes(
    api: FetchApi,
    call: "HttpCall",
    page: FetchedPage,
    response: ResponseView | None,
    missing: str = UNKNOWN_SHAPE,
) -> dict[str, Any]:
    """Return what a TOOL span says of one page, beside what is said of every HTTP call.

    Args:
        api: that was called.
        call: the call.
        page: one of its pages.
        response: the API's answer, if one came.
        missing: why there is no body, where there is none.
    """
    runtime = call.runtime
    values = _addresses(page) | _result(api, page, response)
    values |= {
        attributes.FETCH_API: api.name,
        attributes.FETCH_ADAPTER: "cache" if page.from_cache else api.adapter,
        attributes.FETCH_ACTION: "read",
    }
    if page.from_cache:
        values[attributes.FETCH_FROM_CACHE] = True
    if page.content_type:
        values[attributes.CONTENT_TYPE] = page.content_type
    if page.data is None:
        return values if response is None else values | {attributes.CONTENT_OMITTED: missing}
    return values | bodies.body_attributes(
        Body(page.data, whole=True, wire_bytes=None),
        page.content_type,
        runtime.redactor,
        cap=runtime.config.page_bytes if runtime.config.capture_content else 0,
        value_limit=runtime.value_limit,
    )


def _addresses(page: FetchedPage) -> dict[str, Any]:
    values: dict[str, Any] = {}
    url = page.url or page.final_url
    if url is not None:
        # The API asks for the page by GET, whatever it was asked by itself.
        values |= {attributes.HTTP_METHOD: "GET", attributes.URL_FULL: url}
        values[attributes.SOURCE_URL] = page.final_url or url
    if page.final_url is not None:
        values[attributes.FETCH_FINAL_URL] = page.final_url
    return values


def _result(api: FetchApi, page: FetchedPage, response: ResponseView | None) -> dict[str, Any]:
    """Return the page's own status and error; what the API says of the call is not the page's."""
    values: dict[str, Any] = {}
    status = page.status
    if status is None and response is not None and response.status in api.passed:
        status = response.status
    if status is not None:
        values[attributes.HTTP_STATUS] = status
    if page.error is not None:
        values[attributes.ERROR_TYPE] = page.error
    elif status is not None and status >= 400:
        values[attributes.ERROR_TYPE] = str(status)
    return values


def beside(call: "HttpCall") -> Span:
    """Start the span of one more page of a call."""
    return call.runtime.tracer.start_span(
        f"execute_tool {call.adapter}",
        call.parent,
        SpanKind.INTERNAL,
        {
            **call.runtime.common,
            attributes.SPAN_KIND: attributes.KIND_TOOL,
            attributes.OPERATION_NAME: attributes.OPERATION_EXECUTE_TOOL,
            attributes.GENAI_TOOL_NAME: call.adapter,
        },
        start_time=call.started_ns,
    )
