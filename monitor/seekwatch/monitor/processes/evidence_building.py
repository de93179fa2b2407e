"""Builds what looks things up outside a trace; only what the settings switch on is imported."""

from collections.abc import Callable
from typing import Final

from seekwatch.core.errors import ConfigurationError
from seekwatch.evidence.source import EvidenceSource
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.monitor.settings.judges import JudgesSettings
from seekwatch.monitor.settings.model import Settings

_PER_MILLION: Final = 1e-6


def sources_from(settings: Settings, gateway: MetricsGateway) -> list[EvidenceSource]:
    """Return the sources of evidence that the settings switch on, running.

    Raises:
        ConfigurationError: one is switched on and cannot work.
    """
    sources: list[EvidenceSource] = []
    if settings.judges.endpoint:
        sources.append(judges_from(settings.judges, gateway))
    return sources


def judges_from(settings: JudgesSettings, gateway: MetricsGateway) -> EvidenceSource:
    """Return the source that has runs judged.

    Raises:
        ConfigurationError: a rubric cannot be used, or the client is not installed.
    """
    try:
        from seekwatch.evidence.judges.openai_client import OpenAIJudge
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "judges.endpoint",
            settings.endpoint,
            "judging needs one more package: pip install 'seekwatch[monitor,judges]'",
        ) from error
    from seekwatch.evidence.judges.budget import HourlyBudget
    from seekwatch.evidence.judges.judging import Judge, JudgeSource
    from seekwatch.evidence.judges.rubrics import load_rubrics

    rubrics = load_rubrics(settings.rubric_names)
    key = None if settings.key is None else settings.key.get_secret_value()
    judge = Judge(
        OpenAIJudge(settings.endpoint, settings.model, key),
        HourlyBudget(settings.calls_per_hour, settings.dollars_per_hour),
        _price_of(settings),
        gateway,
        remembered=settings.remembered,
    )
    return JudgeSource(
        judge,
        rubrics,
        share=settings.share,
        timeout=settings.timeout,
        threads=settings.threads,
        observer=gateway,
    )


def _price_of(settings: JudgesSettings) -> Callable[[int, int], float | None]:
    """Return what says the cost of a call; None where a price is missing."""

    def price(input_tokens: int, output_tokens: int) -> float | None:
        if settings.input_price is None or settings.output_price is None:
            return None
        spent = input_tokens * settings.input_price + output_tokens * settings.output_price
        return spent * _PER_MILLION

    return price
