"""The scorer's revision: a digest of the sources that scoring runs through.

A figure that moved because the scorer did must not look like a regression, and nobody remembers to
bump a number by hand. So the revision is computed: the same sources give the same twelve digits on
every machine, whatever the path, the line endings or the Python version. A comment changes it too;
that costs one mark on a dashboard and no more.
"""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_PACKAGE: Final = "seekwatch.processors"
_IMPORT: Final = re.compile(
    rf"^from {re.escape(_PACKAGE)}(?P<module>(?:\.\w+)*) import (?P<names>\(?[^)\n]*)", re.M
)


def scoring_sources(entry: str = "score", package: Path = _HERE) -> list[Path]:
    """The modules of this package that `entry` imports, itself included, sorted by path.

    A module's data lies beside it under its name (`regime_model.json`) and counts with it.
    What makes episodes is not among them: the episode is an input of scoring, and its own change
    shows in the archive.
    """
    found: set[Path] = set()
    waiting = [package / f"{entry}.py"]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        for match in _IMPORT.finditer(path.read_text(encoding="utf-8")):
            waiting.extend(_imported(package, match["module"], match["names"]))
        data = path.with_suffix(".json")
        if data.is_file():
            found.add(data)
    return sorted(found, key=lambda path: path.relative_to(package).as_posix())


def _imported(package: Path, module: str, names: str) -> list[Path]:
    """Files that one import statement may mean: the module itself, or modules of a package."""
    parts = module.split(".")[1:]
    place = package.joinpath(*parts)
    parents = [package.joinpath(*parts[:depth]) / "__init__.py" for depth in range(1, len(parts))]
    if place.is_dir():
        inside = re.findall(r"\w+", names) or [path.stem for path in place.glob("*.py")]
        return [*parents, place / "__init__.py", *(place / f"{name}.py" for name in inside)]
    return [*parents, place.with_suffix(".py")]


@cache
def scorer_revision() -> str:
    """Twelve hex digits over names and contents; `unknown` where no source is installed."""
    sources = scoring_sources()
    if not sources:
        return "unknown"
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.relative_to(_HERE).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]
