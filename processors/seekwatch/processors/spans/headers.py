"""HTTP headers on spans: lists of strings by the convention, plain strings by some."""

from typing import Final

from seekwatch.core import attributes as names
from seekwatch.core.model import Validators
from seekwatch.core.otlp.view import Attributes
from seekwatch.processors.spans.cleaning import Cleaner

_FIELDS: Final = (
    ("if_none_match", names.REQUEST_HEADER + "if-none-match"),
    ("if_modified_since", names.REQUEST_HEADER + "if-modified-since"),
    ("etag", names.RESPONSE_HEADER + "etag"),
    ("last_modified", names.RESPONSE_HEADER + "last-modified"),
    ("date", names.RESPONSE_HEADER + "date"),
    ("age", names.RESPONSE_HEADER + "age"),
    ("expires", names.RESPONSE_HEADER + "expires"),
    ("cache_control", names.RESPONSE_HEADER + "cache-control"),
    ("vary", names.RESPONSE_HEADER + "vary"),
    ("retry_after", names.RESPONSE_HEADER + "retry-after"),
)


def read_validators(span: Attributes, cleaner: Cleaner) -> Validators | None:
    """Return the caching headers of a request and its response; None when there is none."""
    found: dict[str, str] = {}
    for field, key in _FIELDS:
        if key in span:
            value = cleaner.header(key, header(span, key))
            if value is not None:
                found[field] = value
    return Validators(**found) if found else None


def header(span: Attributes, key: str) -> str | None:
    """Return a header's value; several lines of one header are joined by commas (RFC 9110, 5.3)."""
    value = span.get(key)
    if isinstance(value, list):
        return ", ".join(item for item in value if isinstance(item, str)) or None
    return value if isinstance(value, str) else None
