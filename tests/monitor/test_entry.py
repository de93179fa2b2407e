"""The script's entry says what to install where the command line's libraries are missing."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from seekwatch.core.extras import install_command
from seekwatch.monitor import entry


def _without(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """Let the import of one module fail as if it were not installed."""

    class Missing:
        def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
            if name == module:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.delitem(sys.modules, "seekwatch.monitor.cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])


def test_a_missing_library_is_told_with_the_extra_that_has_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _without(monkeypatch, "typer")
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert end.value.code == 2
    said = f"the command line needs the monitor: {install_command('monitor')}\n"
    assert capsys.readouterr().err.startswith(said)


def test_a_missing_module_of_our_own_is_not_blamed_on_an_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _without(monkeypatch, "seekwatch.monitor.cli")
    with pytest.raises(ModuleNotFoundError, match=r"seekwatch\.monitor\.cli"):
        entry.main()


def test_with_the_monitor_it_is_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["seekwatch", "--version"])
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert not end.value.code
    assert capsys.readouterr().out.strip() == f"seekwatch {version('seekwatch')}"


def test_an_agent_is_watched_without_the_monitor() -> None:
    # None in `sys.modules` is what an import finds of a library that is not installed.
    code = (
        "import sys; sys.modules['typer'] = None\n"
        "from seekwatch.monitor import entry\n"
        "sys.argv = ['seekwatch', *sys.argv[1:]]\n"
        "entry.main()\n"
    )
    command = ("run", "--agent", "a", "--", "python", "-c", "print('watched')")
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "watched\n", "")
