"""Which agents an earlier run has seen, so that their series are there from the first scrape.

Without it an agent that fails right after a restart would appear with its failures, and rules would
not see them grow. Either source will do: a small file beside the worker, or the scores it has
published.
"""

import json
import logging
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec

from seekwatch.core.model import Record
from seekwatch.core.scorecard import ScoreEntry

_log = logging.getLogger(__name__)

FORGOTTEN_AFTER: Final = 30 * 86_400.0
"""Seconds: an agent that was not seen for a month makes room under the cap."""


class _Seen(Record, frozen=True, kw_only=True):
    agent: str
    lane: str
    at: float


_FILE: Final = msgspec.json.Decoder(list[_Seen])


def agents_of(entries: Iterable[ScoreEntry]) -> frozenset[tuple[str, str]]:
    """Return the (agent, lane) pairs of published scores."""
    return frozenset((entry.scorecard.agent, entry.scorecard.lane) for entry in entries)


def load_known_agents(
    path: Path, *, wall_clock: Callable[[], float] = time.time
) -> tuple[tuple[str, str], ...]:
    """Read the pairs of `save_known_agents`, without those not seen for a month.

    A missing or damaged file is none: the pairs are learned anew.
    """
    return tuple((seen.agent, seen.lane) for seen in _read(path, wall_clock()))


def save_known_agents(
    path: Path,
    agents: Iterable[tuple[str, str]],
    *,
    wall_clock: Callable[[], float] = time.time,
) -> None:
    """Write pairs seen now, together with those that the file holds from before.

    Raises:
        OSError: the file cannot be written; the one that was there is unharmed.
    """
    now = wall_clock()
    seen = {(item.agent, item.lane): item.at for item in _read(path, now)}
    seen |= dict.fromkeys(agents, now)
    rows = [{"agent": agent, "lane": lane, "at": at} for (agent, lane), at in sorted(seen.items())]
    unfinished = path.with_name(f"{path.name}.tmp")
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def _read(path: Path, now: float) -> list[_Seen]:
    try:
        rows = _FILE.decode(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError) as error:
        _log.warning("known agents are learned anew: %s: %s", path, error)
        return []
    return [row for row in rows if now - row.at <= FORGOTTEN_AFTER]
