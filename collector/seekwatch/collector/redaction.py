"""Masking secrets in encoded spans and log records, before they are stored.

Nearly no span holds a secret, so each is first searched as raw bytes, which costs microseconds, and
only one in which something looks like a secret is decoded and rewritten. The search may call a
clean span suspect, never a guilty one clean; a property test holds it to that.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from google.protobuf.message import DecodeError

from seekwatch.collector import redaction_wire as wire
from seekwatch.core.errors import UndecodableError
from seekwatch.core.redaction import MASK, SECRET_KEY, TOKEN_PATTERNS, Redactor

_MAX_DEPTH: Final = 32
"""Values nested deeper are replaced whole: nobody reads them, and they may hide anything."""

_LITERAL_BEGIN: Final = re.compile(r"[A-Za-z0-9_-]+(?![A-Za-z0-9_*?{-])")

_KEY_ENDINGS: Final = (
    b"authorization",
    b"cookie",
    b"password",
    b"passwd",
    b"pwd",
    b"secret",
    b"key",
    b"token",
    b"signature",
    b"sig",
    b"credential",
)
"""How every name ends that `core.redaction` calls secret, in lower case."""

_QUERY_ENDINGS: Final = (b"code", b"auth", b"session", b"sessionid")
"""The same for names that are secret in a URL's query alone."""

_HEADER_ENDINGS: Final = (b"authorization", b"cookie", b"key", b"token")
"""The same for headers in a text that has one on a line."""

_SUSPECT_AUTHORITY: Final = re.compile(rb"://[^/?#\s]*[@\[\x80-\xff]")
"""User and password in a URL, or an authority that `urlsplit` may refuse."""


def _secret_name() -> re.Pattern[bytes]:
    """Return what finds a telling name by what follows it, which is rarer than its letters.

    That is `=` in a URL or an assignment, perhaps after a space, a quote in JSON or Python or a
    backslash before one, `:` in a header, and the tag of field 2 behind the key of an attribute.
    Any letter of the name itself may be percent-encoded, and so may the `=` of a URL in a URL.
    """
    names = [rb"(?<=%s[\"'\\=\x12])" % ending for ending in _KEY_ENDINGS]
    names += [rb"(?<=%s =)" % ending for ending in _KEY_ENDINGS]
    names += [rb"(?<=%s=)" % ending for ending in _QUERY_ENDINGS]
    names += [rb"(?<=%s:)" % ending for ending in _HEADER_ENDINGS]
    encoded = rb"%(?:25)?(?:3a|3d|40)|%[0-9a-f]{2}[a-z_-]{0,16}="
    return re.compile(rb"(?i)[\"'\\=:\x12](?:" + b"|".join(names) + rb")|" + encoded)


def _token_search(pattern: str) -> tuple[bytes, re.Pattern[bytes]]:
    """Return the letters that a pattern begins with, if any, and the pattern for bytes."""
    begin = _LITERAL_BEGIN.match(pattern)
    # For bytes `\s` is ASCII alone; any byte that is no printable ASCII stands for the others.
    searched = re.compile(pattern.replace(r"\s", "[^!-~]").encode())
    return begin.group().encode() if begin else b"", searched


_SECRET_NAME: Final = _secret_name()
_TOKENS: Final = tuple(_token_search(pattern) for pattern in TOKEN_PATTERNS)


class SpanRedaction:
    """Masks secrets in raw spans, log records, resources and scopes.

    Args:
        patterns: the user's own regular expressions; with any, every string of every span is
            looked at, because they may be anchored.

    Raises:
        ValueError: a pattern does not compile; the message names it.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        own = tuple(patterns)
        self._redactor = Redactor(own)
        self._every_string = bool(own)

    def span(self, raw: bytes) -> bytes:
        """Return an encoded span without secrets.

        Raises:
            UndecodableError: the bytes are no span.
        """
        return self._rewritten(raw, wire.Span, self._rewrite_span)

    def log_record(self, raw: bytes) -> bytes:
        """Return an encoded log record without secrets.

        Raises:
            UndecodableError: the bytes are no log record.
        """
        return self._rewritten(raw, wire.LogEntry, self._rewrite_log)

    def resource(self, raw: bytes) -> bytes:
        """Return an encoded resource without secrets.

        Raises:
            UndecodableError: the bytes are no resource.
        """
        return self._rewritten(raw, wire.Resource, self._rewrite_attributes)

    def scope(self, raw: bytes) -> bytes:
        """Return an encoded instrumentation scope without secrets.

        Raises:
            UndecodableError: the bytes are no scope.
        """
        return self._rewritten(raw, wire.Scope, self._rewrite_scope)

    def is_suspect(self, raw: bytes) -> bool:
        """Tell whether anything in the bytes may have to be masked."""
        if self._every_string:
            return True
        if any(begin in raw and pattern.search(raw) for begin, pattern in _TOKENS):
            return True
        if b"://" in raw and _SUSPECT_AUTHORITY.search(raw):
            return True
        return _SECRET_NAME.search(raw) is not None

    def _rewritten(self, raw: bytes, kind: Any, rewrite: Callable[[Any], None]) -> bytes:
        if not self.is_suspect(raw):
            return raw
        try:
            message = kind.FromString(raw)
        except DecodeError as error:
            what = kind.DESCRIPTOR.name.lower()
            raise UndecodableError(f"{what} of {len(raw)} bytes: {error}", reason=what) from error
        rewrite(message)
        return bytes(message.SerializeToString())

    def _rewrite_span(self, span: Any) -> None:
        span.name = self._text(span.name)
        span.trace_state = self._text(span.trace_state)
        self._rewrite_attributes(span)
        for event in span.events:
            event.name = self._text(event.name)
            self._rewrite_attributes(event)
        for link in span.links:
            link.trace_state = self._text(link.trace_state)
            self._rewrite_attributes(link)
        if span.status.message:
            span.status.message = self._text(span.status.message)

    def _rewrite_log(self, record: Any) -> None:
        record.severity_text = self._text(record.severity_text)
        record.event_name = self._text(record.event_name)
        if record.HasField("body"):
            self._rewrite_value(record.body, "body", 0)
        self._rewrite_attributes(record)

    def _rewrite_scope(self, scope: Any) -> None:
        scope.name = self._text(scope.name)
        scope.version = self._text(scope.version)
        self._rewrite_attributes(scope)

    def _rewrite_attributes(self, owner: Any) -> None:
        for attribute in owner.attributes:
            self._rewrite_pair(attribute, 0)

    def _rewrite_pair(self, pair: Any, depth: int) -> None:
        key = _decoded(pair.key)
        pair.key = self._text(pair.key)
        self._rewrite_value(pair.value, key, depth)

    def _rewrite_value(self, value: Any, key: str, depth: int) -> None:
        kind = value.WhichOneof("value")
        if kind is None:
            return
        if depth > _MAX_DEPTH or SECRET_KEY.fullmatch(key):
            value.string_value = MASK.encode()
        elif kind == "string_value":
            value.string_value = self._text(value.string_value)
        elif kind == "bytes_value":
            value.bytes_value = self._text(value.bytes_value)
        elif kind == "array_value":
            for item in value.array_value.values:
                self._rewrite_value(item, key, depth + 1)
        elif kind == "kvlist_value":
            for pair in value.kvlist_value.values:
                self._rewrite_pair(pair, depth + 1)

    def _text(self, raw: bytes) -> bytes:
        text = _decoded(raw)
        masked = self._redactor.text(text)
        return raw if masked == text else masked.encode(errors="surrogateescape")


def _decoded(raw: bytes) -> str:
    return raw.decode(errors="surrogateescape")
