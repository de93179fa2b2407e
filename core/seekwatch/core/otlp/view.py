"""One narrow view of a span, whatever decoded it: the only thing that dialects read.

Values are decoded on first use. A value of a wrong encoding yields what can be read of it; nothing
here raises for the content of an attribute.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from google.protobuf.message import DecodeError

from seekwatch.core.errors import UndecodableError
from seekwatch.core.otlp import wire

Value = str | bool | int | float | bytes | list["Value"] | dict[str, "Value"]
"""A decoded OTLP AnyValue. An empty AnyValue reads as absent."""

STATUS_OK: Final = 1
STATUS_ERROR: Final = 2

FLAG_HAS_REMOTE: Final = 0x100
FLAG_IS_REMOTE: Final = 0x200
"""Bits of `Span.flags` (opentelemetry-proto, `SpanFlags`)."""

_MAX_DEPTH: Final = 32
"""Nesting beyond this is cut: no instrumentor nests so deep, a bomb does."""


class Attributes:
    """A map of attributes whose values are decoded when asked for."""

    __slots__ = ("_decoded", "_raw")

    def __init__(self, raw: Mapping[str, bytes]) -> None:
        self._raw = raw
        self._decoded: dict[str, Value | None] = {}

    def get(self, key: str) -> Value | None:
        """Return the value of `key`, or None when it is absent or empty."""
        if key in self._decoded:
            return self._decoded[key]
        raw = self._raw.get(key)
        value = None if raw is None else decode_value(raw)
        self._decoded[key] = value
        return value

    def text(self, key: str) -> str | None:
        """Return the value of `key` when it is a string."""
        value = self.get(key)
        return value if isinstance(value, str) else None

    def integer(self, key: str) -> int | None:
        """Return the value of `key` as an integer: an int, or a double or text that is one."""
        value = self.number(key)
        return int(value) if value is not None and value == int(value) else None

    def number(self, key: str) -> float | None:
        """Return the value of `key` as a finite number; text that reads as one counts."""
        value = self.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        try:
            number = float(value)
        except ValueError:
            return None
        return number if abs(number) < float("inf") else None

    def flag(self, key: str) -> bool | None:
        """Return the value of `key` as a truth value; the words true and false count."""
        value = self.get(key)
        if isinstance(value, str):
            return {"true": True, "false": False}.get(value.lower())
        return value if isinstance(value, bool) else None

    def prefix(self, prefix: str) -> dict[str, Value]:
        """Return every attribute whose key begins with `prefix`, by the rest of the key."""
        found: dict[str, Value] = {}
        for key in self._raw:
            if key.startswith(prefix):
                value = self.get(key)
                if value is not None:
                    found[key[len(prefix) :]] = value
        return found

    def __contains__(self, key: str) -> bool:
        """Tell whether the key is there at all, empty or not."""
        return key in self._raw

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys."""
        return iter(self._raw)


class Event:
    """A span event."""

    __slots__ = ("attributes", "name", "time")

    def __init__(self, raw: bytes) -> None:
        message = wire.Event.FromString(raw)
        self.name: str = _text(message.name)
        self.time: int = message.time_unix_nano
        self.attributes = Attributes(message.attributes)


class Group:
    """The resource and scope that spans of one group share, decoded once."""

    __slots__ = ("resource", "scope_name", "scope_version")

    def __init__(self, resource: bytes, scope: bytes) -> None:
        self.resource = Attributes(_parse(wire.Resource, resource, "resource").attributes)
        message = _parse(wire.Scope, scope, "scope")
        self.scope_name: str = _text(message.name)
        self.scope_version: str = _text(message.version)


class SpanView(Attributes):
    """A span.

    Attributes:
        trace_id, span_id, parent_id: lower-case hex; parent_id None for a root.
        start, end: nanoseconds since the epoch.
        remote_parent: the parent is in another process, by the span's flags.

    Raises:
        UndecodableError: the bytes are no span.
    """

    __slots__ = (
        "_events",
        "dropped_attributes",
        "end",
        "group",
        "kind",
        "name",
        "parent_id",
        "remote_parent",
        "span_id",
        "start",
        "status_code",
        "status_message",
        "trace_id",
    )

    def __init__(self, raw: bytes, group: Group) -> None:
        message = _parse(wire.Span, raw, "span")
        super().__init__(message.attributes)
        self.group = group
        self.trace_id: str = message.trace_id.hex()
        self.span_id: str = message.span_id.hex()
        self.parent_id: str | None = message.parent_span_id.hex() or None
        self.name: str = _text(message.name)
        self.kind: int = message.kind
        self.start: int = message.start_time_unix_nano
        self.end: int = message.end_time_unix_nano
        self.status_code: int = message.status.code
        self.status_message: str = _text(message.status.message)
        self.dropped_attributes: int = message.dropped_attributes_count
        self.remote_parent: bool = bool(message.flags & FLAG_IS_REMOTE)
        self._events: tuple[bytes, ...] = tuple(message.events)

    @property
    def resource(self) -> Attributes:
        """Attributes of the resource."""
        return self.group.resource

    @property
    def scope_name(self) -> str:
        """Name of the instrumentation scope."""
        return self.group.scope_name

    def events(self) -> list[Event]:
        """Return the span's events in order; one that cannot be decoded is left out."""
        decoded: list[Event] = []
        for raw in self._events:
            try:
                decoded.append(Event(raw))
            except DecodeError:
                continue
        return decoded


class LogView(Attributes):
    """A log record that belongs to a trace.

    Raises:
        UndecodableError: the bytes are no log record.
    """

    __slots__ = ("_body", "event_name", "group", "span_id", "time", "trace_id")

    def __init__(self, raw: bytes, group: Group) -> None:
        message = _parse(wire.LogEntry, raw, "log")
        super().__init__(message.attributes)
        self.group = group
        self.trace_id: str = message.trace_id.hex()
        self.span_id: str | None = message.span_id.hex() or None
        self.time: int = message.time_unix_nano or message.observed_time_unix_nano
        self.event_name: str = _text(message.event_name) or str(self.get("event.name") or "")
        self._body: bytes = message.body

    def body(self) -> Value | None:
        """Return the decoded body."""
        return decode_value(self._body) if self._body else None


def decode_value(raw: bytes) -> Value | None:
    """Decode an AnyValue; what is no AnyValue reads as None."""
    try:
        message = wire.Value.FromString(raw)
    except DecodeError:
        return None
    return _value(message, 0)


def _value(message: Any, depth: int) -> Value | None:
    kind = message.WhichOneof("value")
    if kind == "string_value":
        return _text(message.string_value)
    if kind in ("bool_value", "int_value", "double_value", "bytes_value"):
        scalar: Value = getattr(message, kind)
        return scalar
    if depth >= _MAX_DEPTH:
        return None
    if kind == "array_value":
        values = (_value(item, depth + 1) for item in message.array_value.values)
        return [value for value in values if value is not None]
    if kind == "kvlist_value":
        pairs = ((_text(i.key), _value(i.value, depth + 1)) for i in message.kvlist_value.values)
        return {key: value for key, value in pairs if value is not None}
    return None


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="replace")


def _parse(kind: Any, raw: bytes, what: str) -> Any:
    try:
        return kind.FromString(raw)
    except DecodeError as error:
        raise UndecodableError(f"{what} of {len(raw)} bytes: {error}", reason=what) from error
