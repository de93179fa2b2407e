"""The archive entry: everything that re-scoring needs, one JSON line per scored revision.

It is also what the episodes topic carries (compressed), so that an archive is a plain copy.
"""

from typing import TypeVar

import msgspec

from seekwatch.core.errors import UndecodableError
from seekwatch.core.evidence import Evidence
from seekwatch.core.model import Episode, Record
from seekwatch.core.scorecard import SCHEMA_VERSION, Envelope, Scorecard, ScoreEntry


class ArchiveEntry(Record, frozen=True, kw_only=True):
    """One scored episode with what it was scored from."""

    schema: int
    episode: Episode
    evidence: Evidence
    scorecard: Scorecard
    envelope: Envelope


_Entry = TypeVar("_Entry", ArchiveEntry, ScoreEntry)

_ENTRY = msgspec.json.Decoder(ArchiveEntry)
_SCORE = msgspec.json.Decoder(ScoreEntry)


class _SchemaOnly(msgspec.Struct):
    schema: int = 0


def decode_archive_line(line: bytes) -> ArchiveEntry:
    """Decode one line of an archive.

    Raises:
        UndecodableError: not an entry, or of a schema that this version does not read.
    """
    return _decode(_ENTRY, line, "archive entry")


def decode_score_line(line: bytes) -> ScoreEntry:
    """Decode one line of the scores topic.

    Raises:
        UndecodableError: as `decode_archive_line`.
    """
    return _decode(_SCORE, line, "score entry")


def _decode(decoder: "msgspec.json.Decoder[_Entry]", line: bytes, what: str) -> _Entry:
    try:
        entry = decoder.decode(line)
    except msgspec.DecodeError as error:
        raise _refusal(line, what, error) from error
    if entry.schema != SCHEMA_VERSION:
        raise _other_schema(entry.schema, what)
    return entry


def _refusal(line: bytes, what: str, error: msgspec.DecodeError) -> UndecodableError:
    """Prefer to say that the schema is another one over what failed because of it."""
    try:
        schema = msgspec.json.decode(line, type=_SchemaOnly).schema
    except msgspec.DecodeError:
        schema = SCHEMA_VERSION
    if schema not in (0, SCHEMA_VERSION):
        return _other_schema(schema, what)
    return UndecodableError(f"not an {what}: {error}", reason="archive")


def _other_schema(schema: int, what: str) -> UndecodableError:
    return UndecodableError(
        f"{what} of schema {schema}; this version reads {SCHEMA_VERSION}", reason="schema"
    )
