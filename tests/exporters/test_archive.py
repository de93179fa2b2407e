"""The archive keeps every entry once, through crashes, redelivery, rotation and retention."""

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seekwatch.core.archive import ArchiveEntry
from seekwatch.core.errors import ConfigurationError, RetryableError, UndecodableError
from seekwatch.core.records import Output, StoredOutput
from seekwatch.core.scorecard import encode_line
from seekwatch.core.topics import pack_episodes
from seekwatch.exporters import archive_files
from seekwatch.exporters.archive import ArchiveWriter
from seekwatch.exporters.archive_files import segments
from seekwatch.exporters.archive_reader import looks_like_archive, read_archive
from tests.services.scorecards import START, archive_entry, stored

DAY_MS = 86_400_000
CLOSED = START // 1_000_000


def record(*entries: ArchiveEntry) -> StoredOutput:
    (value,) = pack_episodes(entries)
    return stored(Output.EPISODES, value)


class Writers:
    """Makes writers whose today is the day of the entries; closes them after the test."""

    def __init__(self) -> None:
        self.made: list[ArchiveWriter] = []

    def __call__(self, root: Path, **bounds: int) -> ArchiveWriter:
        self.made.append(ArchiveWriter(root, wall_clock=lambda: START / 1e9, **bounds))
        return self.made[-1]


@pytest.fixture(name="writer")
def every_writer_closed() -> Iterator[Writers]:
    writers = Writers()
    yield writers
    for made in writers.made:
        made.close()


def entries(count: int, first: int = 0) -> list[ArchiveEntry]:
    return [archive_entry(number) for number in range(first, first + count)]


def test_entries_are_read_back_as_they_were(writer: Writers, tmp_path: Path) -> None:
    written = [*entries(3), archive_entry(1, revision=2)]
    sink = writer(tmp_path)
    sink.deliver([record(*written[:2]), record(*written[2:])])
    sink.close()
    sink.close()
    assert list(read_archive(tmp_path)) == written
    (file,) = segments(tmp_path)
    assert file.path == tmp_path / "2026-01-01" / "episodes-00001.jsonl"
    assert file.path.read_bytes() == b"".join(encode_line(entry) + b"\n" for entry in written)
    assert list(read_archive(file.path)) == written


def test_entries_lie_in_the_day_they_were_closed_on(writer: Writers, tmp_path: Path) -> None:
    sink = writer(tmp_path)
    sink.deliver([record(archive_entry(1, closed_at=CLOSED + DAY_MS), archive_entry(2))])
    assert [file.day for file in segments(tmp_path)] == ["2026-01-01", "2026-01-02"]


def test_redelivery_writes_nothing_twice(writer: Writers, tmp_path: Path) -> None:
    batch = record(*entries(3))
    sink = writer(tmp_path)
    sink.deliver([batch])
    sink.deliver([batch, record(*entries(1, first=3))])
    sink.close()
    again = writer(tmp_path)
    again.deliver([batch])
    again.close()
    (file,) = segments(tmp_path)
    assert len(file.path.read_bytes().splitlines()) == 4


def test_redelivery_after_rotation_writes_nothing_twice(writer: Writers, tmp_path: Path) -> None:
    sink = writer(tmp_path, segment_bytes=1)
    for number in range(3):
        sink.deliver([record(archive_entry(number))])
    sink.close()
    assert [file.sealed for file in segments(tmp_path)] == [True, True, False]
    again = writer(tmp_path, segment_bytes=1)
    again.deliver([record(archive_entry(2))])
    again.close()
    assert [entry.episode.trace for entry in read_archive(tmp_path)] == [
        entry.episode.trace for entry in entries(3)
    ]
    assert len(segments(tmp_path)) == 3


def test_a_reader_passes_over_an_entry_that_is_there_twice(writer: Writers, tmp_path: Path) -> None:
    sink = writer(tmp_path)
    sink.deliver([record(*entries(2))])
    (file,) = segments(tmp_path)
    copy = file.path.with_name("episodes-00002.jsonl")
    copy.write_bytes(file.path.read_bytes())
    assert list(read_archive(tmp_path)) == entries(2)


@given(cut=st.integers(min_value=0), more=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_a_crash_at_any_byte_loses_no_committed_entry_and_tears_no_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int, more: int
) -> None:
    root = tmp_path_factory.mktemp("archive")
    writer = Writers()
    sink = writer(root)
    sink.deliver([record(*entries(2))])
    (file,) = segments(root)
    committed = file.path.stat().st_size
    batch = record(*entries(more, first=2))
    sink.deliver([batch])
    sink.close()
    whole = file.path.stat().st_size
    os.truncate(file.path, committed + cut % (whole - committed + 1))
    assert list(read_archive(root))[:2] == entries(2)
    again = writer(root)
    again.deliver([batch])
    again.close()
    assert list(read_archive(root)) == entries(2 + more)
    for line in file.path.read_bytes().splitlines():
        json.loads(line)


def test_a_crash_while_sealing_keeps_the_entries_once(writer: Writers, tmp_path: Path) -> None:
    sink = writer(tmp_path)
    sink.deliver([record(*entries(3))])
    sink.close()
    (file,) = segments(tmp_path)
    open_bytes = file.path.read_bytes()
    archive_files.seal(file)
    file.path.write_bytes(open_bytes)
    (tmp_path / "2026-01-01" / "episodes-00009.jsonl.zst.tmp").write_bytes(b"half")
    writer(tmp_path).close()
    assert [item.sealed for item in segments(tmp_path)] == [True]
    assert [path.name for path in (tmp_path / "2026-01-01").iterdir()] == [
        "episodes-00001.jsonl.zst"
    ]
    assert list(read_archive(tmp_path)) == entries(3)


def test_a_full_disk_is_retryable_and_leaves_no_half_line(
    writer: Writers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = writer(tmp_path)
    sink.deliver([record(*entries(1))])
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        real(descriptor, bytes(data)[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.write", full)
    with pytest.raises(RetryableError, match="No space left"):
        sink.deliver([record(*entries(1, first=1))])
    monkeypatch.undo()
    assert list(read_archive(tmp_path)) == entries(1)
    sink.deliver([record(*entries(1, first=1))])
    assert list(read_archive(tmp_path)) == entries(2)


def test_days_beyond_the_retention_are_deleted_and_past_ones_compressed(
    writer: Writers, tmp_path: Path
) -> None:
    sink = writer(tmp_path)
    for age in (0, 1, 2, 29, 31):
        sink.deliver([record(archive_entry(age, closed_at=CLOSED - age * DAY_MS))])
    sink.close()
    writer(tmp_path, keep_days=30).close()
    assert [(file.day, file.sealed) for file in segments(tmp_path)] == [
        ("2025-12-03", True),
        ("2025-12-30", True),
        ("2025-12-31", False),
        ("2026-01-01", False),
    ]
    assert not (tmp_path / "2025-12-01").exists()


def test_zero_days_keep_everything(writer: Writers, tmp_path: Path) -> None:
    sink = writer(tmp_path)
    sink.deliver([record(archive_entry(1, closed_at=0))])
    sink.close()
    writer(tmp_path, keep_days=0).close()
    assert len(list(read_archive(tmp_path))) == 1


def test_above_the_size_bound_the_oldest_go_first_and_the_newest_stays(
    writer: Writers, tmp_path: Path
) -> None:
    sink = writer(tmp_path, segment_bytes=1, keep_bytes=3000)
    for number in range(12):
        sink.deliver([record(archive_entry(number))])
    kept = [entry.episode.trace for entry in read_archive(tmp_path)]
    every = [entry.episode.trace for entry in entries(12)]
    assert 1 <= len(kept) < 12
    assert kept == every[-len(kept) :]
    assert sum(file.byte_count for file in segments(tmp_path)) <= 3000 + 2000


def test_a_second_writer_is_refused_while_the_first_lives(writer: Writers, tmp_path: Path) -> None:
    first = writer(tmp_path)
    with pytest.raises(ConfigurationError, match="another archive exporter"):
        writer(tmp_path)
    first.close()
    writer(tmp_path).close()


def test_a_directory_that_cannot_be_made_stops_the_start(writer: Writers, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=r"archive\.directory"):
        writer(tmp_path / "file" / "archive")


def test_what_is_no_episodes_record_is_refused(writer: Writers, tmp_path: Path) -> None:
    sink = writer(tmp_path)
    for wrong in (stored(Output.EPISODES, b"junk"), stored(Output.SCORES, b"{}\n")):
        with pytest.raises(UndecodableError):
            sink.deliver([wrong])
    assert segments(tmp_path) == []


def test_only_its_owner_can_read_an_archive(writer: Writers, tmp_path: Path) -> None:
    root = tmp_path / "archive"
    sink = writer(root, segment_bytes=1)
    for number in range(2):
        sink.deliver([record(archive_entry(number))])
    for path in root.rglob("episodes-*"):
        assert path.stat().st_mode & 0o077 == 0
    assert root.stat().st_mode & 0o077 == 0


def test_a_damaged_line_is_named_by_file_and_number(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(encode_line(archive_entry(1)) + b"\n{}\n")
    read = read_archive(file)
    assert next(read) == archive_entry(1)
    with pytest.raises(UndecodableError, match=r"a\.jsonl, line 2: "):
        next(read)


def test_damaged_compression_is_undecodable(writer: Writers, tmp_path: Path) -> None:
    sink = writer(tmp_path, segment_bytes=1)
    for number in range(2):
        sink.deliver([record(archive_entry(number))])
    sealed = segments(tmp_path)[0].path
    data = bytearray(sealed.read_bytes())
    data[len(data) // 2] ^= 0xFF
    sealed.write_bytes(data)
    with pytest.raises(UndecodableError):
        list(read_archive(tmp_path))


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_compressed_file_that_is_cut_off_is_said_so(
    writer: Writers, tmp_path: Path, kept: float
) -> None:
    sink = writer(tmp_path, segment_bytes=1)
    for batch in (entries(500), entries(1, first=500)):
        sink.deliver([record(*batch)])
    sealed = segments(tmp_path)[0].path
    data = sealed.read_bytes()
    sealed.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(UndecodableError):
        list(read_archive(tmp_path))


def test_an_entry_from_a_clock_beyond_all_calendars_stops_nothing(
    writer: Writers, tmp_path: Path
) -> None:
    sink = writer(tmp_path)
    strange = [archive_entry(number, closed_at=at) for number, at in enumerate((2**62, -(2**62)))]
    sink.deliver([record(*strange, archive_entry(9))])
    assert list(read_archive(tmp_path)) == [archive_entry(9), *strange]


def test_a_damaged_line_in_an_open_file_does_not_stop_the_next_writer(
    writer: Writers, tmp_path: Path
) -> None:
    first = writer(tmp_path)
    first.deliver([record(archive_entry(1))])
    first.close()
    with segments(tmp_path)[0].path.open("ab") as file:
        file.write(b"\0\0\0\n")
    second = writer(tmp_path)
    second.deliver([record(archive_entry(1)), record(archive_entry(2))])
    assert len(segments(tmp_path)[0].path.read_bytes().splitlines()) == 3


@pytest.mark.parametrize("path", ["missing", "empty"])
def test_what_is_no_archive_is_said_so(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=path):
        list(read_archive(tmp_path / path))


def test_an_archive_is_told_from_an_otlp_file(tmp_path: Path) -> None:
    archive = tmp_path / "a.jsonl"
    archive.write_bytes(encode_line(archive_entry(1)) + b"\n")
    otlp = tmp_path / "b.jsonl"
    otlp.write_text('{"resourceSpans": []}\n')
    assert looks_like_archive(archive)
    assert not looks_like_archive(otlp)
    assert not looks_like_archive(tmp_path / "..")
