"""One child process of a test: its log, its signals and its end.

The child dies with the test process, so that an interrupted run leaves nothing behind.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.services.waiting import NotInTimeError, eventually

_TAIL_CHARACTERS = 3000


class ServiceDiedError(RuntimeError):
    """A service ended or did not get ready; the message ends with the tail of its log."""


class Service:
    """A command that runs until it is told to end.

    Start it from the main thread: the kernel ends it when the thread that forked it ends.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        directory: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.log = directory / f"{name}.log"
        self._command = [*_die_with_parent(), *(str(word) for word in command)]
        self._directory = directory
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Id of the process that was started last."""
        if self._process is None:
            raise ServiceDiedError(f"{self.name} was never started")
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs (a stopped one, by SIGSTOP, does)."""
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """How it ended; negative for a signal, None while it runs."""
        return None if self._process is None else self._process.poll()

    def start(self) -> None:
        """Start the command; its output is appended to `log`."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._directory,
                env=self._environment,
                start_new_session=True,
            )

    def wait_ready(self, ready: Callable[[], bool], *, timeout: float = 90.0) -> None:
        """Wait until `ready()`; an `OSError` of it means "not yet".

        Raises:
            ServiceDiedError: the process ended, or was not ready in time.
        """

        def ready_or_dead() -> bool:
            return not self.alive or ready()

        try:
            eventually(
                ready_or_dead, what=f"{self.name} is ready", timeout=timeout, forgive=(OSError,)
            )
        except NotInTimeError as error:
            raise ServiceDiedError(f"{error}\n{self.tail()}") from error
        if not self.alive:
            raise ServiceDiedError(f"{self.name} died at its start:\n{self.tail()}")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to a running process; a dead one is left alone."""
        if self._process is not None and self.alive:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End the process at once, as a crash would, and reap it."""
        self.signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def stop(self, *, grace: float = 20.0) -> None:
        """Ask the process to end; after `grace` seconds kill it."""
        self.signal(signal.SIGTERM)
        if self._process is None:
            return
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()

    def tail(self) -> str:
        """Return the last lines of the log."""
        if not self.log.exists():
            return ""
        return self.log.read_text(errors="replace")[-_TAIL_CHARACTERS:]


@cache
def _die_with_parent() -> tuple[str, ...]:
    """Return the words that make a command end with the process that started it.

    A command and no `preexec_fn`: that would fork, and gRPC brings its threads to life again in
    every fork of a process that uses it, which now and then ends the child before it begins.
    """
    program = shutil.which("setpriv")
    return () if program is None else (program, "--pdeathsig", "KILL", "--")
