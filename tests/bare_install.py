"""Installs the wheel as an agent's engineer does, without extras, and watches one run from it.

Run as `python -m tests.bare_install`. The checkout has the monitor's dependencies beside the SDK,
so what the bare install lacks, or wrongly brings, shows only in an environment of its own.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.services.otlp_sink import HttpSink
from tests.services.web import LocalWeb

ROOT: Final = Path(__file__).resolve().parents[1]

MONITOR_ONLY: Final = frozenset(
    {
        "grpcio", "kafka-python", "lz4", "msgspec", "prometheus-client", "publicsuffixlist",
        "pydantic", "pydantic-settings", "python-snappy", "pyyaml", "rapidfuzz", "rich",
        "selectolax", "starlette", "typer", "uvicorn", "zstandard",
    }
)  # fmt: skip
"""Distributions that an agent's process must not be given."""

MONITOR_MODULES: Final = frozenset(
    {"grpc", "kafka", "msgspec", "prometheus_client", "pydantic", "rich", "typer", "yaml"}
)

NEEDS_THE_MONITOR: Final = ".whl[monitor]'"
"""What is said without the monitor's libraries: the wheel that this is from, and the extra."""

AGENT: Final = """
import json, sys
from importlib.metadata import distributions
import httpx
from seekwatch.sdk import agent_run, flush, instrument

instrument("bare-agent", endpoint=sys.argv[1])
with agent_run("What does the page say?") as run, httpx.Client() as client:
    page = client.get(sys.argv[2])
    run.answer(page.text[:40], citations=[sys.argv[2]])
assert flush(), "the spans were not exported"
print(json.dumps({
    "installed": sorted(d.metadata["Name"].lower().replace("_", "-") for d in distributions()),
    "imported": sorted({name.partition(".")[0] for name in sys.modules}),
}))
"""


class BareInstallError(Exception):
    """The bare install is not what it should be; the message says in what."""


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the checkout into `folder`."""
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    [wheel] = folder.glob("*.whl")
    return wheel


def install(wheel: Path, environment: Path) -> Path:
    """Install a wheel without extras into a fresh environment; return its Python."""
    _run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    constraints = ROOT / "constraints.txt"
    _run(
        sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python,
        "--constraint", constraints, wheel,
    )  # fmt: skip
    return python


def watch_a_run(python: Path, folder: Path) -> str:
    """Run an instrumented agent by that Python; return one line about it.

    Raises:
        BareInstallError: a span is missing, or something of the monitor is there.
    """
    with HttpSink() as sink, LocalWeb() as web:
        # Isolated from the checkout: no PYTHONPATH, no working directory on the import path.
        output = _run(python, "-I", "-c", AGENT, sink.url, f"{web.url}/page", cwd=folder)
        # The stock httpx instrumentation's span beside ours has no OpenInference kind.
        kinds = [kind for kind in sink.kinds() if kind]
    facts = json.loads(output.splitlines()[-1])
    installed, imported = set(facts["installed"]), set(facts["imported"])
    if kinds != ["AGENT", "TOOL"]:
        raise BareInstallError(f"the sink got {kinds} and not an AGENT and a TOOL span")
    if installed & MONITOR_ONLY:
        raise BareInstallError(f"it installs {sorted(installed & MONITOR_ONLY)}")
    if imported & MONITOR_MODULES:
        raise BareInstallError(f"it imports {sorted(imported & MONITOR_MODULES)}")
    return f"bare install: {len(installed)} distributions, an agent's run arrived, no monitor part"


def try_the_script(python: Path, folder: Path) -> None:
    """Start the `seekwatch` script beside that Python, which has nothing to run.

    Raises:
        BareInstallError: it does not say what to install, or ends with another status than 2.
    """
    script = python.with_name("seekwatch")
    result = subprocess.run(
        [str(script), "--version"], cwd=folder, capture_output=True, text=True, check=False
    )
    said = result.stderr.strip()
    if result.returncode != 2 or NEEDS_THE_MONITOR not in said or len(said.splitlines()) > 2:
        raise BareInstallError(f"the script ends with {result.returncode} and says:\n{said}")


def import_the_test_tools(python: Path, folder: Path) -> None:
    """Import what a user's own tests begin with, which needs the monitor's libraries.

    Raises:
        BareInstallError: the error does not name the extra.
    """
    for module in ("seekwatch.core.testing", "seekwatch.processors.testing"):
        result = subprocess.run(
            [str(python), "-I", "-c", f"import {module}"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = result.stderr.strip().splitlines()[-1:]
        if result.returncode == 0 or not said or NEEDS_THE_MONITOR not in said[0]:
            raise BareInstallError(f"the import of {module} says:\n{result.stderr}")


def _run(*command: str | Path, cwd: Path | None = None) -> str:
    result = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise BareInstallError(f"{command[0]} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def main() -> int:
    """Build, install, run; the exit status is 1 when something is amiss."""
    with tempfile.TemporaryDirectory(prefix="seekwatch-bare-") as name:
        folder = Path(name)
        try:
            python = install(build_wheel(folder), folder / "environment")
            try_the_script(python, folder)
            import_the_test_tools(python, folder)
            print(watch_a_run(python, folder))
        except BareInstallError as error:
            print(f"bare install: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
