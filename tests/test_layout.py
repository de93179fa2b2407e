"""The lists that name the source roots agree, and the layout's few rules hold."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOTS = sorted(
    path.parent.name
    for path in ROOT.glob("*/seekwatch")
    if path.is_dir() and path.parent.name != "helm"
)
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOOL = PYPROJECT["tool"]


def test_the_roots_are_the_seven_that_the_architecture_names() -> None:
    assert set(ROOTS) >= {
        "sdk",
        "core",
        "collector",
        "processors",
        "evidence",
        "exporters",
        "monitor",
    }


def lists_of_roots() -> dict[str, list[str]]:
    """Every list in pyproject.toml that must name each source root, by its key."""
    contracts = TOOL["importlinter"]["contracts"]
    layers = next(contract for contract in contracts if contract["type"] == "layers")
    layered = [name for layer in layers["layers"] for name in layer.split(" | ")]
    return {
        "tool.hatch.build.dev-mode-dirs": TOOL["hatch"]["build"]["dev-mode-dirs"],
        "tool.hatch.build.targets.wheel.packages": [
            package.removesuffix("/seekwatch")
            for package in TOOL["hatch"]["build"]["targets"]["wheel"]["packages"]
        ],
        "tool.coverage.run.source_dirs": TOOL["coverage"]["run"]["source_dirs"],
        "tool.mypy.files": TOOL["mypy"]["files"],
        "tool.mypy.mypy_path": TOOL["mypy"]["mypy_path"].split(":"),
        "tool.pyright.include": TOOL["pyright"]["include"],
        "tool.pyright.extraPaths": TOOL["pyright"]["extraPaths"],
        # The SDK stands beside the layers: two contracts of its own keep it apart.
        "tool.importlinter.contracts.layers": [
            *(name.removeprefix("seekwatch.") for name in layered),
            "sdk",
        ],
    }


@pytest.mark.parametrize("key", lists_of_roots())
def test_every_list_of_roots_names_every_root(key: str) -> None:
    missing = set(ROOTS) - set(lists_of_roots()[key])
    assert not missing, f"{key} in pyproject.toml lacks {sorted(missing)}"


@pytest.mark.parametrize("root", ROOTS)
def test_a_root_holds_the_package_of_its_name(root: str) -> None:
    package = ROOT / root / "seekwatch" / root
    assert package.is_dir(), f"seekwatch.{root} belongs into {package.relative_to(ROOT)}"
    assert (ROOT / root / "README.md").is_file(), f"{root}/ needs a README.md"
    assert (ROOT / "tests" / root).is_dir(), f"tests/{root}/ mirrors {root}/"


def test_seekwatch_itself_stays_a_namespace() -> None:
    assert not list(ROOT.glob("*/seekwatch/__init__.py"))


def test_one_marker_types_the_whole_package() -> None:
    assert list(ROOT.glob("*/seekwatch/py.typed")) == [ROOT / "sdk" / "seekwatch" / "py.typed"]


def test_the_wheel_holds_one_package_with_every_root(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT],
        check=True,
        capture_output=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    packages = {tuple(name.split("/")[:2]) for name in names if name.endswith(".py")}
    assert packages == {("seekwatch", root) for root in ROOTS}
    assert "seekwatch/py.typed" in names


def test_the_lowest_versions_in_ci_are_the_bounds_that_we_declare() -> None:
    project = PYPROJECT["project"]
    groups = [
        project["dependencies"],
        *project["optional-dependencies"].values(),
        *PYPROJECT["dependency-groups"].values(),
    ]
    declared = {
        name: version
        for requirement in [each for group in groups for each in group]
        if ">=" in requirement
        for name, version in [requirement.split(">=")]
    }
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert {name: version.removesuffix(".0") for name, version in pinned.items()} == {
        name: version for name, version in declared.items() if name.startswith("opentelemetry")
    }
