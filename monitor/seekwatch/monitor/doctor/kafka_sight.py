"""Kafka as an onlooker sees it."""

from collections.abc import Iterable, Sequence

from seekwatch.core.errors import ConfigurationError
from seekwatch.core.records import StoredOutput
from seekwatch.core.scorecard import ScoreEntry
from seekwatch.monitor.settings import Settings

from .findings import Arrived, Finding


class KafkaSight:
    """Looks at the topics."""

    def __init__(self, settings: Settings) -> None:
        raise ConfigurationError("log", settings.log, "not yet")

    def checks(self) -> Iterable[Finding]:
        """Look at the topics' settings."""
        return ()

    def spans(self, limit: int) -> Sequence[Arrived]:
        """Return the newest records of spans, oldest first."""
        return ()

    def scores(self, limit: int) -> Sequence[ScoreEntry]:
        """Return the newest scorecards, oldest first."""
        return ()

    def dead_letters(self, limit: int) -> Sequence[StoredOutput]:
        """Return the newest dead letters, oldest first."""
        return ()

    def close(self) -> None:
        """Let go."""
