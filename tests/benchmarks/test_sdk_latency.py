"""A short run of the latency benchmark: every row is there, no request fails, no span is lost."""

import pytest

from benchmarks import sdk_latency
from benchmarks.answering import answering
from benchmarks.sdk_latency import DEAD, Collectors, beside_stock, in_asyncio, in_threads


@pytest.mark.parametrize("fetch", [in_threads, in_asyncio])
def test_a_short_run_has_both_percentiles(fetch: sdk_latency.Fetch) -> None:
    with answering() as address:
        rows = beside_stock(address, fetch, width=10, seconds=0.1, rounds=1)
    how = "threads" if fetch is in_threads else "asyncio"
    assert [row.name for row in rows] == [
        f"10 at a time, {how}: added to the stock's {label}" for label in ("p50", "p99")
    ]
    assert all(row.value is not None and row.n == 10 for row in rows)


def test_no_request_fails_and_every_lost_span_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "http")
    with answering() as address:
        collectors = Collectors(address, seconds=0.1)
        collectors.measure(rounds=1)
    rows = {row.name: row for row in collectors.rows()}
    for kind in DEAD:
        assert rows[f"collector, {kind}: failed requests"].value == 0
        assert rows[f"collector, {kind}: spans lost and not counted"].value == 0
        assert f"collector, {kind}: slower at p99 than with a healthy one" in rows
    assert all(told.exported > 0 for told in collectors.told["healthy"])
