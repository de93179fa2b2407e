"""Functions of frameworks that are called once for each question: the agents that need no mark.

A framework runs its steps in tasks and threads of its own, which have nothing in common but the
call that started them. That call bounds the run, where no instrumentor of the framework makes
spans of it and nothing else is above; question and answer are read from it as from an entrypoint.
"""

import functools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import wrapt
from opentelemetry.context import get_current

from seekwatch.sdk import _context
from seekwatch.sdk._guard import guarded
from seekwatch.sdk._replacing import Wrap, replace_imported
from seekwatch.sdk._runtime import current

from . import implicit
from .boundaries import BoundaryScope
from .calls import Told
from .wrapping import wrap

_TASKS: Final = ("run_loop_task", "_run_impl_task", "_result_task")
"""Where the handles of frameworks keep the task that does their work."""


class _AgentScope(BoundaryScope):
    """One call of an agent's function; it ends with the work behind the handle that it returns."""

    __slots__ = ("_at_work",)

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        super().__init__(Told(args, kwargs, time.time_ns()))
        self._at_work = False

    def result(self, value: Any) -> None:
        """Note what the function returned, and wait for it where it is still to come."""
        task = _task_behind(value)
        if task is None:
            super().result(value)
            return
        self._at_work = True
        # Called soon where it is done already.
        task.add_done_callback(functools.partial(self._done, value))

    def close(self, error: BaseException | None = None) -> None:
        """End the boundary, unless it waits for a task."""
        if not self._at_work or error is not None:
            super().close(error)

    @guarded("ending the run of a framework's agent")
    def _done(self, handle: Any, task: Any) -> None:
        error = None if task.cancelled() else task.exception()
        if error is None and not task.cancelled():
            found = task.result()
            # A handle that is awaited has it as its task's result, one that is read as a field.
            super().result(handle if found is None else found)
        super().close(error)


def _task_behind(value: Any) -> Any:
    for found in (value, *(getattr(value, name, None) for name in _TASKS)):
        if callable(getattr(found, "add_done_callback", None)):
            return found
    return None


def _begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _AgentScope | None:
    if current() is None or implicit.is_above(get_current()):
        return None
    # What was fetched before, a model's files or a configuration, is no part of it.
    implicit.end_here()
    return _AgentScope(args, kwargs)


def _function(original: Callable[..., Any]) -> Callable[..., Any]:
    return wrap(original, _begin, follow=True)


def _manager(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that returns an asynchronous context manager: the run is what lies in it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        manager = original(*args, **kwargs)
        return _managed(manager, args, kwargs) or manager

    return call


@guarded("entering the run of a framework's agent")
def _managed(manager: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return None if current() is None else _Manager(manager, args, kwargs)


class _Manager(wrapt.ObjectProxy):  # type: ignore[type-arg]  # wrapt 1 takes none
    """An asynchronous context manager that is a run from its beginning to its end."""

    def __init__(self, manager: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        cast("Any", super()).__init__(manager)
        self._self_manager: Any = manager
        self._self_given = (args, kwargs)
        self._self_scope: _AgentScope | None = None
        self._self_token: Any = None
        self._self_is_named = False

    def __aenter__(self) -> Any:
        self._self_enter()
        entering = self._self_manager.__aenter__()
        # Pydantic AI names an agent that has no name by the frame that awaits this.
        return self._self_entered(entering) if self._self_is_named else entering

    async def _self_entered(self, entering: Awaitable[Any]) -> Any:
        try:
            return await entering
        except BaseException as error:
            self._self_leave(error)
            raise

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        try:
            return await self._self_manager.__aexit__(kind, error, traceback)
        finally:
            self._self_leave(error)

    @guarded("entering the run of a framework's agent")
    def _self_enter(self) -> None:
        scope = _begin(*self._self_given)
        if scope is not None and scope.otel_context is not None:
            self._self_scope = scope
            agent, *_ = self._self_given[0]
            self._self_is_named = getattr(agent, "name", None) is not None
            self._self_token = _context.attach(scope.otel_context)

    @guarded("leaving the run of a framework's agent")
    def _self_leave(self, error: BaseException | None) -> None:
        token, self._self_token = self._self_token, None
        scope, self._self_scope = self._self_scope, None
        _context.detach(token)
        if scope is not None:
            scope.close(error)


@dataclass(frozen=True, slots=True)
class Agent:
    """One function of a framework that is called once for each question."""

    module: str
    attribute: str
    wrap: Wrap = _function


_CALLS: Final = ("invoke", "ainvoke", "stream", "astream")

AGENTS: Final = (
    # What LangChain's `create_agent` makes is a graph of LangGraph's; older agents are chains.
    *(Agent("langgraph.pregel.main", f"Pregel.{name}") for name in _CALLS),
    *(
        Agent(module, f"AgentExecutor.{name}")
        for module in ("langchain.agents.agent", "langchain_classic.agents.agent")
        for name in _CALLS
    ),
    # Every other way to run one of Pydantic's goes through it.
    Agent("pydantic_ai.agent", "Agent.iter", _manager),
    # LlamaIndex's agents are workflows.
    Agent("workflows.workflow", "Workflow.run"),
    Agent("smolagents.agents", "MultiStepAgent.run"),
    *(Agent("agents.run", f"Runner.{name}") for name in ("run", "run_sync", "run_streamed")),
)


def install() -> Callable[[], None]:
    """Wrap each, now or when it is imported; returns what undoes it."""
    return replace_imported((each.module, each.attribute, each.wrap) for each in AGENTS)
