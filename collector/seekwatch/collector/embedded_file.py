"""What can be done with the embedded log's file inside one SQLite transaction.

Nothing here waits, locks or begins a transaction: the callers decide what is one atomic step.
"""

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from seekwatch.collector.embedded_schema import OFFSET_BITS, TOPICS, Topic
from seekwatch.core.records import Output, Signal

Headers = tuple[tuple[str, bytes], ...]

_ENCODE_HEADERS: Final = msgspec.msgpack.Encoder()
_DECODE_HEADERS: Final = msgspec.msgpack.Decoder(Headers)
_TRIM_SLICE: Final = 2000
"""Records of one stream that one transaction removes at most: writers wait no longer than that."""


class NewRow(NamedTuple):
    """A record to be appended."""

    topic: Topic
    partition: int
    key: bytes | None
    value: bytes
    headers: Headers = ()


class Row(NamedTuple):
    """A record as it lies in the file."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes
    headers: Headers


class Extent(NamedTuple):
    """Offsets of a stream: the first that is kept, and the next to be given."""

    start: int
    end: int


class StreamTable:
    """Number of each topic's partition in the file, which is fixed when the file is made."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions

    def number(self, topic: Topic, partition: int) -> int:
        """Return the number of a stream."""
        return TOPICS.index(topic) * self.partitions + partition

    def of(self, topic: Topic) -> range:
        """Return the numbers of all partitions of a topic, in order."""
        first = self.number(topic, 0)
        return range(first, first + self.partitions)


def append(
    connection: sqlite3.Connection, streams: StreamTable, rows: Iterable[NewRow]
) -> dict[int, int]:
    """Append rows; return the new end offset of each stream that got some.

    The timestamp is the time of this append, and never earlier than that of the record before.
    """
    by_stream: dict[int, list[NewRow]] = {}
    for row in rows:
        by_stream.setdefault(streams.number(row.topic, row.partition), []).append(row)
    now = time.time_ns() // 1_000_000
    return {stream: _append(connection, stream, group, now) for stream, group in by_stream.items()}


def _append(connection: sqlite3.Connection, stream: int, rows: Sequence[NewRow], now: int) -> int:
    end, last = connection.execute(
        "SELECT end_offset, timestamp FROM streams WHERE stream = ?", (stream,)
    ).fetchone()
    timestamp = max(now, last)
    connection.executemany(
        "INSERT INTO records (id, timestamp, key, value, headers) VALUES (?, ?, ?, ?, ?)",
        (
            (
                _id(stream, end + index),
                timestamp,
                row.key,
                row.value,
                _ENCODE_HEADERS.encode(row.headers) if row.headers else None,
            )
            for index, row in enumerate(rows)
        ),
    )
    connection.execute(
        "UPDATE streams SET end_offset = ?, timestamp = ? WHERE stream = ?",
        (end + len(rows), timestamp, stream),
    )
    return int(end) + len(rows)


def read(
    connection: sqlite3.Connection,
    stream: int,
    offset: int,
    *,
    max_records: int,
    max_bytes: int,
) -> list[Row]:
    """Return records from `offset` on: at least one where there is one, else within the limits."""
    cursor = connection.execute(
        "SELECT id, timestamp, key, value, headers FROM records"
        " WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
        (_id(stream, offset), _id(stream + 1, 0), max_records),
    )
    rows: list[Row] = []
    held = 0
    for number, timestamp, key, value, headers in cursor:
        if rows and held + len(value) > max_bytes:
            break
        held += len(value)
        decoded = _DECODE_HEADERS.decode(headers) if headers else ()
        rows.append(Row(number - _id(stream, 0), timestamp, key, value, decoded))
    cursor.close()
    return rows


def keys_since(
    connection: sqlite3.Connection, stream: int, offset: int, timestamp: int
) -> set[str]:
    """Return the keys of records from `offset` on that came at `timestamp` or later, each once."""
    cursor = connection.execute(
        "SELECT DISTINCT key FROM records WHERE id >= ? AND id < ? AND timestamp >= ?",
        (_id(stream, offset), _id(stream + 1, 0), timestamp),
    )
    return {bytes(key).decode(errors="replace") for (key,) in cursor if key is not None}


def extents(connection: sqlite3.Connection) -> dict[int, Extent]:
    """Return where each stream begins and ends."""
    rows = connection.execute("SELECT stream, start_offset, end_offset FROM streams")
    return {stream: Extent(start, end) for stream, start, end in rows}


def positions(connection: sqlite3.Connection) -> dict[int, int]:
    """Return the worker's committed position of each stream that has one."""
    return dict(connection.execute("SELECT stream, offset FROM positions").fetchall())


def read_positions(connection: sqlite3.Connection) -> dict[int, int]:
    """Return how far the worker had read each stream at its last commit."""
    return dict(connection.execute("SELECT stream, read_offset FROM positions").fetchall())


def move_positions(
    connection: sqlite3.Connection, moved: Mapping[int, int], read: Mapping[int, int]
) -> None:
    """Set committed positions of the worker, and how far it has read."""
    connection.executemany(
        "INSERT INTO positions (stream, offset, read_offset) VALUES (?, ?, ?)"
        " ON CONFLICT (stream) DO UPDATE"
        " SET offset = excluded.offset, read_offset = excluded.read_offset",
        ((stream, offset, read.get(stream, 0)) for stream, offset in moved.items()),
    )


def consumer_offsets(connection: sqlite3.Connection, consumer: str) -> dict[int, int]:
    """Return what a consumer of the outputs has committed."""
    rows = connection.execute(
        "SELECT stream, offset FROM consumers WHERE consumer = ?", (consumer,)
    )
    return dict(rows.fetchall())


def move_consumer(connection: sqlite3.Connection, consumer: str, moved: Mapping[int, int]) -> None:
    """Set what a consumer of the outputs has committed."""
    connection.executemany(
        "INSERT INTO consumers (consumer, stream, offset) VALUES (?, ?, ?)"
        " ON CONFLICT (consumer, stream) DO UPDATE SET offset = excluded.offset",
        [(consumer, stream, offset) for stream, offset in moved.items()],
    )


def used_bytes(connection: sqlite3.Connection) -> int:
    """Return the bytes in use; pages freed inside the file do not count, they are filled first."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


def trim(connection: sqlite3.Connection, streams: StreamTable, *, older_than: int | None) -> int:
    """Remove a slice of the records that nobody needs; return how many.

    Inputs go once the worker has committed past them, scores once it will not read them again at a
    start. Of those, records older than `older_than` (ms since the epoch) go. With None, age does
    not count, and records go that every consumer has read.
    """
    committed, known = positions(connection), extents(connection)
    removed = 0
    for topic in TOPICS:
        for stream in streams.of(topic):
            limit = known[stream].end
            if isinstance(topic, Signal) or topic is Output.SCORES:
                limit = committed.get(stream, known[stream].start)
            if older_than is None:
                if isinstance(topic, Output):
                    limit = min(limit, _read_by_all(connection, stream, limit))
            else:
                limit = _first_younger(connection, stream, known[stream].start, limit, older_than)
            removed += _remove(connection, stream, known[stream].start, limit)
    return removed


def _read_by_all(connection: sqlite3.Connection, stream: int, default: int) -> int:
    (lowest,) = connection.execute(
        "SELECT min(offset) FROM consumers WHERE stream = ?", (stream,)
    ).fetchone()
    return default if lowest is None else int(lowest)


def _first_younger(
    connection: sqlite3.Connection, stream: int, start: int, limit: int, older_than: int
) -> int:
    """Return the first offset in [start, limit) that is to stay; looks at one slice only."""
    limit = min(limit, start + _TRIM_SLICE)
    rows = connection.execute(
        "SELECT id FROM records WHERE id >= ? AND id < ? AND timestamp >= ? ORDER BY id LIMIT 1",
        (_id(stream, start), _id(stream, limit), older_than),
    ).fetchall()
    return rows[0][0] - _id(stream, 0) if rows else limit


def _remove(connection: sqlite3.Connection, stream: int, start: int, limit: int) -> int:
    limit = min(limit, start + _TRIM_SLICE)
    if limit <= start:
        return 0
    connection.execute(
        "DELETE FROM records WHERE id >= ? AND id < ?", (_id(stream, start), _id(stream, limit))
    )
    connection.execute("UPDATE streams SET start_offset = ? WHERE stream = ?", (limit, stream))
    return limit - start


def _id(stream: int, offset: int) -> int:
    return stream << OFFSET_BITS | offset
