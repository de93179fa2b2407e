"""The runs that the agent's own code marks and has not ended yet.

They end with their `with` block. A process that is told to end never gets there, so whoever sends
the last spans ends these runs first: a run without its root would look as if it still went on.
"""

import weakref
from typing import TYPE_CHECKING

from seekwatch.sdk._guard import guard

if TYPE_CHECKING:
    from .run import AgentRun


class MarkedRuns:
    """Knows the open runs of `agent_run` and of entrypoints, and keeps none of them alive."""

    def __init__(self) -> None:
        self.reset_after_fork()

    def reset_after_fork(self) -> None:
        """Begin anew in a forked child: the runs are the parent's to end."""
        self._open: weakref.WeakValueDictionary[int, AgentRun] = weakref.WeakValueDictionary()

    def add(self, run: "AgentRun") -> None:
        """Note a run that begins."""
        self._open[id(run)] = run

    def remove(self, run: "AgentRun") -> None:
        """Note that a run has ended."""
        self._open.pop(id(run), None)

    def end_open(self) -> None:
        """End every run that is open now; for the end of a process."""
        # The references are copied in one step: other threads may begin runs meanwhile.
        for reference in self._open.valuerefs():
            run = reference()
            if run is not None:
                with guard("ending a run"):
                    run.close()
