"""Reads truth records: what is known to be true of a case."""

import json
from pathlib import Path
from typing import Any, cast

import msgspec
import yaml

from seekwatch.core.errors import ConfigurationError
from seekwatch.core.evidence import TruthRecord


def load_truth(path: Path) -> dict[str, TruthRecord]:
    """Return truth records by case id, from JSON Lines or a YAML (or JSON) list.

    Raises:
        ConfigurationError: unreadable, no list of records, or a case that is there twice.
    """
    records: dict[str, TruthRecord] = {}
    for number, raw in enumerate(_documents(path), start=1):
        try:
            record = msgspec.convert(raw, TruthRecord)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"truth record {number}", str(path), str(error)) from error
        if record.case in records:
            raise ConfigurationError("truth", record.case, f"{path} has this case twice")
        records[record.case] = record
    return records


def _documents(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        document = yaml.safe_load(text)
    except OSError as error:
        raise ConfigurationError("truth", str(path), f"cannot be read: {error}") from error
    except (ValueError, yaml.YAMLError) as error:
        raise ConfigurationError("truth", str(path), f"is no YAML or JSON: {error}") from error
    if not isinstance(document, list):
        raise ConfigurationError("truth", str(path), "must be a list of truth records")
    return cast("list[Any]", document)
