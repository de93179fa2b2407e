"""An environment for each agent framework: its pinned packages and our SDK as a bare install.

Other people's packages do not belong into the environment of the tests: they pin and pull in much
that would hide what an agent's own process has. An environment is kept under the hash of its pins;
the SDK lies beside it, as the wheel of this checkout.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bare_install import build_wheel
from tests.services.cache import cached
from tests.services.unavailable import UnavailableError, unavailable

REQUIREMENTS: Final = Path(__file__).parent / "requirements"
IN_CI: Final = ("openai", "langchain")
"""The two most used; the others are for the night."""
_FOREIGN: Final = ("OTEL_", "SEEKWATCH_", "OPENAI_", "ANTHROPIC_", "TAVILY_", "PYTHON")


@dataclass(frozen=True)
class Environment:
    """The Python of an environment, with the SDK on its path."""

    python: Path
    sdk: Path

    def variables(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of a process in it: none that this shell has for such packages."""
        kept = {name: v for name, v in os.environ.items() if not name.startswith(_FOREIGN)}
        return {**kept, **given, "PYTHONPATH": str(self.sdk), "PYTHONUNBUFFERED": "1"}


def environment(name: str, sdk: Path) -> Environment:
    """Return the environment of `requirements/NAME.txt`; where it cannot be had, skip the test."""
    try:
        return Environment(python_of(name), sdk)
    except UnavailableError as error:
        unavailable(error)


def prepare_environments() -> None:
    """Make the environments that are tested in CI."""
    for name in IN_CI:
        python_of(name)


def python_of(name: str) -> Path:
    """Return the Python of `requirements/NAME.txt`, made when it is not in the cache.

    Raises:
        UnavailableError: its packages cannot be installed here.
    """
    pins = REQUIREMENTS / f"{name}.txt"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    content = hashlib.sha256(pins.read_bytes() + version.encode()).hexdigest()[:12]

    def make(path: Path) -> None:
        # Relocatable, because it is made beside its place and then moved there.
        _uv("venv", "--python", sys.executable, "--relocatable", path)
        try:
            _uv("pip", "install", "--python", path / "bin" / "python", "--requirements", pins)
        except RuntimeError as error:
            raise UnavailableError(error) from error

    return cached(f"packages-{name}-{content}", make) / "bin" / "python"


def install_sdk(folder: Path) -> Path:
    """Build the wheel of the checkout and unpack it into a folder of its own."""
    target = folder / "sdk"
    _uv("pip", "install", "--no-deps", "--target", target, build_wheel(folder))
    return target


def _uv(verb: str, *words: str | Path) -> None:
    command = [sys.executable, "-m", "uv", verb, *map(str, words), "--quiet"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")


def renew(names: list[str]) -> None:
    """Write the pins of each `requirements/NAME.in` anew: the newest versions that it allows."""
    for name in names or sorted(path.stem for path in REQUIREMENTS.glob("*.in")):
        _uv(
            "pip", "compile", "--upgrade", "--universal", "--python-version", "3.11",
            "--no-header", "--no-annotate", "--no-emit-index-url",
            REQUIREMENTS / f"{name}.in", REQUIREMENTS.parents[2] / "pyproject.toml",
            "--output-file", REQUIREMENTS / f"{name}.txt",
        )  # fmt: skip
        print(f"{name}: renewed")


if __name__ == "__main__":
    renew(sys.argv[1:])
