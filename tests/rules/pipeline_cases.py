"""Cases for the alerts on the monitor itself."""

from collections.abc import Iterator, Mapping

from tests.rules.promtool import Case, Firing
from tests.rules.series import counter


def health(
    severity: str, summary: str, description: str, labels: Mapping[str, str] | None = None
) -> Firing:
    return Firing(
        severity=severity,
        component="monitor",
        team="platform",
        summary=summary,
        description=description,
        board="health",
        labels=labels or {},
    )


DOWN = health(
    "page",
    "No Seekwatch worker is at work: agents run unwatched",
    "For 5m no worker of the scrape job seekwatch could be scraped, or none of those that could "
    "turned its loop. No quality alert can fire until one does.",
)
STALLED = health(
    "page",
    "Spans arrive, and no run is scored",
    "Workers took in spans more than 15m ago and have scored no run of any agent since, or none of "
    "their commits has succeeded since. Quality alerts are blind until scoring goes on.",
)


def lagging(humanized: str) -> Firing:
    return health(
        "ticket",
        "Workers read far behind the end of the log",
        f"The partition that is furthest behind is read {humanized} after its records were "
        "written; the line is 5m. Every verdict is as late.",
    )


def unread(partition: str) -> Firing:
    return health(
        "page",
        f"Partition {partition} of the log is not read",
        f"Nothing of partition {partition} was read within 10m although records arrived there, or "
        "no worker holds it. Its runs, a fixed part of every agent's, are not scored.",
        {"partition": partition},
    )


def scorer_fails(share: str) -> Firing:
    return health(
        "ticket",
        "The scorer of source_freshness fails",
        f"The scorer of source_freshness failed on {share} of the traces closed in the last 15m; "
        "the line is 5%. Those runs are unscorable on that axis.",
        {"axis": "source_freshness"},
    )


def late(share: str) -> Firing:
    return health(
        "ticket",
        "Many spans arrive after their run was scored",
        f"{share} of the spans of the last 1h came after their trace was closed; the line is 5%. "
        "First verdicts rest on parts of the runs.",
    )


def storm(n: int) -> Firing:
    return health(
        "ticket",
        "The workers' consumer group does not come to rest",
        f"A worker went through {n} rebalances in the last 30m; the line is 10. Each one stops "
        "reading and repeats work.",
    )


_UP_A = 'up{job="seekwatch",instance="a"}'
_UP_B = 'up{job="seekwatch",instance="b"}'
_LOOP_A = 'seekwatch_up{job="seekwatch",instance="a"}'
_SCORED = 'seekwatch_last_scored_timestamp_seconds{agent="shop",instance="a"}'
_ACCEPTED = 'seekwatch_spans_total{result="accepted",instance="a"}'
_COMMITS = 'seekwatch_commits_total{result="ok",instance="a"}'
_RETRIES = 'seekwatch_commits_total{result="retry",instance="a"}'
_REFUSALS = 'seekwatch_commits_total{result="refused",instance="a"}'
_RETRIED = 'seekwatch_exported_records_total{exporter="evaluation",result="retried",instance="a"}'
_DELIVERED = (
    'seekwatch_exported_records_total{exporter="evaluation",result="delivered",instance="a"}'
)
_READ = 'seekwatch_read_position{partition="3",instance="a"}'
_END = 'seekwatch_log_end_position{partition="3",instance="a"}'
_CLOSED = 'seekwatch_traces_closed_total{reason="complete",instance="a"}'
_ERRORS = 'seekwatch_scorer_errors_total{axis="source_freshness",instance="a"}'
_LATE = 'seekwatch_spans_total{result="late",instance="a"}'
_REBALANCES_A = 'seekwatch_rebalances_total{instance="a"}'
_REBALANCES_B = 'seekwatch_rebalances_total{instance="b"}'


def _down_cases() -> Iterator[Case]:
    healthy = {_UP_A: "1x60", _LOOP_A: "1x60"}
    for what, series in {
        "when no worker can be scraped": {_UP_A: "1x10 0x50", _LOOP_A: "1x10 stale"},
        "when the scrape job has no target any more": {_UP_A: "1x10 stale", _LOOP_A: "1x10 stale"},
        "when no loop turns": {_UP_A: "1x60", _LOOP_A: "1x10 0x50"},
        "when what is scraped is no worker": {_UP_A: "1x60"},
        "as one alert when targets first fail and then vanish": {
            _UP_A: "1x10 0x10 stale",
            _LOOP_A: "1x10 stale",
        },
    }.items():
        yield Case(
            sentence=f"MonitorDown fires {what}",
            alert="MonitorDown",
            series=series,
            expect={"30m": [DOWN]},
        )
    yield Case(
        sentence="MonitorDown is silent when one of two workers is left",
        alert="MonitorDown",
        series={_UP_A: "1x60", _LOOP_A: "1x60", _UP_B: "1x10 0x50"},
        expect={"30m": []},
    )
    yield Case(
        sentence="MonitorDown is silent over a restart of three minutes",
        alert="MonitorDown",
        series={_UP_A: "1x10 0x2 1x40", _LOOP_A: "1x10 0x2 1x40"},
        expect={"13m": [], "20m": []},
    )
    yield Case(
        sentence="MonitorDown is silent when all is well",
        alert="MonitorDown",
        series=healthy,
        expect={"30m": []},
    )


def _stalled_cases() -> Iterator[Case]:
    alert = "ScoringStalled"
    yield Case(
        sentence="ScoringStalled fires when spans go on and scores stop",
        alert=alert,
        series={_ACCEPTED: "0+50x120", _SCORED: "0+60x30 1800x90"},
        expect={"30m": [], "50m": [], "70m": [STALLED]},
    )
    yield Case(
        sentence="ScoringStalled fires when nothing was ever scored",
        alert=alert,
        series={_ACCEPTED: "0+50x120"},
        expect={"10m": [], "30m": [STALLED]},
    )
    yield Case(
        sentence="ScoringStalled is silent while one agent of two is idle",
        alert=alert,
        series={
            _ACCEPTED: "0+50x120",
            _SCORED: "0+60x120",
            _SCORED.replace("shop", "docs"): "0x120",
        },
        expect={"60m": [], "2h": []},
    )
    yield Case(
        sentence="ScoringStalled is silent when a quiet hour ends with a run of twelve minutes",
        alert=alert,
        series={_ACCEPTED: "0x60 10+10x11 120x40", _SCORED: "0x72 4380x40"},
        expect={"65m": [], "72m": [], "80m": [], "95m": []},
    )
    for how, failures in {"fails": _RETRIES, "is refused": _REFUSALS}.items():
        yield Case(
            sentence=f"ScoringStalled fires when every commit {how}, so that nothing is counted",
            alert=alert,
            series={
                _ACCEPTED: "0+50x30 1500x90",
                _SCORED: "0+60x30 1800x90",
                _COMMITS: "0+6x30 180x90",
                failures: "0x30 0+2x90",
            },
            expect={"30m": [], "45m": [], "70m": [STALLED]},
        )
    yield Case(
        sentence="ScoringStalled is silent when a commit succeeds at a second attempt",
        alert=alert,
        series={_COMMITS: "0x30 0x5 1x90", _RETRIES: "0x30 2x90"},
        expect={"35m": [], "50m": [], "60m": [], "90m": []},
    )
    yield Case(
        sentence="ScoringStalled is silent over a deploy while an agent runs three times an hour",
        alert=alert,
        series={
            _ACCEPTED: f"{counter((0, 60), (12, 1), (0, 5))} stale",
            _SCORED: "2400x60 3660x5 stale",
            _ACCEPTED.replace('"a"', '"b"'): "_x67 0x20 12x40",
            _SCORED.replace('"a"', '"b"'): "_x87 5220x40",
        },
        expect={"70m": [], "76m": [], "80m": [], "86m": [], "95m": []},
    )
    yield Case(
        sentence="ScoringStalled is silent when no spans arrive",
        alert=alert,
        series={_ACCEPTED: "900x120", _SCORED: "0x120"},
        expect={"60m": []},
    )


def _log_cases() -> Iterator[Case]:
    lag = 'seekwatch_lag_seconds{{partition="{}",instance="a"}}'
    yield Case(
        sentence="ConsumerLagHigh fires once for all partitions, with the worst one's lag",
        alert="ConsumerLagHigh",
        series={lag.format(0): "600x60", lag.format(1): "400x60", lag.format(2): "0x60"},
        expect={"10m": [], "20m": [lagging("10m 0s")]},
    )
    yield Case(
        sentence="ConsumerLagHigh is silent at four minutes, and over a short peak",
        alert="ConsumerLagHigh",
        series={lag.format(0): "240x60", lag.format(1): "0x10 900x10 0x40"},
        expect={"20m": [], "40m": []},
    )
    yield Case(
        sentence="PartitionStalled fires when the read position stands while the log grows",
        alert="PartitionStalled",
        series={_READ: "0+10x20 200x60", _END: "0+10x80"},
        expect={"25m": [], "40m": [unread("3")]},
    )
    yield Case(
        sentence="PartitionStalled fires when nobody reads the partition any more",
        alert="PartitionStalled",
        series={_READ: "0+10x20 stale", _END: "0+10x20 stale"},
        expect={"24m": [], "30m": [unread("3")]},
    )
    yield Case(
        sentence="PartitionStalled is silent when the log does not grow",
        alert="PartitionStalled",
        series={_READ: "0+10x20 200x60", _END: "0+10x20 200x60"},
        expect={"60m": []},
    )
    yield Case(
        sentence="PartitionStalled is silent for a reader that went back to the committed position",
        alert="PartitionStalled",
        series={_READ: "0+10x20 50+1x60", _END: "0+10x80"},
        expect={"40m": [], "60m": []},
    )
    yield Case(
        sentence="PartitionStalled is silent when another worker takes the partition over",
        alert="PartitionStalled",
        series={
            _READ: "0+10x20 stale",
            _END: "0+10x20 stale",
            _READ.replace('"a"', '"b"'): "_x21 210+10x60",
            _END.replace('"a"', '"b"'): "_x21 210+10x60",
        },
        expect={"30m": [], "60m": []},
    )


_EVENTS = {
    "DeadLettersPresent": (
        'seekwatch_dead_letters_total{reason="protobuf",instance="a"}',
        {"reason": "protobuf"},
        "Records were put aside as dead letters: protobuf",
        "records could not be used and went to the dead-letter topic (protobuf)",
    ),
    "TracesEvicted": (
        'seekwatch_traces_closed_total{reason="memory",instance="a"}',
        {},
        "Runs were scored before they ended because memory was short",
        "traces were closed early for want of memory, so parts of them were not scored",
    ),
    "MisroutedSpans": (
        'seekwatch_spans_total{result="misrouted",instance="a"}',
        {},
        "Spans lie on partitions where they do not belong",
        "spans arrived under a key that is not their trace, so no trace of theirs is whole",
    ),
    "LabelOverflow": (
        'seekwatch_label_overflow_total{label="agent",instance="a"}',
        {"label": "agent"},
        "More values of the label agent than the monitor tells apart",
        "updates were booked under 'other' because the label agent is full",
    ),
    "ExportsRefused": (
        'seekwatch_exported_records_total{exporter="archive",result="refused",instance="a"}',
        {"exporter": "archive"},
        "The exporter archive passes records over",
        "records can never be delivered and were passed over by the exporter archive",
    ),
}


def _event_cases() -> Iterator[Case]:
    for alert, (series, labels, summary, what) in _EVENTS.items():
        firing = health("ticket", summary, f"About 4 {what}, in the last 15m.", labels)
        yield Case(
            sentence=f"{alert} fires at once, and ends a while after the last event",
            alert=alert,
            series={series: "0x10 4x60"},
            expect={"10m": [], "20m": [firing], "40m": []},
        )
        yield Case(
            sentence=f"{alert} is silent at zero and over a restart",
            alert=alert,
            series={series: "7x10 0x60"},
            expect={"5m": [], "12m": [], "30m": []},
        )


def _exporter_cases() -> Iterator[Case]:
    alert = "ExportsStuck"
    stuck = health(
        "ticket",
        "The exporter evaluation delivers nothing",
        "The exporter evaluation has tried for 15m and delivered no record. Its records wait in "
        "their topic until the topic's retention takes them; scoring goes on.",
        {"exporter": "evaluation"},
    )
    yield Case(
        sentence="ExportsStuck fires when a backend is away, and ends after it is back",
        alert=alert,
        series={_RETRIED: "0x10 2+2x60 122x60", _DELIVERED: "5+5x10 55x60 60+5x60"},
        expect={"30m": [], "50m": [stuck], "70m": [stuck], "100m": []},
    )
    yield Case(
        sentence="ExportsStuck fires for the exporter that is stuck, whatever another delivers",
        alert=alert,
        series={
            _RETRIED: "0x10 2+2x80",
            _DELIVERED: "0x90",
            _DELIVERED.replace("evaluation", "archive"): "0+5x90",
        },
        expect={"60m": [stuck]},
    )
    yield Case(
        sentence="ExportsStuck is silent while some records come through",
        alert=alert,
        series={_RETRIED: "0+5x90", _DELIVERED: "0+1x90"},
        expect={"30m": [], "60m": []},
    )
    yield Case(
        sentence="ExportsStuck is silent after one failed attempt on a quiet night",
        alert=alert,
        series={_RETRIED: "0x20 1x80", _DELIVERED: "9x21 10x80"},
        expect={"30m": [], "60m": []},
    )
    yield Case(
        sentence="ExportsStuck is silent when there is nothing to export",
        alert=alert,
        series={_RETRIED: "3x90", _DELIVERED: "9x90"},
        expect={"30m": [], "60m": []},
    )


def _share_cases() -> Iterator[Case]:
    yield Case(
        sentence="ScorerErrorsHigh fires for the axis whose scorer fails on a tenth of the traces",
        alert="ScorerErrorsHigh",
        series={
            _CLOSED: "0+10x60",
            _ERRORS: "0+1x60",
            _ERRORS.replace("source_freshness", "query_quality"): "0x60",
        },
        expect={"10m": [], "30m": [scorer_fails("10%")]},
    )
    yield Case(
        sentence="ScorerErrorsHigh is silent at three per cent, and with few traces",
        alert="ScorerErrorsHigh",
        series={_CLOSED: "0+100x20 2000+1x60", _ERRORS: "0+3x20 60+1x60"},
        expect={"20m": [], "60m": []},
    )
    yield Case(
        sentence="LateSpansHigh fires at a tenth of the spans",
        alert="LateSpansHigh",
        series={_ACCEPTED: "0+90x90", _LATE: "0+10x90"},
        expect={"10m": [], "80m": [late("10%")]},
    )
    yield Case(
        sentence="LateSpansHigh is silent at three per cent",
        alert="LateSpansHigh",
        series={_ACCEPTED: "0+97x90", _LATE: "0+3x90"},
        expect={"80m": []},
    )
    yield Case(
        sentence="LateSpansHigh is silent when there are few spans, and none",
        alert="LateSpansHigh",
        series={_ACCEPTED: "0+1x30 30x60", _LATE: "0+1x30 30x60"},
        expect={"30m": [], "90m": []},
    )


def _other_cases() -> Iterator[Case]:
    yield Case(
        sentence="RebalanceStorm fires when one worker is rebalanced every other minute",
        alert="RebalanceStorm",
        series={_REBALANCES_A: "0+0.5x60", _REBALANCES_B: "0x60"},
        expect={"15m": [], "60m": [storm(15)]},
    )
    yield Case(
        sentence="RebalanceStorm is silent when five workers see one rolling deploy",
        alert="RebalanceStorm",
        series={
            _REBALANCES_A.replace('"a"', f'"{worker}"'): "0x10 1+1x4 5x40" for worker in "abcde"
        },
        expect={"12m": [], "20m": [], "40m": []},
    )
    watchdog = Firing(
        severity="none",
        component="monitor",
        team="platform",
        summary="Alerting works",
        description=(
            "This alert always fires. Send it to a dead man's switch that calls you when it stops."
        ),
        board="health",
    )
    yield Case(
        sentence="Watchdog fires when there is nothing at all",
        alert="Watchdog",
        series={_UP_A: "0x10"},
        expect={"0m": [watchdog], "10m": [watchdog]},
    )


CASES = [
    *_down_cases(),
    *_stalled_cases(),
    *_log_cases(),
    *_event_cases(),
    *_exporter_cases(),
    *_share_cases(),
    *_other_cases(),
]
