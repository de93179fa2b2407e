"""What could not be decoded, and why."""

from collections import Counter
from collections.abc import Sequence

from seekwatch.core.records import StoredOutput

from .durations import ago
from .findings import Finding, ok, wrong


def examine_dead_letters(letters: Sequence[StoredOutput], *, now: float) -> list[Finding]:
    """Look at the newest dead letters.

    Args:
        letters: oldest first.
        now: seconds since the epoch.
    """
    if not letters:
        return [ok("dead letters", "none")]
    reasons = Counter(_header(letter, "reason") for letter in letters)
    named = ", ".join(f"{reason} {number}" for reason, number in reasons.most_common())
    last = letters[-1]
    return [
        wrong(
            "dead letters",
            f"{len(letters)}, the newest {ago(now - last.timestamp / 1000)}: {named}",
            f"partition {last.partition}, offset {_header(last, 'offset')}: "
            f"{_header(last, 'error')[:200]}. Find who writes it; the topic should hold OTLP alone",
        )
    ]


def _header(letter: StoredOutput, name: str) -> str:
    return next(
        (value.decode(errors="replace") for key, value in letter.headers if key == name), "unknown"
    )
