"""Projections of the OTLP messages: the same bytes, read with fewer and looser types.

A protobuf `map<K, V>` is on the wire a repeated message of key 1 and value 2, which is what OTLP's
attribute list is. Declaring it as `map<string, bytes>` lets the C parser do the hashing and leaves
each value as raw bytes until someone asks for it: several times faster than walking every
attribute, and one value with invalid UTF-8 no longer rejects its neighbours. Spans themselves are
`bytes` in the envelope, so that one undecodable span costs only itself.

Field numbers are those of opentelemetry-proto 1.x (`trace.proto`, `logs.proto`, `common.proto`).
"""

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_PACKAGE: Final = "seekwatch.wire"


def _field(
    name: str, number: int, kind: str, *, repeated: bool = False, oneof: bool = False
) -> Any:
    field = _Field(
        name=name,
        number=number,
        label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL,
    )
    if kind[0].isupper():
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"
    else:
        field.type = _Field.Type.Value(f"TYPE_{kind.upper()}")
    if oneof:
        field.oneof_index = 0
    return field


def _message(name: str, *fields: Any, oneof: str | None = None) -> Any:
    message = descriptor_pb2.DescriptorProto(name=name, field=fields)
    if oneof is not None:
        message.oneof_decl.add(name=oneof)
    return message


def _attributes(number: int, owner: str) -> tuple[Any, Any]:
    """Return a `map<string, bytes>` field and the entry message that such a field needs."""
    entry = _message("AttributesEntry", _field("key", 1, "string"), _field("value", 2, "bytes"))
    entry.options.map_entry = True
    field = _field("attributes", number, f"{owner}.AttributesEntry", repeated=True)
    return field, entry


def _with_attributes(name: str, number: int, *fields: Any) -> Any:
    field, entry = _attributes(number, name)
    message = _message(name, *fields, field)
    message.nested_type.add().CopyFrom(entry)
    return message


def _file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="seekwatch/wire.proto", package=_PACKAGE, syntax="proto3"
    )
    file.message_type.extend(
        (
            _message("Request", _field("resources", 1, "ResourceGroup", repeated=True)),
            _message(
                "ResourceGroup",
                _field("resource", 1, "bytes"),
                _field("scopes", 2, "ScopeGroup", repeated=True),
            ),
            _message(
                "ScopeGroup",
                _field("scope", 1, "bytes"),
                _field("items", 2, "bytes", repeated=True),
            ),
            _message(
                "SpanHead",
                _field("trace_id", 1, "bytes"),
                _field("span_id", 2, "bytes"),
                _field("parent_span_id", 4, "bytes"),
                _field("end_time_unix_nano", 8, "fixed64"),
                _field("flags", 16, "fixed32"),
            ),
            _message("LogHead", _field("trace_id", 9, "bytes")),
            _with_attributes(
                "Span",
                9,
                _field("trace_id", 1, "bytes"),
                _field("span_id", 2, "bytes"),
                _field("parent_span_id", 4, "bytes"),
                _field("name", 5, "bytes"),
                _field("kind", 6, "int32"),
                _field("start_time_unix_nano", 7, "fixed64"),
                _field("end_time_unix_nano", 8, "fixed64"),
                _field("dropped_attributes_count", 10, "uint32"),
                _field("events", 11, "bytes", repeated=True),
                _field("status", 15, "Status"),
                _field("flags", 16, "fixed32"),
            ),
            _message("Status", _field("message", 2, "bytes"), _field("code", 3, "int32")),
            _with_attributes(
                "Event", 3, _field("time_unix_nano", 1, "fixed64"), _field("name", 2, "bytes")
            ),
            _with_attributes(
                "LogEntry",
                6,
                _field("time_unix_nano", 1, "fixed64"),
                _field("observed_time_unix_nano", 11, "fixed64"),
                _field("body", 5, "bytes"),
                _field("trace_id", 9, "bytes"),
                _field("span_id", 10, "bytes"),
                _field("event_name", 12, "bytes"),
            ),
            _with_attributes("Resource", 1),
            _with_attributes("Scope", 3, _field("name", 1, "bytes"), _field("version", 2, "bytes")),
            _message(
                "Value",
                _field("string_value", 1, "bytes", oneof=True),
                _field("bool_value", 2, "bool", oneof=True),
                _field("int_value", 3, "int64", oneof=True),
                _field("double_value", 4, "double", oneof=True),
                _field("array_value", 5, "Array", oneof=True),
                _field("kvlist_value", 6, "KeyValueList", oneof=True),
                _field("bytes_value", 7, "bytes", oneof=True),
                oneof="value",
            ),
            _message("Array", _field("values", 1, "Value", repeated=True)),
            _message("KeyValueList", _field("values", 1, "KeyValue", repeated=True)),
            _message("KeyValue", _field("key", 1, "bytes"), _field("value", 2, "Value")),
        )
    )
    return file


_POOL: Final = descriptor_pool.DescriptorPool()
_POOL.Add(_file())


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


Request: Final = _class("Request")
"""An export request of either signal, down to the raw bytes of each span or log record."""
SpanHead: Final = _class("SpanHead")
"""What assembly needs of a span: ids and whether its parent is remote."""
LogHead: Final = _class("LogHead")
Span: Final = _class("Span")
Event: Final = _class("Event")
LogEntry: Final = _class("LogEntry")
Resource: Final = _class("Resource")
Scope: Final = _class("Scope")
Value: Final = _class("Value")
