import pytest

from seekwatch.core import attributes as names
from seekwatch.core.otlp.requests import raw_items, span_head
from seekwatch.core.otlp.view import Group, LogView, SpanView
from seekwatch.core.records import Signal
from seekwatch.core.testing import (
    START,
    FixedClock,
    TraceBuilder,
    log,
    log_record,
    logs_request,
    result,
    span,
    traces_request,
)


def _run(seed: str = "run") -> TraceBuilder:
    return (
        TraceBuilder("finder", seed=seed)
        .agent("When did the bridge open?", lane="canary")
        .limits(deadline=30)
        .search("bridge opening", [result("https://example.org/a", title="A", score=0.5)])
        .fetch("https://example.org/a", html="<p>1932</p>", headers={"ETag": '"x"'})
        .generation(input_tokens=10, output_tokens=3, text="1932")
        .answer("It opened in 1932.", citations=[{"url": "https://example.org/a"}])
    )


def _views(request: bytes) -> list[SpanView]:
    return [
        SpanView(item.raw, Group(item.resource, item.scope))
        for item in raw_items(request, Signal.TRACES)
    ]


def test_equal_calls_give_equal_bytes_and_other_seeds_other_ids() -> None:
    assert _run().request() == _run().request()
    assert _run("a").trace != _run("b").trace


def test_every_step_is_a_span_of_its_kind_below_the_agent() -> None:
    spans = _views(_run().request())
    kinds = [view.text(names.SPAN_KIND) for view in spans]
    assert kinds == ["TOOL", "RETRIEVER", "TOOL", "LLM", "AGENT"]
    wire, retriever, fetch, model, root = spans
    assert wire.parent_id == retriever.span_id
    assert {retriever.parent_id, fetch.parent_id, model.parent_id} == {root.span_id}
    assert root.parent_id is None
    assert root.text(names.LANE) == "canary"
    assert root.number(f"{names.LIMIT_PREFIX}deadline") == 30
    assert fetch.get("http.response.header.etag") == ['"x"']


def test_time_moves_on_and_the_root_encloses_its_children() -> None:
    *children, root = _views(_run().request())
    assert root.start == START
    assert all(root.start <= child.start <= child.end <= root.end for child in children)
    assert children[1].end < children[2].start


def test_without_its_root_a_run_is_still_open() -> None:
    items = _run().items(root=False)
    assert not any(span_head(item.raw).is_root for item in items)
    assert len(_run().items()) == len(items) + 1


def test_requests_split_a_run_without_losing_a_span() -> None:
    whole = raw_items(_run().request(), Signal.TRACES)
    parts = [item for part in _run().requests(2) for item in raw_items(part, Signal.TRACES)]
    assert parts == whole


def test_a_record_is_keyed_by_the_trace() -> None:
    builder = _run()
    record = builder.record(offset=7, partition=2)
    assert record.key == builder.trace.encode()
    assert (record.partition, record.offset) == (2, 7)
    assert record.timestamp == builder.clock.milliseconds()


def test_a_retry_is_an_attempt_of_its_own() -> None:
    builder = TraceBuilder().agent("q").fetch("https://a.example/", status=503)
    retry = builder.fetch("https://a.example/")
    views = [view for view in _views(retry.request()) if view.text(names.URL_FULL)]
    assert [view.integer(names.FETCH_ATTEMPT) for view in views] == [1, 2]


def test_steps_before_the_agent_say_what_to_call() -> None:
    with pytest.raises(ValueError, match="call agent"):
        TraceBuilder().answer("x")


def test_a_fixed_clock_moves_only_when_told_to() -> None:
    clock = FixedClock(start=5_000_000_000)
    assert (clock(), clock.milliseconds()) == (5.0, 5000)
    clock.advance(1.5)
    assert clock.nanoseconds() == 6_500_000_000
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-1)


def test_spans_and_logs_of_any_dialect_can_be_built() -> None:
    built = span(
        "x", {"a": [1, {"b": True}]}, remote_parent=True, parent="ab" * 8, events=[("e", {})]
    )
    view = _views(traces_request([built], resource={"service.name": "s"}))[0]
    assert view.get("a") == [1, {"b": True}]
    assert view.remote_parent
    assert [event.name for event in view.events()] == ["e"]
    request = logs_request([log("gen_ai.choice", body={"index": 0}, trace="01" * 16)])
    record = log_record(request, signal=Signal.LOGS)
    item = raw_items(record.value, Signal.LOGS)[0]
    assert LogView(item.raw, Group(item.resource, item.scope)).body() == {"index": 0}
