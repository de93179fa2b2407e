"""The captured spans of many instrumentors, read out of their archive in memory."""

from __future__ import annotations

import json
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from seekwatch.core.errors import UndecodableError
from seekwatch.core.otlp.requests import RawItem, log_trace, raw_items, span_head
from seekwatch.core.records import Signal
from seekwatch.core.scorecard import CloseReason, Envelope
from seekwatch.processors.cuts import Cut

ARCHIVE = Path(__file__).resolve().parent.parent / "fixtures" / "spans" / "spans.tar.xz"


@dataclass(frozen=True, eq=False)
class Case:
    """One captured run, as the manifest describes it."""

    id: str
    dialect: str
    fields: dict[str, Any]

    @property
    def expected(self) -> dict[str, Any]:
        """What a correct normaliser can recover; None where nothing was emitted."""
        expected: dict[str, Any] = self.fields["expected"]
        return expected

    @property
    def truth(self) -> dict[str, Any]:
        """What really happened."""
        truth: dict[str, Any] = self.fields["truth"]
        return truth

    def requests(self, form: str = "binpb") -> list[tuple[Signal, bytes]]:
        """Return the export requests in the order they came, as `binpb` or `json`."""
        content = files()
        return [
            (Signal.LOGS if file["signal"] == "logs" else Signal.TRACES, content[file[form]])
            for file in self.fields["files"]
        ]

    def cuts(self, form: str = "binpb") -> list[Cut]:
        """Return one cut per trace, with the log records that belong to it."""
        spans: dict[str, list[RawItem]] = {}
        logs: dict[str, list[RawItem]] = {}
        for signal, request in self.requests(form):
            for item in raw_items(request, signal):
                if signal is Signal.TRACES:
                    spans.setdefault(span_head(item.raw).trace.hex(), []).append(item)
                else:
                    logs.setdefault(log_trace(item.raw).hex(), []).append(item)
        return [cut_of(trace, items, logs.get(trace, [])) for trace, items in spans.items()]


def cut_of(trace: str, spans: list[RawItem], logs: list[RawItem] | None = None) -> Cut:
    """Wrap items as a complete cut."""
    return Cut(
        trace=trace,
        spans=tuple(spans),
        logs=tuple(logs or ()),
        last_end=max((_end(item.raw) for item in spans), default=0),
        envelope=Envelope(
            trace=trace,
            partition=0,
            first_offsets={"traces": 0},
            last_offsets={"traces": 0},
            reason=CloseReason.COMPLETE,
            closed_at=0,
        ),
    )


@cache
def files() -> dict[str, bytes]:
    """Return every file of the archive by its path."""
    with tarfile.open(ARCHIVE, "r:xz") as archive:
        found: dict[str, bytes] = {}
        for member in archive:
            handle = archive.extractfile(member)
            if handle is not None:
                found[member.name] = handle.read()
    return found


@cache
def cases() -> tuple[Case, ...]:
    """Return every case of the manifest."""
    manifest = json.loads(files()["MANIFEST.json"])
    return tuple(Case(case["id"], case["dialect"], case) for case in manifest["cases"])


def _end(raw: bytes) -> int:
    try:
        return span_head(raw).end
    except UndecodableError:
        return 0
