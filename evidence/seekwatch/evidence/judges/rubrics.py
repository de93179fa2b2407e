"""Rubrics: what a model is asked and how it may answer, as files with a revision.

A changed rubric is another judge: its digest is part of every judgement, so that verdicts of two
texts are never compared as if they were one.
"""

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from seekwatch.core.errors import ConfigurationError, why_unreadable

_BUILT_IN: Final = resources.files(__package__ or "") / "rubrics"
_SUFFIX: Final = ".yaml"


class About(StrEnum):
    """What one judgement is about, and so what the model gets to read."""

    QUERIES = "queries"
    """The question and every query of the run."""
    FRESHNESS = "freshness"
    """The question, the day, the answer and the dates of its sources."""
    SOURCE = "source"
    """The question and one cited source."""
    CLAIM = "claim"
    """One claim and the passages of the pages cited for it."""
    ANSWER = "answer"
    """The question, the answer and what the run had read."""


class Rubric(BaseModel):
    """One rubric.

    Attributes:
        name: in settings, metrics and calibration.
        revision: raised by hand when the meaning changes; the digest follows every change.
        about: what it judges.
        instructions: what the model is asked.
        scale: lowest and highest number that it may answer; None where it answers with a label.
        labels: what it may answer; empty where it answers with a number.
        good: the labels that are good. A label that is neither is bad.
        undecided: labels that are no verdict.
        source: paper or convention that the rubric follows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{1,40}$")
    revision: int = Field(ge=1)
    about: About
    instructions: str = Field(min_length=40)
    scale: tuple[int, int] | None = None
    labels: tuple[str, ...] = ()
    good: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    source: str = ""

    @model_validator(mode="after")
    def _answers_fit(self) -> "Rubric":
        if (self.scale is None) == (not self.labels):
            raise ValueError("give either scale or labels")
        if self.scale is not None:
            low, high = self.scale
            if not low < high:
                raise ValueError("scale: the first number must be below the second")
        unknown = {*self.good, *self.undecided} - set(self.labels)
        if unknown:
            raise ValueError(f"good, undecided: not among the labels: {', '.join(sorted(unknown))}")
        if self.labels and not self.good:
            raise ValueError("good: name at least one label")
        return self

    @cached_property
    def digest(self) -> str:
        """Twelve hex characters over everything that the rubric says."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]

    def score_of(self, answered: float | str) -> float:
        """Return a number of the scale, or a label, as a score from 0 (worst) to 1 (best)."""
        if isinstance(answered, str):
            return 1.0 if answered in self.good else 0.0
        low, high = self.scale or (0, 1)
        return (answered - low) / (high - low)


def built_in_names() -> list[str]:
    """Return the names of the rubrics that come with Seekwatch."""
    return sorted(
        entry.name.removesuffix(_SUFFIX)
        for entry in _BUILT_IN.iterdir()
        if entry.name.endswith(_SUFFIX)
    )


def load_rubrics(named: Iterable[str]) -> list[Rubric]:
    """Return rubrics by name (built in) or by path (`*.yaml`, one's own).

    Raises:
        ConfigurationError: a rubric is not there or says something that it may not.
    """
    return [_load(each) for each in dict.fromkeys(named)]


def _load(named: str) -> Rubric:
    key = "judges.rubrics"
    if named.endswith((_SUFFIX, ".yml")):
        try:
            text = Path(named).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise ConfigurationError(key, named, why_unreadable(error)) from error
    elif named in built_in_names():
        text = (_BUILT_IN / f"{named}{_SUFFIX}").read_text(encoding="utf-8")
    else:
        fix = f"use one of {', '.join(built_in_names())}, or the path of a {_SUFFIX} file"
        raise ConfigurationError(key, named, f"no such rubric; {fix}")
    try:
        return Rubric.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise ConfigurationError(key, named, f"is no YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the rubric"
        raise ConfigurationError(key, named, f"{where}: {first['msg']}") from error
