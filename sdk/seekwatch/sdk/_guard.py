"""The one place where our own failures stop: counted, logged once per kind, never raised.

An agent must not notice its monitor. Every call from the agent's code into ours runs through
`guarded` or under `guard`, so that a bug of ours costs a span and not a request.
"""

import functools
import logging
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from seekwatch.core.redaction import Redactor

_P = ParamSpec("_P")
_R = TypeVar("_R")

_logger = logging.getLogger("seekwatch.sdk")

# Reentrant: the collector of garbage may end a span of ours, and that fail, at any point.
_lock = threading.RLock()
_failures: Counter[str] = Counter()


def say(level: int, message: str, *args: object) -> None:
    """Log a line: the only way in which the SDK does.

    A handler, filter or formatter is the agent's code and may raise. Here it runs on the agent's
    threads and on ours at times at which the agent asked for no logging, so that would raise into
    a request or end a thread of ours. What it raises is counted, and not logged, of course.

    Args:
        level: one of `logging`.
        message: with the marks of the `%` operator for `args`.
        args: what to put in; said only where the level is on.
    """
    try:
        _logger.log(level, message, *args, stacklevel=2)
    except Exception:  # noqa: BLE001 - this is the fence around code of the agent
        with _lock:
            _failures["logging"] += 1


def is_said(level: int) -> bool:
    """Tell whether a line of this level would be logged, for what costs much to describe."""
    return _logger.isEnabledFor(level)


def failed(kind: str, error: BaseException) -> None:
    """Count a failure of ours and log the first of its kind.

    One that has `already_told` was logged where more is known of it.
    """
    with _lock:
        _failures[kind] += 1
        first = _failures[kind] == 1
    if first and not getattr(error, "already_told", False):
        say(
            logging.WARNING,
            "%s failed (%s); the agent is not affected; later ones are only counted",
            kind,
            type(error).__name__,
        )
        # The message and the stack may quote the agent's content, so they are for debugging only.
        if is_said(logging.DEBUG):
            say(logging.DEBUG, "%s failed:\n%s", kind, _description(error))


def describe_by(describe: Callable[[BaseException], str]) -> None:
    """Have failures described for the log by what knows the user's redaction."""
    global _describe
    _describe = describe


def _described_by_default(error: BaseException) -> str:
    return Redactor().text("".join(traceback.format_exception(error)))


_describe: Callable[[BaseException], str] = _described_by_default


def _description(error: BaseException) -> str:
    try:
        return _describe(error)
    except Exception as other:  # noqa: BLE001 - a redaction of the user's own, or a `__str__`
        return f"{type(error).__name__}, which cannot be told ({type(other).__name__})"


def failures() -> dict[str, int]:
    """Return how often each kind of call of ours has failed since the process began."""
    with _lock:
        return dict(_failures)


def reset_failures() -> None:
    """Forget the counts, so that the next failure of each kind is logged again."""
    with _lock:
        _failures.clear()


def reset_after_fork() -> None:
    """Take a new lock in a forked child: a thread that is not there may hold the old one."""
    global _lock
    _lock = threading.RLock()
    # The parent reports its own.
    _failures.clear()


class guard:  # noqa: N801 - it is used as the functions of contextlib are
    """Run a block of ours; an exception in it is counted and logged, never raised.

    A class, since a generator made a context manager costs the agent's thread several times more.
    """

    __slots__ = ("_kind",)

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        failed(self._kind, error)
        return True


def guarded(kind: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R | None]]:
    """Make a function return None where it would raise; see `guard`."""

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R | None]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R | None:
            try:
                return function(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - this is the fence around our own code
                failed(kind, error)
                return None

        return call

    return decorate
