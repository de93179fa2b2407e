"""Prometheus, promtool, Alertmanager and amtool: where they are, and running the checkers."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from demo import prometheus_binary
from demo.prometheus_binary import Found, Tool
from tests.services.cache import cache_directory
from tests.services.unavailable import UnavailableError


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusTools:
    """Paths of the four programs."""

    prometheus: Path
    promtool: Path
    alertmanager: Path
    amtool: Path

    def run_promtool(
        self, *arguments: str | Path, together: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run promtool; the caller judges the exit status.

        Args:
            arguments: of the command.
            together: put what it says on stderr into stdout, in the order in which it is said.
        """
        return _run(self.promtool, *arguments, together=together)

    def run_amtool(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run amtool; the caller judges the exit status."""
        return _run(self.amtool, *arguments)


def prometheus_binaries() -> PrometheusTools:
    """Find the four: on the PATH, in Debian's packages unpacked into the cache, by Go.

    Raises:
        UnavailableError: one of them cannot be had; says what would bring it.
    """
    return PrometheusTools(
        prometheus=_find(prometheus_binary.PROMETHEUS),
        promtool=_find(prometheus_binary.PROMTOOL),
        alertmanager=_find(prometheus_binary.ALERTMANAGER),
        amtool=_find(prometheus_binary.AMTOOL),
    )


def _find(tool: Tool) -> Path:
    found = prometheus_binary.find(tool, cache_directory())
    if isinstance(found, Found):
        return found.path
    raise UnavailableError(f"{'; '.join(found.reasons)}. To bring it: {found.hint}")


def _run(
    program: Path, *arguments: str | Path, together: bool = False
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if together else subprocess.PIPE,
        text=True,
        check=False,
    )
