"""Child processes of the demo: their environment, their logs, their beginning and their end."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import httpx

ROOT: Final = Path(__file__).resolve().parents[1]
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 8.0
_OWN_PREFIXES: Final = ("OTEL_", "SEEKWATCH_")
_MODEL_PREFIX: Final = "OPENAI_"
_PROXIES: Final = frozenset({"all_proxy", "http_proxy", "https_proxy", "no_proxy"})
_LOOPBACK: Final = "127.0.0.1,localhost"


class ProgramError(Exception):
    """A part of the demo did not start or died; the message has the end of its log."""


class Program:
    """One child process that writes its output to a file.

    Nothing runs before `start`, so that `stop` can be registered first: an interrupt at any moment
    then leaves no process behind.
    """

    def __init__(
        self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._command = command
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the command, in a session of its own: Ctrl-C is for the demo to handle."""
        with self.log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - the demo's own commands
                self._command,
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise `ProgramError` when the process has ended."""
        code = None if self._process is None else self._process.poll()
        if code is not None:
            raise ProgramError(f"{self.name} ended with exit code {code}:\n{self.tail()}")

    def tail(self, lines: int = 15) -> str:
        """Return the end of its log."""
        return "\n".join(self.lines()[-lines:])

    def lines(self) -> list[str]:
        """Return what it has said so far."""
        if not self.log.exists():
            return []
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()

    def wait_for(self, url: str) -> None:
        """Wait until `url` answers with success.

        Raises:
            ProgramError: the program ended, or does not answer in time.
        """
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            self.check()
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(url, timeout=5, trust_env=False).is_success:
                    return
            time.sleep(0.1)
        raise ProgramError(f"{self.name} does not answer at {url}:\n{self.tail()}")

    def stop(self) -> None:
        """End the process, gently first; one that was never started or has ended is left alone."""
        if self._process is None:
            return
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is not None:
                return
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_SECONDS)


def plain_environment(user: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return the user's environment without what would bend the demo, with `own` over it.

    Settings of Seekwatch and OpenTelemetry, proxies and the keys of models stay out.
    """
    kept = {
        name: value
        for name, value in user.items()
        if not name.startswith((*_OWN_PREFIXES, _MODEL_PREFIX)) and name.lower() not in _PROXIES
    }
    return {**kept, **own}


def agent_environment(user: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the agent, which may need a key and a proxy to reach a real model.

    The proxies then stay, but never stand between the agent and the parts on this machine.
    """
    environment = plain_environment(user, own)
    if not user.get("OPENAI_API_KEY"):
        return environment
    for name, value in user.items():
        if name.startswith(_MODEL_PREFIX) or name.lower() in _PROXIES:
            environment[name] = value
    for name in ("NO_PROXY", "no_proxy"):
        spared = user.get("no_proxy") or user.get("NO_PROXY")
        environment[name] = ",".join(filter(None, (spared, _LOOPBACK)))
    return environment


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on at this moment."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
