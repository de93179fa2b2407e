"""Alerts on the monitor itself: a monitor that is down, blind or behind is silent, not green."""

from dataclasses import dataclass

from rules.builders.alerting import Alert
from rules.builders.promql import any_of, block, increase, percent, selector
from rules.objectives import MonitorHealth, Objectives
from rules.quantities import Duration

_NONE = Duration("0s")


def pipeline_alerts(objectives: Objectives) -> list[Alert]:
    """The alerts of this module."""
    health = objectives.monitor
    return [
        _monitor_down(health, objectives.scrape_job),
        _scoring_stalled(health),
        _consumer_lag(health),
        _partition_stalled(health),
        *_happened_at_all(health),
        _exports_stuck(health),
        _scorer_errors(health),
        _late_spans(health),
        _rebalance_storm(health),
        _watchdog(),
    ]


def _pipeline_alert(
    name: str,
    expr: str,
    *,
    pending: Duration,
    health: MonitorHealth,
    summary: str,
    description: str,
    when: str,
    severity: str = "ticket",
) -> Alert:
    return Alert(
        name=name,
        expr=expr,
        pending=pending,
        keep_firing_for=health.keep_firing_for,
        severity=severity,
        component="monitor",
        owner="platform",
        summary=summary,
        description=description,
        when=when,
        board="health",
    )


def _monitor_down(health: MonitorHealth, job: str) -> Alert:
    """Nothing to scrape, nothing that answers, or loops that stand.

    The sums take every label away, so that going from one state to the next is one alert.
    """
    scraped = selector("up", f'job="{job}"')
    return _pipeline_alert(
        "MonitorDown",
        any_of(
            f"sum({scraped}) == 0",
            f"sum(absent({scraped}))",
            "max(seekwatch_up) == 0",
            "sum(absent(seekwatch_up))",
        ),
        pending=health.down_for,
        health=health,
        severity="page",
        summary="No Seekwatch worker is at work: agents run unwatched",
        description=(
            f"For {health.down_for} no worker of the scrape job {job} could be scraped, or none of "
            "those that could turned its loop. No quality alert can fire until one does."
        ),
        when="no worker can be scraped, or no loop turns",
    )


def _scoring_stalled(health: MonitorHealth) -> Alert:
    """Spans that arrived a while ago and not one score since, or commits that have only failed.

    Looking at spans of the moment would page whenever a quiet night ends with a long run. The gauge
    is asked for over the whole time, because a worker that was just started has none. Spans are
    counted when they are committed, so a log that refuses every commit is a case of its own.
    """
    since = Duration(f"{health.stalled_after.seconds + health.stalled_window.seconds}s")
    scored = f"seekwatch_last_scored_timestamp_seconds[{since}]"
    unscored = any_of(
        f"time() - max(max_over_time({scored})) > {since.seconds}",
        f"sum(absent_over_time({scored}))",
    )
    arrived = _a_while_ago('seekwatch_spans_total{result="accepted"}', health)
    failed = _a_while_ago('seekwatch_commits_total{result=~"retry|refused"}', health)
    committed = increase('seekwatch_commits_total{result="ok"}', since)
    return _pipeline_alert(
        "ScoringStalled",
        any_of(
            block(f"{block(unscored)}\nand\n{arrived} > 0"),
            block(f"{failed} > 0\nunless\n{committed} > 0"),
        ),
        pending=health.stalled_for,
        health=health,
        severity="page",
        summary="Spans arrive, and no run is scored",
        description=(
            f"Workers took in spans more than {health.stalled_after} ago and have scored no run of "
            "any agent since, or none of their commits has succeeded since. Quality alerts are "
            "blind until scoring goes on."
        ),
        when=(
            f"spans arrived {health.stalled_after} ago or earlier and no score since, or a commit "
            "failed then and none succeeded since"
        ),
    )


def _a_while_ago(series: str, health: MonitorHealth) -> str:
    return increase(series, health.stalled_window, offset=health.stalled_after)


def _consumer_lag(health: MonitorHealth) -> Alert:
    return _pipeline_alert(
        "ConsumerLagHigh",
        f"max(seekwatch_lag_seconds) > {health.lag.seconds}",
        pending=health.lag_for,
        health=health,
        summary="Workers read far behind the end of the log",
        description=(
            "The partition that is furthest behind is read {{ $value | humanizeDuration }} after "
            f"its records were written; the line is {health.lag}. Every verdict is as late."
        ),
        when=f"the read position is more than {health.lag} behind",
    )


def _partition_stalled(health: MonitorHealth) -> Alert:
    """The *read* position stands while the log grows, or nobody reads the partition any more.

    Never the committed position: a long run holds that one back by design. `==` and not `<=`,
    because a reader that went back to the committed position is at work.
    """
    still = health.partition_still
    position = "max by (partition) (seekwatch_read_position)"
    before = f"max by (partition) (seekwatch_read_position offset {still})"
    end = "max by (partition) (seekwatch_log_end_position)"
    end_before = f"max by (partition) (seekwatch_log_end_position offset {still})"
    stands = f"{position} - {before} == 0\nand\n{end} - {end_before} > 0"
    # The series of a partition without a reader is gone, and with it every lag.
    remembered = f"last_over_time(seekwatch_log_end_position[{health.partition_memory}])"
    known = f"max by (partition) ({remembered})"
    return _pipeline_alert(
        "PartitionStalled",
        any_of(block(stands), block(f"{known}\nunless\n{end}")),
        pending=health.partition_for,
        health=health,
        severity="page",
        summary="Partition {{ $labels.partition }} of the log is not read",
        description=(
            f"Nothing of partition {{{{ $labels.partition }}}} was read within {still} although "
            "records arrived there, or no worker holds it. Its runs, a fixed part of every "
            "agent's, are not scored."
        ),
        when=(
            f"the read position stands for {still} while the log grows, or nobody reads a "
            f"partition that was read within {health.partition_memory}"
        ),
    )


@dataclass(frozen=True)
class _Event:
    """Something of which one occurrence is worth a ticket."""

    name: str
    series: str
    by: tuple[str, ...]
    summary: str
    what: str


_EVENTS = (
    _Event(
        name="DeadLettersPresent",
        series="seekwatch_dead_letters_total",
        by=("reason",),
        summary="Records were put aside as dead letters: {{ $labels.reason }}",
        what="records could not be used and went to the dead-letter topic ({{ $labels.reason }})",
    ),
    _Event(
        name="TracesEvicted",
        series='seekwatch_traces_closed_total{reason="memory"}',
        by=(),
        summary="Runs were scored before they ended because memory was short",
        what="traces were closed early for want of memory, so parts of them were not scored",
    ),
    _Event(
        name="MisroutedSpans",
        series='seekwatch_spans_total{result="misrouted"}',
        by=(),
        summary="Spans lie on partitions where they do not belong",
        what="spans arrived under a key that is not their trace, so no trace of theirs is whole",
    ),
    _Event(
        name="LabelOverflow",
        series="seekwatch_label_overflow_total",
        by=("label",),
        summary="More values of the label {{ $labels.label }} than the monitor tells apart",
        what="updates were booked under 'other' because the label {{ $labels.label }} is full",
    ),
    _Event(
        name="ExportsRefused",
        series='seekwatch_exported_records_total{result="refused"}',
        by=("exporter",),
        summary="The exporter {{ $labels.exporter }} passes records over",
        what=(
            "records can never be delivered and were passed over by the exporter "
            "{{ $labels.exporter }}"
        ),
    ),
)


def _happened_at_all(health: MonitorHealth) -> list[Alert]:
    return [
        _pipeline_alert(
            event.name,
            f"{increase(event.series, health.recent, event.by)} > 0",
            pending=_NONE,
            health=health,
            summary=event.summary,
            when=f"one in {health.recent}",
            description=(
                f'About {{{{ $value | printf "%.0f" }}}} {event.what}, in the last {health.recent}.'
            ),
        )
        for event in _EVENTS
    ]


def _exports_stuck(health: MonitorHealth) -> Alert:
    """Attempts and no delivery. A quiet exporter makes no attempt, so it is not stuck."""
    series = "seekwatch_exported_records_total"
    retried = increase(f'{series}{{result="retried"}}', health.recent, ("exporter",))
    delivered = increase(f'{series}{{result="delivered"}}', health.recent, ("exporter",))
    return _pipeline_alert(
        "ExportsStuck",
        f"{retried} > 0\nunless\n{delivered} > 0",
        pending=health.exports_stuck_for,
        health=health,
        summary="The exporter {{ $labels.exporter }} delivers nothing",
        description=(
            "The exporter {{ $labels.exporter }} has tried for "
            f"{health.exports_stuck_for} and delivered no record. Its records wait in their topic "
            "until the topic's retention takes them; scoring goes on."
        ),
        when=f"attempts and no delivery in {health.recent}",
    )


def _scorer_errors(health: MonitorHealth) -> Alert:
    """Errors per closed trace: both count every lane, as the scorers see every lane."""
    window = health.scorer_error_window
    errors = increase("seekwatch_scorer_errors_total", window, ("axis",))
    closed = increase("seekwatch_traces_closed_total", window)
    return _pipeline_alert(
        "ScorerErrorsHigh",
        f"{errors}\n/ on () group_left ()\n({closed} >= {health.minimum_traces})\n"
        f"> {health.scorer_error_share:g}",
        pending=health.share_for,
        health=health,
        summary="The scorer of {{ $labels.axis }} fails",
        description=(
            "The scorer of {{ $labels.axis }} failed on {{ $value | humanizePercentage }} of the "
            f"traces closed in the last {window}; the line is "
            f"{percent(health.scorer_error_share)}. Those runs are unscorable on that axis."
        ),
        when=(
            f"errors on more than {percent(health.scorer_error_share)} of the traces closed in "
            f"{window} (n ≥ {health.minimum_traces})"
        ),
    )


def _late_spans(health: MonitorHealth) -> Alert:
    window = health.late_window
    late = increase('seekwatch_spans_total{result="late"}', window)
    arrived = increase('seekwatch_spans_total{result=~"accepted|late"}', window)
    return _pipeline_alert(
        "LateSpansHigh",
        f"{late}\n/\n({arrived} >= {health.minimum_spans})\n> {health.late_share:g}",
        pending=health.share_for,
        health=health,
        summary="Many spans arrive after their run was scored",
        description=(
            f"{{{{ $value | humanizePercentage }}}} of the spans of the last {window} came after "
            f"their trace was closed; the line is {percent(health.late_share)}. First verdicts "
            "rest on parts of the runs."
        ),
        when=(
            f"more than {percent(health.late_share)} of the spans of {window} "
            f"(n ≥ {health.minimum_spans})"
        ),
    )


def _rebalance_storm(health: MonitorHealth) -> Alert:
    """Per worker, because one rebalance is counted by every member of the group."""
    window = health.rebalance_window
    return _pipeline_alert(
        "RebalanceStorm",
        f"max(increase(seekwatch_rebalances_total[{window}])) > {health.rebalances}",
        pending=_NONE,
        health=health,
        summary="The workers' consumer group does not come to rest",
        description=(
            f'A worker went through {{{{ $value | printf "%.0f" }}}} rebalances in the last '
            f"{window}; the line is {health.rebalances}. Each one stops reading and repeats work."
        ),
        when=f"more than {health.rebalances} of one worker in {window}",
    )


def _watchdog() -> Alert:
    return Alert(
        name="Watchdog",
        expr="vector(1)",
        pending=_NONE,
        keep_firing_for=_NONE,
        severity="none",
        component="monitor",
        owner="platform",
        summary="Alerting works",
        description=(
            "This alert always fires. Send it to a dead man's switch that calls you when it stops."
        ),
        when="always",
        board="health",
    )
