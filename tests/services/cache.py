"""The folder that keeps what is slow to fetch or build: JARs, binaries, unpacked packages.

Several test processes may want the same entry at once, so an entry is made under a file lock and
appears whole or not at all.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Generator
from pathlib import Path

VARIABLE = "SEEKWATCH_TEST_CACHE"


def cache_directory() -> Path:
    """`$SEEKWATCH_TEST_CACHE`, else `~/.cache/seekwatch-tests`; made when missing."""
    configured = os.environ.get(VARIABLE)
    directory = Path(configured) if configured else Path.home() / ".cache" / "seekwatch-tests"
    directory.mkdir(parents=True, exist_ok=True)
    return directory.resolve()


def cached(name: str, make: Callable[[Path], None]) -> Path:
    """Return the entry `name`, made by `make(path)` when it is not there.

    `make` gets a path beside the entry that does not exist yet and leaves a file or a folder
    there. When it raises, nothing is kept and the exception goes on.
    """
    entry = cache_directory() / name
    if entry.exists():
        return entry
    with _locked(name):
        if not entry.exists():
            part = entry.with_name(entry.name + ".part")
            _remove(part)
            try:
                make(part)
                part.rename(entry)
            finally:
                _remove(part)
    return entry


@contextlib.contextmanager
def _locked(name: str) -> Generator[None]:
    with (cache_directory() / f".{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
