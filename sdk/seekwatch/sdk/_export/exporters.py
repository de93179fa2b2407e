"""Chooses exporters by OpenTelemetry's own environment variables.

The gRPC exporter is imported only when that protocol is chosen: it brings a C extension with
threads of its own, which an agent that forks should not load for nothing.
"""

import logging
import os
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast
from urllib.parse import urlsplit

from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, MetricsData
from opentelemetry.sdk.trace.export import SpanExporter

from seekwatch.sdk._guard import failed, guard, say

from .quiet import quietly

_T = TypeVar("_T")

_GRPC_SCHEMES: Final = {"grpc": "http", "grpcs": "https"}
_TRACES_PATH: Final = "/v1/traces"
_METRICS_PATH: Final = "/v1/metrics"


def span_exporters(endpoint: str | None) -> list[SpanExporter]:
    """Build the exporters that `OTEL_TRACES_EXPORTER` names (default `otlp`; `none` for none)."""
    build: dict[str, Callable[[], SpanExporter]] = {
        "otlp": lambda: _otlp_spans(endpoint),
        "console": _console_spans,
    }
    return _build_named("OTEL_TRACES_EXPORTER", build)


def metric_exporters(
    endpoint: str | None, clean: Callable[[MetricsData], MetricsData]
) -> list[MetricExporter]:
    """Build the exporters that `OTEL_METRICS_EXPORTER` names (default `otlp`).

    Args:
        endpoint: the argument of `instrument`, if any.
        clean: makes metrics fit to leave the process; those of others pass through here, too.
    """
    build: dict[str, Callable[[], MetricExporter]] = {
        "otlp": lambda: _otlp_metrics(endpoint),
        "console": _console_metrics,
    }
    # That an extra is missing has been said of the spans then.
    is_said = is_grpc(endpoint, "TRACES") and os.environ.get("OTEL_TRACES_EXPORTER") != "none"
    level = logging.DEBUG if is_said else logging.WARNING
    exporters = _build_named("OTEL_METRICS_EXPORTER", build, level)
    for exporter in exporters:
        _make_discreet(exporter, clean)
    return exporters


def _make_discreet(exporter: MetricExporter, clean: Callable[[MetricsData], MetricsData]) -> None:
    """Clean what leaves, and say once that metrics do not arrive, not every minute."""
    export = cast("Callable[..., MetricExportResult]", exporter.export)  # pyright: ignore[reportUnknownMemberType]
    said = False

    def export_discreetly(
        metrics_data: MetricsData, *args: Any, **options: Any
    ) -> MetricExportResult:
        nonlocal said
        try:
            ready = clean(metrics_data)
        except Exception as error:  # noqa: BLE001 - a redaction of the user's own may fail
            failed("preparing metrics for export", error)
            return MetricExportResult.FAILURE
        with quietly():
            result = export(ready, *args, **options)
        with guard("telling how metrics fared"):
            if result is not MetricExportResult.SUCCESS and not said and not _ends(exporter):
                said = True
                say(
                    logging.WARNING,
                    "the collector did not take the metrics; later failures are not told",
                )
        return result

    exporter.export = export_discreetly  # type: ignore[method-assign]


def _ends(exporter: MetricExporter) -> bool:
    """Tell whether nobody listened at the end of the process: that is told of the spans."""
    answers: Any = getattr(exporter, "answers", None)
    return answers is not None and answers.is_hurried and answers.nobody_at is not None


def _build_named(
    variable: str, build: dict[str, Callable[[], _T]], missing: int = logging.WARNING
) -> list[_T]:
    """Build what a variable names; `missing` is the level at which a missing extra is told."""
    exporters: list[_T] = []
    for name in dict.fromkeys(part.strip() for part in os.environ.get(variable, "").split(",")):
        if name == "none":
            continue
        known = build.get(name or "otlp")
        if known is None:
            say(
                logging.WARNING,
                "%s=%r is not known here (otlp, console, none); nothing is exported to it",
                variable,
                name,
            )
            continue
        try:
            exporters.append(known())
        except ModuleNotFoundError as error:
            # Imported where it is needed: hardly an agent ever comes here.
            from seekwatch.core.extras import install_command

            say(
                missing,
                "the %s exporter is not installed (no module %s); nothing is exported to it: "
                "OTLP over gRPC needs %s",
                name or "otlp",
                error.name,
                install_command("grpc"),
            )
        except Exception as error:  # noqa: BLE001 - a bad certificate path must not stop the agent
            failed(f"building the {name or 'otlp'} exporter", error)
    return exporters


def is_grpc(endpoint: str | None, signal: str) -> bool:
    """Tell whether spans or metrics go over gRPC: by the endpoint's scheme, else by `OTEL_*`.

    Args:
        endpoint: the argument of `instrument`, if any.
        signal: `TRACES` or `METRICS`.
    """
    if endpoint is not None and urlsplit(endpoint).scheme in _GRPC_SCHEMES:
        return True
    protocol = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"
    )
    return protocol.strip().lower() == "grpc"


def _otlp_spans(endpoint: str | None) -> SpanExporter:
    if is_grpc(endpoint, "TRACES"):
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
            OTLPSpanExporter as GrpcSpanExporter,
        )

        address, insecure = grpc_target(endpoint)
        return GrpcSpanExporter(endpoint=address, insecure=insecure)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    session = _session("TRACES")
    exporter = OTLPSpanExporter(endpoint=signal_url(endpoint, _TRACES_PATH), session=session)
    # Where the export stage looks for what became of a request.
    exporter.answers = session  # type: ignore[attr-defined]
    return exporter


def _otlp_metrics(endpoint: str | None) -> MetricExporter:
    if is_grpc(endpoint, "METRICS"):
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (
            OTLPMetricExporter as GrpcMetricExporter,
        )

        address, insecure = grpc_target(endpoint)
        return GrpcMetricExporter(endpoint=address, insecure=insecure)
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    session = _session("METRICS")
    exporter = OTLPMetricExporter(endpoint=signal_url(endpoint, _METRICS_PATH), session=session)
    exporter.answers = session  # type: ignore[attr-defined]
    return exporter


def hurry(exporter: MetricExporter) -> None:
    """Let an exporter not wait for a collector that is not there: the process ends."""
    answers: Any = getattr(exporter, "answers", None)
    if answers is not None:
        answers.hurry()


def _session(signal: str) -> Any:
    """Return a session of ours, unless the user has a provider of credentials, which is one."""
    prefix = "OTEL_PYTHON_EXPORTER_OTLP_HTTP"
    if any(os.environ.get(f"{prefix}_{infix}CREDENTIAL_PROVIDER") for infix in ("", f"{signal}_")):
        return None
    from .sessions import ExportSession

    return ExportSession()


def _console_spans() -> SpanExporter:
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    return ConsoleSpanExporter()


def _console_metrics() -> MetricExporter:
    from opentelemetry.sdk.metrics.export import ConsoleMetricExporter

    return ConsoleMetricExporter()


def signal_url(endpoint: str | None, path: str) -> str | None:
    """Return where a signal goes over HTTP; None leaves it to `OTEL_EXPORTER_OTLP_*`.

    An endpoint is a base address, as in `OTEL_EXPORTER_OTLP_ENDPOINT`; one that already ends in
    the path of a signal stands for all signals of that server.
    """
    if endpoint is None:
        return None
    base = endpoint.rstrip("/")
    for suffix in (_TRACES_PATH, _METRICS_PATH):
        base = base.removesuffix(suffix)
    return base + path


def grpc_target(endpoint: str | None) -> tuple[str | None, bool | None]:
    """Return address and plaintext flag for gRPC; None leaves each to `OTEL_EXPORTER_OTLP_*`."""
    if endpoint is None:
        return None, None
    parts = urlsplit(endpoint)
    scheme = _GRPC_SCHEMES.get(parts.scheme, parts.scheme)
    return f"{scheme}://{parts.netloc}", scheme == "http"


def export_hosts(endpoint: str | None) -> frozenset[tuple[str, int]]:
    """Return the hosts and ports that our own exports go to, which are never instrumented."""
    urls = {"endpoint": endpoint or ""}
    urls |= {
        name: value
        for name, value in os.environ.items()
        if name.startswith("OTEL_EXPORTER_OTLP") and name.endswith("ENDPOINT")
    }
    hosts: set[tuple[str, int]] = set()
    for name, url in urls.items():
        try:
            parts = urlsplit(url)
            default = 443 if parts.scheme in {"https", "grpcs"} else 80
            port = parts.port or default
        except ValueError as error:
            say(
                logging.WARNING,
                "%s is no usable address (%s); nothing can be exported to it",
                name,
                error,
            )
            continue
        if parts.hostname:
            hosts.add((parts.hostname, port))
    return frozenset(hosts or {("localhost", 4318), ("localhost", 4317)})
