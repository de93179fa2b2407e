"""One loop: every trace ends with one scorecard, and metrics move only after the commit."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest
from msgspec.structs import replace

from seekwatch.core.errors import FencedError, PermanentError, RetryableError
from seekwatch.core.evidence import Evidence, TruthRecord
from seekwatch.core.model import Episode
from seekwatch.core.policy import Policy
from seekwatch.core.records import (
    Batch,
    NewRecord,
    Output,
    OutputRecord,
    Position,
    RevocationListener,
    Signal,
    TraceLog,
)
from seekwatch.core.scorecard import CloseReason, encode_line
from seekwatch.core.topics import SCORE_BYTES, unpack_episodes
from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer, Scored
from seekwatch.processors.cuts import Cut
from tests.services.traffic import Run, expected_scorecards, records, runs
from tests.services.workbench import RULES, Workbench

SUCCESS = {"agent": "agent-1", "lane": "live", "outcome": "success"}


class _Failing:
    """The real log, whose next commits fail in a chosen way."""

    def __init__(self, log: TraceLog, *failures: Exception) -> None:
        self._log = log
        self._failures = list(failures)

    def read(self, timeout: float) -> Batch:
        return self._log.read(timeout)

    def commit(
        self, positions: Mapping[int, Position], records: Sequence[OutputRecord]
    ) -> Mapping[int, int]:
        if not self._failures or not records:
            return self._log.commit(positions, records)
        failure = self._failures.pop(0)
        nowhere = OutputRecord(output=Output.SCORES, partition=10_000, value=b"")
        # A real transaction that fails, so that the log goes back as it does then.
        with contextlib.suppress(Exception):
            self._log.commit(positions, [*records, nowhere])
        raise failure

    def set_revocation_listener(self, listener: RevocationListener) -> None:
        self._log.set_revocation_listener(listener)

    def close(self) -> None:
        self._log.close()


def _send(bench: Workbench, sent: Sequence[Run]) -> None:
    for run in sent:
        bench.append(*records(run))


def _lines(bench: Workbench) -> dict[str, bytes]:
    """Return the scorecard of each trace; two for one trace are an error."""
    entries = bench.scores()
    assert len({entry.scorecard.trace for entry in entries}) == len(entries)
    return {entry.scorecard.trace: encode_line(entry.scorecard) for entry in entries}


def test_every_run_gets_the_scorecard_that_it_gets_without_a_log(tmp_path: Path) -> None:
    sent = runs(12)
    with Workbench(tmp_path / "log.db") as bench:
        _send(bench, sent)
        bench.settle()
        bench.turn(after=RULES.idle, times=3)
        assert _lines(bench) == expected_scorecards(sent)


def test_an_open_run_waits_and_a_finished_one_does_not(tmp_path: Path) -> None:
    finished, waiting = runs(2, open_every=2)
    with Workbench(tmp_path / "log.db") as bench:
        _send(bench, [finished, waiting])
        bench.settle()
        assert set(_lines(bench)) == {finished.trace}
        bench.turn(after=RULES.idle, times=3)
        reasons = {e.scorecard.trace: e.envelope.reason for e in bench.scores()}
        assert reasons == {finished.trace: CloseReason.COMPLETE, waiting.trace: CloseReason.IDLE}


def test_a_crash_before_the_commit_and_one_after_it_publish_each_run_once(
    tmp_path: Path,
) -> None:
    sent = runs(10)
    path = tmp_path / "log.db"
    with Workbench(path, commit_interval=3600) as bench:
        _send(bench, sent[:6])
        bench.settle()
        assert not bench.scores()
    with Workbench(path) as bench:
        bench.settle()
        _send(bench, sent[6:])
        bench.turn(times=2)
    with Workbench(path) as bench:
        bench.settle()
        bench.turn(after=RULES.idle, times=3)
        assert _lines(bench) == expected_scorecards(sent)
    with Workbench(path) as bench:
        bench.settle()
        bench.turn(after=RULES.idle + RULES.late_window, times=3)
        assert _lines(bench) == expected_scorecards(sent)
        assert bench.sample("seekwatch_runs_total", **SUCCESS) in (None, 0.0)


def test_metrics_move_after_the_commit_and_only_once(tmp_path: Path) -> None:
    sent = runs(4, open_every=99)

    def wrap(log: TraceLog) -> TraceLog:
        return _Failing(log, RetryableError("broker away"))

    with Workbench(tmp_path / "log.db", wrap=wrap) as bench:
        _send(bench, sent)
        bench.turn(times=2)
        bench.clock.advance(RULES.quiet + 5)
        with pytest.raises(RetryableError):
            bench.turn()
        assert not bench.scores()
        assert bench.sample("seekwatch_runs_total", **SUCCESS) in (None, 0.0)
        bench.settle()
        assert _lines(bench) == expected_scorecards(sent)
        good = sum(entry.scorecard.outcome == "success" for entry in bench.scores())
        counted = [
            bench.sample("seekwatch_runs_total", agent=agent, lane="live", outcome="success") or 0
            for agent in ("agent-0", "agent-1")
        ]
        assert sum(counted) == good
        assert bench.sample("seekwatch_commits_total", result="retry") == 1


def test_a_fenced_commit_drops_what_is_pending_and_the_loop_goes_on(tmp_path: Path) -> None:
    def wrap(log: TraceLog) -> TraceLog:
        return _Failing(log, FencedError("another generation"))

    with Workbench(tmp_path / "log.db", wrap=wrap) as bench:
        _send(bench, runs(4))
        bench.settle()
        assert bench.health.ready().ready
        assert bench.sample("seekwatch_commits_total", result="fenced") == 1
        assert bench.sample("seekwatch_commits_total", result="retry") == 0


def test_garbage_goes_to_the_dead_letters_and_costs_nothing_else(tmp_path: Path) -> None:
    good = runs(3, open_every=99)
    with Workbench(tmp_path / "log.db") as bench:
        _send(bench, good[:1])
        bench.append(NewRecord(signal=Signal.TRACES, key=b"0" * 32, value=b"\x0a\xff garbage"))
        _send(bench, good[1:])
        bench.settle()
        assert _lines(bench) == expected_scorecards(good)
        (letter,) = bench.outputs(Output.DEAD_LETTERS)
        headers = dict(letter.headers)
        assert letter.value == b"\x0a\xff garbage"
        assert headers["reason"] == b"protobuf"
        assert headers["signal"] == b"traces"
        assert int(headers["partition"]) == letter.partition
        assert int(headers["offset"]) >= 0
        assert bench.sample("seekwatch_dead_letters_total", reason="protobuf") == 1


def test_a_dead_letter_is_not_written_again_by_a_replay(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    waiting = runs(1, open_every=1)[0]
    with Workbench(path) as bench:
        _send(bench, [waiting])
        bench.append(
            NewRecord(signal=Signal.TRACES, key=waiting.trace.encode(), value=b"\x0a\xff garbage")
        )
        bench.turn(times=2)
        bench.turn(after=3)
        assert len(bench.outputs(Output.DEAD_LETTERS)) == 1
    with Workbench(path) as bench:
        bench.turn(times=2)
        bench.turn(after=3, times=2)
        assert len(bench.outputs(Output.DEAD_LETTERS)) == 1


def test_episodes_are_published_with_their_scorecards_unless_switched_off(
    tmp_path: Path,
) -> None:
    sent = runs(2, open_every=99)
    with Workbench(tmp_path / "with.db") as bench:
        _send(bench, sent)
        bench.settle()
        archived = [
            entry
            for record in bench.outputs(Output.EPISODES)
            for entry in unpack_episodes(record.value)
        ]
        cards = {entry.scorecard.trace: encode_line(entry.scorecard) for entry in archived}
        assert cards == expected_scorecards(sent)
    scorer = EpisodeScorer(Policy(), keep_episodes=False)
    with Workbench(tmp_path / "without.db", scorer=scorer) as bench:
        _send(bench, sent)
        bench.settle()
        assert _lines(bench) == expected_scorecards(sent)
        assert not bench.outputs(Output.EPISODES)


def test_a_late_span_makes_one_second_revision_that_counts_as_a_correction(
    tmp_path: Path,
) -> None:
    run = runs(2, open_every=99)[1]
    late = run.requests[0]
    with Workbench(tmp_path / "log.db") as bench:
        _send(bench, [run._replace(requests=run.requests[1:])])
        bench.settle()
        _send(bench, [run._replace(requests=(late,))])
        bench.turn(times=2)
        bench.turn(after=RULES.late_window + 5, times=3)
        first, second = bench.scores()
        assert (first.envelope.revision, second.envelope.revision) == (1, 2)
        assert encode_line(second.scorecard) == expected_scorecards([run])[run.trace]
        labels = {"agent": first.scorecard.agent, "lane": "live"}
        assert bench.sample("seekwatch_corrections_total", **labels) == 1
        outcome = {"outcome": str(first.scorecard.outcome)}
        assert bench.sample("seekwatch_runs_total", **labels, **outcome) == 1


def test_short_memory_closes_the_oldest_traces_and_says_so(tmp_path: Path) -> None:
    waiting = runs(6, open_every=1)
    size = len(waiting[0].requests[0]) * 4
    with Workbench(tmp_path / "log.db", memory=size) as bench:
        for run in waiting:
            _send(bench, [run])
            bench.turn(times=2)
        bench.turn(after=3, times=3)
        closed = bench.scores()
        assert closed
        assert {entry.envelope.reason for entry in closed} == {CloseReason.MEMORY}
        assert waiting[-1].trace not in {entry.scorecard.trace for entry in closed}


class _Freezing:
    """The real log, whose reader is frozen for a while right behind a read."""

    def __init__(self, log: TraceLog, meanwhile: Callable[[], None]) -> None:
        self._log = log
        self._meanwhile = meanwhile
        self.armed = False

    def read(self, timeout: float) -> Batch:
        batch = self._log.read(timeout)
        if self.armed:
            self.armed = False
            self._meanwhile()
        return batch

    def commit(
        self, positions: Mapping[int, Position], records: Sequence[OutputRecord]
    ) -> Mapping[int, int]:
        return self._log.commit(positions, records)

    def set_revocation_listener(self, listener: RevocationListener) -> None:
        self._log.set_revocation_listener(listener)

    def close(self) -> None:
        self._log.close()


def test_a_process_that_was_frozen_does_not_take_the_time_for_silence(tmp_path: Path) -> None:
    (run,) = runs(1, open_every=99)
    freezing: list[_Freezing] = []

    def meanwhile() -> None:
        bench.append(*records(run)[:1])
        bench.clock.advance(RULES.quiet + 60)

    def wrap(log: TraceLog) -> TraceLog:
        freezing.append(_Freezing(log, meanwhile))
        return freezing[0]

    with Workbench(tmp_path / "log.db", wrap=wrap) as bench:
        bench.append(*records(run)[1:])
        bench.turn(times=2)
        freezing[0].armed = True
        bench.turn()
        bench.turn(after=RULES.quiet + RULES.late_window + 5, times=3)
        assert [entry.envelope.revision for entry in bench.scores()] == [1]
        assert _lines(bench) == expected_scorecards([run])


@pytest.mark.parametrize("partitions", [[], [0, 1]])
def test_a_commit_that_is_refused_ends_nothing_and_is_told(
    tmp_path: Path, partitions: list[int]
) -> None:
    sent = runs(4, open_every=99)

    def wrap(log: TraceLog) -> TraceLog:
        return _Failing(log, PermanentError("not allowed to write"))

    with Workbench(tmp_path / "log.db", wrap=wrap, commit_interval=3600) as bench:
        _send(bench, sent)
        bench.settle()
        if partitions:
            bench.worker.on_revoke(partitions)
        else:
            bench.clock.advance(3600)
            with pytest.raises(RetryableError, match="not allowed to write"):
                bench.turn()
        assert not bench.scores()
        assert bench.sample("seekwatch_commits_total", result="refused") == 1
        bench.settle()
        bench.turn(after=3600)
        assert _lines(bench) == expected_scorecards(sent)


class _WordyScorer(EpisodeScorer):
    """Says more of one agent than a record holds."""

    def score(self, cut: Cut, episode: Episode, evidence: Evidence) -> Scored:
        scored = super().score(cut, episode, evidence)
        assert scored.scorecard is not None
        if episode.context.agent != "agent-0":
            return scored
        root = "f" * SCORE_BYTES
        return replace(scored, scorecard=replace(scored.scorecard, root=root))


def test_a_scorecard_that_no_topic_takes_is_put_aside_and_the_others_are_published(
    tmp_path: Path,
) -> None:
    sent = runs(4, open_every=99)
    with Workbench(tmp_path / "log.db", scorer=_WordyScorer(Policy())) as bench:
        _send(bench, sent)
        bench.settle()
        assert set(_lines(bench)) == {sent[1].trace, sent[3].trace}
        errors = [dict(letter.headers)["error"] for letter in bench.outputs(Output.DEAD_LETTERS)]
        assert len(errors) == 2
        assert all(b"can be published" in error for error in errors)
        assert bench.sample("seekwatch_dead_letters_total", reason="not-scored") == 2


class _FailingScorer(EpisodeScorer):
    """Fails on one agent, as a hostile trace might make a scorer fail."""

    def score(self, cut: Cut, episode: Episode, evidence: Evidence) -> Scored:
        if episode.context.agent == "agent-0":
            raise ValueError("a page that breaks the scorer")
        return super().score(cut, episode, evidence)


def test_a_trace_that_breaks_the_scorer_is_put_aside_and_the_others_are_scored(
    tmp_path: Path,
) -> None:
    sent = runs(4, open_every=99)
    with Workbench(tmp_path / "log.db", scorer=_FailingScorer(Policy())) as bench:
        _send(bench, sent)
        bench.settle()
        assert set(_lines(bench)) == {sent[1].trace, sent[3].trace}
        letters = bench.outputs(Output.DEAD_LETTERS)
        assert {letter.key for letter in letters} == {
            sent[0].trace.encode(),
            sent[2].trace.encode(),
        }
        assert bench.sample("seekwatch_scorer_errors_total", axis="other") == 2


class _SlowSource:
    """Answers when the test says so, or never."""

    def __init__(self) -> None:
        self.asked: dict[str, Future[Evidence]] = {}

    def look_up(self, episode: Episode, deadline: float) -> Future[Evidence] | None:
        self.asked[episode.trace] = Future()
        return self.asked[episode.trace]

    def close(self) -> None:
        pass


def test_an_episode_waits_for_its_evidence_and_nobody_waits_for_it(tmp_path: Path) -> None:
    source = _SlowSource()
    sent = runs(2, open_every=99)
    with Workbench(tmp_path / "log.db", evidence=[source], evidence_deadline=20) as bench:
        _send(bench, sent)
        bench.settle()
        assert not bench.scores()
        truth = TruthRecord(case="none", refusal_expected=True)
        source.asked[sent[0].trace].set_result(Evidence(truth=truth))
        bench.turn(times=2)
        assert set(_lines(bench)) == {sent[0].trace}
        bench.turn(after=20, times=2)
        assert set(_lines(bench)) == {run.trace for run in sent}
        assert source.asked[sent[1].trace].cancelled()


def test_a_crash_while_an_episode_waits_loses_nothing(tmp_path: Path) -> None:
    path, sent = tmp_path / "log.db", runs(2, open_every=99)
    with Workbench(path, evidence=[_SlowSource()], evidence_deadline=20) as bench:
        _send(bench, sent)
        bench.settle()
    with Workbench(path) as bench:
        bench.settle()
        assert _lines(bench) == expected_scorecards(sent)


def test_revoked_partitions_publish_what_is_scored_and_drop_the_rest(tmp_path: Path) -> None:
    sent = runs(8)
    with Workbench(tmp_path / "log.db", commit_interval=3600) as bench:
        _send(bench, sent)
        bench.settle()
        assert not bench.scores()
        bench.worker.on_revoke([0, 1])
        finished = {run.trace for run in sent if not run.is_open}
        assert set(_lines(bench)) == finished
        bench.turn(after=RULES.idle, times=3)
        assert set(_lines(bench)) == finished


def test_no_episode_is_begun_when_a_slice_has_lasted_its_time(tmp_path: Path) -> None:
    class Slow(EpisodeScorer):
        def score(self, cut: Cut, episode: Episode, evidence: Evidence) -> Scored:
            bench.clock.advance(0.03)
            return super().score(cut, episode, evidence)

    sent = runs(7, open_every=99)
    with Workbench(tmp_path / "log.db", scorer=Slow(Policy()), slice=0.05) as bench:
        _send(bench, sent)
        bench.turn(times=2)
        bench.clock.advance(RULES.quiet + 5)
        published: list[int] = []
        while len(published) < 5:
            bench.turn()
            published.append(len(bench.scores()))
        # The second episode of a slice begins at 0.03 s, a third would begin at 0.06 s.
        assert published == [2, 4, 6, 7, 7]


def test_a_foreign_trace_makes_no_scorecard_and_does_not_hold_the_commit(tmp_path: Path) -> None:
    from seekwatch.core.testing import span, trace_id, traces_request

    trace = trace_id("checkout")
    request = traces_request(
        [span("GET /cart", {"http.request.method": "GET"}, trace=trace, span="1" * 16)]
    )
    with Workbench(tmp_path / "log.db") as bench:
        bench.append(NewRecord(signal=Signal.TRACES, key=trace.encode(), value=request))
        bench.settle()
        bench.turn(after=RULES.late_window + 5, times=3)
        assert not bench.scores()
        assert bench.sample("seekwatch_spans_total", result="foreign") == 1


def test_agents_of_an_earlier_run_have_series_before_they_are_heard_of(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with Workbench(path) as bench:
        _send(bench, runs(2, open_every=99))
        bench.settle()
    with Workbench(path) as bench:
        bench.turn()
        assert bench.sample("seekwatch_runs_total", **SUCCESS) == 0


def test_scorecards_do_not_depend_on_how_the_log_was_read(tmp_path: Path) -> None:
    sent = runs(9, open_every=99)
    cards: list[dict[str, bytes]] = []
    for name, pace in (("at-once", 9), ("one-by-one", 1)):
        with Workbench(tmp_path / f"{name}.db") as bench:
            for at in range(0, len(sent), pace):
                _send(bench, sent[at : at + pace])
                bench.turn(after=0.1)
            bench.settle()
            cards.append(_lines(bench))
    assert cards[0] == cards[1] == expected_scorecards(sent)
