"""The whole examination, from what arrives to what is scored."""

import time
from collections.abc import Iterable
from typing import Final

from seekwatch.core.errors import ConfigurationError, SeekwatchError
from seekwatch.monitor.settings.model import LogKind, Settings

from .arrivals import examine_arrivals
from .dead_letters import examine_dead_letters
from .embedded_sight import EmbeddedSight
from .findings import Finding, Sight, wrong
from .process import examine_processes
from .roots import examine_roots
from .runs import examine_runs

_CLOCK: Final = 2.0
"""Seconds that the log's clock may be behind: it follows what arrives."""
_RECORDS: Final = 400
_SCORECARDS: Final = 1_000
_LETTERS: Final = 100


def examine(settings: Settings) -> list[Finding]:
    """Look at everything and return what was found, the log first."""
    try:
        sight = _sight(settings)
    except ConfigurationError as error:
        processes = list(examine_processes(settings))
        return [_no_log(error, processes), *processes]
    except SeekwatchError as error:
        return [wrong("log", str(error), "is it running, and reachable from here?")]
    try:
        return [*_examine_log(settings, sight), *examine_processes(settings)]
    except SeekwatchError as error:
        return [wrong("log", str(error), "is it running, and reachable from here?")]
    finally:
        sight.close()


def _no_log(error: ConfigurationError, processes: Iterable[Finding]) -> Finding:
    """Say what is wrong with the log; where a monitor answers, its log is another one."""
    what = f"{error.key} = {error.value!r}"
    if not any(finding.subject == "worker" and not finding.is_wrong for finding in processes):
        return wrong("log", what, error.fix)
    return wrong(
        "log",
        f"{what} is not the log of the monitor that runs here: {error.fix.partition(';')[0]}",
        "ask from the folder that `seekwatch up` was started in, or name its log by --data FILE",
    )


def _sight(settings: Settings) -> Sight:
    if settings.log is LogKind.EMBEDDED:
        return EmbeddedSight(settings)
    # Imported where it is needed: the library takes a third of a second to load.
    from .kafka_sight import KafkaSight

    return KafkaSight(settings)


def _examine_log(settings: Settings, sight: Sight) -> list[Finding]:
    now = time.time()
    arrived = sight.spans(_RECORDS)
    scores = sight.scores(_SCORECARDS)
    unscored = sight.first_arrival() if arrived and not scores else None
    usual = settings.closing.quiet + _CLOCK + settings.worker.commit_interval
    receiver = settings.receiver
    endpoint = f"http://{receiver.host}:{receiver.http_port or 4318}"
    return [
        *sight.checks(),
        *examine_arrivals(arrived, now=now, endpoint=endpoint),
        *examine_roots(arrived),
        *examine_runs(scores, unscored=unscored, now=now, usual=usual),
        *examine_dead_letters(sight.dead_letters(_LETTERS), now=now),
    ]
