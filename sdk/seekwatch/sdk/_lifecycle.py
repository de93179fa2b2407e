"""The ends and forks of the agent's process: whoever ends it, what was seen is sent first.

A process ends in more ways than one: the interpreter's own exit, a signal, `os._exit` at the end of
a forked worker, a server that ends itself by a signal. Each has one hook here, and none of them may
change how the process ends: not its exit status, not its handlers, not whether it ends at all.
"""

import _thread
import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final, cast

from ._guard import failed, guard
from ._replacing import replace_all

TERMINATION_SECONDS: Final = 2.0
"""How long a process that was told to end may be kept for its spans: supervisors wait ten."""
_AFTER_ALL_OTHERS: Final = -100
"""Priority among the finalizers of `multiprocessing`, whose own go down to -5."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What is to happen when."""

    send: Callable[[float], object]
    """Exports what is there within so many seconds; everything lives on."""
    send_last: Callable[[float], object]
    """As `send`, where the process ends at once: the open runs end, too."""
    end: Callable[[], object]
    """Exports what is there and takes us out of the process."""


_hooks: Hooks | None = None


def install(hooks: Hooks) -> Callable[[], None]:
    """Hook into the ends of this process; returns what undoes it."""
    global _hooks
    _hooks = hooks
    # Registered after any provider's own handler, so it runs before it.
    atexit.register(_at_exit)
    undo: list[Callable[[], None]] = []
    for watch in (_watch_termination, _watch_uvicorn):
        with guard("watching for the end of the process"):
            undo.append(watch())
    with guard("watching for the end of a worker"):
        _watch_worker_end()

    def restore() -> None:
        global _hooks
        _hooks = None
        atexit.unregister(_at_exit)
        for each in undo:
            each()

    return restore


def _at_exit() -> None:
    hooks = _hooks
    with guard("shutting down at exit"):
        if hooks is not None:
            hooks.end()


def _send(seconds: float, *, last: bool = False) -> bool:
    """Export on another thread and wait: the caller may have interrupted whoever holds a lock.

    Args:
        seconds: to wait at most.
        last: the process ends at once; not even its open runs go on.
    """
    hooks = _hooks
    if hooks is None:
        return True
    hook = hooks.send_last if last else hooks.send
    sent = _thread.allocate_lock()
    sent.acquire()

    def send() -> None:
        with guard("exporting before the end"):
            hook(seconds)
        sent.release()

    try:
        # Below `threading`, which takes locks of its own to start a thread.
        _thread.start_new_thread(send, ())
    except RuntimeError:
        # The interpreter is shutting down; its exit handlers have had their turn.
        return False
    return sent.acquire(timeout=seconds)


# Workers that end by `os._exit`, which runs no exit handlers of the interpreter


class _Anchor:
    """What the registry of `multiprocessing` holds on to, weakly."""


_anchor = _Anchor()
_registered = False
_finalizer: Any = None


def after_fork() -> None:
    """Watch for the end of a forked child, which may be a worker."""
    if _hooks is None:
        return
    with guard("watching for the end of a worker"):
        _leave_signals_to_billiard()
        _watch_worker_end()


def _watch_worker_end() -> None:
    """Send what is there at the end of a worker of multiprocessing or Celery, if this is one."""
    global _registered
    util = sys.modules.get("multiprocessing.util")
    process = sys.modules.get("multiprocessing.process")
    if util is not None and process is not None:
        if not _registered:
            # A child clears its list of finalizers first, and then calls this.
            util.register_after_fork(_anchor, _finalize_worker)
            _registered = True
        if process.parent_process() is not None or _is_being_spawned(process):
            _finalize_worker(_anchor)
    signals: Any = sys.modules.get("celery.signals")
    if signals is not None:
        signals.worker_process_shutdown.connect(
            _on_worker_shutdown, weak=False, dispatch_uid="seekwatch"
        )


def _is_being_spawned(process: ModuleType) -> bool:
    # A spawned worker imports the agent's script before it knows its parent, and clears nothing.
    return bool(getattr(process.current_process(), "_inheriting", False))


def _finalize_worker(_: object) -> None:
    global _finalizer
    if _finalizer is not None:
        # Of an earlier `instrument`, or the parent's.
        _finalizer.cancel()
    util: Any = sys.modules["multiprocessing.util"]
    _finalizer = util.Finalize(None, _at_worker_end, exitpriority=_AFTER_ALL_OTHERS)


def _at_worker_end() -> None:
    _send(TERMINATION_SECONDS, last=True)


def _on_worker_shutdown(**_: object) -> None:
    _send(TERMINATION_SECONDS, last=True)


def _leave_signals_to_billiard() -> None:
    """Give Celery's workers the default handler back: they take their own only in its place."""
    if "billiard" in sys.modules and _is_main_thread() and _handler() is _on_termination:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


# SIGTERM


def _watch_termination() -> Callable[[], None]:
    """Take SIGTERM where nobody has it; a handler that is there, or comes later, is theirs."""
    if _may_take_termination():
        signal.signal(signal.SIGTERM, _on_termination)
    return _give_termination_back


def _may_take_termination() -> bool:
    # Windows ends a process without asking; the first process of a container ignores the signal
    # unless it has a handler, and must go on ignoring it.
    if sys.platform == "win32" or os.getpid() == 1 or not _is_main_thread():
        return False
    return _handler() is signal.SIG_DFL and not _is_caught_below_python()


def _is_caught_below_python() -> bool:
    """Tell whether an embedding server (uWSGI) or a library in C has the signal.

    Python's own table still says "default" then. Linux says the truth; elsewhere it is believed.
    """
    if {"uwsgi", "mod_wsgi"} & sys.modules.keys():
        return True
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return False
    masks = dict(line.split(":", 1) for line in status.splitlines() if line.startswith("Sig"))
    bit = 1 << (signal.SIGTERM - 1)
    return any(int(masks.get(name, "0"), 16) & bit for name in ("SigCgt", "SigIgn"))


def _give_termination_back() -> None:
    if _handler() is _on_termination and _is_main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _on_termination(number: int, frame: FrameType | None) -> None:
    """Send what is there, then end as if we had never been here: by the signal itself."""
    if _handler() is not _on_termination:
        # Somebody took the signal after us and calls us from theirs: the end is theirs, too.
        _send(TERMINATION_SECONDS)
        return
    # First of all, so that a second signal ends the process at once.
    signal.signal(number, signal.SIG_DFL)
    try:
        _send(TERMINATION_SECONDS, last=True)
    finally:
        os.kill(os.getpid(), number)


def _handler() -> Any:
    return signal.getsignal(signal.SIGTERM)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


# Servers that end themselves by the signal that they were sent


def _watch_uvicorn() -> Callable[[], None]:
    """Send what is there when uvicorn shuts down.

    It imports the application under handlers of its own, puts the default one back at the end and
    then raises the signal again: no exit handler of the interpreter runs.
    """
    server: Any = getattr(sys.modules.get("uvicorn.server"), "Server", None)
    return replace_all([(server, "shutdown", _sending)])


def _sending(original: Callable[..., Any]) -> Callable[..., Any]:
    async def shutdown(self: object, *args: Any, **kwargs: Any) -> Any:
        try:
            return await original(self, *args, **kwargs)
        finally:
            await _send_off_the_loop()

    return shutdown


async def _send_off_the_loop() -> None:
    import asyncio

    try:
        await asyncio.get_running_loop().run_in_executor(
            None, cast("Callable[[float], bool]", _send), TERMINATION_SECONDS
        )
    except Exception as error:  # noqa: BLE001 - this is the fence around our own code
        failed("exporting before the end", error)
