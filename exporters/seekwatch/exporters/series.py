"""The table of series: the one place where a number enters prometheus_client.

One NaN in a counter stays there until the restart, and one hostile label is a new series for ever.
Both are stopped here, for every metric alike.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from threading import RLock
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from seekwatch.core.model import Record

from .metric_names import DECLARATIONS, OTHER, Declaration, Label, MetricType

_log = logging.getLogger(__name__)

Labels = tuple[str, ...]
Key = tuple[str, Labels]

LARGEST: Final = float(2**63)
"""Above every count, offset and Unix time, and so small that sums of it stay finite."""

TRACE_ID_LENGTH: Final = 32
_HEX: Final = frozenset("0123456789abcdef")


class Increment(Record, frozen=True, kw_only=True):
    """What a counter or a histogram is to take.

    Attributes:
        observation: for a histogram; increments of a counter can be added up, observations cannot.
        trace: trace id for the exemplar.
    """

    name: str
    labels: Labels = ()
    value: float = 1.0
    observation: bool = False
    trace: str | None = None


class SeriesTable:
    """All series of all declared metrics.

    Args:
        registry: where the metrics are registered.
        count: takes the table's own counts, of values refused and labels shown as `other`.
        declarations: the metrics.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        count: Callable[[Increment], None],
        declarations: Iterable[Declaration] = DECLARATIONS,
    ) -> None:
        self._count = count
        self._declarations = {item.name: item for item in declarations}
        self._families = {
            name: _family(item, registry) for name, item in self._declarations.items()
        }
        self._series: dict[Key, Counter | Gauge | Histogram] = {}
        self._lock = RLock()
        self._reported: set[str] = set()

    def zero(self, name: str, labels: Labels = ()) -> None:
        """Create a series at 0; nothing happens when it exists."""
        self._find(name, labels)

    def apply(self, increment: Increment) -> None:
        """Add to a counter or observe in a histogram; a value that is no amount is refused."""
        series = self._find(increment.name, increment.labels)
        if not self.accepts(increment.name, increment.value):
            return
        exemplar = _exemplar(increment.trace)
        if isinstance(series, Counter):
            series.inc(increment.value, exemplar)
        elif isinstance(series, Histogram):
            series.observe(increment.value, exemplar)
        else:
            raise TypeError(f"{increment.name} is a gauge: set it")

    def set(self, name: str, value: float, labels: Labels = ()) -> None:
        """Set a gauge; a value that is no finite number from 0 on is refused."""
        if not self.accepts(name, value):
            return
        series = self._find(name, labels)
        if not isinstance(series, Gauge):
            raise TypeError(f"{name} is no gauge: it only grows")
        series.set(value)

    def remove(self, name: str, labels: Labels) -> None:
        """Take a series off the page."""
        with self._lock:
            if self._series.pop((name, labels), None) is not None:
                self._families[name].remove(*labels)

    def overflow(self, label: str) -> None:
        """Count a label value that is shown as `other`."""
        self._count(Increment(name="seekwatch_label_overflow_total", labels=(label,)))

    def _find(self, name: str, labels: Labels) -> Counter | Gauge | Histogram:
        found = self._series.get((name, labels))
        return found if found is not None else self._create(name, labels)

    def _create(self, name: str, labels: Labels) -> Counter | Gauge | Histogram:
        """Return the series of the labels that are allowed, creating it when it is new."""
        declared = self._declarations[name].labels
        if len(declared) != len(labels):
            raise ValueError(f"{name} has the labels {self._declarations[name].label_names}")
        allowed = tuple(self._allowed(*pair) for pair in zip(declared, labels, strict=True))
        with self._lock:
            series = self._series.get((name, allowed))
            if series is None:
                family = self._families[name]
                series = family.labels(*allowed) if allowed else family
                self._series[(name, allowed)] = series
            return series

    def _allowed(self, label: Label, value: str) -> str:
        if not label.values or value in label.values:
            return str(value)
        self.overflow(label.name)
        return OTHER

    def accepts(self, name: str, value: float) -> bool:
        """Tell whether `value` is an amount: finite, from 0 on, and no larger than anything real.

        The comparison is false for NaN and the infinities, and needs no conversion that an integer
        of a thousand digits would break.
        """
        if 0 <= value <= LARGEST:
            return True
        self._count(Increment(name="seekwatch_refused_values_total", labels=(name,)))
        if name not in self._reported:
            self._reported.add(name)
            _log.warning("kept %r out of %s; further ones are only counted", value, name)
        return False


def declared_series(declaration: Declaration, leading: Labels) -> Iterator[Labels]:
    """Yield the label values of all series that begin with `leading`."""
    rest = declaration.labels[len(leading) :]
    if declaration.combinations:
        yield from ((*leading, *tail) for tail in declaration.combinations)
        return
    series: list[Labels] = [leading]
    for label in rest:
        series = [(*labels, value) for labels in series for value in label.values]
    yield from series


def readable_label(value: str, longest: int = 128) -> bool:
    """Tell whether a text from a span can be a label: printable, encodable, neither empty nor long.

    A lone surrogate, for one, would make the whole page impossible to encode.
    """
    return 0 < len(value) <= longest and value.isprintable()


def _family(item: Declaration, registry: CollectorRegistry) -> Counter | Gauge | Histogram:
    match item.type:
        case MetricType.COUNTER:
            return Counter(item.name, item.help, item.label_names, registry=registry)
        case MetricType.GAUGE:
            return Gauge(item.name, item.help, item.label_names, registry=registry)
        case MetricType.HISTOGRAM:
            return Histogram(
                item.name, item.help, item.label_names, registry=registry, buckets=item.buckets
            )


def _exemplar(trace: str | None) -> dict[str, str] | None:
    if trace is None or len(trace) != TRACE_ID_LENGTH or not _HEX.issuperset(trace):
        return None
    return {"trace_id": trace}
