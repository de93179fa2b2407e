"""`instrument()`, its inverse and `flush()`: what an agent calls, and what is installed now."""

import functools
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from . import _guard, _lifecycle
from ._config import Config, Redact, build_config, check_provider
from ._counts import lost_by
from ._export import quiet
from ._export.batching import SHUTDOWN_SECONDS
from ._guard import failed, guard, guarded, say
from ._installing import Installation, install, stages, undo_without_deadline
from ._runs import implicit
from ._runtime import current, set_current
from ._search.apis import SearchApi
from ._undoing import give_up_background, take_apart, undo_all

_lock = threading.RLock()


_installed: Installation | None = None


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
        installation = install(config, tracer_provider, meter_provider, undo)
        _register_exit(installation)
        _guard.describe_by(installation.runtime.described_failure)
        set_current(installation.runtime)
    except BaseException:
        # An agent without monitoring is better than none, and than one that is half wrapped.
        set_current(None)
        undo_all(undo, time.monotonic() + SHUTDOWN_SECONDS)
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


def _register_exit(installation: Installation) -> None:
    # Last in, so that it is the first to be undone: from then on the process ends as it would.
    hooks = _lifecycle.Hooks(
        functools.partial(_send, installation),
        functools.partial(_send_last, installation),
        uninstrument,
    )
    installation.undo.append(undo_without_deadline(_lifecycle.install(hooks)))


def _send(installation: Installation, seconds: float) -> None:
    """Export spans, then metrics where the provider is ours, within so many seconds."""
    deadline = time.monotonic() + seconds
    if installation.runtime.runs is not None:
        installation.runtime.runs.end_open()
    give_up_background(installation.runtime, seconds / 2)
    flush(max(0.0, deadline - time.monotonic()))
    if installation.meters is not None:
        left = max(0.0, deadline - time.monotonic())
        installation.meters.force_flush(timeout_millis=left * 1000)


def _send_last(installation: Installation, seconds: float) -> None:
    """Send, after the runs were ended that their own code will not get to end."""
    installation.runtime.marked_runs.end_open()
    _send(installation, seconds)


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
        runtime.marked_runs.reset_after_fork()
        if runtime.runs is not None:
            runtime.runs.reset_after_fork()
        for processor, stage in zip(runtime.processors, stages(runtime), strict=True):
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
            take_apart(installation, SHUTDOWN_SECONDS)


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
