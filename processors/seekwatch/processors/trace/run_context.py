"""Who ran what for whom: read off the root span, its resource, and what other spans know."""

import hashlib
from typing import Final

from seekwatch.core import attributes as names
from seekwatch.core.model import Lane, Limits, RunContext, StopReason
from seekwatch.core.policy import LanePolicy
from seekwatch.processors.dialects.base import Role, SpanFacts
from seekwatch.processors.dialects.seekwatch_sdk import SeekwatchSdk
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.moments import parse_moment

_OLD_ENVIRONMENT: Final = "deployment.environment"
_UNKNOWN_SERVICE: Final = "unknown_service"
UNNAMED: Final = "unknown"
"""Name of an agent that no span and no resource names."""


class RunAttributes:
    """Attributes of ours on the root, else on another agent span of the trace.

    Args:
        root: the run's span.
        facts: every span.
    """

    def __init__(self, root: SpanFacts, facts: list[SpanFacts]) -> None:
        agents = [fact.view for fact in facts if fact.role is Role.AGENT and fact is not root]
        self._spans = [root.view, *agents]

    def text(self, key: str) -> str | None:
        """Return the first text under `key`."""
        for span in self._spans:
            value = span.text(key)
            if value is not None:
                return value
        return None

    def number(self, key: str) -> float | None:
        """Return the first number from zero up under `key`."""
        for span in self._spans:
            value = span.number(key)
            if value is not None and value >= 0:
                return value
        return None

    def count(self, key: str) -> int | None:
        """Return the first whole number from zero up under `key`."""
        value = self.number(key)
        return int(value) if value is not None and value == int(value) else None


def read_context(
    root: SpanFacts, facts: list[SpanFacts], lanes: LanePolicy, cleaner: Cleaner
) -> RunContext:
    """Describe the run; labels come from the root's own resource, never from a sub-service's."""
    run = RunAttributes(root, facts)
    resource = root.view.resource
    service = cleaner.name(resource.text(names.SERVICE_NAME))
    environment = cleaner.name(resource.text(names.ENVIRONMENT) or resource.text(_OLD_ENVIRONMENT))
    return RunContext(
        agent=_agent(root, facts, service, cleaner),
        lane=_lane(run.text(names.LANE) or resource.text(names.LANE), environment, lanes),
        service=service,
        release=cleaner.name(resource.text(names.SERVICE_VERSION)),
        environment=environment,
        case=cleaner.name(run.text(names.CASE_ID)),
        corpus=cleaner.name(run.text(names.CORPUS_VERSION)),
        region=cleaner.name(run.text(names.REGION)),
        configuration=cleaner.name(run.text(names.CONFIGURATION)),
        principal=_principal(run, facts, service, cleaner),
        session=next((fact.session for fact in (root, *facts) if fact.session), None),
        as_of=parse_moment(run.text(names.AS_OF)),
        freshness_regime=cleaner.name(run.text(names.FRESHNESS_REGIME)),
        virtual_seconds=run.number(names.VIRTUAL_SECONDS),
    )


def read_limits(root: SpanFacts, facts: list[SpanFacts]) -> Limits:
    """Return what the run was allowed."""
    run = RunAttributes(root, facts)
    return Limits(
        deadline=run.number(names.LIMIT_PREFIX + "deadline"),
        budget=run.number(names.LIMIT_PREFIX + "budget"),
        attempts=run.count(names.LIMIT_PREFIX + "attempts"),
        retries=run.count(names.LIMIT_PREFIX + "retries"),
        requests=run.count(names.LIMIT_PREFIX + "requests"),
        crawl_depth=run.count(names.LIMIT_PREFIX + "crawl_depth"),
        escalations=run.count(names.LIMIT_PREFIX + "escalations"),
    )


def read_stop_reason(
    root: SpanFacts, facts: list[SpanFacts], *, answered: bool
) -> StopReason | None:
    """Return why the run ended: as it said, else by how its root ended.

    A refusal cannot be told from an answer here; an answer's text is for the outcome to judge.
    """
    said = RunAttributes(root, facts).text(names.STOP_REASON)
    if said is not None:
        try:
            return StopReason(said)
        except ValueError:
            pass
    if root.error is not None:
        word = root.error.lower()
        timed_out = "timeout" in word or "deadline" in word
        return StopReason.DEADLINE if timed_out else StopReason.CRASHED
    return StopReason.ANSWERED if answered else None


def _agent(root: SpanFacts, facts: list[SpanFacts], service: str | None, cleaner: Cleaner) -> str:
    """Return the run's agent: as its root says, else our SDK's spans, else its resource.

    Where the application has a provider of its own, its service may be more than the agent, and
    its own span the root: what was given to `instrument` is then on our spans alone.
    """
    if root.agent is not None:
        return root.agent
    said = root.view.resource.text(names.SERVICE_NAME)
    ours = [fact for fact in facts if fact.dialect == SeekwatchSdk.name]
    here = [fact for fact in ours if fact.view.resource.text(names.SERVICE_NAME) == said]
    # What an agent has called may be an agent of another service; a mere caller is none itself.
    is_agent = root.role in (Role.AGENT, Role.WORKFLOW)
    name = _first_agent(here if is_agent else here + ours)
    if name is not None:
        return name
    if service is not None and not service.startswith(_UNKNOWN_SERVICE):
        return service
    return _first_agent(facts) or cleaner.name(root.view.name) or UNNAMED


def _first_agent(facts: list[SpanFacts]) -> str | None:
    return next((fact.agent for fact in facts if fact.agent is not None), None)


def _lane(said: str | None, environment: str | None, lanes: LanePolicy) -> Lane:
    """Take the lane that the run names, else ask whether its environment is a production one."""
    if said is not None:
        try:
            return Lane(said.lower())
        except ValueError:
            # A lane that we do not know is not live traffic: it must not page anyone.
            return Lane.NONPRODUCTION
    if environment is None or environment.lower() in lanes.production:
        return Lane.LIVE
    return Lane.NONPRODUCTION


def _principal(
    run: RunAttributes, facts: list[SpanFacts], service: str | None, cleaner: Cleaner
) -> str | None:
    """Return the hash that the SDK sent, else hash a user id that another instrumentor sent.

    The service's name salts it: the same user of two services cannot be joined by it.
    """
    sent = cleaner.name(run.text(names.PRINCIPAL))
    if sent is not None:
        return sent
    user = next((fact.user for fact in facts if fact.user), None)
    if user is None:
        return None
    salted = f"{service or ''}\0{user}".encode("utf-8", "replace")
    return hashlib.blake2b(salted, digest_size=16).hexdigest()
