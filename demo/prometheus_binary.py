"""Finds Prometheus and its companions on a machine where nobody may have installed them.

The order is: the PATH, Debian's package unpacked (not installed, so no root is needed) into a cache
folder, a build by Go into the same folder, and else the command that would bring it. Each step
costs more than the one before: nothing, half a minute, ten minutes.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_APT_SECONDS: Final = 180.0
_GO_SECONDS: Final = 1500.0
_PROBE_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program and where it comes from."""

    commands: tuple[str, ...]
    """Names it goes by; Debian prefixes some with the project's name."""
    debian_package: str
    go_package: str | None
    """Argument of `go install`; None when Go's module lacks files that the build needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A program that ran when asked for its version."""

    path: Path
    how: str
    """For people: where it was found, or what was done to get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A program that this machine cannot offer."""

    hint: str
    """The command that would bring it."""
    reasons: tuple[str, ...]
    """Why each step failed, in the order of the steps."""


PROMETHEUS: Final = Tool(
    commands=("prometheus",),
    debian_package="prometheus",
    go_package="github.com/prometheus/prometheus/cmd/prometheus@v0.316.0",
)
PROMTOOL: Final = Tool(
    commands=("promtool",),
    debian_package="prometheus",
    go_package="github.com/prometheus/prometheus/cmd/promtool@v0.316.0",
)
ALERTMANAGER: Final = Tool(
    commands=("alertmanager", "prometheus-alertmanager"),
    debian_package="prometheus-alertmanager",
    go_package=None,
)
AMTOOL: Final = Tool(
    commands=("amtool",),
    debian_package="prometheus-alertmanager",
    go_package=None,
)


class _StepFailedError(Exception):
    """One way to get a program did not work."""


def default_cache() -> Path:
    """`$XDG_CACHE_HOME/seekwatch`, else `~/.cache/seekwatch`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "seekwatch"


def find_prometheus(
    cache: Path | None = None, *, say: Callable[[str], None] = lambda _: None
) -> Found | Missing:
    """Return Prometheus itself; see `find`."""
    return find(PROMETHEUS, cache or default_cache(), say=say)


def find(
    tool: Tool,
    cache: Path,
    *,
    say: Callable[[str], None] = lambda _: None,
    search_path: str | None = None,
) -> Found | Missing:
    """Return a program that runs, bringing it into `cache` when it is not on the PATH.

    Args:
        tool: one of the constants above.
        cache: folder for unpacked packages and built programs; made when needed.
        say: told in a line before a step that takes more than a moment.
        search_path: used instead of `$PATH` for the first step.
    """
    reasons: list[str] = []
    for step in (_from_path, _from_debian, _from_go):
        try:
            return step(tool, cache, say, search_path)
        except _StepFailedError as error:
            reasons.append(str(error))
    return Missing(hint=_hint(tool), reasons=tuple(reasons))


def _from_path(
    tool: Tool, cache: Path, say: Callable[[str], None], search_path: str | None
) -> Found:
    for command in tool.commands:
        path = shutil.which(command, path=search_path)
        if path is not None:
            return _probed(Path(path), "on the PATH")
    raise _StepFailedError(f"no {tool.commands[0]} on the PATH")


def _from_debian(
    tool: Tool, cache: Path, say: Callable[[str], None], search_path: str | None
) -> Found:
    root = cache / "debian" / tool.debian_package
    how = f"Debian's package {tool.debian_package}, unpacked into {root}"
    if not root.exists():
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise _StepFailedError("no apt-get and dpkg-deb to unpack Debian's package with")
        say(f"unpacking Debian's package {tool.debian_package} into {root}")
        _unpack(tool.debian_package, root)
    for command in tool.commands:
        path = root / "usr" / "bin" / command
        if path.exists():
            return _probed(path, how)
    raise _StepFailedError(f"Debian's package {tool.debian_package} has no {tool.commands[0]}")


def _from_go(tool: Tool, cache: Path, say: Callable[[str], None], search_path: str | None) -> Found:
    if tool.go_package is None:
        raise _StepFailedError(f"{tool.commands[0]} cannot be built by `go install`")
    folder = cache / "go"
    path = folder / tool.commands[0]
    if not path.exists():
        go = shutil.which("go")
        if go is None:
            raise _StepFailedError("no Go to build it with")
        say(f"building {tool.go_package} by Go; this takes some minutes, once")
        folder.mkdir(parents=True, exist_ok=True)
        _run(_go_install(go, tool.go_package), folder, _GO_SECONDS, {"GOBIN": str(folder)})
    return _probed(path, f"built by Go into {folder}")


def _go_install(go: str, package: str) -> list[str]:
    # Without the tag every cloud's client library is compiled for its service discovery.
    return [go, "install", "-tags", "remove_all_sd", package]


def _unpack(package: str, root: Path) -> None:
    """Download a package and unpack it; `root` appears whole or not at all."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent) as name:
        folder = Path(name)
        _download(package, folder)
        archives = list(folder.glob("*.deb"))
        if not archives:
            raise _StepFailedError(f"apt-get downloaded no package {package}")
        tree = folder / "tree"
        _run(["dpkg-deb", "-x", str(archives[0]), str(tree)], folder, _APT_SECONDS)
        if not root.exists():
            tree.rename(root)


def _download(package: str, folder: Path) -> None:
    try:
        _run(["apt-get", "download", package], folder, _APT_SECONDS)
    except _StepFailedError:
        # The machine's package lists may be empty or old, and only root may renew them: so
        # lists of our own, beside the package.
        lists, archives = folder / "lists", folder / "archives"
        for made in (lists / "partial", archives / "partial"):
            made.mkdir(parents=True)
        options = ["-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={archives}"]
        _run(["apt-get", *options, "update"], folder, _APT_SECONDS)
        _run(["apt-get", *options, "download", package], folder, _APT_SECONDS)


def _probed(path: Path, how: str) -> Found:
    _run([str(path), "--version"], path.parent, _PROBE_SECONDS)
    return Found(path=path, how=how)


def _run(
    command: Sequence[str], folder: Path, timeout: float, extra: dict[str, str] | None = None
) -> None:
    try:
        result = subprocess.run(  # noqa: S603 - the commands are this module's own
            command,
            cwd=folder,
            env={**os.environ, **(extra or {})},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _StepFailedError(f"{command[0]}: {error}") from error
    if result.returncode != 0:
        lines = (result.stderr or result.stdout).strip().splitlines()
        raise _StepFailedError(f"`{' '.join(command)}`: {lines[-1] if lines else 'failed'}")


def _hint(tool: Tool) -> str:
    if shutil.which("apt-get") is not None or tool.go_package is None:
        return f"apt-get install --no-install-recommends {tool.debian_package}"
    return " ".join(_go_install("go", tool.go_package))
