"""Labels: what people say of a verdict, kept beside the archive and never part of a score.

One JSON object a line, appended; the last word of a person on a thing counts. Labels are what
judges and scorers are compared with, so they say which verdict they are about.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from seekwatch.core.errors import ConfigurationError, why_unreadable
from seekwatch.core.model import Record
from seekwatch.core.scorecard import encode_line
from seekwatch.core.verdicts import Verdict

LABEL_SCHEMA: Final = 1


class Label(Record, frozen=True, kw_only=True):
    """What one person says of one verdict.

    Attributes:
        trace: id of the run.
        about: the axis (`citation_validity` …) or the rubric (`claim-support` …) of the verdict.
        verdict: that the person finds right.
        subject: what was judged, where the run has several (a claim, a URL); empty for all.
        shown: the verdict that the person was shown, if any.
        revision: of the judge or scorer that gave it; empty when it is not known.
        by: who says it.
        at: nanoseconds since the epoch.
        note: in the person's words.
    """

    schema: int = LABEL_SCHEMA
    trace: str
    about: str
    verdict: Verdict
    subject: str = ""
    shown: Verdict | None = None
    revision: str = ""
    by: str = ""
    at: int = 0
    note: str = ""


_DECODER: Final = msgspec.json.Decoder(Label)


def append_label(path: Path, label: Label) -> None:
    """Keep a label.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(encode_line(label) + b"\n")
    except OSError as error:
        raise ConfigurationError("labels", str(path), why_unreadable(error)) from error


def read_labels(path: Path) -> list[Label]:
    """Return the labels of a file, one for each person and thing: the last.

    Raises:
        ConfigurationError: the file cannot be read, or a line is no label.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ConfigurationError("labels", str(path), why_unreadable(error)) from error
    return list(_last(_decoded(path, lines)))


def _decoded(path: Path, lines: Iterable[bytes]) -> Iterator[Label]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            label = _DECODER.decode(line)
        except msgspec.DecodeError as error:
            fix = f"line {number} is no label ({error}); mend it or take it out"
            raise ConfigurationError("labels", str(path), fix) from error
        if label.schema != LABEL_SCHEMA:
            fix = f"line {number} has schema {label.schema}; this release reads {LABEL_SCHEMA}"
            raise ConfigurationError("labels", str(path), fix)
        yield label


def _last(labels: Iterable[Label]) -> Iterable[Label]:
    kept: dict[tuple[str, str, str, str], Label] = {}
    for label in labels:
        key = (label.trace, label.about, label.subject, label.by)
        kept.pop(key, None)
        kept[key] = label
    return kept.values()
