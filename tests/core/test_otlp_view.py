import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core.errors import UndecodableError
from seekwatch.core.otlp.requests import raw_items
from seekwatch.core.otlp.view import Group, LogView, SpanView, decode_value
from seekwatch.core.records import Signal
from seekwatch.core.testing import START, AttributeMap, log, logs_request, span, traces_request


def _view(attributes: AttributeMap, **resource: str) -> SpanView:
    item = raw_items(
        traces_request([span("s", attributes)], resource=resource, scope="lib", scope_version="2"),
        Signal.TRACES,
    )[0]
    return SpanView(item.raw, Group(item.resource, item.scope))


def test_values_of_every_type_are_decoded_when_asked_for() -> None:
    view = _view(
        {"s": "é", "b": True, "i": -7, "d": 0.5, "y": b"\x00", "l": [1, []], "m": {"k": {}}}
    )
    assert [view.get(key) for key in "sbidylm"] == ["é", True, -7, 0.5, b"\x00", [1, []], {"k": {}}]
    assert view.get("absent") is None
    assert "s" in view
    assert "absent" not in view
    assert sorted(view) == sorted("sbidylm")


@pytest.mark.parametrize(
    ("value", "number", "integer", "flag"),
    [
        (3, 3.0, 3, None),
        (3.0, 3.0, 3, None),
        ("3", 3.0, 3, None),
        (3.5, 3.5, None, None),
        (True, None, None, True),
        ("False", None, None, False),
        ("x", None, None, None),
        (float("nan"), None, None, None),
        ("1e999", None, None, None),
    ],
)
def test_numbers_and_flags_are_read_from_what_instrumentors_send(
    value: str | float | bool, number: float | None, integer: int | None, flag: bool | None
) -> None:
    view = _view({"k": value})
    assert (view.number("k"), view.integer("k"), view.flag("k")) == (number, integer, flag)


def test_text_is_text_only() -> None:
    view = _view({"a": "x", "b": 1})
    assert (view.text("a"), view.text("b")) == ("x", None)


def test_a_prefix_gives_the_rest_of_the_keys() -> None:
    assert _view({"a.x": 1, "a.y": "2", "b": 3}).prefix("a.") == {"x": 1, "y": "2"}


def test_the_group_is_shared_and_read_once() -> None:
    view = _view({}, **{"service.name": "svc"})
    assert view.resource.get("service.name") == "svc"
    assert (view.scope_name, view.group.scope_version) == ("lib", "2")


def test_nesting_beyond_any_instrumentors_is_cut() -> None:
    value: object = "deep"
    for _ in range(40):
        value = [value]
    decoded = _view({"k": value}).get("k")  # type: ignore[dict-item]
    depth = 0
    while isinstance(decoded, list) and decoded:
        decoded, depth = decoded[0], depth + 1
    assert 20 < depth < 40


def test_invalid_utf8_costs_a_character_and_no_neighbour() -> None:
    broken = b"\x0a\x03k\xff\xfe"
    assert decode_value(broken) == "k\ufffd\ufffd"


@given(st.binary(max_size=200))
def test_any_bytes_are_a_span_or_undecodable(raw: bytes) -> None:
    try:
        view = SpanView(raw, Group(b"", b""))
        for key in view:
            view.get(key)
        view.events()
    except UndecodableError as error:
        assert error.reason == "span"  # noqa: PT017 - either outcome is right


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_absent(raw: bytes) -> None:
    decode_value(raw)


def test_a_log_record_is_joined_by_ids_and_named_by_either_place() -> None:
    records = [
        log("name", {"a": 1}, body={"k": ["v"]}, trace="01" * 16, span="02" * 8),
        log("", {"event.name": "in-attribute"}, time=START),
    ]
    items = raw_items(logs_request(records), Signal.LOGS)
    first, second = (LogView(item.raw, Group(item.resource, item.scope)) for item in items)
    assert (first.trace_id, first.span_id, first.event_name) == ("01" * 16, "02" * 8, "name")
    assert first.body() == {"k": ["v"]}
    assert (second.span_id, second.event_name, second.body()) == (None, "in-attribute", None)
    assert second.time == START
