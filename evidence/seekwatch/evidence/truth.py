"""Truth records: what is known to be true of a case, as people write it.

A file is YAML (one mapping from case id to record, or a list of records that name their case) or
JSON Lines (one record a line). Every error names file, line, key and the fix, because these files
are written by hand and checked before a run, not after.
"""

import re
from collections.abc import Hashable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from seekwatch.core.errors import ConfigurationError, why_unreadable
from seekwatch.core.evidence import ExpectedFact, TruthRecord

_JSON_LINES: Final = frozenset({".jsonl", ".ndjson"})


class Match(StrEnum):
    """How an answer is compared to an expected fact."""

    TEXT = "text"
    NUMBER = "number"
    REGEX = "regex"
    ANY = "any"


class FactEntry(BaseModel):
    """A fact that a right answer states.

    Attributes:
        name: short, for reports.
        values: what to find; one is enough. A single one may be written without a list.
        match: how to compare.
        required: whether an answer without it is wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    values: tuple[str, ...] = Field(min_length=1)
    match: Match = Match.TEXT
    required: bool = True

    @field_validator("values", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        return [_plain(item) for item in items]

    @model_validator(mode="after")
    def _values_fit(self) -> "FactEntry":
        for value in self.values:
            if not value.strip():
                raise ValueError("an empty value is in every answer; write what to find")
            if self.match is Match.REGEX:
                try:
                    re.compile(value)
                except re.error as error:
                    raise ValueError(f"{value!r} is no regular expression: {error}") from error
        return self


class TruthEntry(BaseModel):
    """One case.

    Attributes:
        case: the case id that the run carries.
        facts: what a right answer states.
        allowed_sources: registrable domains that may be cited; none allows all.
        refusal_expected: the right answer is to refuse.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    case: str = Field(min_length=1)
    facts: tuple[FactEntry, ...] = ()
    allowed_sources: tuple[str, ...] = ()
    refusal_expected: bool = False

    def record(self) -> TruthRecord:
        """Return the value that scoring reads."""
        facts = tuple(
            ExpectedFact(
                name=fact.name,
                values=fact.values,
                match=str(fact.match),
                required=fact.required,
            )
            for fact in self.facts
        )
        return TruthRecord(
            case=self.case,
            facts=facts,
            allowed_sources=self.allowed_sources,
            refusal_expected=self.refusal_expected,
        )


def load_truth(path: Path) -> dict[str, TruthRecord]:
    """Return the truth records of a file by case id.

    Raises:
        ConfigurationError: unreadable, not YAML or JSON Lines, a wrong key or value, or a case that
            is there twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError("truth", str(path), why_unreadable(error)) from error
    records: dict[str, TruthRecord] = {}
    lines: dict[str, int] = {}
    for written in _written(path, text):
        record = _checked(path, written)
        if record.case in records:
            first = lines[record.case]
            raise _error(path, written.line, "case", record.case, f"line {first} has it already")
        records[record.case] = record
        lines[record.case] = written.line
    return records


class _Written(NamedTuple):
    """A record as it stands in the file: the YAML node of its mapping, and a case from above it."""

    line: int
    node: yaml.Node
    case: str | None = None


def _written(path: Path, text: str) -> Iterator[_Written]:
    if path.suffix in _JSON_LINES:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                node = _composed(path, line, number)
                if node is not None:
                    yield _Written(number, node)
        return
    root = _composed(path, text, 1)
    if isinstance(root, yaml.SequenceNode):
        yield from (_Written(_line(node), node) for node in root.value)
    elif isinstance(root, yaml.MappingNode):
        yield from (_Written(_line(key), value, case=str(key.value)) for key, value in root.value)
    elif root is not None:
        fix = "write a mapping from case id to record, or a list of records"
        raise _error(path, _line(root), "", root.value, fix)


def _composed(path: Path, text: str, first_line: int) -> yaml.Node | None:
    """Parse YAML (JSON is a part of it) into nodes, which know their lines."""
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = first_line + (mark.line if mark is not None else 0)
        problem = getattr(error, "problem", None) or str(error)
        raise _error(path, line, "", None, f"is no YAML or JSON: {problem}") from error


def _checked(path: Path, written: _Written) -> TruthRecord:
    if not isinstance(written.node, yaml.MappingNode):
        key = written.case or ""
        raise _error(path, written.line, key, written.node.value, "write a record: keys and values")
    document = _constructed(path, written)
    if written.case is not None and document.setdefault("case", written.case) != written.case:
        fix = f"it stands under {written.case!r}; leave the key out"
        raise _error(path, written.line, "case", document["case"], fix)
    try:
        return TruthEntry.model_validate(document).record()
    except ValidationError as error:
        finding = error.errors(include_url=False)[0]
        line = written.line if path.suffix in _JSON_LINES else _line_of(written, finding["loc"])
        key = ".".join(str(part) for part in finding["loc"])
        raise _error(
            path, line, key, finding["input"], _fix(finding["type"], finding["msg"])
        ) from error


def _constructed(path: Path, written: _Written) -> dict[str, Any]:
    loader: Any = yaml.SafeLoader("")
    try:
        value = loader.construct_document(written.node)
    except (yaml.YAMLError, ValueError) as error:
        raise _error(path, written.line, written.case or "", None, str(error)) from error
    finally:
        loader.dispose()
    return {str(key): item for key, item in cast("dict[Hashable, Any]", value).items()}


def _line_of(written: _Written, location: tuple[int | str, ...]) -> int:
    """Return the line of the deepest part of a location that stands in the file."""
    node, line = written.node, written.line
    for part in location:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == part]
            if not found:
                return line
            key, node = found[0]
            line = _line(key)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            if part >= len(node.value):
                return line
            node = node.value[part]
            line = _line(node)
    return line


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _fix(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return "no such key; remove it or mend its name"
    return message.removeprefix("Value error, ")


def _plain(value: Any) -> Any:
    """Let numbers, dates and booleans stand for their text, as YAML reads them unasked."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) or value is None else str(value)


def _error(path: Path, line: int, key: str, value: object, fix: str) -> ConfigurationError:
    where = f"{path}:{line}" + (f": {key}" if key else "")
    return ConfigurationError(where, value, fix)
