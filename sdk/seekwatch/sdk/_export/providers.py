"""Joins the process's TracerProvider and MeterProvider, or makes them where there are none.

An existing provider keeps its resource, limits and processors. One that we make is taken away
again by `uninstrument`, so that a process can start over.
"""

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider as AnyMeterProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.trace import TracerProvider as AnyTracerProvider

from seekwatch.core import attributes
from seekwatch.sdk._config import Config
from seekwatch.sdk._guard import guard

SPAN_ATTRIBUTES: Final = 512
"""Attribute limit where the provider is ours and no `OTEL_*` sets one: 40 documents need 160."""
# fmt: off
DURATION_BUCKETS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600,
)
# fmt: on
"""Seconds. The convention's own stop at 10 s; an agent's calls do not."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A provider and whether it is ours to end."""

    provider: Any
    ours: bool


def build_resource(config: Config) -> Resource:
    """Describe the agent; what `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say wins."""
    described: dict[str, str] = {
        attributes.SERVICE_NAME: config.agent,
        attributes.SERVICE_INSTANCE_ID: _instance_id(os.getpid()),
    }
    if config.environment is not None:
        described[attributes.ENVIRONMENT] = config.environment
    if config.release is not None:
        described[attributes.SERVICE_VERSION] = config.release
    detected = Resource.create()
    said = {
        key: value
        for key, value in detected.attributes.items()
        if not (key == attributes.SERVICE_NAME and str(value).startswith("unknown_service"))
    }
    return Resource(described).merge(Resource(said, detected.schema_url))


@cache
def _instance_id(_process: int) -> str:
    """Tell the processes of one agent apart, where the SDK of OpenTelemetry does not do so itself.

    Without it their metrics overwrite each other in a Collector that Prometheus scrapes.
    """
    return str(uuid.uuid4())


def join_tracer_provider(config: Config, given: AnyTracerProvider | None) -> Joined:
    """Return the given or the process's SDK provider, else a new one made the process's."""
    provider = given if given is not None else trace.get_tracer_provider()
    if hasattr(provider, "add_span_processor"):
        return Joined(provider, ours=False)
    created = TracerProvider(
        resource=build_resource(config),
        span_limits=_span_limits(),
        # Our own exit handler ends it, with a deadline.
        shutdown_on_exit=False,
    )
    trace.set_tracer_provider(created)
    return Joined(created, ours=True)


def _span_limits() -> SpanLimits:
    named = ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT")
    if any(os.environ.get(name) for name in named):
        return SpanLimits()
    return SpanLimits(max_span_attributes=SPAN_ATTRIBUTES)


def join_meter_provider(
    config: Config, given: AnyMeterProvider | None, exporters: Sequence[MetricExporter]
) -> Joined:
    """Return the given or the process's SDK provider, else a new one with buckets to 600 s."""
    provider = given if given is not None else metrics.get_meter_provider()
    if given is not None or isinstance(provider, MeterProvider):
        return Joined(provider, ours=False)
    created = MeterProvider(
        metric_readers=[PeriodicExportingMetricReader(exporter) for exporter in exporters],
        resource=build_resource(config),
        views=[
            View(
                instrument_name=attributes.HTTP_DURATION,
                aggregation=ExplicitBucketHistogramAggregation(DURATION_BUCKETS),
            )
        ],
        shutdown_on_exit=False,
    )
    metrics.set_meter_provider(created)
    return Joined(created, ours=True)


def innermost(provider: Any) -> Any:
    """Return the SDK's provider inside of one that stands before it, as Logfire's does."""
    return getattr(provider, "provider", provider)


def remove_processor(provider: Any, processor: SpanProcessor) -> None:
    """Take our processor off a provider that lives on.

    OpenTelemetry has no public way; where the private one is gone, the processor stays behind,
    shut down and silent.
    """
    with guard("removing the span processor"):
        multi = innermost(provider)._active_span_processor
        with multi._lock:
            multi._span_processors = tuple(
                each for each in multi._span_processors if each is not processor
            )


def forget_tracer_provider(provider: AnyTracerProvider) -> None:
    """Make the process as it was before we set the global provider, if it is still ours."""
    from opentelemetry.util._once import Once

    module = cast("Any", trace)
    if getattr(module, "_TRACER_PROVIDER", None) is provider:
        module._TRACER_PROVIDER = None
        module._TRACER_PROVIDER_SET_ONCE = Once()


def forget_meter_provider(provider: AnyMeterProvider) -> None:
    """Make the process as it was before we set the global provider, if it is still ours."""
    from opentelemetry.metrics import _internal
    from opentelemetry.util._once import Once

    module = cast("Any", _internal)
    if getattr(module, "_METER_PROVIDER", None) is provider:
        module._METER_PROVIDER = None
        module._METER_PROVIDER_SET_ONCE = Once()
        # What is asked for meters while there is none hands out those of the last one else.
        stand_in = getattr(module, "_PROXY_METER_PROVIDER", None)
        if stand_in is not None:
            stand_in._real_meter_provider = None
