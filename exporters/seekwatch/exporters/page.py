"""The text that Prometheus scrapes, in the format that it asks for."""

from collections.abc import Iterator
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric

_OPENMETRICS: Final = "application/openmetrics-text"


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One answer to a scrape."""

    body: bytes
    content_type: str


class _WithoutCreated:
    """A registry's metrics without the `_created` samples.

    They double the page and, in a Prometheus that does not know them for what they are, the series;
    `increase()` needs none of them.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for metric in self._registry.collect():
            created = f"{metric.name}_created"
            metric.samples = [sample for sample in metric.samples if sample.name != created]
            yield metric


def render(registry: CollectorRegistry, accept: str = "") -> Page:
    """Render a registry as OpenMetrics when `accept` names it (exemplars), else as plain text."""
    wanted = f"{_OPENMETRICS}; version=1.0.0" if _OPENMETRICS in accept else ""
    encode, content_type = choose_encoder(wanted)
    return Page(body=encode(_WithoutCreated(registry)), content_type=content_type)
