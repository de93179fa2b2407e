"""The floor: bare protobuf decoding, which every ratio of the pipeline is taken against.

The C parser (upb) on the whole message, then a walk that puts every attribute into a dict: what any
consumer of OTLP in Python does before it has done anything. It is the same work on the same bytes
in the same minute, so a ratio to it means the same on any machine.
"""

import time
from collections.abc import Iterable
from typing import Any

from google.protobuf.internal import api_implementation
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue


def decoding_seconds(requests: Iterable[bytes]) -> float:
    """Return the CPU seconds (user and system) of decoding `requests` into dicts.

    Raises:
        RuntimeError: protobuf runs without its C parser, which would make every ratio look good.
    """
    if api_implementation.Type() != "upb":
        raise RuntimeError(f"protobuf runs on {api_implementation.Type()!r}, not on upb")
    before = time.process_time()
    for request in requests:
        decode(request)
    return time.process_time() - before


def decode(request: bytes) -> list[dict[str, Any]]:
    """Return the attributes of every span of a request."""
    spans: list[dict[str, Any]] = []
    for group in ExportTraceServiceRequest.FromString(request).resource_spans:
        _walked(group.resource.attributes)
        for scope in group.scope_spans:
            _walked(scope.scope.attributes)
            spans.extend(_walked(span.attributes) for span in scope.spans)
    return spans


def _walked(attributes: Iterable[KeyValue]) -> dict[str, Any]:
    return {attribute.key: _value(attribute.value) for attribute in attributes}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _walked(value.kvlist_value.values)
    return getattr(value, kind)
