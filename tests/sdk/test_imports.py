import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from seekwatch.sdk._guard import failures, reset_failures
from seekwatch.sdk._imports import when_imported

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write a module of the package `someone`."""
    package = tmp_path / "someone"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    def write_module(name: str, source: str) -> None:
        (package / f"{name}.py").write_text(source)
        importlib.invalidate_caches()

    yield write_module
    for name in [each for each in sys.modules if each.partition(".")[0] == "someone"]:
        del sys.modules[name]


def test_a_module_that_is_there_is_handed_over_at_once(write: Write) -> None:
    write("early", "value = 1")
    imported = importlib.import_module("someone.early")
    seen: list[ModuleType] = []
    when_imported("someone.early", seen.append)
    assert seen == [imported]


def test_a_submodule_is_handed_over_complete_when_it_is_imported_and_once(write: Write) -> None:
    write("late", "import someone\nvalue = 1")
    seen: list[int] = []
    when_imported("someone.late", lambda module: seen.append(module.value))
    importlib.import_module("someone")
    assert seen == []
    importlib.import_module("someone.late")
    importlib.import_module("someone.late")
    assert seen == [1]


def test_the_importer_sees_the_module_as_the_callback_left_it(write: Write) -> None:
    write("patched", "value = 1")

    def patch(module: ModuleType) -> None:
        module.value = 2  # type: ignore[attr-defined]

    when_imported("someone.patched", patch)
    assert importlib.import_module("someone.patched").value == 2


def test_every_callback_of_a_module_is_called_in_order(write: Write) -> None:
    write("shared", "")
    seen: list[str] = []
    when_imported("someone.shared", lambda _: seen.append("first"))
    when_imported("someone.shared", lambda _: seen.append("second"))
    importlib.import_module("someone.shared")
    assert seen == ["first", "second"]


def test_what_is_taken_back_is_not_called_and_can_be_asked_for_again(write: Write) -> None:
    write("undone", "")
    seen: list[str] = []
    undo = when_imported("someone.undone", lambda _: seen.append("gone"))
    undo()
    undo()
    when_imported("someone.undone", lambda _: seen.append("kept"))
    importlib.import_module("someone.undone")
    assert seen == ["kept"]
    undo()


def test_a_callback_that_raises_is_counted_and_never_reaches_the_importer(write: Write) -> None:
    write("broken", "value = 1")
    seen: list[ModuleType] = []

    def fail(_: ModuleType) -> None:
        raise LookupError("ours")

    when_imported("someone.broken", fail)
    when_imported("someone.broken", seen.append)
    assert importlib.import_module("someone.broken").value == 1
    assert len(seen) == 1
    assert failures() == {"what follows the import of someone.broken": 1}
    reset_failures()


def test_an_import_that_fails_calls_nobody_until_one_succeeds(write: Write) -> None:
    write("flaky", "raise OSError('not yet')")
    seen: list[ModuleType] = []
    when_imported("someone.flaky", seen.append)
    with pytest.raises(OSError, match="not yet"):
        importlib.import_module("someone.flaky")
    assert seen == []
    write("flaky", "value = 'a longer file than the one that is cached'")
    assert importlib.import_module("someone.flaky").value
    assert len(seen) == 1


def test_a_module_that_does_not_exist_stays_missing(write: Write) -> None:
    when_imported("someone.nowhere", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"someone\.nowhere"):
        importlib.import_module("someone.nowhere")
    when_imported("nobody_at_all.module", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match="nobody_at_all"):
        importlib.import_module("nobody_at_all.module")


def test_a_callback_may_import_and_ask_for_more(write: Write) -> None:
    write("outer", "")
    write("inner", "")
    seen: list[str] = []

    def more(module: ModuleType) -> None:
        when_imported("someone.inner", lambda inner: seen.append(inner.__name__))
        importlib.import_module("someone.inner")
        seen.append(module.__name__)

    when_imported("someone.outer", more)
    importlib.import_module("someone.outer")
    assert seen == ["someone.inner", "someone.outer"]


def test_asking_again_and_again_leaves_no_growth(write: Write) -> None:
    write("never", "")
    hooks = importlib.import_module("wrapt.importer")._post_import_hooks
    for _ in range(50):
        when_imported("someone.never", lambda _: None)()
    assert len(hooks["someone.never"]) == 1


def test_threads_that_import_and_ask_at_once_lose_no_callback(write: Write) -> None:
    write("busy", "import time\ntime.sleep(0.01)")
    seen: list[int] = []
    begin = threading.Barrier(9)

    def ask(number: int) -> None:
        begin.wait()
        when_imported("someone.busy", lambda _: seen.append(number))

    def load() -> None:
        begin.wait()
        importlib.import_module("someone.busy")

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    threads.append(threading.Thread(target=load))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(8))


def test_the_module_can_be_reached_from_its_parents_in_the_callback(write: Write) -> None:
    write("deep", "")
    seen: list[bool] = []

    def reach(module: ModuleType) -> None:
        import someone  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

        seen.append(someone.deep is module)

    when_imported("someone.deep", reach)
    importlib.import_module("someone.deep")
    assert seen == [True]


ASKS_IN_THE_MIDDLE = """
import sys

sys.modules["seekwatch.sdk._imports"].when_imported(__name__, found)
value = 1
{late}
"""


def test_a_module_that_asks_while_it_is_imported_is_handed_over_complete(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr("builtins.found", lambda module: seen.append(module.value), raising=False)
    write("middle", ASKS_IN_THE_MIDDLE.format(late=""))
    module = importlib.import_module("someone.middle")
    assert seen == [1]
    assert type(module.__spec__).__name__ == "ModuleSpec"


def test_an_import_that_fails_after_it_was_asked_for_calls_nobody_until_one_succeeds(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr("builtins.found", lambda module: seen.append(module.value), raising=False)
    write("half", ASKS_IN_THE_MIDDLE.format(late="raise OSError('half')"))
    with pytest.raises(OSError, match="half"):
        importlib.import_module("someone.half")
    assert seen == []
    write("half", "value = 2")
    importlib.import_module("someone.half")
    assert seen == [2]


def test_asking_again_in_a_callback_is_answered_at_once(write: Write) -> None:
    write("again", "")
    seen: list[str] = []

    def ask_again(module: ModuleType) -> None:
        when_imported("someone.again", lambda _: seen.append("inner"))
        seen.append("outer")

    when_imported("someone.again", ask_again)
    importlib.import_module("someone.again")
    assert seen == ["inner", "outer"]
