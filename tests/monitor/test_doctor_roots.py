"""The doctor says what made the roots of runs, which runs were mixed, and how many are not seen."""

from seekwatch.core.testing import START, span, span_id, trace_id, traces_request
from seekwatch.monitor.doctor.findings import Arrived, Finding, Status
from seekwatch.monitor.doctor.roots import examine_roots

AGENT = {"gen_ai.agent.name": "finder", "openinference.span.kind": "AGENT"}


def _arrived(*requests: bytes) -> list[Arrived]:
    return [Arrived(timestamp=START // 1_000_000, value=request) for request in requests]


def _run(name: str, *, scope: str = "seekwatch.sdk", **more: str | int) -> bytes:
    described = {**AGENT, **{f"seekwatch.{key.replace('__', '.')}": more[key] for key in more}}
    made = span("invoke_agent finder", trace=trace_id(name), attributes=described)
    return traces_request([made], scope=scope)


def _said(findings: list[Finding], words: str) -> Finding:
    (finding,) = [finding for finding in findings if words in finding.what]
    return finding


def test_what_made_the_roots_is_said_with_its_share() -> None:
    findings = examine_roots(
        _arrived(
            _run("1", run__root="agent_run"),
            _run("2", run__root="agent_run"),
            _run("3", run__root="implicit"),
            _run("4", scope="openinference.instrumentation.langchain"),
        )
    )
    (finding,) = findings
    assert finding.status is Status.OK
    assert finding.subject == "finder"
    assert "its 4 newest runs" in finding.what
    assert "agent_run 50%" in finding.what
    assert "implicit 25%" in finding.what
    assert "framework openinference.instrumentation.langchain 25%" in finding.what


def test_runs_that_hold_several_questions_are_wrong_with_both_ways_to_mark_them() -> None:
    findings = examine_roots(
        _arrived(
            _run("1", run__root="implicit", run__questions=3),
            _run("2", run__root="implicit"),
        )
    )
    finding = _said(findings, "1 of 2 runs hold more than one question")
    assert finding.is_wrong
    assert "with agent_run(question)" in finding.next_step
    assert "entrypoint=" in finding.next_step


def test_a_question_that_was_read_out_of_a_prompt_is_noted() -> None:
    prompt = "Context:\n[1] The bridge opened in 1932.\n\nQuestion: When did the bridge open?"
    findings = examine_roots(
        _arrived(
            _run("1", run__root="implicit", run__question=prompt),
            _run("2", run__root="implicit", run__question="When did the bridge open?"),
            _run("3", run__root="agent_run", run__question=prompt),
        )
    )
    finding = _said(findings, "of 1 of 3 runs was read out of a prompt")
    assert finding.status is Status.NOTE
    assert "with agent_run(question)" in finding.next_step
    assert "entrypoint=" in finding.next_step


def test_calls_without_a_run_above_them_are_wrong() -> None:
    alone = span(
        "chat",
        trace=trace_id("1"),
        attributes={"openinference.span.kind": "LLM", "gen_ai.agent.name": "finder"},
    )
    findings = examine_roots(_arrived(traces_request([alone])))
    assert _said(findings, "no run above them").is_wrong


def test_the_share_of_runs_that_were_sampled_out_is_said() -> None:
    findings = examine_roots(
        _arrived(
            _run("1", run__root="implicit", sdk__unsampled_runs=1, sdk__sampled_runs=1),
            _run("2", run__root="implicit", sdk__unsampled_runs=30, sdk__sampled_runs=10),
        )
    )
    finding = _said(findings, "blind to")
    assert finding.status is Status.NOTE
    assert "blind to 75% of its runs: sampled out (30 of 40)" in finding.what
    assert "OTEL_TRACES_SAMPLER" in finding.next_step


def test_traces_that_are_no_runs_and_garbage_are_left_aside() -> None:
    fetches = span(
        "fetches",
        trace=trace_id("1"),
        attributes={
            "openinference.span.kind": "CHAIN",
            "gen_ai.agent.name": "finder",
            "seekwatch.run.root": "implicit",
        },
    )
    assert examine_roots(_arrived(traces_request([fetches]), b"\x0a\xff")) == []


def _call(name: str, *, at: int, answer: str | None = None, process: str = "one") -> bytes:
    """Make an implicit run of one search, at so many milliseconds."""
    began = START + at * 1_000_000
    root = {**AGENT, "seekwatch.run.root": "implicit"}
    if answer is not None:
        root["seekwatch.run.answer"] = answer
    step = {"gen_ai.agent.name": "finder", "openinference.span.kind": "RETRIEVER"}
    trace = trace_id(name)
    run = span("invoke_agent finder", trace=trace, attributes=root, start=began)
    search = span(
        "retrieval",
        trace=trace,
        attributes=step,
        start=began,
        parent=span_id("invoke_agent finder"),
    )
    return traces_request([search, run], resource={"service.instance.id": process})


def test_single_calls_that_began_together_may_belong_to_one_run() -> None:
    requests = [_call(str(number), at=number // 2 * 5000) for number in range(6)]
    finding = _said(examine_roots(_arrived(*requests)), "6 of 6 runs are one call each")
    assert finding.status is Status.NOTE
    assert "asyncio.gather" in finding.what
    assert "with agent_run(question)" in finding.next_step


def test_single_calls_apart_in_time_in_process_or_with_answers_are_runs() -> None:
    apart = [_call(str(number), at=number * 5000) for number in range(6)]
    answered = [_call(f"a{number}", at=0, answer="yes") for number in range(6)]
    elsewhere = [_call(f"p{number}", at=100_000, process=f"{number}") for number in range(6)]
    findings = examine_roots(_arrived(*apart, *answered, *elsewhere))
    assert not [each for each in findings if "one call each" in each.what]
