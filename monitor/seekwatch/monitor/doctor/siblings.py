"""Runs that are one call each and began together: the tasks of one run, most likely, told apart.

Where nothing stands above them, each task of `asyncio.gather` that makes a first call opens a run
of its own: two questions that are answered at once look exactly the same. Only the agent knows.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from seekwatch.core import attributes
from seekwatch.core.otlp.view import SpanView

TOGETHER_NS: Final = 100_000_000
"""Tasks of one `gather` begin within milliseconds, or, on a busy machine, within so much."""
FEWEST: Final = 4
"""So many single calls are no chance; two may be two questions that had no answer."""
_STEPS: Final = frozenset({attributes.KIND_LLM, attributes.KIND_RETRIEVER, attributes.KIND_TOOL})


@dataclass(slots=True)
class Calls:
    """What is known of the calls of one run."""

    process: str = ""
    began: int | None = None
    """When its first span began, nanoseconds since the epoch."""
    answered: bool = False
    steps: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Id of each call's spans to that of its parent."""

    def look(self, span: SpanView) -> None:
        """Take in one span of the run."""
        self.process = span.resource.text(attributes.SERVICE_INSTANCE_ID) or ""
        self.began = span.start if self.began is None else min(self.began, span.start)
        if attributes.ANSWER in span or span.text(attributes.STOP_REASON) == "answered":
            self.answered = True
        if (span.text(attributes.SPAN_KIND) or "").upper() in _STEPS:
            self.steps[span.span_id] = span.parent_id

    @property
    def is_single(self) -> bool:
        """Whether it is one call, and no more came of it."""
        calls = sum(parent not in self.steps for parent in self.steps.values())
        return calls == 1 and not self.answered


def siblings(runs: Iterable[Calls]) -> int:
    """Count the runs of one call that began together with another one in the same process."""
    processes: dict[str, list[int]] = {}
    for run in runs:
        if run.is_single and run.began is not None:
            processes.setdefault(run.process, []).append(run.began)
    return sum(map(_together, processes.values()))


def _together(began: Sequence[int]) -> int:
    times = sorted(began)
    near = [later - time <= TOGETHER_NS for time, later in itertools.pairwise(times)]
    return sum(
        before or after for before, after in zip([False, *near], [*near, False], strict=True)
    )
