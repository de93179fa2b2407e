"""The whole examination, from what arrives to what is scored."""

import time
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
        missing = wrong("log", f"{error.key} = {error.value!r}", error.fix)
        return [missing, *examine_processes(settings)]
    except SeekwatchError as error:
        return [wrong("log", str(error), "is it running, and reachable from here?")]
    try:
        return [*_examine_log(settings, sight), *examine_processes(settings)]
    except SeekwatchError as error:
        return [wrong("log", str(error), "is it running, and reachable from here?")]
    finally:
        sight.close()


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
