"""How long the SDK takes to import and to turn on, beside OpenTelemetry set up by hand.

`python -m benchmarks.sdk_import` starts a fresh interpreter for every sample, the sides in turns.
By hand means what our one call replaces: a provider with a batch processor and the OTLP exporter,
one for metrics, and the stock instrumentation of httpx. httpx itself is imported before the clock
starts on both sides: an agent has it.
"""

import subprocess
import sys
from typing import Final

from benchmarks.rows import Row, argument_parser, interleaved, median_row, ratios, report

_IMPORT_OURS: Final = "import seekwatch.sdk"
_IMPORT_BARE: Final = """
from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
"""
_ON_OURS: Final = "seekwatch.sdk.instrument('benchmark')"
_ON_BARE: Final = """
tracers = TracerProvider()
tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(tracers)
metrics.set_meter_provider(
    MeterProvider(metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter())])
)
HTTPXClientInstrumentor().instrument()
"""


def seconds(imports: str, turned_on: str) -> tuple[float, float]:
    """Return the time of the imports, and of them and what turns it on, in a fresh process."""
    script = "\n".join(
        (
            "import httpx, os, time",
            "started = time.perf_counter()",
            imports,
            "imported = time.perf_counter()",
            turned_on,
            "on = time.perf_counter()",
            "print(imported - started, on - started, flush=True)",
            # Nothing is sent: what an exit costs is measured elsewhere.
            "os._exit(0)",
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    imported, on = map(float, done.stdout.split())
    return imported, on


def measure(rounds: int) -> list[Row]:
    """Measure both sides in turns and return the rows."""
    taken: dict[str, list[tuple[float, float]]] = {"ours": [], "bare": []}

    def once(side: str, imports: str, turned_on: str) -> float:
        taken[side].append(seconds(imports, turned_on))
        return 0.0

    interleaved(
        {
            "ours": lambda: once("ours", _IMPORT_OURS, _ON_OURS),
            "bare": lambda: once("bare", _IMPORT_BARE, _ON_BARE),
        },
        rounds=rounds,
    )
    rows: list[Row] = []
    for index, what in enumerate(("import", "import and instrument()")):
        ours = [each[index] for each in taken["ours"][1:]]
        bare = [each[index] for each in taken["bare"][1:]]
        rows.append(median_row(f"{what}: ours", ours, unit="s", better="lower"))
        rows.append(median_row(f"{what}: OpenTelemetry by hand", bare, unit="s", better="lower"))
        rows.append(
            median_row(
                f"{what}: ours / OpenTelemetry by hand",
                ratios(ours, bare),
                unit="ratio",
                better="lower",
            )
        )
    return rows


def main() -> int:
    """Measure and report."""
    parser = argument_parser("Import time of the SDK beside OpenTelemetry's")
    parser.add_argument("--rounds", type=int, default=15, help="samples of each (default 15)")
    arguments = parser.parse_args()
    return report(measure(arguments.rounds), arguments)


if __name__ == "__main__":
    sys.exit(main())
