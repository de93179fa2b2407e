"""An SDK that fails wherever it is told to: every function of ours is a place to fail.

`python -m tests.services.faults WEB SINK` loads the SDK with a check at the start of each function
(inside the fence, where a function begins with one), lets an agent work once to see which are
reached on its threads, and then once more for each with that one failing. It prints, as JSON, the
places where the agent noticed. A function that is added later is covered without a line here.
"""

import ast
import importlib.abc
import importlib.machinery
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tests.services.faults_around import around_of

PACKAGE = "seekwatch.sdk."
CHECK = "__fail_here__"
OUR_THREADS = ("seekwatch-", "Otel")
STAND_INS = {
    "_deferred.DeferredSpan.get_span_context": "returns what it holds",
    "_export.batching.BatchingProcessor.on_start": "has nothing in it",
    **dict.fromkeys(
        (
            "_instrument.flush",
            "_instrument.uninstrument",
            "_runs.run.agent_run",
            "_runs.run.AgentRun.ended",
            *(f"_runs.run.AgentRun.__{name}__" for name in ("init", "enter", "exit")),
            *(f"_runs.run.AgentRun.__{name}__" for name in ("aenter", "aexit")),
        ),
        "the agent calls it by name; keeps what it is given and calls what is fenced",
    ),
    **dict.fromkeys(
        (
            "_runs.wrapping._awaited",
            "_runs.wrapping._inside.__init__",
            "_runs.wrapping._step_inside",
            "_runs.wrapping._stepped",
            "_stacks.aiohttp_bodies.TeeBuffer.popleft",
            *(f"_stacks.httpx_streams._SyncTee.{name}" for name in ("__iter__", "close")),
            *(f"_stacks.httpx_streams._AsyncTee.{name}" for name in ("__aiter__", "aclose")),
        ),
        "stands in for the agent's own function or stream; its parts are fenced",
    ),
    "_runs.executors._Item.__call__": "stands in for the agent's function; its parts are fenced",
    "_export.health._reader.read": "calls what is fenced; a reader of metrics calls it",
    "_runs.executors._carry_into.run_inside": "stands in for the thread's run",
    **dict.fromkeys(
        ("_finisher.Finisher._run", "_export.batching.BatchingProcessor._run"),
        "goes on for as long as what it calls, which is fenced, says so",
    ),
}
"""Places that the agent calls unfenced because nothing in them can fail, and why."""


HANGS = 60
"""Seconds after which the agent's work is taken to hang."""


class OurFaultError(Exception):
    """Raised by our own code."""


class Faults:
    """Which places were reached on the agent's threads, and which one fails."""

    def __init__(self) -> None:
        self.reached: set[str] = set()
        self.behind: set[str] = set()
        """Those that were reached on threads of ours."""
        self.failing: str | None = None
        self.hit = 0

    def check(self, place: str) -> None:
        """Fail if this is the place."""
        ours = threading.current_thread().name.startswith(OUR_THREADS)
        (self.behind if ours else self.reached).add(place)
        if place == self.failing:
            self.hit += 1
            raise OurFaultError(place)


FAULTS = Faults()


class _Checks(ast.NodeTransformer):
    """Puts a check into every function that is not a wrapper around the agent's own."""

    def __init__(self, module: str) -> None:
        self._path: list[str] = [module.removeprefix(PACKAGE)]
        self._parameters: list[set[str]] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Go into a class."""
        self._path.append(node.name)
        self.generic_visit(node)
        self._path.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Put a check into a function."""
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """Put a check into a coroutine."""
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        outer = {name for names in self._parameters for name in names}
        wrapper = _calls_one_of(node, outer)
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self._path.append(node.name)
        self._parameters.append({argument.arg for argument in named})
        self.generic_visit(node)
        self._parameters.pop()
        place = ".".join(self._path)
        self._path.pop()
        if not wrapper:
            _insert(node, ast.parse(f"{CHECK}({place!r})").body[0])
        return node


def _calls_one_of(node: ast.AST, names: set[str]) -> bool:
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in names
        for each in ast.walk(node)
    )


def _insert(node: ast.FunctionDef | ast.AsyncFunctionDef, check: ast.stmt) -> None:
    body = node.body
    first = 1 if ast.get_docstring(node) is not None else 0
    if len(body) > first and isinstance(body[first], ast.Try) and body[first].handlers:  # type: ignore[attr-defined]
        body[first].body.insert(0, check)  # type: ignore[attr-defined]
    else:
        body.insert(first, check)


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles a module of the SDK with checks in it."""

    def source_to_code(  # type: ignore[override]
        self, data: bytes, path: str, *, _optimize: int = -1
    ) -> CodeType:
        """Compile with checks."""
        tree = ast.fix_missing_locations(_Checks(self.name).visit(ast.parse(data)))
        code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code

    def get_code(self, fullname: str) -> CodeType | None:
        """Never take a cached compilation."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with the check at hand."""
        setattr(module, CHECK, FAULTS.check)
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find modules of the SDK as everyone does, and load them with checks."""
        # The fences themselves are what is relied on.
        if not fullname.startswith(PACKAGE) or fullname.endswith(("._guard", "._threads")):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            spec.loader = _Loader(fullname, spec.origin)
        return spec


@dataclass
class Found:
    """What came of letting each place fail; what is printed."""

    places: list[str] = field(default_factory=list[str])
    noticed: dict[str, str] = field(default_factory=dict[str, str])
    """Places whose failure the agent, or its log, saw."""
    slow: dict[str, float] = field(default_factory=dict[str, float])
    uncounted: list[str] = field(default_factory=list[str])
    """Places that failed and were counted neither as a failure nor as spans that were lost."""


def sweep(work: Callable[[], list[Any]], every: int, known: set[str], found: Found) -> None:
    """Let an agent work once for each place that it reaches.

    Args:
        work: what it does; the same every time.
        every: how many places to go on by; 1 is all of them.
        known: places that have had their turn.
        found: gets what comes of it.
    """
    from seekwatch.sdk import flush

    expected = work()
    assert work() == expected, "the agent does not do the same twice"
    flush(5)
    FAULTS.reached.clear()
    FAULTS.behind.clear()
    began = time.monotonic()
    assert work() == expected
    bare = time.monotonic() - began
    flush(5)
    places = sorted((FAULTS.reached | FAULTS.behind) - STAND_INS.keys() - known)[::every]
    known |= FAULTS.reached | FAULTS.behind
    found.places += places
    for place in places:
        _fail(place, work, expected, bare, found)


def _fail(
    place: str,
    work: Callable[[], list[Any]],
    expected: list[Any],
    bare: float,
    found: Found,
    *,
    again: bool = False,
) -> None:
    from seekwatch.sdk import flush
    from seekwatch.sdk._guard import failures, reset_failures
    from seekwatch.sdk._instrument import statistics

    reset_failures()
    before = statistics()
    lost: list[str] = []
    # What an object of ours raises when it is let go, or a thread of ours when it ends.
    sys.unraisablehook = lambda hook: lost.append(f"lost: {hook.exc_value!r}")
    threading.excepthook = lambda hook: lost.append(f"in a thread: {hook.exc_value!r}")
    FAULTS.failing, FAULTS.hit = place, 0
    began = time.monotonic()
    signal.alarm(HANGS)
    try:
        seen = work()
    except Exception as error:  # noqa: BLE001 - any at all is what is looked for
        lost.append(repr(error))
    else:
        if seen != expected:
            pairs = [(a, b) for a, b in zip(seen, expected, strict=False) if a != b]
            lost.append(f"differs: {str(pairs[:1])[:200]}")
    took = time.monotonic() - began
    signal.alarm(0)
    flush(1)
    FAULTS.failing = None
    counted = bool(failures()) or statistics() != before
    if not flush(60):
        lost.append("nothing leaves any more")
    if lost:
        found.noticed[place] = "; ".join(dict.fromkeys(lost))
    slow = took > 5 * bare + 2
    if slow and again:
        found.slow[place] = took
    if FAULTS.hit and not counted:
        found.uncounted.append(place)
    print(place, f"{took:.2f} s of {bare:.2f}", found.noticed.get(place, ""), file=sys.stderr)
    if slow and not again:
        # A machine stands still now and then; what waits for us does so each time.
        _fail(place, work, expected, bare, found, again=True)


def main(web: str, sink: str, share: str = "1") -> None:
    """Let each place fail once; print what the agent noticed as JSON."""
    sys.meta_path.insert(0, _Finder())
    from seekwatch.sdk import instrument, uninstrument
    from tests.services.faults_agent import agent_of

    def hang(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, hang)
    found = Found()
    known: set[str] = set()
    instrument("faulty", endpoint=sink)
    sweep(agent_of(web), int(share), known, found)
    sweep(around_of(sink), int(share), known, found)
    uninstrument()
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    assert Path(__file__).is_file()
    main(*sys.argv[1:])
