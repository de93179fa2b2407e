"""What is known of each page (tab) of a browser: whose it is, and what it shows.

A page load that the agent asks for is seen at its call. One that a click or a script causes is
seen when the browser says that the page shows another document, and belongs to the run that used
the page last.
"""

import asyncio
import time
import weakref
from collections.abc import Awaitable
from typing import Any, Final
from urllib.parse import urldefrag, urlsplit

from opentelemetry.context import Context, get_current, get_value

from seekwatch.sdk._context import attach, detach
from seekwatch.sdk._guard import guard, guarded
from seekwatch.sdk._http.call import HttpCall
from seekwatch.sdk._http.spans import Ended
from seekwatch.sdk._runs.run import parent_context
from seekwatch.sdk._runtime import Runtime, current
from seekwatch.sdk._shapes import as_mapping

from .views import PageAnswer, PageRequest, chain, named
from .visits import OPEN, Visit


class Tab:
    """One page of the browser."""

    __slots__ = ("adapter", "context", "documents", "loads", "visit")

    def __init__(self, adapter: str) -> None:
        self.adapter = adapter
        self.context: Context | None = None
        """Where the agent used it last."""
        self.documents = 0
        """How many documents it has shown."""
        self.loads = 0
        """Loads that the agent is waiting for now."""
        self.visit: Visit | None = None

    def leave(self, *, look: bool = True) -> None:
        """The page is about to show something else, or does so already (no `look`)."""
        visit, self.visit = self.visit, None
        if visit is not None:
            visit.leave(look=look)

    def enter(self, visit: Visit) -> None:
        """The page shows what a load brought."""
        self.leave(look=False)
        self.visit = visit
        OPEN.add(visit)


_tabs: Final[weakref.WeakKeyDictionary[Any, Tab]] = weakref.WeakKeyDictionary()


def tab_of(page: Any, adapter: str = "browser") -> Tab:
    """Return what is known of a page.

    Args:
        page: Playwright's own object, not the public one.
        adapter: how pages are got by it.
    """
    tab = _tabs.get(page)
    if tab is None:
        tab = _tabs[page] = Tab(adapter)
    return tab


def page_of(public: Any) -> Any:
    """Return the page that a public page, main frame or locator belongs to; None for others."""
    inner = public._impl_obj
    frame = getattr(inner, "_frame", None) or inner
    if hasattr(frame, "_main_frame"):
        return frame
    # An iframe is no page of its own.
    return frame._page if getattr(frame, "_parent_frame", inner) is None else None


def tabs_of(owner: Any) -> list[Tab]:
    """Return the tabs of a page, context or browser of Playwright's that show a load."""
    found: list[Tab] = []
    for page, tab in list(_tabs.items()):
        context = page._browser_context
        if tab.visit is not None and owner in (page, context, context._browser):
            found.append(tab)
    return found


def last_looks(public: Any) -> Awaitable[None] | None:
    """Return what to wait for before a page, context or browser shows something else."""
    inner = public._impl_obj
    owner = getattr(inner, "_page", None) if hasattr(inner, "_parent_frame") else inner
    visits = [tab.visit for tab in tabs_of(owner) if tab.visit is not None]
    pending = [visit for visit in visits if visit.needs_look]
    return _all_looks(pending) if pending else None


async def _all_looks(visits: list[Visit]) -> None:
    await asyncio.gather(*(visit.last_look() for visit in visits))


class Load:
    """One load of a page that the agent waits for."""

    def __init__(self, runtime: Runtime, page: Any, tab: Tab, url: str | None) -> None:
        self._runtime = runtime
        self._page = page
        self._tab = tab
        self._url = url
        self._context = parent_context()
        self._started_ns = time.time_ns()
        tab.loads += 1

    @guarded("a page load that failed")
    def raised(self, error: BaseException) -> None:
        """Tell that it failed."""
        self._tab.loads -= 1
        ended_ns = time.time_ns()
        request = PageRequest(self._url or str(self._page._main_frame._url))
        call = opened(self._runtime, self._tab, request, self._context, self._started_ns)
        call.exchange(request.url).seconds = (ended_ns - self._started_ns) / 1e9
        call.end(Ended(call, ended_ns, error=named(error)))

    @guarded("a page load that ended")
    def returned(self, response: Any) -> None:
        """Begin to wait for what the agent sees of the page."""
        self._tab.loads -= 1
        # Nothing comes for a move within the document, or to a page that is not of the web.
        if response is None:
            return
        inner = response._impl_obj
        request = PageRequest(self._url, inner.request)
        call = opened(self._runtime, self._tab, request, self._context, self._started_ns)
        _enter(call, self._page, self._tab, inner, time.time_ns())


def opened(
    runtime: Runtime, tab: Tab, request: PageRequest, context: Context, started_ns: int
) -> HttpCall:
    """Return the call of a page load, its span open."""
    call = HttpCall(runtime, request, "fetch", None)
    call.adapter = tab.adapter
    call.started_ns = started_ns
    call.open(context)
    return call


def _enter(call: HttpCall, page: Any, tab: Tab, response: Any, ended_ns: int) -> Visit:
    documents = tab.documents

    def is_current() -> bool:
        return tab.documents == documents

    answer = None if response is None else PageAnswer(response)
    visit = Visit(call, answer, ended_ns, page._main_frame, is_current)
    tab.enter(visit)
    if answer is not None:
        _told_by(visit, answer, response, ended_ns)
    return visit


def _told_by(visit: Visit, answer: PageAnswer, response: Any, ended_ns: int) -> None:
    """Let an answer say what it was, and ask for the redirects before it."""
    call = visit.call
    visit.answer = answer
    requests = chain(response.request)
    for request in requests[:-1]:

        def keep(earlier: Any, request: Any = request) -> None:
            answer.earlier[request] = earlier

        visit.ask(request.response, keep)
    exchange = call.exchange(answer.url)
    exchange.status = answer.status
    exchange.seconds = (ended_ns - call.started_ns) / 1e9


@guarded("the start of a page load")
def begin_load(public: Any, adapter: str, url: object) -> Load | None:
    """Begin a load that the agent asks for; None when it is to go through unseen by us.

    Args:
        public: a page or frame of Playwright's public interface.
        adapter: how the page is got.
        url: where to; None where the browser knows (reload, back, forward).
    """
    runtime = current()
    page = page_of(public)
    if runtime is None or page is None:
        return None
    tab = tab_of(page, adapter)
    tab.context = get_current()
    if isinstance(url, str) and _stays_in(str(page._main_frame._url), url):
        return None
    tab.leave()
    if get_value("suppress_instrumentation") or not _is_web(url):
        return None
    if runtime.excluded is not None and isinstance(url, str) and runtime.excluded(url):
        return None
    return Load(runtime, page, tab, url if isinstance(url, str) else None)


def _is_web(url: object) -> bool:
    """Tell an address of the web; one without a scheme is one below the context's base."""
    return not isinstance(url, str) or urlsplit(url).scheme in {"", "http", "https"}


def _stays_in(shown: str, url: str) -> bool:
    target, fragment = urldefrag(url)
    return bool(fragment) and target == urldefrag(shown)[0]


def used(public: Any) -> Tab | None:
    """Note that the agent uses a page, here and now; None for what is no page of its own."""
    page = None if current() is None else page_of(public)
    if page is None:
        return None
    tab = tab_of(page)
    tab.context = get_current()
    return tab


def watch(page: Any, adapter: str) -> None:
    """Notice the documents that a page shows.

    Args:
        page: Playwright's own object, just made.
        adapter: how pages are got by it.
    """
    known = weakref.ref(page)
    tab_of(page, adapter)

    def navigated(event: Any) -> None:
        with guard("a page that moved on"):
            if (moved := known()) is not None:
                _moved(moved, event)

    page._main_frame._event_emitter.on("navigated", navigated)


def _moved(page: Any, event: Any) -> None:
    """Tell a load that nobody called for: a click, a script, a form, a refresh."""
    document = event.get("newDocument")
    if not document or event.get("error"):
        return
    tab = tab_of(page)
    tab.documents += 1
    if tab.loads:
        return
    tab.leave(look=False)
    runtime, context, channel = current(), _context_of(page, tab), document.get("request")
    if runtime is None or context is None or channel is None:
        return
    request = _last(channel._object)
    if not _is_web(request.url) or get_value("suppress_instrumentation", context):
        return
    if runtime.excluded is not None and runtime.excluded(str(request.url)):
        return
    ended_ns = time.time_ns()
    # Milliseconds since the epoch, as the browser measured it; 0 where it has not said yet.
    began = float(as_mapping(request.timing).get("startTime") or 0)
    started_ns = int(began * 1e6) if began > 0 else ended_ns
    asked = PageRequest(None, request)
    call = opened(runtime, tab, asked, context, min(started_ns, ended_ns))
    token = attach(context)
    try:
        visit = _enter(call, page, tab, None, ended_ns)
    finally:
        detach(token)

    def answered(response: Any) -> None:
        if response is not None:
            _told_by(visit, PageAnswer(response), response, ended_ns)

    visit.ask(request.response, answered)


def _last(request: Any) -> Any:
    while request.redirected_to is not None:
        request = request.redirected_to
    return request


def _context_of(page: Any, tab: Tab) -> Context | None:
    opener = page._opener
    if tab.context is None and opener is not None:
        # A popup belongs to the run that opened it.
        tab.context = tab_of(opener).context
    return tab.context
