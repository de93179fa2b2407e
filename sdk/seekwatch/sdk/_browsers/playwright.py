"""Playwright, sync and async, and packages with the same classes under another name.

The public classes are wrapped, not what lies below them: these are documented and the same in
every release, and Playwright names a call in its errors by the outermost of its own frames.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from seekwatch.sdk._finisher import Finisher
from seekwatch.sdk._guard import guard
from seekwatch.sdk._imports import when_imported
from seekwatch.sdk._replacing import Undo, replace_all
from seekwatch.sdk._watching import Begin, Outcome, Settle, watch_method

from .api_requests import begin_method
from .tabs import begin_load, last_looks, tabs_of, used, watch
from .visits import OPEN, Visit

PACKAGES: Final = {
    "playwright": "browser",
    "patchright": "stealth",
    "rebrowser_playwright": "stealth",
}
"""Package to the adapter that it is: the others are Playwright, changed so that sites that keep
browsers out do not notice it."""

_LOADS: Final = ("reload", "go_back", "go_forward")
_READS: Final = (
    "all_inner_texts",
    "all_text_contents",
    "aria_snapshot",
    "eval_on_selector",
    "eval_on_selector_all",
    "evaluate",
    "evaluate_all",
    "inner_html",
    "inner_text",
    "pdf",
    "query_selector",
    "query_selector_all",
    "screenshot",
    "text_content",
)
_ACTIONS: Final = ("check", "click", "dblclick", "fill", "press", "select_option", "tap", "type")
_REQUESTS: Final = ("delete", "fetch", "get", "head", "patch", "post", "put")


def install(finisher: Finisher) -> Callable[[], None]:
    """Wrap each package's classes when the agent imports them; returns what undoes it.

    Args:
        finisher: what waits for all spans has to wait for those of open pages too.
    """
    undo: list[Callable[[], None]] = []
    finisher.before_drain.append(OPEN.tell_all)
    for package, adapter in PACKAGES.items():
        for api in ("async_api", "sync_api"):

            def wrap(module: ModuleType, adapter: str = adapter) -> None:
                undo.extend(_wrap(module, adapter))

            undo.append(when_imported(f"{package}.{api}._generated", wrap))

    def restore() -> None:
        for step in reversed(undo):
            step()
        OPEN.tell_all()

    return restore


def _wrap(module: Any, adapter: str) -> list[Callable[[], None]]:
    undo: list[Callable[[], None]] = []

    def wrap(
        owner: str, names: tuple[str, ...], begin: Begin, settle: Settle | None = None
    ) -> None:
        given = getattr(module, owner)
        undo.extend(watch_method(given, name, begin, settle) for name in names)

    for owner in ("Page", "Frame"):
        wrap(owner, ("goto",), _begin_goto(adapter), last_looks)
        wrap(owner, ("content",), _begin_content)
    wrap("Page", _LOADS, lambda page, _, __: begin_load(page, adapter, None), last_looks)
    for owner in ("Page", "Frame", "Locator"):
        wrap(owner, _READS, _begin_read)
        wrap(owner, _ACTIONS, _begin_action)
    for owner in ("Page", "BrowserContext", "Browser"):
        wrap(owner, ("close",), _begin_close, last_looks)
    for name in _REQUESTS:
        wrap("APIRequestContext", (name,), begin_method(name))
    undo.append(_watch_pages(module.PageImpl, adapter))
    return undo


def _begin_goto(adapter: str) -> Begin:
    def begin(page: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome | None:
        return begin_load(page, adapter, args[0] if args else kwargs.get("url"))

    return begin


@dataclass(frozen=True, slots=True)
class _Read:
    """The agent reads something of a page."""

    visit: Visit

    def returned(self, _: object) -> None:
        """Look at the page as it is after what the agent read was there."""
        self.visit.read()

    def raised(self, _: BaseException) -> None:
        """Nothing was read."""


@dataclass(frozen=True, slots=True)
class _Content:
    """The agent reads the whole page."""

    visit: Visit

    def returned(self, html: object) -> None:
        """Keep what it got."""
        self.visit.saw(html)

    def raised(self, _: BaseException) -> None:
        """Nothing was read."""


def _begin_read(public: Any, _: object, __: object) -> Outcome | None:
    tab = used(public)
    return None if tab is None or tab.visit is None else _Read(tab.visit)


def _begin_content(public: Any, _: object, __: object) -> Outcome | None:
    tab = used(public)
    return None if tab is None or tab.visit is None else _Content(tab.visit)


def _begin_action(public: Any, _: object, __: object) -> None:
    used(public)


def _begin_close(owner: Any, _: object, __: object) -> None:
    for tab in tabs_of(owner._impl_obj):
        tab.leave()


def _watch_pages(page_class: Any, adapter: str) -> Undo:
    """Watch each page from its making on; both interfaces share this class."""
    if hasattr(page_class.__init__, "__wrapped__"):
        return lambda: None

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            with guard("a new page"):
                watch(self, adapter)

        return init

    return replace_all([(page_class, "__init__", wrap)])
