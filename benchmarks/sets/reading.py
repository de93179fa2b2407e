"""Files of the labelled sets: JSON Lines, and pages as gzipped HTML."""

import gzip
import json
from pathlib import Path
from typing import Any


def read_items(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def read_html(path: Path) -> str:
    """Return a page as it was saved; bytes that are no UTF-8 are replaced."""
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
