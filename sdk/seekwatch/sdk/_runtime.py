"""What is alive between `instrument()` and `uninstrument()`, and the functions that reach it.

The state is one object, replaced as a whole, so that no call ever sees half of it.
"""

import hashlib
import os
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanContext, SpanKind, Tracer

from seekwatch.core import attributes
from seekwatch.core.redaction import Redactor

from ._config import Config
from ._deferred import start_span
from ._export.batching import BatchingProcessor
from ._fetch.apis import FetchApiIndex
from ._finisher import Finisher
from ._llm.background import BackgroundCalls
from ._privacy.masking import Masking
from ._privacy.withholding import Withholder
from ._runs.marked import MarkedRuns
from ._runs.sampling import RunCount
from ._search.apis import SearchApiIndex

if TYPE_CHECKING:
    from ._runs.open_runs import OpenRuns

_MAX_ATTEMPT_KEYS: Final = 16_384


class Attempts:
    """Counts attempts at one method and URL within one trace, in bounded memory."""

    def __init__(self) -> None:
        self._counts: OrderedDict[int, int] = OrderedDict()
        self._lock = threading.RLock()

    def reset_after_fork(self) -> None:
        """Take a new lock in a forked child: a thread that is not there may hold the old one."""
        self._lock = threading.RLock()

    def next(self, trace_id: int, method: str, url: str) -> int:
        """Return the ordinal of this attempt, from 1."""
        # The hash alone is kept: URLs are long, and a collision costs one wrong ordinal.
        key = hash((trace_id, method, url))
        with self._lock:
            count = self._counts.pop(key, 0) + 1
            self._counts[key] = count
            if len(self._counts) > _MAX_ATTEMPT_KEYS:
                self._counts.popitem(last=False)
        return count

    def attributes(self, trace_id: int, method: str, url: str) -> dict[str, int]:
        """Count an attempt and return the attributes that say so."""
        ordinal = self.next(trace_id, method, url)
        found = {attributes.FETCH_ATTEMPT: ordinal}
        if ordinal > 1:
            found[attributes.HTTP_RESEND_COUNT] = ordinal - 1
        return found


@dataclass(frozen=True, slots=True)
class Masked:
    """Attributes that have been masked already, and how many secrets were in them."""

    values: dict[str, Any]
    count: int


@dataclass(slots=True)
class Runtime:
    """The parts that a span of ours needs."""

    config: Config
    tracer: Tracer
    finisher: Finisher
    index: SearchApiIndex
    common: dict[str, Any]
    """Attributes of every span of ours."""
    ignored_hosts: frozenset[tuple[str, int]]
    """Hosts and ports of our own exports."""
    value_limit: int | None = None
    attribute_limit: int | None = 128
    withholder: Withholder | None = None
    """Set where content must not leave the process."""
    excluded: Callable[[str], bool] | None = None
    """Says whether a URL is on the user's exclude list."""
    shared: bool = False
    """Whether processors of others get our spans, so that those must be clean before they end."""
    processors: list[BatchingProcessor] = field(default_factory=list[BatchingProcessor])
    attempts: Attempts = field(default_factory=Attempts)
    fetch_index: FetchApiIndex = field(default_factory=FetchApiIndex)
    background: BackgroundCalls = field(default_factory=BackgroundCalls)
    run_count: RunCount = field(default_factory=RunCount)
    marked_runs: MarkedRuns = field(default_factory=MarkedRuns)
    runs: "OpenRuns | None" = None
    """The runs that nobody marked; None where none opens by itself."""

    def start_span(
        self,
        name: str,
        context: Context,
        kind: SpanKind,
        described: dict[str, Any],
        start_time: int,
    ) -> Span:
        """Start a span that ends on the finisher's thread; see `_deferred.start_span`."""
        span = start_span(self.tracer, name, context, kind, described, start_time)
        if self.runs is not None and len(self.runs):
            # A run that nobody marked must not end while this goes on.
            self.runs.announce(span.get_span_context(), described, start_time)
        return span

    def count(self, root: SpanContext) -> None:
        """Count a run; from the first one on that is not sampled, our spans say how many."""
        self.run_count.add(root)
        if self.run_count.partial:
            self.common.update(self.run_count.attributes())

    @property
    def redactor(self) -> Redactor:
        """The configured redactor."""
        return self.config.redactor

    def prepared(self, values: dict[str, Any], masked: Masked | None = None) -> dict[str, Any]:
        """Return attributes as they may stand on a span: masked, and without withheld content.

        Args:
            values: what the span is to say.
            masked: more of it that has been masked already.
        """
        masking = Masking(self.config.redactor)
        ready = masking.attributes(values)
        count = masking.count
        if masked is not None:
            ready |= masked.values
            count += masked.count
        if count:
            ready[attributes.REDACTIONS] = count
        if self.withholder is None:
            return ready
        ready = self.withholder.attributes(ready)
        ready[attributes.CONTENT_WITHHELD] = True
        return ready

    def described_failure(self, error: BaseException) -> str:
        """Return a failure's stack for our log, without secrets.

        Nor with its message where content is withheld, which it may quote.
        """
        shown = traceback.format_exception(error)
        if self.withholder is not None:
            shown = [*traceback.format_tb(error.__traceback__), type(error).__qualname__]
        return self.config.redactor.text("".join(shown))

    def principal(self, name: str) -> str:
        """Return the salted hash that stands for a user."""
        key = salt(self.config.agent).encode()[:64]
        digest = hashlib.blake2b(name.encode(errors="surrogatepass"), key=key, digest_size=16)
        return digest.hexdigest()


def salt(agent: str) -> str:
    """Return what is mixed into hashes of names and withheld texts.

    `SEEKWATCH_SALT` where it is set; else the agent's name, so that the hashes of one agent agree
    between its processes.
    """
    return os.environ.get("SEEKWATCH_SALT") or f"seekwatch:{agent}"


_current: Runtime | None = None


def current() -> Runtime | None:
    """Return the live runtime, or None when the agent is not instrumented."""
    return _current


def set_current(runtime: Runtime | None) -> None:
    """Put a runtime in place, or take it away."""
    global _current
    _current = runtime
