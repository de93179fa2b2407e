"""OTLP messages with `bytes` wherever OTLP has text, so that any span can be rewritten.

What is not declared here is kept as it was: protobuf carries unknown fields along. Text that is not
UTF-8, for which the generated classes refuse the whole message, passes as well.
"""

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE: Final = "seekwatch.redaction"
_Field: Final = descriptor_pb2.FieldDescriptorProto

# message: (field, number, type or `bytes`, repeated), as in opentelemetry-proto 1.x.
_MESSAGES: Final[dict[str, tuple[tuple[str, int, str, bool], ...]]] = {
    "Value": (
        ("string_value", 1, "bytes", False),
        ("bool_value", 2, "bool", False),
        ("int_value", 3, "int64", False),
        ("double_value", 4, "double", False),
        ("array_value", 5, "Array", False),
        ("kvlist_value", 6, "KeyValueList", False),
        ("bytes_value", 7, "bytes", False),
    ),
    "Array": (("values", 1, "Value", True),),
    "KeyValueList": (("values", 1, "KeyValue", True),),
    "KeyValue": (("key", 1, "bytes", False), ("value", 2, "Value", False)),
    "Span": (
        ("trace_state", 3, "bytes", False),
        ("name", 5, "bytes", False),
        ("attributes", 9, "KeyValue", True),
        ("events", 11, "Event", True),
        ("links", 13, "Link", True),
        ("status", 15, "Status", False),
    ),
    "Event": (("name", 2, "bytes", False), ("attributes", 3, "KeyValue", True)),
    "Link": (("trace_state", 3, "bytes", False), ("attributes", 4, "KeyValue", True)),
    "Status": (("message", 2, "bytes", False),),
    "LogEntry": (
        ("severity_text", 3, "bytes", False),
        ("body", 5, "Value", False),
        ("attributes", 6, "KeyValue", True),
        ("event_name", 12, "bytes", False),
    ),
    "Resource": (("attributes", 1, "KeyValue", True),),
    "Scope": (
        ("name", 1, "bytes", False),
        ("version", 2, "bytes", False),
        ("attributes", 3, "KeyValue", True),
    ),
}


def _file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="seekwatch/redaction.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name == "Value":
            message.oneof_decl.add(name="value")
        for field_name, number, kind, repeated in fields:
            field = message.field.add(name=field_name, number=number)
            field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
            if kind in _MESSAGES:
                field.type = _Field.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{kind}"
            else:
                field.type = _Field.Type.Value(f"TYPE_{kind.upper()}")
            if name == "Value":
                field.oneof_index = 0
    return file


_POOL: Final = descriptor_pool.DescriptorPool()
_POOL.Add(_file())


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


Span: Final = _class("Span")
LogEntry: Final = _class("LogEntry")
Resource: Final = _class("Resource")
Scope: Final = _class("Scope")
