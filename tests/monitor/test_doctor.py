"""The doctor finds what makes the monitor blind, and says what to do."""

import time
from collections.abc import Iterable
from pathlib import Path

import msgspec
from rich.console import Console

from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.core import attributes
from seekwatch.core.policy import Policy
from seekwatch.core.records import NewRecord, Output, Signal, StoredOutput
from seekwatch.core.scorecard import ScoreEntry
from seekwatch.core.testing import START, TraceBuilder, result, span, trace_id, traces_request
from seekwatch.monitor.doctor.arrivals import examine_arrivals
from seekwatch.monitor.doctor.dead_letters import examine_dead_letters
from seekwatch.monitor.doctor.examination import examine
from seekwatch.monitor.doctor.findings import Arrived, Finding, Status, note, ok, wrong
from seekwatch.monitor.doctor.runs import examine_runs
from seekwatch.monitor.doctor.view import show
from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer
from seekwatch.monitor.scoring.offline import cuts_of
from seekwatch.monitor.scoring.otlp_files import Request
from seekwatch.monitor.settings.reading import load_settings
from seekwatch.processors.closing import ClosingRules
from tests.services.ports import free_ports
from tests.services.traffic import records, runs
from tests.services.workbench import Workbench

NOW = START / 1e9 + 60
ENDPOINT = "http://127.0.0.1:4318"


def _entries(*requests: bytes) -> list[ScoreEntry]:
    scorer = EpisodeScorer(Policy())
    found: list[ScoreEntry] = []
    for cut in cuts_of([Request(Signal.TRACES, value) for value in requests], ClosingRules()):
        episode = scorer.episode(cut)
        assert episode is not None
        entry = scorer.score(cut, episode, scorer.known(episode)).entry
        assert entry is not None
        found.append(entry)
    return found


def _arrived(*requests: bytes) -> list[Arrived]:
    return [Arrived(timestamp=START // 1_000_000, value=request) for request in requests]


def _wrong(findings: Iterable[Finding], *words: str) -> Finding:
    """Return the finding of somebody to act on that says all of these words."""
    for finding in findings:
        if finding.is_wrong and all(word in finding.what for word in words):
            assert finding.next_step
            return finding
    raise AssertionError(f"nothing wrong with {words} in {list(findings)}")


def _agent(number: int, *, search: bool = True, answer: bool = True) -> bytes:
    builder = TraceBuilder("finder", seed=f"finder-{number}").agent("When did the bridge open?")
    if search:
        url = "https://museum.example.org/bridge"
        builder.search("bridge opening", [result(url, title="The bridge")])
        builder.fetch(url, html="<p>The bridge opened in 1932, says the museum of bridges.</p>")
    builder.generation(input_tokens=10, output_tokens=10)
    if answer:
        cited = [{"url": "https://museum.example.org/bridge"}] if search else []
        builder.answer("It opened in 1932.", citations=cited)
    return builder.request()


def test_nothing_has_arrived() -> None:
    finding = _wrong(examine_arrivals([], now=NOW, endpoint=ENDPOINT), "none has ever arrived")
    assert ENDPOINT in finding.next_step


def test_what_arrives_is_said_with_its_sender_and_age() -> None:
    (finding,) = examine_arrivals(_arrived(_agent(1)), now=NOW, endpoint=ENDPOINT)
    assert finding.status is Status.OK
    assert "finder (5)" in finding.what
    assert "1 min ago" in finding.what


def test_an_agent_that_has_fallen_silent_is_noted() -> None:
    (finding,) = examine_arrivals(_arrived(_agent(1)), now=NOW + 7200, endpoint=ENDPOINT)
    assert finding.status is Status.NOTE
    assert "2 h ago" in finding.what


def test_spans_that_were_sampled_on_the_way_are_noted_with_their_share() -> None:
    kept = span("invoke_agent", trace=trace_id("a"), span="1" * 16)
    # Half of the 56-bit space is rejected (W3C tracestate, OpenTelemetry's `th`).
    kept.trace_state = "vendor=x,ot=th:8;rv:abcdef01234567"
    findings = examine_arrivals(_arrived(traces_request([kept])), now=NOW, endpoint=ENDPOINT)
    assert [finding.subject for finding in findings] == ["spans", "sampling"]
    assert "50.0%" in findings[1].what
    assert "OTEL_TRACES_SAMPLER" in findings[1].next_step


def test_garbage_among_the_spans_does_not_stop_the_examination() -> None:
    findings = examine_arrivals(_arrived(b"\x0a\xff", _agent(1)), now=NOW, endpoint=ENDPOINT)
    assert "finder (5)" in findings[0].what


def _unscored(*, for_seconds: float | None) -> list[Finding]:
    unscored = None if for_seconds is None else NOW - for_seconds
    return examine_runs([], unscored=unscored, now=NOW, usual=13)


def test_spans_without_a_single_scorecard_are_wrong() -> None:
    finding = _wrong(_unscored(for_seconds=60), "no run was ever scored")
    assert "worker" in finding.next_step
    assert not _unscored(for_seconds=None)


def test_a_first_run_that_is_too_young_for_a_scorecard_is_noted_alone() -> None:
    (finding,) = _unscored(for_seconds=14)
    assert finding.status is Status.NOTE
    assert "about 13 s after it ends; look again" in finding.next_step


def test_the_age_of_the_first_span_on_the_log_decides(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    log = EmbeddedLog(path)
    log.appender().append([NewRecord(signal=Signal.TRACES, key=b"0" * 32, value=_agent(1))])
    log.close()

    def scores(quiet: float, commit: float) -> Status:
        flags = {
            "embedded": {"path": path},
            "closing": {"quiet": quiet},
            "worker": {"commit_interval": commit},
        }
        found = examine(load_settings(flags=flags))
        return next(finding.status for finding in found if finding.subject == "scores")

    assert scores(3600, 0) is Status.NOTE
    assert scores(0, 3600) is Status.NOTE


def test_an_agent_without_retriever_spans_is_wrong() -> None:
    findings = examine_runs(
        _entries(*(_agent(number, search=False) for number in range(4))),
        unscored=None,
        now=NOW,
        usual=13,
    )
    assert "@retriever" in _wrong(findings, "RETRIEVER").next_step
    _wrong(findings, "query_quality was never scored")
    assert "citations=" in _wrong(findings, "citation_validity was never scored").next_step


def test_an_agent_whose_answers_are_not_seen_is_wrong() -> None:
    findings = examine_runs(
        _entries(*(_agent(number, answer=False) for number in range(4))),
        unscored=None,
        now=NOW,
        usual=13,
    )
    assert "run.answer" in _wrong(findings, "citation_validity was never scored").next_step


def _withheld(number: int) -> bytes:
    builder = TraceBuilder("quiet", seed=f"quiet-{number}").agent("")
    return builder.attribute(attributes.CONTENT_WITHHELD, True).request()


def test_an_agent_that_sends_no_content_is_noted_once_and_is_not_wrong() -> None:
    entries = _entries(*(_withheld(number) for number in range(4)))
    findings = examine_runs(entries, unscored=None, now=NOW, usual=13)
    about = [finding for finding in findings if "capture_content=False" in finding.what]
    assert [finding.status for finding in about] == [Status.NOTE]
    assert not any("never scored" in finding.what for finding in findings)
    assert not any("answer" in finding.next_step for finding in findings)


def test_what_needs_somebody_is_shown_first_and_what_is_well_once_a_subject() -> None:
    console = Console(width=100, highlight=False)
    with console.capture() as capture:
        show(
            [
                ok("finder", "2 runs looked at"),
                note("finder", "no cost", "add prices"),
                wrong("other", "no searches", "look"),
                ok("finder", "roots are fine"),
            ],
            console,
        )
    lines = capture.get().splitlines()
    assert [line[0] for line in lines if line[:1] in "✗!✓" and line] == ["✗", "!", "✓"]
    assert "✓ finder: 2 runs looked at; roots are fine" in lines
    assert lines[-1] == "1 finding needs somebody, of 4."


def test_one_run_is_one_run() -> None:
    findings = examine_runs(_entries(_agent(1)), unscored=None, now=NOW, usual=13)
    assert findings[0].what.startswith("1 run looked at")


def test_a_single_run_is_too_little_to_say_never() -> None:
    findings = examine_runs(_entries(_agent(1, search=False)), unscored=None, now=NOW, usual=13)
    assert not any(finding.is_wrong for finding in findings)


def test_a_healthy_agent_has_nothing_wrong() -> None:
    findings = examine_runs(
        _entries(*(_agent(number) for number in range(4))), unscored=None, now=NOW, usual=13
    )
    assert not any(finding.is_wrong for finding in findings)
    assert "4 runs looked at" in findings[0].what


def test_an_agent_without_live_runs_is_noted() -> None:
    entries = [
        msgspec.structs.replace(
            entry, scorecard=msgspec.structs.replace(entry.scorecard, lane="nonproduction")
        )
        for entry in _entries(*(_agent(number) for number in range(4)))
    ]
    findings = examine_runs(entries, unscored=None, now=NOW, usual=13)
    assert any("live lane" in finding.what for finding in findings)


def test_incomplete_traces_are_wrong() -> None:
    entries = [
        msgspec.structs.replace(
            entry, scorecard=msgspec.structs.replace(entry.scorecard, complete=False)
        )
        for entry in _entries(_agent(1))
    ]
    _wrong(examine_runs(entries, unscored=None, now=NOW, usual=13), "100%", "incomplete")


def test_dead_letters_are_wrong_and_say_where_they_came_from() -> None:
    letter = StoredOutput(
        output=Output.DEAD_LETTERS,
        partition=3,
        offset=7,
        timestamp=START // 1_000_000,
        value=b"x",
        headers=(("reason", b"protobuf"), ("offset", b"42"), ("error", b"no OTLP")),
    )
    (finding,) = examine_dead_letters([letter], now=NOW)
    assert "protobuf 1" in finding.what
    assert "partition 3, offset 42: no OTLP" in finding.next_step
    assert examine_dead_letters([], now=NOW)[0].status is Status.OK


def test_the_whole_examination_of_an_embedded_log(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with Workbench(path) as bench:
        for run in runs(4, open_every=99):
            bench.append(*records(run))
        bench.settle()
    grpc, http, metrics = free_ports(3)
    settings = load_settings(
        flags={
            "embedded": {"path": path},
            "receiver": {"grpc_port": grpc, "http_port": http},
            "metrics": {"port": metrics},
        }
    )
    findings = examine(settings)
    subjects = [finding.subject for finding in findings]
    assert subjects[:2] == ["log", "spans"]
    assert "agent-0" in subjects
    assert "dead letters" in subjects
    assert "nobody answers" in _wrong(findings, "nobody answers").what
    receiver = [finding for finding in findings if finding.subject == "receiver"]
    assert [finding.status for finding in receiver] == [Status.NOTE, Status.NOTE]


def test_a_log_that_is_almost_full_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    log = EmbeddedLog(path)
    log.appender().append([NewRecord(signal=Signal.TRACES, key=b"0" * 32, value=bytes(2 << 20))])
    log.close()
    settings = load_settings(flags={"embedded": {"path": path, "max_bytes": 2 << 20}})
    _wrong(examine(settings), "refuses records")


def test_looking_on_moves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with Workbench(path) as bench:
        bench.append(*records(runs(1, open_every=99)[0]))
        before = path.stat().st_mtime_ns
        time.sleep(0.01)
        examine(load_settings(flags={"embedded": {"path": path}}))
        assert path.stat().st_mtime_ns == before
        bench.settle()
        assert len(bench.scores()) == 1
