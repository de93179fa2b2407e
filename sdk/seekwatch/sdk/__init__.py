"""Seekwatch in the agent's process: one call, and every search, fetch and answer is a span.

Example:
    >>> from seekwatch.sdk import agent_run, instrument
    >>> instrument("my-agent")  # doctest: +SKIP
    >>> with agent_run("What changed in Python 3.14?") as run:
    ...     run.answer("Free threading is supported.", ["https://docs.python.org/3/whatsnew/"])
"""

from ._instrument import flush, instrument, uninstrument
from ._runs.citations import Citation
from ._runs.decorators import llm, retriever, tool
from ._runs.run import AgentRun, agent_run, current_run
from ._search.apis import SearchApi

__all__ = [
    "AgentRun",
    "Citation",
    "SearchApi",
    "agent_run",
    "current_run",
    "flush",
    "instrument",
    "llm",
    "retriever",
    "tool",
    "uninstrument",
]
