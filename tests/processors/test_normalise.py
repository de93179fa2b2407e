import json

import msgspec
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from seekwatch.core import attributes as names
from seekwatch.core.model import (
    Action,
    Adapter,
    CacheState,
    Episode,
    Hop,
    Lane,
    Limits,
    StopReason,
)
from seekwatch.core.otlp.requests import RawItem, raw_items
from seekwatch.core.policy import LanePolicy
from seekwatch.core.records import Signal
from seekwatch.core.redaction import Redactor
from seekwatch.core.testing import (
    START,
    AttributeMap,
    TraceBuilder,
    log,
    logs_request,
    result,
    span,
    trace_id,
    traces_request,
)
from seekwatch.processors.normalise import normalise
from tests.services.span_zoo import cut_of

REDACTOR = Redactor()
LANES = LanePolicy()
TRACE = trace_id("run")
TOOL_CALLED = "llm.output_messages.0.message.tool_calls.0.tool_call.function.name"
SECOND = 1_000_000_000
URL = "https://example.org/bridge"
SDK_SCOPE = "seekwatch.sdk"
HTML = "<html lang=en><title>The bridge</title><p>It opened in <b>19</b>32.</p></html>"


def _episode(builder: TraceBuilder) -> Episode:
    episode = normalise(cut_of(builder.trace, builder.items()), REDACTOR, LANES)
    assert episode is not None
    return episode


def _built(*spans: ProtoSpan, resource: AttributeMap | None = None) -> Episode | None:
    request = traces_request(spans, resource=resource)
    return normalise(cut_of(TRACE, raw_items(request, Signal.TRACES)), REDACTOR, LANES)


def _run(name: str = "finder", **options: str | None) -> TraceBuilder:
    return TraceBuilder(name, **options).agent("When did the bridge open?")  # type: ignore[arg-type]


def _child(
    name: str,
    attributes: AttributeMap,
    *,
    at: float = 1,
    seconds: float = 1,
    parent: str | None = "ab" * 8,
    span_id: str | None = None,
    **options: int,
) -> ProtoSpan:
    start = START + round(at * SECOND)
    return span(
        name,
        attributes,
        trace=TRACE,
        span=span_id,
        parent=parent,
        start=start,
        end=start + round(seconds * SECOND),
        **options,  # type: ignore[arg-type]
    )


def _agent(attributes: AttributeMap | None = None, **options: int) -> ProtoSpan:
    return span(
        "agent",
        {names.SPAN_KIND: "AGENT", **(attributes or {})},
        trace=TRACE,
        span="ab" * 8,
        end=START + 60 * SECOND,
        **options,  # type: ignore[arg-type]
    )


# --- our own spans ------------------------------------------------------------------------------


def test_a_whole_run_becomes_an_episode() -> None:
    builder = (
        _run()
        .limits(deadline=30, attempts=3)
        .context(case="c1", corpus="v2", region="eu", principal="h1", as_of="2026-01-02T00:00:00Z")
        .search(
            "bridge opening",
            [result(URL, title="The bridge", content="opened", published="2026-03-14", score=0.5)],
        )
        .fetch(URL, html=HTML, headers={"ETag": '"x"'}, crawl_depth=1)
        .generation("gpt-4o-mini", input_tokens=10, output_tokens=3, text="It opened in 1932.")
        .rail("safety", label="pass", score=1.0)
        .answer("It opened in 1932.", citations=[{"url": URL, "start": 0, "end": 18}])
    )
    episode = _episode(builder)
    assert episode.trace == builder.trace
    assert episode.root == builder.root_id
    assert (episode.start, episode.end) == (START, builder.clock.nanoseconds())
    assert episode.question == "When did the bridge open?"
    assert episode.context.agent == "finder"
    assert episode.context.lane is Lane.LIVE
    assert (episode.context.case, episode.context.corpus) == ("c1", "v2")
    assert (episode.context.region, episode.context.principal) == ("eu", "h1")
    assert episode.as_of == 1_767_312_000 * SECOND
    assert episode.limits == Limits(deadline=30.0, attempts=3)
    assert episode.stop_reason is StopReason.ANSWERED
    assert episode.root_kind == "AGENT"
    assert episode.dialects == ("seekwatch",)
    assert episode.completeness.complete
    (search,) = episode.searches
    assert (search.query, search.provider) == ("bridge opening", "tavily")
    assert search.results is not None
    (found,) = search.results
    assert (found.url, found.title, found.snippet, found.score) == (
        URL,
        "The bridge",
        "opened",
        0.5,
    )
    assert found.published is not None
    wire, fetch = episode.fetches
    assert (wire.adapter, wire.method, wire.action) == (Adapter.SEARCH, "POST", Action.READ)
    assert (fetch.adapter, fetch.url, fetch.status, fetch.attempt) == (Adapter.FETCH, URL, 200, 1)
    assert fetch.crawl_depth == 1
    assert fetch.validators is not None
    assert fetch.validators.etag == '"x"'
    assert fetch.page is not None
    assert (fetch.page.title, fetch.page.text) == ("The bridge", "It opened in 1932.")
    assert fetch.retrieved_at is not None
    (generation,) = episode.generations
    assert (generation.model, generation.input_tokens) == ("gpt-4o-mini", 10)
    assert [(rail.name, rail.label, rail.score) for rail in episode.rails] == [
        ("safety", "pass", 1)
    ]
    assert episode.answer is not None
    assert episode.answer.span == generation.span, "the citation axis attaches to the writer"
    assert episode.answer.claims[0].citations == (0,)
    assert episode.answer_candidates == 1


def test_equal_spans_in_any_order_give_equal_bytes() -> None:
    builder = _run().search("q", [result(URL)]).fetch(URL, html=HTML).answer("a [1](" + URL + ")")
    items = builder.items()
    encoded = {
        msgspec.json.encode(normalise(cut_of(builder.trace, order), REDACTOR, LANES))
        for order in (items, items[::-1], [*items, *items])
    }
    assert len(encoded) == 1


def test_of_two_spans_with_one_id_the_same_one_wins_in_either_order() -> None:
    builder = _run().answer("one")
    twins = [_run().answer(text).items()[0] for text in ("one", "two")]
    first, second = (
        normalise(cut_of(builder.trace, order), REDACTOR, LANES) for order in (twins, twins[::-1])
    )
    assert first is not None
    assert first == second
    assert first.span_count == 1


def test_an_unread_search_says_why_and_an_empty_one_is_empty() -> None:
    episode = _episode(
        _run().search("a", None, unread_reason="not-json").search("b", []).answer("x")
    )
    unread, empty = episode.searches
    assert (unread.results, unread.unread_reason) == (None, "not-json")
    assert empty.results == ()


def test_redirects_retries_and_errors_are_kept_apart() -> None:
    episode = _episode(
        _run()
        .fetch(URL, status=503, error="503")
        .fetch(URL, final_url=URL + "/", hops=[(URL, 301, URL + "/")], html=HTML)
        .fetch("https://slow.example/", status=None, error="ReadTimeout")
        .answer("x")
    )
    failed, redirected, timed_out = episode.fetches
    assert (failed.status, failed.error, failed.attempt) == (503, "503", 1)
    assert (redirected.final_url, redirected.attempt) == (URL + "/", 2)
    assert redirected.hops == (Hop(url=URL, status=301, location=URL + "/"),)
    assert (timed_out.status, timed_out.error, timed_out.final_url) == (None, "ReadTimeout", None)


@pytest.mark.parametrize(
    ("options", "state", "adapter"),
    [
        ({"from_cache": True}, CacheState.HIT, Adapter.CACHE),
        ({"from_cache": True, "status": 304}, CacheState.REVALIDATED, Adapter.CACHE),
        (
            {"from_cache": True, "headers": {"Age": "900", "Cache-Control": "max-age=600"}},
            CacheState.STALE,
            Adapter.CACHE,
        ),
        ({"status": 304}, CacheState.REVALIDATED, Adapter.FETCH),
        ({}, None, Adapter.FETCH),
    ],
)
def test_cache_state_follows_from_flag_status_and_age(
    options: dict[str, object], state: CacheState | None, adapter: Adapter
) -> None:
    (fetch,) = _episode(_run().fetch(URL, **options).answer("x")).fetches  # type: ignore[arg-type]
    assert (fetch.cache_state, fetch.adapter) == (state, adapter)


def test_a_delete_is_destructive_unless_the_agent_says_otherwise() -> None:
    episode = _episode(
        _run()
        .fetch(URL, method="DELETE")
        .fetch(URL, method="DELETE", action="write")
        .fetch(URL, method="POST")
        .answer("x")
    )
    assert [fetch.action for fetch in episode.fetches] == [
        Action.DESTRUCTIVE,
        Action.WRITE,
        Action.WRITE,
    ]


def test_a_run_that_crashed_has_no_answer_and_says_why() -> None:
    episode = _episode(_run().stop("crashed", error="ValueError"))
    assert episode.answer is None
    assert episode.answer_candidates == 0
    assert (episode.stop_reason, episode.root_error) == (StopReason.CRASHED, "ValueError")


def test_withheld_content_is_told_apart_from_missing_content() -> None:
    builder = _run().attribute(names.QUESTION, None).attribute(names.INPUT_VALUE, None)
    episode = _episode(builder.attribute(names.CONTENT_WITHHELD, True))
    assert episode.question is None
    assert episode.completeness.withheld


# --- lanes and labels ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "said", "lane"),
    [
        ("production", None, Lane.LIVE),
        ("PROD", None, Lane.LIVE),
        (None, None, Lane.LIVE),
        ("staging", None, Lane.NONPRODUCTION),
        ("production", "canary", Lane.CANARY),
        ("staging", "live", Lane.LIVE),
        ("production", "no-such-lane", Lane.NONPRODUCTION),
    ],
)
def test_the_lane_is_said_or_follows_from_the_environment(
    environment: str | None, said: str | None, lane: Lane
) -> None:
    builder = _run(environment=environment)
    if said is not None:
        builder.context(lane=said)
    assert _episode(builder.answer("x")).context.lane is lane


def test_labels_come_from_the_roots_own_resource() -> None:
    downstream = _child("tool", {names.SPAN_KIND: "TOOL"}, at=-1)
    staged = raw_items(
        traces_request([downstream], resource={names.ENVIRONMENT: "stg"}),
        Signal.TRACES,
    )
    root = raw_items(
        traces_request([_agent()], resource={names.ENVIRONMENT: "prod"}),
        Signal.TRACES,
    )
    episode = normalise(cut_of(TRACE, [*staged, *root]), REDACTOR, LANES)
    assert episode is not None
    assert (episode.context.environment, episode.context.lane) == ("prod", Lane.LIVE)


def _shop(*ours: tuple[str, str], root: str = "CHAIN") -> str:
    """The agent of a run of the service shop, with spans of ours by service and agent's name."""
    above = _child("run", {names.SPAN_KIND: root}, parent=None, span_id="ab" * 8, seconds=60)
    request = traces_request((above,), resource={names.SERVICE_NAME: "shop"})
    for at, (service, agent) in enumerate(ours, 1):
        model = _child("m", {names.SPAN_KIND: "LLM", names.AGENT_NAME: agent}, span_id=f"{at:016}")
        resource = {names.SERVICE_NAME: service}
        request += traces_request((model,), resource=resource, scope=SDK_SCOPE)
    episode = normalise(cut_of(TRACE, raw_items(request, Signal.TRACES)), REDACTOR, LANES)
    assert episode is not None
    return episode.context.agent


@pytest.mark.parametrize("kind", ["LLM", "RETRIEVER", "TOOL"])
def test_our_spans_name_the_agent_where_the_root_is_the_applications_own(kind: str) -> None:
    root = span("handle question", trace=TRACE, span="ab" * 8, end=START + 60 * SECOND)
    model = _child("chat m", {names.SPAN_KIND: "LLM"}, at=1)
    ours = _child("ours", {names.SPAN_KIND: kind, names.AGENT_NAME: "finder"}, at=2)
    shop = {names.SERVICE_NAME: "shop-backend"}
    request = traces_request((root, model), resource=shop) + traces_request(
        (ours,), resource=shop, scope=SDK_SCOPE
    )
    episode = normalise(cut_of(TRACE, raw_items(request, Signal.TRACES)), REDACTOR, LANES)
    assert episode is not None
    assert (episode.context.agent, episode.context.service) == ("finder", "shop-backend")


def test_an_agent_of_the_roots_own_service_names_the_run_before_one_that_it_called() -> None:
    assert _shop(("reviews", "called"), ("shop", "finder")) == "finder"
    assert _shop(("reviews", "called"), ("shop", "finder"), root="AGENT") == "finder"


def test_what_a_mere_caller_called_names_the_run_and_not_what_an_agent_called() -> None:
    assert _shop(("reviews", "called")) == "called"
    assert _shop(("reviews", "called"), root="AGENT") == "shop"


def _around(*between: AttributeMap) -> Episode:
    """A run with a stock span of a GET, what is given below it, and our fetch below that."""
    stock: AttributeMap = {"http.method": "GET", "http.url": URL, "http.status_code": 200}
    fetch: AttributeMap = {
        names.SPAN_KIND: "TOOL",
        names.URL_FULL: URL,
        names.FETCH_ADAPTER: "fetch",
        names.HTTP_STATUS: 200,
    }
    spans = [_agent()]
    for number, attributes in enumerate((stock, *between, fetch), 1):
        above = "ab" * 8 if number == 1 else f"{number - 1:02x}" * 8
        spans.append(
            _child("GET", attributes, at=number, parent=above, span_id=f"{number:02x}" * 8)
        )
    episode = _built(*spans)
    assert episode is not None
    return episode


def test_a_plain_http_span_around_our_fetch_is_the_same_attempt() -> None:
    (fetch,) = _around().fetches
    assert fetch.span == "02" * 8


def test_a_search_by_url_is_told_once_whichever_span_is_outside() -> None:
    url = "https://api.search.example/search?q=bridge"
    stock: AttributeMap = {"http.method": "GET", "http.url": url, "http.status_code": 200}
    ours: AttributeMap = {
        names.SPAN_KIND: "RETRIEVER",
        names.SEARCH_PROVIDER: "local",
        names.SEARCH_QUERY: "bridge",
        names.SEARCH_RESULT_COUNT: 0,
    }
    for outer, inner in ((stock, ours), (ours, stock)):
        spans = (
            _child("outer", outer, span_id="01" * 8),
            _child("inner", inner, parent="01" * 8, span_id="02" * 8),
        )
        episode = _built(_agent(), *spans)
        assert episode is not None
        (search,) = episode.searches
        assert (search.provider, search.results) == ("local", ())


def test_a_call_to_another_service_that_fetches_a_page_is_a_fetch_of_its_own() -> None:
    served: AttributeMap = {names.SPAN_KIND: "CHAIN", "http.request.method": "GET"}
    assert len(_around(served).fetches) == 2


def test_session_and_user_spread_from_any_span_and_the_user_is_hashed() -> None:
    episode = _built(
        _agent(), _child("llm", {names.SPAN_KIND: "LLM", "session.id": "s1", "user.id": "ann"})
    )
    assert episode is not None
    assert episode.context.session == "s1"
    assert episode.context.principal is not None
    assert "ann" not in episode.context.principal


# --- which trace, which root --------------------------------------------------------------------


def test_a_trace_without_agent_model_or_retriever_is_foreign() -> None:
    assert _built(_child("tool", {names.SPAN_KIND: "TOOL"}, parent=None)) is None
    assert _built(_child("GET", {names.HTTP_METHOD: "GET", names.URL_FULL: URL})) is None
    assert _built() is None


def test_the_topmost_agent_is_the_run_wherever_it_stands() -> None:
    server = _child("POST /ask", {"http.request.method": "POST"}, parent=None, span_id="01" * 8)
    agent = _child("outer", {names.SPAN_KIND: "AGENT"}, parent="01" * 8, span_id="02" * 8)
    inner = _child("inner", {names.SPAN_KIND: "AGENT"}, parent="02" * 8, span_id="03" * 8)
    episode = _built(inner, agent, server)
    assert episode is not None
    assert episode.root == "02" * 8


def test_agents_side_by_side_are_one_run_of_what_encloses_them() -> None:
    workflow = _child("flow", {names.SPAN_KIND: "CHAIN"}, parent=None, span_id="01" * 8)
    first = _child(
        "triage",
        {names.SPAN_KIND: "AGENT", names.INPUT_VALUE: "q", names.OUTPUT_VALUE: "to search"},
        parent="01" * 8,
        span_id="02" * 8,
    )
    second = _child(
        "search",
        {names.SPAN_KIND: "AGENT", names.OUTPUT_VALUE: "the answer"},
        parent="01" * 8,
        span_id="03" * 8,
        at=5,
    )
    episode = _built(workflow, first, second)
    assert episode is not None
    assert episode.root == "01" * 8
    assert episode.question == "q"
    assert episode.answer is not None
    assert episode.answer.text == "the answer"


def test_a_run_whose_root_put_it_into_a_queue_lasts_until_its_last_span() -> None:
    """A task queue's producer span ends before its task begins, and the answer is the task's."""
    sent = _child("apply_async/ask", {}, parent=None, span_id="01" * 8, seconds=0.01)
    sent.kind = ProtoSpan.SPAN_KIND_PRODUCER
    task = _child("run/ask", {}, parent="01" * 8, span_id="02" * 8, at=5)
    output = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "In 1932."}]}])
    call = _child(
        "chat",
        {names.OPERATION_NAME: "chat", names.OUTPUT_MESSAGES: output},
        parent="02" * 8,
        span_id="03" * 8,
        at=6,
    )
    episode = _built(sent, task, call)
    assert episode is not None
    assert episode.answer is not None
    assert episode.answer.text == "In 1932."
    assert (episode.start, episode.end) == (
        sent.start_time_unix_nano,
        max(task.end_time_unix_nano, call.end_time_unix_nano),
    )


def test_the_runs_own_missing_parent_is_no_gap_but_another_is() -> None:
    agent = _child("agent", {names.SPAN_KIND: "AGENT"}, parent="0f" * 8, span_id="ab" * 8)
    whole = _built(agent, _child("llm", {names.SPAN_KIND: "LLM"}))
    assert whole is not None
    assert whole.completeness.complete
    gap = _built(agent, _child("llm", {names.SPAN_KIND: "LLM"}, parent="0e" * 8))
    assert gap is not None
    assert gap.completeness.missing_parents == 1
    assert not gap.completeness.complete


def test_dropped_attributes_and_undecodable_spans_are_counted() -> None:
    builder = _run().answer("x")
    torn = RawItem(raw=b"\xff\xff", resource=b"", scope=b"")
    broken_scope = RawItem(raw=builder.items()[0].raw, resource=b"\xff\xff", scope=b"")
    cut = cut_of(builder.trace, [*builder.items(), torn, broken_scope])
    episode = normalise(cut, REDACTOR, LANES)
    assert episode is not None
    assert episode.completeness.undecodable_spans == 2
    dropped = _built(_agent(dropped_attributes=7))
    assert dropped is not None
    assert dropped.completeness.dropped_attributes == 7


def test_a_cycle_of_parents_ends() -> None:
    episode = _built(
        _child("a", {names.SPAN_KIND: "LLM"}, parent="02" * 8, span_id="01" * 8),
        _child("b", {names.SPAN_KIND: "CHAIN"}, parent="01" * 8, span_id="02" * 8),
        _child("c", {names.SPAN_KIND: "CHAIN"}, parent="03" * 8, span_id="03" * 8),
    )
    assert episode is not None
    assert len(episode.generations) == 1


# --- the same work told twice -------------------------------------------------------------------


def test_a_plain_http_span_below_our_fetch_is_the_same_attempt() -> None:
    builder = _run().fetch(URL, html=HTML)
    parent = builder.last_id
    builder.span(
        span(
            "GET",
            {names.HTTP_METHOD: "GET", names.URL_FULL: URL, names.HTTP_STATUS: 200},
            trace=builder.trace,
            parent=parent,
            kind=3,
        )
    )
    (fetch,) = _episode(builder.answer("x")).fetches
    assert fetch.span == parent


def test_a_plain_http_span_without_ours_is_a_fetch() -> None:
    episode = _built(
        _agent(),
        _child("GET", {"http.method": "GET", "http.url": URL, "http.status_code": 404}, kind=3),
    )
    assert episode is not None
    (fetch,) = episode.fetches
    assert (fetch.url, fetch.status, fetch.page, fetch.action) == (URL, 404, None, Action.READ)


def test_requests_to_models_and_requests_served_are_no_fetches() -> None:
    model = "https://api.example.com/v1/chat/completions"
    episode = _built(
        _agent(),
        _child("POST", {names.HTTP_METHOD: "POST", names.URL_FULL: model}, kind=3),
        _child("GET /x", {names.HTTP_METHOD: "GET", "url.path": "/x"}, kind=2),
        _child("llm", {names.SPAN_KIND: "LLM"}, span_id="01" * 8),
        _child("GET", {names.HTTP_METHOD: "GET", names.URL_FULL: URL}, parent="01" * 8),
    )
    assert episode is not None
    assert episode.fetches == ()


def test_a_fetch_tool_and_its_http_attempts_become_attempts_with_the_page() -> None:
    http: AttributeMap = {names.HTTP_METHOD: "GET", names.URL_FULL: URL}
    episode = _built(
        _agent(),
        _child(
            "fetch_page",
            {
                names.SPAN_KIND: "TOOL",
                names.TOOL_NAME: "fetch_page",
                names.INPUT_VALUE: f'{{"url": "{URL}"}}',
                names.OUTPUT_VALUE: HTML,
            },
            span_id="01" * 8,
            seconds=9,
        ),
        _child("GET", {**http, names.HTTP_STATUS: 503}, parent="01" * 8, span_id="02" * 8),
        _child("GET", {**http, names.HTTP_STATUS: 200}, parent="01" * 8, span_id="03" * 8, at=5),
    )
    assert episode is not None
    first, second = episode.fetches
    assert (first.status, first.page, first.attempt) == (503, None, 1)
    assert (second.status, second.attempt) == (200, 2)
    assert second.page is not None
    assert second.page.text == "It opened in 1932."


def test_http_spans_of_one_redirect_chain_are_one_fetch() -> None:
    moved: AttributeMap = {
        names.HTTP_METHOD: "GET",
        names.URL_FULL: "http://example.org/old",
        names.HTTP_STATUS: 301,
        "http.response.header.location": [URL],
    }
    arrived: AttributeMap = {names.HTTP_METHOD: "GET", names.URL_FULL: URL, names.HTTP_STATUS: 200}
    episode = _built(
        _agent(),
        _child("GET", moved, span_id="01" * 8, at=1, seconds=0.5),
        _child("GET", arrived, span_id="02" * 8, at=1.6, seconds=0.5),
    )
    assert episode is not None
    (fetch,) = episode.fetches
    assert (fetch.url, fetch.final_url, fetch.status) == ("http://example.org/old", URL, 200)
    assert fetch.hops == (Hop(url="http://example.org/old", status=301, location=URL),)


def test_a_search_tool_around_our_retriever_is_one_search() -> None:
    builder = _run()
    tool = span(
        "web_search",
        {
            names.SPAN_KIND: "TOOL",
            names.TOOL_NAME: "web_search",
            names.INPUT_VALUE: '{"query": "bridge"}',
            names.OUTPUT_VALUE: f'[{{"url": "{URL}", "title": "retold"}}]',
        },
        trace=builder.trace,
        span="01" * 8,
        parent=builder.root_id,
    )
    builder.search("bridge opening", [result(URL, title="The bridge")])
    retriever = next(view for view in builder.spans() if view.name.startswith("retrieval"))
    retriever.parent_span_id = bytes.fromhex("01" * 8)
    (search,) = _episode(builder.span(tool).answer("x")).searches
    assert search.span == retriever.span_id.hex()
    assert search.query == "bridge opening", "what was sent, not what the tool was asked"
    assert search.results is not None
    assert search.results[0].title == "The bridge"


def test_nested_retrievers_are_one_search_with_the_documents() -> None:
    documents = {
        "retrieval.documents.0.document.id": URL,
        "retrieval.documents.0.document.content": "opened in 1932",
    }
    episode = _built(
        _agent(),
        _child(
            "retrieve",
            {names.SPAN_KIND: "RETRIEVER", names.INPUT_VALUE: "q", **documents},
            span_id="01" * 8,
        ),
        _child(
            "_retrieve",
            {
                names.SPAN_KIND: "RETRIEVER",
                names.INPUT_VALUE: '{"query_bundle": {"query_str": "q"}}',
            },
            parent="01" * 8,
        ),
    )
    assert episode is not None
    (search,) = episode.searches
    assert search.span == "01" * 8
    assert search.results is not None
    assert search.results[0].url == URL


def test_tokens_of_nested_model_spans_count_once_and_agents_totals_never() -> None:
    usage: AttributeMap = {"llm.token_count.prompt": 100, "llm.token_count.completion": 10}
    episode = _built(
        _agent(usage),
        _child("chat", {names.SPAN_KIND: "LLM", **usage}, span_id="01" * 8),
        _child(
            "anthropic.messages.create",
            {names.OPERATION_NAME: "chat", names.INPUT_TOKENS: 100, names.OUTPUT_TOKENS: 10},
            parent="01" * 8,
        ),
        _child("streamed", {names.SPAN_KIND: "LLM"}, span_id="02" * 8, at=5),
    )
    assert episode is not None
    assert [generation.input_tokens for generation in episode.generations] == [100, None]


def test_two_instrumentors_side_by_side_tell_one_call() -> None:
    outer: AttributeMap = {
        names.SPAN_KIND: "LLM",
        "llm.token_count.prompt": 89,
        "llm.token_count.completion": 2,
    }
    twin: AttributeMap = {
        names.OPERATION_NAME: "chat",
        names.INPUT_TOKENS: 89,
        names.OUTPUT_TOKENS: 2,
    }
    one = raw_items(
        traces_request([_agent(), _child("stream", outer, seconds=2)], scope="one"),
        Signal.TRACES,
    )
    other = raw_items(
        traces_request([_child("create", twin, at=1.1)], scope="other"),
        Signal.TRACES,
    )
    episode = normalise(cut_of(TRACE, [*one, *other]), REDACTOR, LANES)
    assert episode is not None
    assert len(episode.generations) == 1


def _by_two_scopes(
    outer: list[tuple[str, AttributeMap, float, float]],
    inner: list[tuple[str, AttributeMap, float, float]],
) -> Episode:
    """Return a run whose model calls come from two instrumentors, as name, attributes, start and
    seconds."""
    groups = [("outer", outer), ("inner", inner)]
    items = raw_items(traces_request([_agent()]), Signal.TRACES)
    for number, (scope, calls) in enumerate(groups):
        children = [
            _child(name, values, at=at, seconds=seconds, span_id=f"{number + 5}{place}" * 8)
            for place, (name, values, at, seconds) in enumerate(calls)
        ]
        items += raw_items(traces_request(children, scope=scope), Signal.TRACES)
    episode = normalise(cut_of(TRACE, items), REDACTOR, LANES)
    assert episode is not None
    return episode


_UNCOUNTED: AttributeMap = {names.SPAN_KIND: "LLM", "llm.model_name": "gpt-4o-mini"}
_UNCOUNTED_TWIN: AttributeMap = {
    names.OPERATION_NAME: "chat",
    names.RESPONSE_MODEL: "gpt-4o-mini-2024-07-18",
}


def test_two_instrumentors_side_by_side_tell_one_call_that_nobody_counts() -> None:
    calls = [(f"call {n}", _UNCOUNTED, 1 + n / 10, 2.0) for n in range(3)]
    twins = [(f"create {n}", _UNCOUNTED_TWIN, 1.05 + n / 10, 1.9) for n in range(3)]
    assert len(_by_two_scopes(calls, twins).generations) == 3


def test_of_two_tellings_the_one_that_counts_stays() -> None:
    counted = {**_UNCOUNTED_TWIN, names.INPUT_TOKENS: 89, names.OUTPUT_TOKENS: 2}
    [generation] = _by_two_scopes(
        [("call", _UNCOUNTED, 1, 2.0)], [("create", counted, 1.1, 1.5)]
    ).generations
    assert (generation.input_tokens, generation.output_tokens) == (89, 2)


@pytest.mark.parametrize(
    ("other", "at", "seconds"),
    [
        ({**_UNCOUNTED_TWIN, names.RESPONSE_MODEL: "gpt-4o"}, 1.1, 1.0),
        ({names.OPERATION_NAME: "chat"}, 1.1, 1.0),
        (_UNCOUNTED_TWIN, 1.1, 5.0),
        (_UNCOUNTED_TWIN, 3.5, 1.0),
    ],
    ids=["another model", "no model", "longer than the first", "after the first"],
)
def test_calls_that_nobody_counts_and_nothing_ties_together_are_two(
    other: AttributeMap, at: float, seconds: float
) -> None:
    episode = _by_two_scopes([("call", _UNCOUNTED, 1, 2.0)], [("create", other, at, seconds)])
    assert len(episode.generations) == 2


def test_a_second_attempt_inside_one_telling_is_a_call_of_its_own() -> None:
    attempts = [(f"create {n}", _UNCOUNTED_TWIN, 1.1 + n, 0.5) for n in range(2)]
    episode = _by_two_scopes([("call", _UNCOUNTED, 1, 3.0)], attempts)
    assert len(episode.generations) == 2


def test_llamaindex_preparing_a_model_call_is_no_model_call() -> None:
    model: AttributeMap = {names.SPAN_KIND: "LLM", "llm.model_name": "gpt-4o-mini"}
    episode = _built(
        _agent(),
        _child("OpenAI._prepare_chat_with_tools", model, at=1, seconds=0.1),
        _child("OpenAI.astream_chat", model, at=2),
    )
    assert episode is not None
    assert len(episode.generations) == 1


# --- the question -------------------------------------------------------------------------------


def test_messages_may_be_pairs_of_role_and_text() -> None:
    asked = {"messages": [["system", "Be brief."], ["user", "When did the bridge open?"]]}
    episode = _built(_agent({names.INPUT_VALUE: json.dumps(asked)}))
    assert episode is not None
    assert episode.question == "When did the bridge open?"


def test_messages_may_begin_at_the_second_place() -> None:
    model: AttributeMap = {
        names.SPAN_KIND: "LLM",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": "When did the bridge open?",
    }
    episode = _built(_agent(), _child("response", model))
    assert episode is not None
    assert episode.question == "When did the bridge open?"


# --- the answer ---------------------------------------------------------------------------------


def test_without_a_roots_answer_the_last_model_call_without_tools_is_it() -> None:
    def said(text: str, **more: str) -> dict[str, str]:
        return {
            names.SPAN_KIND: "LLM",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": text,
            **more,
        }

    episode = _built(
        _agent(),
        _child("chat", said("first"), span_id="01" * 8, at=1),
        _child("chat", said("final"), span_id="02" * 8, at=3),
        _child(
            "chat",
            said(
                "x", **{"llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "t"}
            ),
            span_id="03" * 8,
            at=5,
        ),
        _child("title", said("after the run"), span_id="04" * 8, at=100),
    )
    assert episode is not None
    assert episode.answer is not None
    assert (episode.answer.text, episode.answer.span) == ("final", "02" * 8)
    assert episode.answer_candidates == 2, "ambiguity is counted"


def test_spans_side_by_side_without_a_root_are_one_run_from_first_to_last() -> None:
    def said(text: str, at: float) -> ProtoSpan:
        return _child(
            text,
            {
                names.SPAN_KIND: "LLM",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": text,
            },
            at=at,
        )

    episode = _built(said("first", 1), said("final", 3))
    assert episode is not None
    assert (episode.start, episode.end) == (START + SECOND, START + 4 * SECOND)
    assert episode.answer is not None
    assert episode.answer.text == "final"
    assert not episode.completeness.root_seen


def test_a_streamed_answer_may_end_after_its_agent() -> None:
    streamed = _child(
        "chat",
        {
            names.SPAN_KIND: "LLM",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "streamed",
        },
        at=59,
        seconds=9,
    )
    episode = _built(_agent(), streamed)
    assert episode is not None
    assert episode.answer is not None
    assert episode.answer.text == "streamed"


def test_an_object_repr_is_no_answer() -> None:
    episode = _built(_agent({names.OUTPUT_VALUE: "StopEvent(result=AgentOutput(response='x'))"}))
    assert episode is not None
    assert episode.answer is None


def test_content_in_logs_is_joined_by_trace_and_span() -> None:
    model = _child("chat", {names.OPERATION_NAME: "chat"}, span_id="01" * 8)
    record = log(
        "gen_ai.client.inference.operation.details",
        {
            names.INPUT_MESSAGES: [{"role": "user", "parts": [{"type": "text", "content": "q?"}]}],
            names.OUTPUT_MESSAGES: [
                {"role": "assistant", "parts": [{"type": "text", "content": "a."}]}
            ],
        },
        trace=TRACE,
        span="01" * 8,
    )
    spans = raw_items(traces_request([_agent(), model]), Signal.TRACES)
    logs = raw_items(logs_request([record]), Signal.LOGS)
    episode = normalise(cut_of(TRACE, spans, logs), REDACTOR, LANES)
    assert episode is not None
    assert episode.question == "q?"
    assert episode.answer is not None
    assert episode.answer.text == "a."


def test_old_messages_in_logs_and_in_span_events_are_read() -> None:
    model = _child("chat", {names.OPERATION_NAME: "chat"}, span_id="01" * 8)
    logs = raw_items(
        logs_request(
            [
                log("gen_ai.user.message", body={"content": "q?"}, trace=TRACE, span="01" * 8),
                log(
                    "gen_ai.choice",
                    body={"index": 0, "message": {"content": "a.", "role": "assistant"}},
                    trace=TRACE,
                    span="01" * 8,
                ),
            ]
        ),
        Signal.LOGS,
    )
    spans = raw_items(traces_request([_agent(), model]), Signal.TRACES)
    episode = normalise(cut_of(TRACE, spans, logs), REDACTOR, LANES)
    assert episode is not None
    assert episode.question == "q?"
    evented = span(
        "chat",
        {names.OPERATION_NAME: "chat"},
        trace=TRACE,
        parent="ab" * 8,
        end=START + SECOND,
        events=[
            ("gen_ai.user.message", {"content": '[{"text": "q?"}]'}),
            ("gen_ai.choice", {"message": '[{"text": "a."}]'}),
        ],
    )
    from_events = _built(_agent(), evented)
    assert from_events is not None
    assert from_events.question == "q?"
    assert from_events.answer is not None
    assert from_events.answer.text == "a."


# --- safety -------------------------------------------------------------------------------------

CANARY = "sk-" + "Canary0123456789abcdef"


def test_no_secret_that_others_wrote_enters_an_episode() -> None:
    """A canary in every place that is read, and in the URL spellings that hide one."""
    secret_url = f"https://user:{CANARY}@example.org/a?api_key={CANARY}#access_token={CANARY}"
    text = f"see {CANARY} and {secret_url}"
    attributes: AttributeMap = {
        names.INPUT_VALUE: text,
        names.OUTPUT_VALUE: text,
        names.TOOL_NAME: f"search {CANARY}",
        names.SESSION_ID: CANARY,
        "agent.name": CANARY,
        "llm.model_name": CANARY,
        "llm.provider": CANARY,
        names.ERROR_TYPE: CANARY,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": text,
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": text,
        "retrieval.documents.0.document.id": secret_url,
        "retrieval.documents.0.document.content": text,
        "retrieval.documents.0.document.metadata": f'{{"title": "{CANARY}"}}',
        names.URL_FULL: secret_url,
        names.HTTP_METHOD: CANARY,
        "http.response.header.etag": [CANARY],
        names.CITATIONS: f'[{{"url": "{secret_url}", "quote": "{CANARY}", "title": "{CANARY}"}}]',
        names.CASE_ID: CANARY,
        names.EVALUATION_LABEL: CANARY,
    }
    spans = [
        _child(f"{kind} {CANARY}", {names.SPAN_KIND: kind, **attributes}, span_id=f"{n:02d}" * 8)
        for n, kind in enumerate(("LLM", "RETRIEVER", "TOOL", "GUARDRAIL", "CHAIN"), start=1)
    ]
    for scope in ("seekwatch.sdk", "other"):
        request = traces_request(
            [_agent(attributes), *spans],
            scope=scope,
            resource={names.SERVICE_NAME: CANARY, names.SERVICE_VERSION: CANARY},
        )
        cut = cut_of(TRACE, raw_items(request, Signal.TRACES))
        encoded = msgspec.json.encode(normalise(cut, REDACTOR, LANES))
        assert b"Canary" not in encoded
        assert b"****" in encoded


HOSTILE: list[object] = [
    float("nan"),
    float("inf"),
    -(2**63),
    True,
    b"\xff\x00",
    "",
    " ",
    "x" * 100_000,
    "[" * 50_000,
    '{"a":' * 20_000,
    '{"url": "http://[::1", "query": {"query": [1, null]}}',
    "((((((((((" * 5_000,
    '["\\ud800"]',
    "{'a': 1e999}",
    "http://" + "a" * 9_000,
    [1, "a", [2.5, {"k": "v"}]],
    {"url": {"url": {"url": 1}}, "messages": [[[["x"]]]]},
    '{"page_content": "x", "metadata": "{\\"source\\": \\"http://a.b\\", \\"date\\": \\"2021-"}',
]


@pytest.mark.parametrize("scope", ["seekwatch.sdk", "other"])
@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_under_every_key_never_raise(value: object, scope: str) -> None:
    keys = [
        getattr(names, name)
        for name in dir(names)
        if name.isupper() and isinstance(getattr(names, name), str)
    ]
    keys += [
        "llm.output_messages.0.message.content",
        "llm.token_count.prompt",
        "retrieval.documents.0.document.metadata",
        "retrieval.documents.0.document.score",
        "seekwatch.limit.deadline",
        "http.url",
        "url.path",
        "tool.parameters",
    ]
    for kind in ("AGENT", "LLM", "RETRIEVER", "TOOL", "GUARDRAIL", None):
        attributes = dict.fromkeys(keys, value)
        if kind is None:
            attributes.pop(names.SPAN_KIND)
            for operation in ("chat", "execute_tool", "retrieval", "invoke_agent"):
                attributes[names.OPERATION_NAME] = operation
                _encoded(attributes, scope)
        else:
            attributes[names.SPAN_KIND] = kind
            _encoded(attributes, scope)


def _encoded(attributes: dict[str, object], scope: str) -> None:
    hostile = _child("hostile", attributes)  # type: ignore[arg-type]
    request = traces_request([_agent(), hostile], scope=scope, resource=attributes)  # type: ignore[arg-type]
    cut = cut_of(TRACE, raw_items(request, Signal.TRACES))
    assert msgspec.json.decode(msgspec.json.encode(normalise(cut, REDACTOR, LANES)), type=Episode)
