"""What a module says is public, is there, is sorted, and is all that its package shows."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path
    for path in ROOT.glob("*/seekwatch/**/*.py")
    if path.name != "__main__.py" and "_pb2" not in path.name
)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


DECLARING = [module_name(path) for path in SOURCES if "\n__all__" in path.read_text("utf-8")]
PACKAGES = [module_name(path) for path in SOURCES if path.name == "__init__.py"]


def public_names(module: ModuleType) -> set[str]:
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }


def rank(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as ruff sorts them too."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@pytest.mark.parametrize("name", DECLARING)
def test_a_list_of_public_names_is_sorted_and_every_name_exists(name: str) -> None:
    module = importlib.import_module(name)
    declared: list[str] = module.__all__
    assert declared == sorted(declared, key=rank), f"{name}.__all__ is not sorted"
    assert len(declared) == len(set(declared)), f"{name}.__all__ names something twice"
    missing = [each for each in declared if not hasattr(module, each)]
    assert not missing, f"{name} has no {missing}"


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_shows_what_it_declares_and_nothing_else(name: str) -> None:
    module = importlib.import_module(name)
    assert public_names(module) == set(getattr(module, "__all__", ()))


def test_the_sdk_is_the_one_package_that_people_import_from() -> None:
    declaring = [name for name in PACKAGES if hasattr(importlib.import_module(name), "__all__")]
    assert declaring == ["seekwatch.sdk"]
    assert "seekwatch.sdk" in DECLARING
    modules = [path.stem for path in SOURCES if path.parent == ROOT / "sdk/seekwatch/sdk"]
    assert all(stem.startswith("_") for stem in modules), "the SDK's modules are private"
