"""Python runs this before a program when its folder is on PYTHONPATH: `run` puts it there.

Every Python that the program starts runs it too, other installations and old versions among them,
so it uses nothing that they may lack and never fails.
"""

import os
import sys
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent


def _is_ours(path: str) -> bool:
    return Path(path or ".").resolve() == _HERE


def _run_the_next_one() -> None:
    """Run the `sitecustomize` that this one hides, as if it were not hidden."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if not _is_ours(path)])
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _is_helper_of_python() -> bool:
    """Tell whether this is a process that `multiprocessing` keeps for its own bookkeeping."""
    return any("multiprocessing.resource_tracker" in each for each in sys.orig_argv)


def _instrument() -> None:
    before = os.environ.get("PYTHONPATH", "")
    # What instrumentation may start itself (detectors of resources do) is not the agent's.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [path for path in before.split(os.pathsep) if path and not _is_ours(path)]
    )
    try:
        from seekwatch.sdk._no_code import instrument_from_environment

        instrument_from_environment()
    except ImportError as error:
        # Only the program itself: others that it starts need not be agents.
        if os.environ.get("SEEKWATCH_RUN_PID") == str(os.getpid()):
            _say(
                f"{sys.executable} cannot import seekwatch ({error}), so this process is not "
                "watched; install seekwatch there, or run with the Python that has it"
            )
    finally:
        os.environ["PYTHONPATH"] = before


def _hint_at_a_missing_module() -> None:
    """Say what may be wrong where the program lacks a module and nobody named this Python."""
    chosen = os.environ.pop("SEEKWATCH_RUN_PYTHON", None)
    if chosen is None or os.environ.get("SEEKWATCH_RUN_PID") != str(os.getpid()):
        return
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        shown(kind, error, traceback)
        if isinstance(error, ModuleNotFoundError):
            _say(
                f"this ran in the environment of `seekwatch run` itself ({chosen}); where the "
                "agent has one of its own, install seekwatch there and run it with its Python: "
                "/path/to/agent/bin/python -m seekwatch.sdk run -- python ..."
            )

    sys.excepthook = show


def _say(text: str) -> None:
    sys.stderr.write(f"seekwatch: {text}\n")


if sys.version_info >= (3, 11) and not _is_helper_of_python():
    try:
        _hint_at_a_missing_module()
        _instrument()
    except Exception as error:  # noqa: BLE001 - the program goes on, whatever it is
        _say(f"this process is not watched: {error!r}")
_run_the_next_one()
