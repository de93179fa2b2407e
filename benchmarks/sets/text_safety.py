"""Secrets in texts: what the redactor masks, and what it leaves that only looks like one."""

import base64
from pathlib import Path

from benchmarks.measures import measure_row, precision, recall, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from seekwatch.core.redaction import Redactor


def measure(directory: Path) -> list[Row]:
    """Measure the masking of secrets; the texts are encoded, so that no scanner trips over them."""
    redactor = Redactor()
    items = read_items(directory / "secrets.jsonl")
    texts = [base64.b64decode(item["text_b64"]).decode("utf-8", "replace") for item in items]
    judged = [
        (bool(item["secret"]), redactor.text(text) != text)
        for item, text in zip(items, texts, strict=True)
    ]
    return [
        measure_row("text_safety: secrets masked", judged, recall),
        measure_row("text_safety: masked texts that are secrets", judged, precision),
        time_row("text_safety", texts, redactor.text),
    ]
