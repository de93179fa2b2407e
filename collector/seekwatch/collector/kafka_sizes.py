"""Records that a topic would not take, made to fit before they are sent.

One record that is too large fails its whole transaction, and would again after every restart: a
worker could never get past it.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from seekwatch.core.records import Output, OutputRecord

_LOG: Final = logging.getLogger(__name__)

_OVERHEAD: Final = 1024
"""Of a batch and a record around key, value and headers; generous."""

OMITTED_HEADER: Final = "omitted-bytes"
"""Of a dead letter whose value was left out: how many bytes it had."""


def fitted(records: Sequence[OutputRecord], limits: Mapping[Output, int]) -> list[OutputRecord]:
    """Return the records that can be published.

    A dead letter that is too large keeps its headers, which tell where the original lies, and
    loses its value. An episode that is too large is left out: its scorecard is published, but
    it cannot be scored again.

    Args:
        records: of one commit.
        limits: the largest record batch that each topic takes, in bytes before compression.
    """
    return [made for record in records if (made := _fitted(record, limits)) is not None]


def _fitted(record: OutputRecord, limits: Mapping[Output, int]) -> OutputRecord | None:
    limit = limits.get(record.output)
    size = _size(record)
    if limit is None or size <= limit:
        return record
    if record.output is Output.DEAD_LETTERS:
        return OutputRecord(
            output=record.output,
            partition=record.partition,
            key=record.key,
            value=b"",
            headers=(*record.headers, (OMITTED_HEADER, b"%d" % len(record.value))),
        )
    if record.output is Output.EPISODES:
        _LOG.error(
            "an episode of %d bytes on partition %d is not published: its topic takes %d"
            " (max.message.bytes)",
            size,
            record.partition,
            limit,
        )
        return None
    return record


def _size(record: OutputRecord) -> int:
    headers = sum(len(name) + len(value) for name, value in record.headers)
    return len(record.value) + len(record.key or b"") + headers + _OVERHEAD
