"""Train the model of regimes on labelled questions, and say what it gets on questions held back.

    python -m benchmarks.training.regimes --data DIR [--folds N] [--write]

Three logistic regressions over the same features (does the answer change at all, within a year,
within a day), because the sets answer different ones of these: EverGreenQA the first, FreshQA the
first two, RecencyQA all. Where people and a machine labelled one question, people are believed.
Questions that read the same, and a question and its translations, are never parted.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from statistics import mean
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_matrix, diags  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from benchmarks.measures import macro_f1, weighted_f1
from benchmarks.sets import freshness_evergreenqa, freshness_freshqa, freshness_recencyqa
from benchmarks.sets.reading import read_items
from benchmarks.sets.regimes import ORDER, at_most_fast
from benchmarks.training.made_questions import made_questions
from seekwatch.processors.questions import regime_model, regimes
from seekwatch.processors.questions.signs import words_of

TARGET: Final = Path(regime_model.__file__).with_name(regime_model.DATA)
MUTABLE: Final = -1
"""Label of what changes, nobody says how soon."""
_RARE: Final = {"~": 5, "": 3}
"""Questions that must hold a feature: parts of words more than words, of which there are fewer."""
SOURCES: Final = ("freshness_freshqa", "freshness_recencyqa", "freshness_evergreenqa")
_WEIGHTS: Final = {
    "freshqa": 8.0,
    "recencyqa": 1.0,
    "train": 0.7,
    "test": 1.0,
    "translated": 0.3,
    "keywords": 0.3,
}
"""How much a row counts: six translations of a question count as two questions."""
_INVERSE_PENALTY: Final = 0.8
_SIGNS_SCALE: Final = 1.5
"""Signs are believed more readily than single words."""
_LEAST: Final = 0.02
"""Weights below this are left out of the file."""
_MADE: Final = ("keywords", "made")
_SEED: Final = 0
_FUNCTION_WORDS: Final = frozenset(
    words_of(
        "a an the of in on at to for from by with and or is are was were do does did has have had"
        " be been what which who whom whose when where why how that this it its there s"
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question and what it counts as.

    Attributes:
        label: place in the order of regimes, or `MUTABLE`.
        levels: how many of the three thresholds its label speaks of.
        part: what it is measured with, e.g. `evergreenqa ru`.
    """

    part: str
    group: str
    words: tuple[str, ...]
    label: int
    levels: int
    weight: float


def examples(data: Path) -> list[Example]:
    """Read the three sets."""
    found: list[Example] = []
    people = set[str]()
    for item in read_items(data / "freshness_freshqa" / "questions.jsonl"):
        label = [regime.value for regime in ORDER].index(item["regime"])
        found.append(_example(item["question"], "freshqa", freshness_freshqa.YEAR, label, 2))
        people.add(found[-1].group)
    for item in read_items(data / "freshness_recencyqa" / "questions.jsonl"):
        label = [regime.value for regime in ORDER].index(item["regime"])
        part = "machine" if item["source"] == "llm-generated" else "people"
        example = _example(
            item["question"], f"recencyqa {part}", freshness_recencyqa.YEAR, label, 3
        )
        found.append(example)
    for item in read_items(data / "freshness_evergreenqa" / "questions.jsonl"):
        found += _evergreen(item)
    english = [item for item in found if item.weight != _WEIGHTS["translated"]]
    found += [typed for item in english if (typed := keywords(item)) is not None]
    year = freshness_recencyqa.YEAR
    found += [_example(text, "made", year, label, 3) for text, label in made_questions()]
    return found


def keywords(example: Example) -> Example | None:
    """Return a question as it would be typed into a search box; None where it hardly differs."""
    words = tuple(word for word in example.words if word not in _FUNCTION_WORDS)
    if len(words) < 2 or len(words) > len(example.words) - 2:
        return None
    return replace(example, part="keywords", words=words, weight=_WEIGHTS["keywords"])


def _evergreen(item: dict[str, Any]) -> list[Example]:
    label = 0 if item["evergreen"] else MUTABLE
    year, half = freshness_evergreenqa.YEAR, item["upstream_split"]
    own = _example(item["question"], f"evergreenqa {half}", year, label, 1)
    translated = [
        _example(text, f"evergreenqa {code}", year, label, 1, group=own.group)
        for code, text in item.get("translations", {}).items()
    ]
    return [own, *translated]


def _example(
    question: str, part: str, year: int, label: int, levels: int, group: str | None = None
) -> Example:
    words = regimes.question_words(question, year)
    first, _, second = part.partition(" ")
    weight = _WEIGHTS.get(first) or _WEIGHTS.get(second) or _WEIGHTS["translated"]
    return Example(
        part=part,
        group=group or sha256(" ".join(words).encode()).hexdigest(),
        words=tuple(words),
        label=label,
        levels=levels,
        weight=weight,
    )


class Trainer:
    """The examples with their features, fitted as often as there are folds."""

    def __init__(self, items: Sequence[Example]) -> None:
        self._items = items
        lists = [regime_model.features(item.words) for item in items]
        counter = CountVectorizer(analyzer=lambda names: names)
        counts = csr_matrix(counter.fit_transform(lists))
        names = counter.get_feature_names_out()
        met = np.bincount(counts.indices, minlength=counts.shape[1])
        kept = [
            place
            for place, name in enumerate(names)
            if met[place] >= (_RARE["~"] if name.startswith("~") else _RARE[""])
        ]
        self._names = [str(names[place]) for place in kept]
        rarity = np.log(len(items) / met[kept])
        rarity /= rarity.mean()
        signs = np.array([name.startswith(("sign:", "length:")) for name in self._names])
        self._scale = np.where(signs, _SIGNS_SCALE, rarity)
        self._counts = csr_matrix(counts[:, kept] @ diags(self._scale))
        self._people = {item.group for item in items if item.part == "freshqa"}

    def fit(self, rows: Sequence[int]) -> regime_model.Table:
        """Return the table that these examples give."""
        fitted = [self._fit_level(level, rows) for level in range(regime_model.THRESHOLDS)]
        coefficients = np.stack([model.coef_[0] * self._scale for model in fitted], axis=1)
        step = float(np.abs(coefficients).max()) / 127
        whole = np.rint(coefficients / step).astype(int)
        weights = {
            name: (float(row[0]), float(row[1]), float(row[2]))
            for name, row, exact in zip(self._names, whole, coefficients, strict=True)
            if np.abs(exact).max() >= _LEAST and row.any()
        }
        first, second, third = (round(float(model.intercept_[0]), 4) for model in fitted)
        return regime_model.Table(
            step=step,
            bias=(first, second, third),
            met=self._met(rows, levels=1),
            met_in_time=self._met(rows, levels=2),
            weights=weights,
        )

    def _met(self, rows: Sequence[int], levels: int) -> str:
        """The words of questions whose labels speak of so many thresholds."""
        chosen = [self._items[row] for row in rows if self._items[row].levels >= levels]
        times = Counter(word for item in chosen for word in set(item.words))
        return " ".join(sorted(word for word, count in times.items() if count >= _RARE[""]))

    def _fit_level(self, level: int, rows: Sequence[int]) -> Any:
        chosen = [row for row in rows if self._speaks(self._items[row], level)]
        labels = [self._items[row].label for row in chosen]
        truth = [label == MUTABLE or label > level for label in labels]
        model = LogisticRegression(
            C=_INVERSE_PENALTY, solver="liblinear", max_iter=1000, random_state=_SEED
        )
        weight = [self._items[row].weight for row in chosen]
        return model.fit(self._counts[chosen], truth, sample_weight=weight)

    def _speaks(self, item: Example, level: int) -> bool:
        if level >= item.levels:
            return False
        overruled = item.part.startswith("recencyqa") and item.group in self._people
        return not (overruled and level < 2)


def cross_validated(items: Sequence[Example], folds: int, turn: int) -> list[tuple[Example, int]]:
    """Return each example with the regime that a model gives it that has not seen its group.

    Args:
        items: labelled questions; those made by rule are only trained on.
        folds: how many models; each is trained on the rest.
        turn: deals the groups anew.
    """
    trainer = Trainer(items)
    fold_of = [
        int(sha256(f"{turn} {item.group}".encode()).hexdigest(), 16) % folds for item in items
    ]
    found: list[tuple[Example, int]] = []
    for fold in range(folds):
        model = regime_model.RegimeModel(
            trainer.fit([row for row, place in enumerate(fold_of) if place != fold])
        )
        for item, place in zip(items, fold_of, strict=True):
            if place == fold and item.part not in _MADE:
                found.append((item, _place(regimes.read_words(item.words, model))))
    return found


def _place(reading: regimes.Reading) -> int:
    return regimes.REGIMES.index(reading.regime)


def summary(judged: Sequence[tuple[Example, int]]) -> dict[str, float]:
    """Return the measures of the sets, named like the rows of their modules."""
    pairs: dict[str, list[tuple[int, int]]] = {}
    for item, place in judged:
        pairs.setdefault(item.part, []).append((item.label, place))
    people, machine = pairs["recencyqa people"], pairs["recencyqa machine"]
    found = {
        "freshness_freshqa: macro-F1": _macro(pairs["freshqa"], fold=True),
        "freshness_freshqa: insensitive called fast": _false_fast(pairs["freshqa"]),
        "freshness_recencyqa: macro-F1": _macro(people + machine, fold=False),
        "freshness_recencyqa: macro-F1, people's": _macro(people, fold=False),
        "freshness_recencyqa: insensitive called fast": _false_fast(people + machine),
        "freshness_evergreenqa: weighted F1": _weighted(pairs["evergreenqa test"]),
    }
    for code, language in freshness_evergreenqa.LANGUAGES.items():
        name = f"freshness_evergreenqa: weighted F1, {language}"
        found[name] = _weighted(pairs[f"evergreenqa {code}"])
    return found


def _false_fast(pairs: Sequence[tuple[int, int]]) -> float:
    said = [place for label, place in pairs if label == 0]
    return sum(place > 1 for place in said) / max(1, len(said))


def _weighted(pairs: Sequence[tuple[int, int]]) -> float:
    return weighted_f1([(str(true != 0), str(said != 0)) for true, said in pairs]) or 0.0


def _macro(pairs: Sequence[tuple[int, int]], *, fold: bool) -> float:
    names = [
        (ORDER[true].value, at_most_fast(ORDER[said].value) if fold else ORDER[said].value)
        for true, said in pairs
    ]
    return macro_f1(names) or 0.0


def digests(data: Path) -> list[str]:
    """SHA-256 of the files of the three sets."""
    return [sha256((data / name / "questions.jsonl").read_bytes()).hexdigest() for name in SOURCES]


def main() -> int:
    """Cross-validate, and write the model where asked."""
    parser = argparse.ArgumentParser(description="Train the model of regimes.")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--folds", type=int, default=10, help="0: do not cross-validate")
    parser.add_argument("--turns", type=int, default=3, help="cross-validations that are averaged")
    parser.add_argument("--write", action="store_true", help=f"write {TARGET.name}")
    arguments = parser.parse_args()
    items = examples(arguments.data)
    if arguments.folds:
        turns = [
            summary(cross_validated(items, arguments.folds, turn))
            for turn in range(arguments.turns)
        ]
        for name in turns[0]:
            values = [turn[name] for turn in turns]
            spread = f"{min(values):.3f} – {max(values):.3f}"
            sys.stdout.write(f"{name:48} {mean(values):.3f}  ({spread})\n")
    if arguments.write:
        table = Trainer(items).fit(range(len(items)))
        lines = [
            f"{json.dumps(name, ensure_ascii=False)}:{[int(weight) for weight in weights]}"
            for name, weights in sorted(table.weights.items())
        ]
        body = ",\n".join(line.replace(", ", ",") for line in lines)
        TARGET.write_text(
            f'{{"step":{table.step!r},"bias":{list(table.bias)},\n"met":"{table.met}",\n'
            f'"met_in_time":"{table.met_in_time}",\n'
            f'"trained_on":{json.dumps(digests(arguments.data))},\n"weights":{{\n{body}\n}}}}\n',
            encoding="utf-8",
        )
        sys.stdout.write(f"{TARGET.name}: {len(lines)} features, {TARGET.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
