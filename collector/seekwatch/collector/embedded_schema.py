"""The embedded log's file: its tables, its version, and how a connection to it is made.

All topics share one table whose key is (stream, offset) packed into one integer, so that a
partition lies together on disk in the order in which it is read.
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from seekwatch.core.errors import ConfigurationError, PermanentError, RetryableError
from seekwatch.core.records import Output, Signal

SCHEMA_VERSION: Final = 1
"""Kept in the file's `user_version`; an older file is migrated, a newer one refused."""

APPLICATION_ID: Final = 0x5EE4_0001
"""Tells our file from any other SQLite file (`PRAGMA application_id`)."""

OFFSET_BITS: Final = 40
"""Bits of an offset inside a record's id: 10^12 records per stream, 2^23 streams."""

Topic = Signal | Output
TOPICS: Final[tuple[Topic, ...]] = (*Signal, *Output)

_BUSY_SECONDS: Final = 10.0
_TABLES: Final = """
CREATE TABLE streams (
    stream INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    start_offset INTEGER NOT NULL DEFAULT 0,
    end_offset INTEGER NOT NULL DEFAULT 0,
    timestamp INTEGER NOT NULL DEFAULT 0,
    UNIQUE (topic, partition)
);
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    timestamp INTEGER NOT NULL,
    key BLOB,
    value BLOB NOT NULL,
    headers BLOB
);
CREATE TABLE positions (
    stream INTEGER PRIMARY KEY,
    offset INTEGER NOT NULL,
    read_offset INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE consumers (
    consumer TEXT NOT NULL,
    stream INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    PRIMARY KEY (consumer, stream)
) WITHOUT ROWID;
"""


@contextmanager
def sqlite_errors() -> Generator[None]:
    """Turn SQLite's errors into ours: what may pass (busy, full, I/O), and what may not."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise RetryableError(f"the embedded log: {error}", retry_after=1.0) from error
    except sqlite3.DatabaseError as error:
        raise PermanentError(f"the embedded log: {error}") from error


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection whose commits are on disk when they return.

    It may be used from several threads, one at a time.
    """
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def prepare(path: Path, partitions: int | None, default_partitions: int) -> int:
    """Create the file or check the one that is there; return its number of partitions.

    Raises:
        ConfigurationError: another kind of file, another schema, or another partition count.
        RetryableError: the file is locked or cannot be read now.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = connect(path)
    except sqlite3.DatabaseError as error:
        raise _unusable(path, str(error)) from error
    try:
        with sqlite_errors(), transaction(connection):
            _create_or_check(connection, path, partitions or default_partitions)
            found = _count(connection)
    except PermanentError as error:
        raise _unusable(path, str(error)) from error
    finally:
        connection.close()
    if partitions is not None and partitions != found:
        raise ConfigurationError(
            "embedded.partitions",
            partitions,
            f"the file {path} has {found}; keep that number, or begin a new file",
        )
    return found


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Generator[None]:
    """Run the block in one transaction: all of it, or nothing."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _create_or_check(connection: sqlite3.Connection, path: Path, partitions: int) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if version == 0 and tables == 0:
        _create(connection, partitions)
    elif application != APPLICATION_ID:
        raise _unusable(path, "it is a database of something else")
    elif version != SCHEMA_VERSION:
        raise _unusable(
            path, f"it has schema version {version}, this Seekwatch reads {SCHEMA_VERSION}"
        )


def _create(connection: sqlite3.Connection, partitions: int) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.executemany(
        "INSERT INTO streams (stream, topic, partition) VALUES (?, ?, ?)",
        [
            (number * partitions + partition, topic.value, partition)
            for number, topic in enumerate(TOPICS)
            for partition in range(partitions)
        ],
    )
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _count(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute(
        "SELECT count(*) FROM streams WHERE topic = ?", (Signal.TRACES.value,)
    ).fetchone()
    return int(count)


def _unusable(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        "embedded.path", str(path), f"{why}; name another file, or move this one away to begin anew"
    )
