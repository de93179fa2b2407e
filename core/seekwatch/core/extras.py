"""The extras of this distribution: how to install one, and who says so where it is missing.

An agent's environment has the SDK alone. What needs more names its extra, in a command that is
right for the way in which this copy was installed: a traceback about a library would not.
"""

import contextlib
import json
from collections.abc import Generator
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

_NAME: Final = "seekwatch"


@contextlib.contextmanager
def needs(extra: str) -> Generator[None]:
    """Name the extra where an import inside of the block finds no library.

    Raises:
        ModuleNotFoundError: a library is missing, or a module of our own (then as it was raised:
            the install is broken, and no extra mends it).
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or _NAME).partition(".")[0] == _NAME:
            raise
        raise ModuleNotFoundError(
            f"this part of seekwatch needs its extra `{extra}` ({error.name} is not installed): "
            + install_command(extra),
            name=error.name,
        ) from error


def install_command(extra: str) -> str:
    """Return the command that installs this distribution again, from where it came, with an extra.

    Where it came from is what the installer noted (`direct_url.json` of PEP 610): a checkout, a
    wheel, a repository; without a note it came from an index.
    """
    return f"pip install {_requirement(_origin(), extra)}"


def _origin() -> dict[str, Any]:
    try:
        noted = distribution(_NAME).read_text("direct_url.json")
        origin = json.loads(noted or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return cast("dict[str, Any]", origin) if isinstance(origin, dict) else {}


def _requirement(origin: dict[str, Any], extra: str) -> str:
    url = str(origin.get("url", ""))
    if not url:
        return f"'{_NAME}[{extra}]'"
    if url.startswith("file:"):
        editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
        return f"{editable}'{unquote(urlsplit(url).path)}[{extra}]'"
    vcs = origin.get("vcs_info", {}).get("vcs")
    return f"'{_NAME}[{extra}] @ {f'{vcs}+' if vcs else ''}{url}'"
