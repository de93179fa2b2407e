"""Writes `docs/configuration.md` from the settings.

The page is committed, and a test compares it with what `python -m` of this module writes.
"""

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from .declaring import unit_of
from .model import Settings
from .reading import variable

_INTRODUCTION: Final = """\
# Configuration

Every setting can be given in a YAML file (`--config FILE` or `SEEKWATCH_CONFIG`), as an environment
variable, or as a flag (`--set section.key=value`). A flag wins over a variable, a variable over the
file, the file over the default. A variable is `SEEKWATCH_` and the key in capitals, with two
underscores for the dot: `closing.quiet` is `SEEKWATCH_CLOSING__QUIET`.

```yaml
# seekwatch.yaml
closing:
  quiet: 5
receiver:
  host: 0.0.0.0
kafka:
  bootstrap_servers: broker-1:9092,broker-2:9092
  options:               # kafka-python's own names
    security_protocol: SASL_SSL
    sasl_mechanism: SCRAM-SHA-512
    sasl_plain_username: seekwatch
```

A key that does not exist, or a value that cannot be, stops the start with exit code 2; the message
names the key as it was written, the value and the fix. That holds for variables too: an unknown
`SEEKWATCH_…` is taken for a typing error. (The variables that Kubernetes sets for a Service of that
name, `SEEKWATCH_…_SERVICE_HOST` and the like, are passed over.) Secrets are never shown: give them
as variables, or in a file that only Seekwatch can read.

Thresholds of scoring are not here: they are [policy](policy.md), and have a revision.

This page is written from the settings by `python -m seekwatch.monitor.settings.document`.
"""


def document() -> str:
    """Return the page."""
    own: list[str] = []
    sections: list[str] = []
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            sections.append(_section(name, section))
        else:
            own.append(_row(name, field))
    head = _table(own)
    return "\n".join([_INTRODUCTION, "## Files and log\n", head, *sections])


def _section(name: str, model: type[BaseModel]) -> str:
    title = (model.__doc__ or "").strip().splitlines()[0]
    return f"\n## `{name}`\n\n{title}\n\n{_table(_rows(name, model))}"


def _rows(prefix: str, model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        key = f"{prefix}.{name}"
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _rows(key, inner)
        else:
            yield _row(key, field)


def _row(key: str, field: FieldInfo) -> str:
    unit = unit_of(field)
    cells = (
        f"`{key}`",
        _type(field.annotation),
        _default(field.get_default(call_default_factory=True)),
        "" if unit == "-" else unit,
        f"{field.description} <br>`{variable(key)}`",
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _table(rows: Iterator[str] | list[str]) -> str:
    head = "| Key | Type | Default | Unit | What it does |\n|---|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _type(annotation: Any) -> str:
    options = [part for part in get_args(annotation) if part is not NoneType]
    if get_origin(annotation) is dict:
        return "mapping"
    if options and NoneType in get_args(annotation):
        return _type(options[0])
    if get_args(annotation):
        return _type(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return ", ".join(f"`{member}`" for member in annotation)
    names: dict[Any, str] = {str: "text", int: "integer", float: "number", bool: "true or false"}
    names |= {Path: "path", SecretStr: "secret"}
    return names[annotation]


def _default(value: Any) -> str:
    if value is None or value in ("", {}):
        return "empty"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(document())
