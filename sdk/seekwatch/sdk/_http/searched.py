"""What the span of a search says: the query that was sent, and the results that came."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from seekwatch.core import attributes
from seekwatch.sdk._runtime import Masked
from seekwatch.sdk._search import results
from seekwatch.sdk._search.documents import document_attributes

from . import bodies
from .bodies import Body

if TYPE_CHECKING:
    from .spans import Ended


def search_attributes(ended: "Ended", body: Body) -> tuple[dict[str, Any], Masked | None]:
    """Return what the call of a search API asked and found, and its results, masked already."""
    call = ended.call
    api = call.api
    if api is None:
        return {}, None
    request = call.request
    query = results.read_query(api, request.query, request.body(), request.path)
    values: dict[str, Any] = {
        attributes.SEARCH_PROVIDER: api.name,
        attributes.DATA_SOURCE_ID: api.name,
        attributes.SOURCE_TYPE: attributes.SOURCE_TYPE_WEB,
    }
    if query.text is not None:
        values[attributes.SEARCH_QUERY] = query.text
        values[attributes.RETRIEVAL_QUERY_TEXT] = query.text
        values[attributes.INPUT_VALUE] = query.text
    else:
        values[attributes.SEARCH_MISSING] = ["query"]
    if query.top_k is not None:
        values[attributes.RETRIEVAL_TOP_K] = query.top_k
    if ended.response is None or ended.response.status >= 400:
        return values, None
    if not body.whole:
        complete = ended.capture is not None and ended.capture.complete
        reason = results.TOO_LARGE if complete else bodies.CLOSED_EARLY
        return {**values, attributes.SEARCH_UNREAD: reason}, None
    called_at = datetime.fromtimestamp(call.started_ns / 1e9, UTC)
    documents, unread = results.read_results(api, body.data, called_at)
    if unread is not None:
        return {**values, attributes.SEARCH_UNREAD: unread}, None
    absent = [*values.get(attributes.SEARCH_MISSING, ()), *results.missing(documents)]
    if absent:
        values[attributes.SEARCH_MISSING] = absent
    return values, document_attributes(call.runtime, documents, api.name)
