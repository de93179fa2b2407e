"""Masks every part of a span by what its key says, and makes it fit for the wire.

Used twice: by the finisher on what it puts on spans of ours, and by the last stage before the
wire on everything else.
"""

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.sdk.trace import Event
from opentelemetry.trace import Link, Status

from seekwatch.core import attributes
from seekwatch.core.redaction import MASK, Redactor
from seekwatch.sdk._shapes import as_list, as_mapping, is_list, is_mapping

_URL_KEYS: Final = frozenset(
    {
        attributes.URL_FULL,
        attributes.FETCH_FINAL_URL,
        attributes.SOURCE_URL,
        "http.url",
        "http.request.header.referer",
        f"{attributes.RESPONSE_HEADER}location",
    }
)
_QUERY_KEYS: Final = frozenset({"url.query", "http.target", "url.path"})
_WIRE_BITS: Final = 63
"""An integer of OTLP has 64 bits, one of them for the sign."""
# Compressed by us after redaction: scanning it would cost most and could only damage it.
_OPAQUE_KEYS: Final = frozenset({attributes.CONTENT_BODY, attributes.CONTENT_HASH})


class Masking:
    """Masks the parts of one span and counts what it masked.

    Args:
        redactor: what a secret is.
        clean: keys whose values have been masked already.
    """

    def __init__(self, redactor: Redactor, clean: frozenset[str] = frozenset()) -> None:
        self._redactor = redactor
        self._clean = clean
        self.count = 0
        """Secrets masked so far."""
        self.changed = False
        """Whether anything differs from what was given."""

    def _counted(self, before: str, after: str) -> str:
        if before != after:
            self.count += max(1, after.count(MASK) - before.count(MASK))
            self.changed = True
        return after if after.isascii() else self._encodable(after)

    def _encodable(self, text: str) -> str:
        """Replace lone surrogates, which JSON can carry and UTF-8, so the wire, can not."""
        try:
            text.encode()
        except UnicodeEncodeError:
            self.changed = True
            return text.encode(errors="replace").decode()
        return text

    def _number(self, value: float) -> float | str:
        """Return an integer that the wire has no room for as text."""
        if isinstance(value, int) and value.bit_length() > _WIRE_BITS:
            self.changed = True
            return str(value)
        return value

    def text(self, value: str) -> str:
        """Mask a text."""
        return self._counted(value, self._redactor.text(value))

    def url(self, value: str) -> str:
        """Mask a URL."""
        return self._counted(value, self._redactor.url(value))

    def _string(self, key: str, value: str) -> str:
        if key in _URL_KEYS:
            return self.url(value)
        if key in _QUERY_KEYS:
            return self._counted(value, self._redactor.query(value))
        return self._counted(value, self._redactor.attribute(key, value))

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            return self._string(key, value)
        if is_mapping(value):
            inner = as_mapping(value)
            return {str(name): self._value(str(name), item) for name, item in inner.items()}
        if is_list(value):
            return tuple(self._value(key, item) for item in as_list(value))
        return self._number(value) if type(value) is int else value

    def attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Mask the values of attributes, each by its key."""
        return {
            key: value
            if key in _OPAQUE_KEYS or key in self._clean or type(value) in {float, bool}
            else self._value(key, value)
            for key, value in values.items()
        }

    def event(self, event: Event) -> Event:
        """Mask an event."""
        values = self.attributes(event.attributes or {})
        return Event(self.text(event.name), values, event.timestamp)

    def link(self, link: Link) -> Link:
        """Mask a link's attributes."""
        return Link(link.context, self.attributes(link.attributes or {}))

    def status(self, status: Status) -> Status:
        """Mask a status message."""
        if not status.description:
            return status
        text = self.text(status.description)
        return status if text == status.description else Status(status.status_code, text)
