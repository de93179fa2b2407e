"""The objectives as typed data, checked before a single rule is written.

A threshold that no share can exceed, a latency bound between two buckets or a misspelt key would
all give rule files that load and never fire; so each is refused here, with its key.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from rules.quantities import Duration, SampleCount
from seekwatch.core.errors import ConfigurationError

DEFAULT_PATH = Path(__file__).with_name("objectives.yaml")

AXES = ("citation_validity", "query_quality", "source_freshness", "source_diversity")
# Of seekwatch_run_duration_seconds; the tests compare them with the metric itself.
DURATION_BUCKETS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 1800, 3600)

AxisName = Literal["citation_validity", "query_quality", "source_freshness", "source_diversity"]
Outcome = Literal[
    "success",
    "partial",
    "refusal",
    "correct_refusal",
    "wrong_answer",
    "error",
    "timeout",
    "policy_violation",
    "infra_error",
    "unknown",
]
Severity = Literal["page", "ticket"]
Share = Annotated[float, Field(gt=0, lt=1)]
Factor = Annotated[float, Field(gt=0)]
TeamName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]


class Section(BaseModel):
    """Base of every section: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Links(Section):
    """Where the annotations point to."""

    runbook_base_url: str
    dashboard_base_url: str


class Teams(Section):
    """Who owns what: the `team` label."""

    default: TeamName
    platform: TeamName
    agents: dict[str, TeamName] = {}


class Tier(Section):
    """One pair of windows, its burn factor and the samples that it needs."""

    alert: str
    long: Duration
    short: Duration
    factor: Factor
    minimum_samples: SampleCount
    short_minimum_samples: SampleCount
    pending: Duration = Field(alias="for")
    keep_firing_for: Duration


class Override(Section):
    """What differs for one agent; what is not named stays as the objective says."""

    objective: Share | None = None
    factors: dict[str, Factor] = {}
    minimum_samples: dict[str, SampleCount] = {}


class RatioObjective(Section):
    """A share of good events, the tiers that watch it, and the agents that differ."""

    objective: Share
    tiers: list[str] = Field(min_length=1)
    severity: dict[str, Severity] = {}
    factors: dict[str, Factor] = {}
    minimum_samples: dict[str, SampleCount] = {}
    agents: dict[str, Override] = {}

    def for_agent(self, agent: str | None) -> "RatioObjective":
        """This objective as it holds for `agent`; None means every agent that is not named."""
        override = self.agents.get(agent) if agent is not None else None
        if override is None:
            return self
        return self.model_copy(
            update={
                "objective": self.objective if override.objective is None else override.objective,
                "factors": {**self.factors, **override.factors},
                "minimum_samples": {**self.minimum_samples, **override.minimum_samples},
            }
        )


class SuccessObjective(RatioObjective):
    """Which outcomes are good, and which leave the ratio."""

    good: list[Outcome] = Field(min_length=1)
    ignored: list[Outcome]


class LatencyObjective(RatioObjective):
    """The bound, in seconds, that the good share of runs stays within."""

    threshold_seconds: float


class CoverageObjectives(Section):
    """What the monitor could see of the runs."""

    scorable: RatioObjective
    priced: RatioObjective
    complete: RatioObjective
    known_outcome: RatioObjective


class Held(Section):
    """What every alert that is not a ratio has: patience, persistence, severity."""

    pending: Duration = Field(alias="for")
    keep_firing_for: Duration
    severity: Severity


class NoSuccesses(Held):
    """Enough runs and not one success."""

    window: Duration
    minimum_runs: SampleCount
    agents: dict[str, SampleCount] = {}


class CostObjective(Held):
    """Cost per success against the agent's own past."""

    window: Duration
    baseline: Duration
    factor: Annotated[float, Field(gt=1)]
    minimum_successes: SampleCount
    baseline_minimum_successes: SampleCount
    agents: dict[str, Annotated[float, Field(gt=1)]] = {}


class Vanished(Held):
    """Something that was measured earlier and no longer is."""

    window: Duration
    earlier: Duration
    minimum_samples: SampleCount
    minimum_runs: SampleCount


class Invariants(Held):
    """Things that must never happen."""

    window: Duration
    memory: Duration


class MonitorHealth(Section):
    """Bounds for the pipeline itself; see the comments in objectives.yaml."""

    down_for: Duration
    stalled_after: Duration
    stalled_window: Duration
    stalled_for: Duration
    lag: Duration
    lag_for: Duration
    partition_still: Duration
    partition_memory: Duration
    partition_for: Duration
    recent: Duration
    exports_stuck_for: Duration
    keep_firing_for: Duration
    scorer_error_share: Share
    scorer_error_window: Duration
    minimum_traces: SampleCount
    late_share: Share
    late_window: Duration
    minimum_spans: SampleCount
    share_for: Duration
    rebalances: SampleCount
    rebalance_window: Duration


class Evaluation(Section):
    """How often the rules of short and of long windows run."""

    short: Duration
    long: Duration


class Profile(Section):
    """Another clock for the same templates."""

    durations: dict[Duration, Duration]
    exceptions: dict[str, Duration] = {}
    sample_factor: Annotated[float, Field(gt=0, le=1)]
    runbook_base_url: str


class Objectives(Section):
    """The whole of objectives.yaml."""

    version: Literal[1] = Field(alias="schema")
    links: Links
    scrape_job: str
    teams: Teams
    threshold_ceiling: Share
    tiers: dict[str, Tier]
    axes: dict[AxisName, RatioObjective]
    success: SuccessObjective
    no_successes: NoSuccesses
    latency: LatencyObjective
    cost: CostObjective
    escalations: RatioObjective
    coverage: CoverageObjectives
    vanished: Vanished
    invariants: Invariants
    monitor: MonitorHealth
    evaluation: Evaluation
    profiles: dict[str, Profile] = {}

    def ratios(self) -> Mapping[str, RatioObjective]:
        """Every ratio objective by its key in the file."""
        coverage = self.coverage
        return {
            **{f"axes.{axis}": objective for axis, objective in self.axes.items()},
            "success": self.success,
            "latency": self.latency,
            "escalations": self.escalations,
            "coverage.scorable": coverage.scorable,
            "coverage.priced": coverage.priced,
            "coverage.complete": coverage.complete,
            "coverage.known_outcome": coverage.known_outcome,
        }

    def tier(self, name: str, objective: RatioObjective) -> Tier:
        """The tier `name` with the factor and the minimum that `objective` sets for it."""
        tier = self.tiers[name]
        return tier.model_copy(
            update={
                "factor": objective.factors.get(name, tier.factor),
                "minimum_samples": objective.minimum_samples.get(name, tier.minimum_samples),
            }
        )

    def threshold(self, name: str, objective: RatioObjective) -> float:
        """The bad share above which tier `name` fires; from the burn-rate chapters of SRE."""
        burn = self.tier(name, objective).factor * (1 - objective.objective)
        return round(min(burn, self.threshold_ceiling), 6)

    @model_validator(mode="after")
    def _check(self) -> "Objectives":
        for key, ratio in self.ratios().items():
            _check_ratio(self, key, ratio)
        _check_tiers(self.tiers)
        missing = sorted(set(AXES) - set(self.axes))
        if missing:
            raise ConfigurationError("axes", sorted(self.axes), f"add {', '.join(missing)}")
        if self.latency.threshold_seconds not in DURATION_BUCKETS:
            raise ConfigurationError(
                "latency.threshold_seconds",
                self.latency.threshold_seconds,
                f"take a bucket boundary: {', '.join(f'{b:g}' for b in DURATION_BUCKETS)}",
            )
        return self


def load(path: Path = DEFAULT_PATH) -> Objectives:
    """Read and check a file of objectives.

    Raises:
        ConfigurationError: for the first key that is missing, unknown or holds a bad value.
    """
    try:
        return Objectives.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise ConfigurationError(str(path), "not YAML", str(error)) from error
    except ValidationError as error:
        raise _explain(error) from error


def _check_tiers(tiers: Mapping[str, Tier]) -> None:
    by_alert: dict[str, tuple[str, Tier]] = {}
    for name, tier in tiers.items():
        if tier.short.seconds >= tier.long.seconds:
            raise ConfigurationError(f"tiers.{name}.short", tier.short, f"shorter than {tier.long}")
        first_name, first = by_alert.setdefault(tier.alert, (name, tier))
        if (first.pending, first.keep_firing_for) != (tier.pending, tier.keep_firing_for):
            raise ConfigurationError(
                f"tiers.{name}.for",
                tier.pending,
                f"tiers of one alert share `for` and `keep_firing_for`; tiers.{first_name} has "
                f"{first.pending} and {first.keep_firing_for}",
            )


def _check_ratio(objectives: Objectives, key: str, ratio: RatioObjective) -> None:
    for name, path in _tier_names(key, ratio):
        if name not in objectives.tiers:
            known = ", ".join(objectives.tiers)
            raise ConfigurationError(path, name, f"there is no such tier; known are {known}")
    for agent in (None, *ratio.agents):
        effective = ratio.for_agent(agent)
        budget = 1 - effective.objective
        for name in effective.tiers:
            factor = objectives.tier(name, effective).factor
            if factor * budget >= 1:
                where = key if agent is None else f"{key}.agents.{agent}"
                raise ConfigurationError(
                    f"{where}.factors.{name}",
                    factor,
                    f"no share exceeds {factor:g} times the budget of {budget:g}, so this alert "
                    f"could never fire; write a factor below {1 / budget:.3g}",
                )


def _tier_names(key: str, ratio: RatioObjective) -> Iterator[tuple[str, str]]:
    yield from ((name, f"{key}.tiers") for name in ratio.tiers)
    for field in ("severity", "factors", "minimum_samples"):
        yield from ((name, f"{key}.{field}.{name}") for name in getattr(ratio, field))
    for agent, override in ratio.agents.items():
        for field in ("factors", "minimum_samples"):
            where = f"{key}.agents.{agent}.{field}"
            yield from ((name, f"{where}.{name}") for name in getattr(override, field))


def _explain(error: ValidationError) -> ConfigurationError:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"] if part != "[key]") or "the file"
    match first["type"]:
        case "extra_forbidden":
            return ConfigurationError(key, first["input"], "there is no such key; remove it")
        case "missing":
            return ConfigurationError(key, "nothing", "the key is required; add it")
        case _:
            return ConfigurationError(key, first["input"], first["msg"])
