"""Builds the parts and puts each in; what undoes it is noted as soon as it is in."""

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExporter
from opentelemetry.trace import TracerProvider

from seekwatch.core import attributes

from ._browsers import playwright
from ._config import Config
from ._counts import reported
from ._export import exporters, health, providers, quiet
from ._export.batching import BatchingProcessor, Limits
from ._export.stage import ExportStage
from ._finisher import Finisher
from ._guard import guard
from ._http import stock_httpx, stock_processors
from ._instrumentors.switching import install as install_instrumentors
from ._privacy.carriers import Carriers
from ._privacy.withholding import Withholder
from ._runs import entrypoints, executors, foreign_calls, known_agents, requests
from ._runs.open_runs import OpenRuns
from ._runtime import Runtime, salt
from ._search import clients
from ._search.apis import SearchApiIndex
from ._stacks.installing import Stacks
from ._version import SCOPE, version


@dataclass(slots=True)
class Installation:
    """What is alive, and how to undo it."""

    runtime: Runtime
    undo: list[Callable[[float], None]]
    """What to do to undo it, last first; each gets the seconds that are left."""
    meters: Any = None
    """The MeterProvider where it is ours."""


def install(
    config: Config,
    tracer_provider: TracerProvider | None,
    meter_provider: MeterProvider | None,
    undo: list[Callable[[float], None]],
) -> Installation:
    """Put every part in; what undoes it is in `undo` even where a later part raises."""
    traces = providers.join_tracer_provider(config, tracer_provider)
    if traces.ours:
        undo.append(lambda _: providers.forget_tracer_provider(traces.provider))
    runtime = _runtime(config, traces)
    installation = Installation(runtime, undo)
    runs = runtime.runs = OpenRuns.from_environment()
    traces.provider.add_span_processor(runs)
    undo.append(lambda _: providers.remove_processor(traces.provider, runs))
    _add_processors(installation, traces)
    meters = _join_meters(installation, meter_provider)
    # What comes first is undone last, after the last export.
    quiet.install()
    undo.insert(0, undo_without_deadline(quiet.uninstall))
    with guard("reporting our own counts"):
        observed = health.observe(meters, functools.partial(reported, runtime))
        undo.insert(0, undo_without_deadline(observed))
    _patch(installation, traces, meters)
    undo.append(lambda _: runtime.marked_runs.end_open())
    undo.append(lambda _: runs.end_all())
    return installation


def _runtime(config: Config, traces: providers.Joined) -> Runtime:
    index = SearchApiIndex(config.search_apis)
    limits: Any = getattr(traces.provider, "_span_limits", None)
    shown = config.capture_content
    return Runtime(
        config=config,
        tracer=traces.provider.get_tracer(SCOPE, version()),
        finisher=Finisher(),
        index=index,
        common=_common(config, traces),
        ignored_hosts=exporters.export_hosts(config.endpoint),
        value_limit=getattr(limits, "max_span_attribute_length", None),
        attribute_limit=getattr(limits, "max_span_attributes", None),
        withholder=None if shown else Withholder(salt(config.agent), index.query_parameters),
        excluded=_excluded_urls(),
        shared=not traces.ours,
    )


def _common(config: Config, traces: providers.Joined) -> dict[str, Any]:
    common: dict[str, Any] = {attributes.AGENT_NAME: config.agent}
    if not traces.ours:
        # A provider that was here first keeps its resource, so the spans say it themselves.
        if config.environment is not None:
            common[attributes.ENVIRONMENT] = config.environment
        if config.release is not None:
            common[attributes.SERVICE_VERSION] = config.release
    return common


def _join_meters(installation: Installation, given: MeterProvider | None) -> Any:
    runtime = installation.runtime
    config = runtime.config
    carriers = Carriers(config.redactor, runtime.withholder)
    metrics = exporters.metric_exporters(config.endpoint, carriers.metrics)
    meters = providers.join_meter_provider(config, given, metrics)
    if meters.ours:
        installation.meters = meters.provider
        installation.undo.append(lambda left: _end_meter_provider(meters.provider, metrics, left))
    return meters.provider


def _excluded_urls() -> Callable[[str], bool] | None:
    """Read the list that the stock instrumentation reads (`OTEL_PYTHON_HTTPX_EXCLUDED_URLS`)."""
    from opentelemetry.util.http import get_excluded_urls

    given = any(
        os.environ.get(name)
        for name in ("OTEL_PYTHON_HTTPX_EXCLUDED_URLS", "OTEL_PYTHON_EXCLUDED_URLS")
    )
    return get_excluded_urls("HTTPX").url_disabled if given else None


def _add_processors(installation: Installation, traces: providers.Joined) -> None:
    runtime = installation.runtime
    for stage in stages(runtime):
        processor = BatchingProcessor(
            stage,
            Limits.from_environment(),
            before_flush=runtime.finisher.drain,
        )
        traces.provider.add_span_processor(processor)
        runtime.processors.append(processor)
    # Undone last first: what there was no time to finish ends while it is still counted.
    installation.undo.append(lambda _: _remove_processors(installation, traces.provider))
    installation.undo.append(lambda left: _close(runtime.finisher, left))
    installation.undo += [processor.shutdown for processor in runtime.processors]


def _close(finisher: Finisher, left: float) -> None:
    finisher.close(left)


def _remove_processors(installation: Installation, provider: Any) -> None:
    for processor in installation.runtime.processors:
        providers.remove_processor(provider, processor)


def stages(runtime: Runtime) -> list[ExportStage]:
    """Build what stands before each exporter of spans; anew in a forked child."""
    config = runtime.config
    return [
        ExportStage(exporter, config.redactor, runtime.withholder)
        for exporter in exporters.span_exporters(config.endpoint)
    ]


def _end_meter_provider(provider: Any, metrics: Sequence[MetricExporter], left: float) -> None:
    for exporter in metrics:
        exporters.hurry(exporter)
    providers.forget_meter_provider(provider)
    # Half of what is left: the spans come after the metrics and matter more.
    provider.shutdown(timeout_millis=left * 500)


def _patch(installation: Installation, traces: providers.Joined, meters: Any) -> None:
    # Ours goes in first and comes out last: the stock unwrapping removes the outermost wrapper.
    undo = installation.undo
    with guard("fencing span processors"):
        undo.append(undo_without_deadline(stock_processors.install(traces.provider)))
    with guard("patching HTTP libraries"):
        undo.append(undo_without_deadline(_stacks(installation, traces, meters).undo))
    with guard("watching for search clients"):
        undo.append(undo_without_deadline(clients.install()))
    with guard("watching for browsers"):
        undo.append(undo_without_deadline(playwright.install(installation.runtime.finisher)))
    with guard("patching threads and executors"):
        undo.append(undo_without_deadline(executors.install()))
    with guard("watching for web frameworks"):
        undo.append(undo_without_deadline(requests.install()))
    with guard("watching for agents of frameworks"):
        undo.append(undo_without_deadline(known_agents.install()))
    with guard("watching the calls of other instrumentations"):
        undo.append(undo_without_deadline(foreign_calls.install(traces.provider)))
    config = installation.runtime.config
    with guard("switching on instrumentors"):
        switched_on = install_instrumentors(traces.provider, meters, config)
        undo.append(undo_without_deadline(switched_on))
    entrypoint = config.entrypoint
    if entrypoint is not None:
        with guard("wrapping the entrypoint"):
            undo.append(undo_without_deadline(entrypoints.install(*entrypoint)))


def _stacks(installation: Installation, traces: providers.Joined, meters: Any) -> Stacks:
    # Where every processor is ours, the stage before the wire cleans, off the agent's thread.
    prepare = None if traces.ours else installation.runtime.prepared

    def stock(library: str) -> Callable[[], None]:
        return stock_httpx.install(traces.provider, meters, prepare, library)

    return Stacks({"httpx": stock, "httpx2": stock})


def undo_without_deadline(undo: Callable[[], None]) -> Callable[[float], None]:
    """Let something that needs no time stand among the steps that get what is left of it."""
    return lambda _: undo()
