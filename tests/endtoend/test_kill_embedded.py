"""`seekwatch up` killed with -9 in the middle of a load: each run has one scorecard, the right one.

The runs come in several requests, some are never finished, and what was not answered is sent again.
"""

import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from seekwatch.core.scorecard import encode_line
from tests.endtoend.reading import embedded_scores, twice
from tests.services.monitor_process import MonitorProcess, PatientSender
from tests.services.traffic import Run, expected_scorecards, runs
from tests.services.waiting import eventually

PACE = 0.03
"""Seconds between two requests: so slow that the load lasts over every kill."""
SETTINGS = (
    "closing.quiet=1",
    "closing.idle=5",
    "closing.late_window=3",
    "worker.commit_interval=0.2",
)


def _send_interleaved(endpoint: str, sent: Sequence[Run]) -> int:
    """Send the requests of ten runs at a time, mixed, each run's in their order."""
    sender, chance = PatientSender(endpoint), random.Random(7)
    for at in range(0, len(sent), 10):
        queues = [list(run.requests) for run in sent[at : at + 10]]
        while queues:
            queue = chance.choice(queues)
            sender.send(queue.pop(0))
            time.sleep(PACE)
            queues = [left for left in queues if left]
    sender.close()
    return sender.repeated


def _wait_for_scores(log: Path, least: int) -> None:
    eventually(
        lambda: len(embedded_scores(log)) >= least, what=f"{least} runs are scored", timeout=60
    )


@pytest.mark.parametrize(
    ("count", "kills"), [(80, 2), pytest.param(400, 8, marks=pytest.mark.nightly)]
)
def test_each_run_has_one_scorecard_whenever_the_monitor_is_killed(
    tmp_path: Path, count: int, kills: int
) -> None:
    sent, log = runs(count), tmp_path / "seekwatch.db"
    monitor = MonitorProcess("up", tmp_path, SETTINGS)
    monitor.start()
    repeated: list[int] = []
    load = threading.Thread(target=lambda: repeated.append(_send_interleaved(monitor.otlp, sent)))
    load.start()
    for kill in range(kills):
        _wait_for_scores(log, (kill + 1) * count // (kills + 3))
        assert load.is_alive()
        monitor.kill()
        monitor.start()
    load.join(120)
    assert not load.is_alive()
    assert repeated[0] > 0
    eventually(
        lambda: {e.scorecard.trace for e in embedded_scores(log)} == {run.trace for run in sent},
        what="every run is scored",
        timeout=90,
    )
    monitor.stop()
    entries = embedded_scores(log)
    assert not twice(entries)
    current = {e.scorecard.trace: encode_line(e.scorecard) for e in entries}
    assert current == expected_scorecards(sent)
    assert sum(e.envelope.revision == 1 for e in entries) == count
