import pytest

from demo.measures import AXES, AxisShare, History, Snapshot, Window

PAGE = """\
# TYPE seekwatch_axis_evaluations_total counter
seekwatch_axis_evaluations_total{agent="a",lane="live",axis="citation_validity",verdict="good"} 6
seekwatch_axis_evaluations_total{agent="b",lane="live",axis="citation_validity",verdict="good"} 1
seekwatch_axis_evaluations_total{agent="a",lane="live",axis="citation_validity",verdict="bad"} 3
# TYPE seekwatch_runs_total counter
seekwatch_runs_total{agent="a",lane="live",outcome="success"} 7
seekwatch_runs_total{agent="a",lane="live",outcome="partial"} 3
# TYPE seekwatch_failure_tags_total counter
seekwatch_failure_tags_total{lane="live",tag="dead-link"} 3
# TYPE seekwatch_run_cost_usd_total counter
seekwatch_run_cost_usd_total{agent="a",lane="live"} 0.5
# TYPE seekwatch_priced_runs_total counter
seekwatch_priced_runs_total{agent="a",lane="live",outcome="success"} 5
seekwatch_priced_runs_total{agent="a",lane="live",outcome="partial"} 3
"""
FEDERATED = PAGE.replace(" counter", " untyped").replace("} 6", "} 6 1790000000000")


def snapshot(at: float, *, good: int = 0, bad: int = 0) -> Snapshot:
    verdicts = {
        ("citation_validity", "good"): float(good),
        ("citation_validity", "bad"): float(bad),
    }
    return Snapshot(at=at, verdicts=verdicts)


@pytest.mark.parametrize("page", [PAGE, FEDERATED], ids=["the monitor's", "Prometheus'"])
def test_totals_are_read_over_all_agents(page: str) -> None:
    read = Snapshot.read(page, at=1.0)
    assert read.verdicts[("citation_validity", "good")] == 7
    assert read.outcomes == {"success": 7, "partial": 3}
    assert read.tags == {"dead-link": 3}
    assert (read.cost, read.priced_successes) == (0.5, 5)


def test_a_page_without_runs_is_no_error() -> None:
    window = Window.between(Snapshot.read("", at=0), Snapshot.read("", at=1))
    assert window.runs == 0
    assert set(window.axes) == set(AXES)
    assert all(share.bad_share is None for share in window.axes.values())


def test_a_window_counts_what_was_added() -> None:
    window = Window.between(snapshot(0, good=5, bad=1), snapshot(1, good=6, bad=4))
    assert window.axes["citation_validity"] == AxisShare(good=1, bad=3, unscorable=0)
    assert window.axes["citation_validity"].bad_share == 0.75


def test_cost_per_success_is_over_the_successes_whose_cost_is_known() -> None:
    window = Window.between(Snapshot(at=0), Snapshot.read(PAGE, at=1))
    assert window.cost_per_success == pytest.approx(0.1)
    assert Window.between(Snapshot(at=0), Snapshot(at=1)).cost_per_success is None


def test_unscorable_runs_are_in_neither_share() -> None:
    share = AxisShare(good=1, bad=1, unscorable=98)
    assert (share.scored, share.bad_share) == (2, 0.5)


def test_the_window_moves_on_and_the_recent_part_of_it_is_shorter() -> None:
    history = History(window=10)
    assert not history
    for second in range(31):
        history.add(snapshot(float(second), good=second))
    assert history.latest().axes["citation_validity"].good == 10
    assert history.latest(4).axes["citation_validity"].good == 4
