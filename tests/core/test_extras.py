"""What names the extra that is missing, and the command that installs it."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from seekwatch.core.extras import install_command, needs


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'seekwatch[monitor]'"),
        ({"url": "file:///home/a/my%20agent", "dir_info": {}}, "'/home/a/my agent[monitor]'"),
        (
            {"url": "file:///src/seekwatch", "dir_info": {"editable": True}},
            "pip install -e '/src/seekwatch[monitor]'",
        ),
        (
            {"url": "file:///tmp/seekwatch-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install '/tmp/seekwatch-0.1.0-py3-none-any.whl[monitor]'",
        ),
        (
            {"url": "https://git.example/s.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            "pip install 'seekwatch[monitor] @ git+https://git.example/s.git'",
        ),
        ("no JSON", "pip install 'seekwatch[monitor]'"),
    ],
)
def test_an_extra_is_installed_from_where_the_distribution_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: object, command: str
) -> None:
    folder = tmp_path / "seekwatch-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: seekwatch\nVersion: 0.1.0\n")
    if origin is not None:
        text = origin if isinstance(origin, str) else json.dumps(origin)
        (folder / "direct_url.json").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.invalidate_caches()
    assert install_command("monitor").endswith(command)


def test_a_missing_library_is_told_with_its_extra() -> None:
    with (
        pytest.raises(
            ModuleNotFoundError, match=r"needs its extra `monitor` \(nosuchlibrary"
        ) as told,
        needs("monitor"),
    ):
        importlib.import_module("nosuchlibrary")
    assert install_command("monitor") in str(told.value)
    assert told.value.name == "nosuchlibrary"


def test_a_missing_module_of_our_own_is_no_matter_of_an_extra() -> None:
    with pytest.raises(ModuleNotFoundError) as told, needs("monitor"):
        importlib.import_module("seekwatch.nosuchmodule")
    assert "extra" not in str(told.value)
