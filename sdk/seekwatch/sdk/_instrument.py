"""`instrument()` and its inverse: puts the parts together, each once, and takes them apart."""

import functools
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExporter
from opentelemetry.trace import TracerProvider

from seekwatch.core import attributes

from . import _guard, _lifecycle
from ._browsers import playwright
from ._config import Config, Redact, build_config, check_provider
from ._counts import lost_by, reported
from ._export import exporters, health, providers, quiet
from ._export.batching import SHUTDOWN_SECONDS, BatchingProcessor, Limits
from ._export.stage import ExportStage
from ._finisher import Finisher
from ._guard import failed, guard, guarded, say
from ._http import stock_httpx
from ._instrumentors.switching import install as install_instrumentors
from ._privacy.carriers import Carriers
from ._privacy.withholding import Withholder
from ._runs import entrypoints, executors, foreign_calls, implicit, known_agents, requests
from ._runs.open_runs import OpenRuns
from ._runtime import Runtime, current, salt, set_current
from ._search import clients
from ._search.apis import SearchApi, SearchApiIndex
from ._stacks.installing import Stacks
from ._version import version

_lock = threading.RLock()


@dataclass(slots=True)
class _Installation:
    runtime: Runtime
    undo: list[Callable[[float], None]]
    """What to do to undo it, last first; each gets the seconds that are left."""
    meters: Any = None
    """The MeterProvider where it is ours."""


_installed: _Installation | None = None


def instrument(
    agent: str,
    *,
    endpoint: str | None = None,
    environment: str | None = None,
    release: str | None = None,
    capture_content: bool = True,
    capture_pages: bool | int = True,
    redact: Redact | Iterable[Redact] = (),
    search_apis: Sequence[SearchApi] = (),
    entrypoint: str | None = None,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
) -> None:
    """Instrument this process: the one call that an agent needs. A second call does nothing.

    Every `OTEL_*` variable of OpenTelemetry's Python SDK is honoured; an argument given here
    wins over its variable, except that `OTEL_SERVICE_NAME` wins the resource's service name.

    Args:
        agent: the agent's name, on every span of ours as `gen_ai.agent.name`.
        endpoint: OTLP base address, `http://host:4318` or `grpc://host:4317`.
        environment: `deployment.environment.name`, such as `production`.
        release: the agent's version, `service.version`.
        capture_content: False sends no question, answer, page, query or title, but salted hashes
            and lengths in their place.
        capture_pages: whether page bodies go onto spans, or how many bytes of each (before
            compression; True is 262,144; 0 is never).
        redact: patterns of your own (regular expressions) and callables from text to text,
            beside the secrets that are always masked.
        search_apis: search engines of your own, beside the built-in ones.
        entrypoint: `package.module:function` of the agent; its first string argument is the
            question and what it returns the answer.
        tracer_provider: join this one instead of the process's.
        meter_provider: join this one instead of the process's.

    Raises:
        ValueError: an argument cannot be used. Nothing else is ever raised.
    """
    try:
        config = build_config(
            agent,
            endpoint=endpoint,
            environment=environment,
            release=release,
            capture_content=capture_content,
            capture_pages=capture_pages,
            redact=redact,
            search_apis=search_apis,
            entrypoint=entrypoint,
        )
        check_provider("tracer_provider", tracer_provider, "get_tracer")
        check_provider("meter_provider", meter_provider, "get_meter")
    except ValueError:
        raise
    except Exception as error:  # noqa: BLE001 - this is the fence around our own code
        failed("instrument", error)
        return
    with _lock, guard("instrument"):
        _instrument(config, tracer_provider, meter_provider)


def _instrument(
    config: Config, tracer_provider: TracerProvider | None, meter_provider: MeterProvider | None
) -> None:
    global _installed
    if _installed is not None:
        _say_already(_installed.runtime.config, config)
        return
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        say(logging.INFO, "OTEL_SDK_DISABLED is true: nothing is instrumented")
        return
    undo: list[Callable[[float], None]] = []
    try:
        installation = _install(config, tracer_provider, meter_provider, undo)
        _guard.describe_by(installation.runtime.described_failure)
        set_current(installation.runtime)
    except BaseException:
        # An agent without monitoring is better than none, and than one that is half wrapped.
        set_current(None)
        _undo_all(undo, time.monotonic() + SHUTDOWN_SECONDS)
        raise
    _installed = installation


def _say_already(held: Config, asked: Config) -> None:
    """A notebook's cell that is run again is no mistake; one that says something else may be."""
    other = held.other_arguments(asked)
    if other:
        say(
            logging.WARNING,
            "already instrumented as %r: this call changes nothing, and the other value of %s is "
            "not used; call uninstrument() first to begin anew",
            held.agent,
            ", ".join(other),
        )
    else:
        say(logging.INFO, "already instrumented as %r", held.agent)


def _install(
    config: Config,
    tracer_provider: TracerProvider | None,
    meter_provider: MeterProvider | None,
    undo: list[Callable[[float], None]],
) -> _Installation:
    traces = providers.join_tracer_provider(config, tracer_provider)
    if traces.ours:
        undo.append(lambda _: providers.forget_tracer_provider(traces.provider))
    runtime = _runtime(config, traces)
    installation = _Installation(runtime, undo)
    runs = runtime.runs = OpenRuns.from_environment()
    traces.provider.add_span_processor(runs)
    undo.append(lambda _: providers.remove_processor(traces.provider, runs))
    _add_processors(installation, traces)
    meters = _join_meters(installation, meter_provider)
    # What comes first is undone last, after the last export.
    quiet.install()
    undo.insert(0, _undo_without_deadline(quiet.uninstall))
    with guard("reporting our own counts"):
        observed = health.observe(meters, functools.partial(reported, runtime))
        undo.insert(0, _undo_without_deadline(observed))
    _patch(installation, traces, meters)
    undo.append(lambda _: runs.end_all())
    _register_exit(installation)
    return installation


def _runtime(config: Config, traces: providers.Joined) -> Runtime:
    index = SearchApiIndex(config.search_apis)
    limits: Any = getattr(traces.provider, "_span_limits", None)
    shown = config.capture_content
    return Runtime(
        config=config,
        tracer=traces.provider.get_tracer("seekwatch.sdk", version()),
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


def _join_meters(installation: _Installation, given: MeterProvider | None) -> Any:
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


def _add_processors(installation: _Installation, traces: providers.Joined) -> None:
    runtime = installation.runtime
    for stage in _stages(runtime):
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


def _remove_processors(installation: _Installation, provider: Any) -> None:
    for processor in installation.runtime.processors:
        providers.remove_processor(provider, processor)


def _stages(runtime: Runtime) -> list[ExportStage]:
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


def _patch(installation: _Installation, traces: providers.Joined, meters: Any) -> None:
    # Ours goes in first and comes out last: the stock unwrapping removes the outermost wrapper.
    undo = installation.undo
    with guard("patching HTTP libraries"):
        undo.append(_undo_without_deadline(_stacks(installation, traces, meters).undo))
    with guard("watching for search clients"):
        undo.append(_undo_without_deadline(clients.install()))
    with guard("watching for browsers"):
        undo.append(_undo_without_deadline(playwright.install(installation.runtime.finisher)))
    with guard("patching threads and executors"):
        undo.append(_undo_without_deadline(executors.install()))
    with guard("watching for web frameworks"):
        undo.append(_undo_without_deadline(requests.install()))
    with guard("watching for agents of frameworks"):
        undo.append(_undo_without_deadline(known_agents.install()))
    with guard("watching the calls of other instrumentations"):
        undo.append(_undo_without_deadline(foreign_calls.install(traces.provider)))
    config = installation.runtime.config
    with guard("switching on instrumentors"):
        switched_on = install_instrumentors(traces.provider, meters, config)
        undo.append(_undo_without_deadline(switched_on))
    entrypoint = config.entrypoint
    if entrypoint is not None:
        with guard("wrapping the entrypoint"):
            undo.append(_undo_without_deadline(entrypoints.install(*entrypoint)))


def _stacks(installation: _Installation, traces: providers.Joined, meters: Any) -> Stacks:
    # Where every processor is ours, the stage before the wire cleans, off the agent's thread.
    prepare = None if traces.ours else installation.runtime.prepared

    def stock(library: str) -> Callable[[], None]:
        return stock_httpx.install(traces.provider, meters, prepare, library)

    return Stacks({"httpx": stock, "httpx2": stock})


def _undo_without_deadline(undo: Callable[[], None]) -> Callable[[float], None]:
    return lambda _: undo()


def _register_exit(installation: _Installation) -> None:
    # Last in, so that it is the first to be undone: from then on the process ends as it would.
    hooks = _lifecycle.Hooks(functools.partial(_send, installation), uninstrument)
    installation.undo.append(_undo_without_deadline(_lifecycle.install(hooks)))


def _send(installation: _Installation, seconds: float) -> None:
    """Export spans, then metrics where the provider is ours, within so many seconds."""
    deadline = time.monotonic() + seconds
    if installation.runtime.runs is not None:
        installation.runtime.runs.end_open()
    _give_up_background(installation.runtime, seconds / 2)
    flush(max(0.0, deadline - time.monotonic()))
    if installation.meters is not None:
        left = max(0.0, deadline - time.monotonic())
        installation.meters.force_flush(timeout_millis=left * 1000)


@guarded("giving up answers that did not come")
def _give_up_background(runtime: Runtime, seconds: float) -> None:
    runtime.finisher.drain(seconds)
    runtime.background.give_up()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    _guard.reset_after_fork()
    quiet.reset_after_fork()
    if _installed is None:
        return
    with guard("restarting after fork"):
        runtime = _installed.runtime
        runtime.finisher.reset_after_fork()
        runtime.attempts.reset_after_fork()
        runtime.background.reset_after_fork()
        runtime.run_count.reset_after_fork()
        if runtime.runs is not None:
            runtime.runs.reset_after_fork()
        for processor, stage in zip(runtime.processors, _stages(runtime), strict=True):
            processor.reset_after_fork(stage)
    _lifecycle.after_fork()


if hasattr(os, "register_at_fork"):
    # For good, and before anything can hold a lock of ours.
    os.register_at_fork(after_in_child=_after_fork)


def uninstrument() -> None:
    """Undo `instrument`: export what is there (within five seconds), then leave no trace of us.

    httpx, the providers that were here before and the entrypoint are as they were.
    """
    global _installed
    with _lock:
        installation, _installed = _installed, None
        with guard("uninstrument"):
            set_current(None)
        if installation is not None:
            _take_apart(installation)


@guarded("uninstrument")
def _take_apart(installation: _Installation) -> None:
    deadline = time.monotonic() + SHUTDOWN_SECONDS
    # Half the time for bodies: a span without its body is worth more than none.
    _give_up_background(installation.runtime, SHUTDOWN_SECONDS / 2)
    _undo_all(installation.undo, deadline)
    lost = {name: count for name, count in lost_by(installation.runtime).items() if count}
    if lost:
        _say_lost(installation.runtime, lost)


def _say_lost(runtime: Runtime, lost: dict[str, int]) -> None:
    places = (processor.nobody_at for processor in runtime.processors)
    nobody_at = next((place for place in places if place is not None), None)
    if nobody_at is None:
        say(logging.WARNING, "not everything reached the collector: %s", lost)
        return
    say(
        logging.WARNING,
        "not everything reached the collector: nobody listens at %s, so %d spans are lost; start "
        "the monitor there (seekwatch up), or set its endpoint in instrument() or "
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        nobody_at,
        sum(count for name, count in lost.items() if name.startswith("spans_")),
    )


def _undo_all(undo: list[Callable[[float], None]], deadline: float) -> None:
    for step in reversed(undo):
        with guard("uninstrument"):
            step(max(0.1, deadline - time.monotonic()))


def flush(timeout: float = 5.0) -> bool:
    """Export every span that has ended, for processes that freeze or are killed.

    Args:
        timeout: seconds to wait at most.

    Returns:
        Whether everything was handed to the exporter in time (True when not instrumented).
    """
    return bool(_flush(timeout))


@guarded("flush")
def _flush(timeout: float) -> bool:
    runtime = current()
    if runtime is None:
        return True
    deadline = time.monotonic() + timeout
    done = runtime.finisher.drain(timeout)
    if implicit.end_answered():
        done = runtime.finisher.drain(max(0.0, deadline - time.monotonic()))
    for processor in runtime.processors:
        left = max(0.0, deadline - time.monotonic())
        done = processor.force_flush(int(left * 1000)) and done
    return done


def statistics() -> dict[str, int]:
    """Return our own counts: what was dropped and refused, and what sampling kept from us."""
    runtime = current()
    if runtime is None:
        return {}
    return {
        **lost_by(runtime),
        "runs_sampled": runtime.run_count.sampled,
        "runs_unsampled": runtime.run_count.unsampled,
    }
