"""How a position is kept in the group's committed offsets.

An offset has room for a string beside it; ours says where reading the scores begins, so that the
position of a partition is one thing and moves in one step.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from seekwatch.collector.kafka_client import OffsetAndMetadata
from seekwatch.core.errors import PermanentError

METADATA_UNITS: Final = 4096
"""Kafka's limit (`offset.metadata.max.bytes`), which it counts in UTF-16 units."""


class _Metadata(msgspec.Struct):
    version: int = 1
    scores_offset: int = 0
    read_offset: int = 0


def offset_with_metadata(offset: int, scores_offset: int, read_offset: int) -> Any:
    """Return what is committed for one topic's partition.

    Args:
        offset: where reading begins at the next start.
        scores_offset: where reading the scores begins then.
        read_offset: up to where records were dealt with, although they are read again.

    Raises:
        PermanentError: the metadata is longer than Kafka takes; inside a transaction it would end
            the producer.
    """
    metadata = msgspec.json.encode(
        _Metadata(scores_offset=scores_offset, read_offset=read_offset)
    ).decode()
    if len(metadata.encode("utf-16-le")) // 2 > METADATA_UNITS:
        raise PermanentError(f"offset metadata of more than {METADATA_UNITS} UTF-16 units")
    return OffsetAndMetadata(offset, metadata, -1)


def scores_offset(committed: Mapping[Any, Any]) -> int:
    """Return where to begin reading scores: the lowest that the committed offsets name.

    Offsets that somebody else has written (a reset by hand) name none, and the scores are read
    from their beginning.
    """
    found = [_metadata(value).scores_offset for value in committed.values()]
    return min(found, default=0)


def read_offset(committed: Any) -> int:
    """Return up to where the records of one topic's partition were dealt with; 0 when unknown."""
    return _metadata(committed).read_offset


def _metadata(committed: Any) -> _Metadata:
    try:
        text = "" if committed is None else committed.metadata or ""
        return msgspec.json.decode(text, type=_Metadata)
    except msgspec.DecodeError:
        return _Metadata()
