"""A small linear model of how soon an answer changes: three weights for each word, phrase and sign.

The three numbers of a question are the odds that its answer changes at all, within a year or so,
and within a day. They are sums, so that what weighed most can be shown to the person who is paged.
The weights are data beside this module, made by `benchmarks/training/regimes.py`.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import exp
from typing import Final

import msgspec

from seekwatch.processors.questions.signs import NAMES, signs_in

THRESHOLDS: Final = 3
"""Changes at all; within a year; within a day."""

DATA: Final = "regime_model.json"

Weights = tuple[float, float, float]
_NOTHING: Final[Weights] = (0.0, 0.0, 0.0)
_START: Final = "^"
_HEAD: Final = 2
"""Words that a question begins with: "how many", "who is"."""
_GRAMS: Final = (3, 4, 5)
_SHORTEST: Final = 3
"""Characters of the shortest word whose parts are looked at."""
_LENGTHS: Final = (4, 6, 8, 11, 15, 21)
"""Words above which a question is of the next length."""
_KEPT: Final = 16_384
"""Words whose weights are kept at hand; hostile questions must not fill the memory."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What the model says of a question.

    Attributes:
        odds: probabilities that the answer changes at all, within a year, within a day; falling.
        parts: words and phrases (`spelled`) with their weights, without the signs'.
        met: share of the words that the model has met.
        met_in_time: share of those that it has met in questions of which it was told how soon.
    """

    odds: Weights
    parts: tuple[tuple[str, Weights], ...]
    met: float
    met_in_time: float


class Table(msgspec.Struct, frozen=True):
    """The data.

    Attributes:
        step: what the weights are whole numbers of.
        met: words of the training questions, separated by spaces.
        met_in_time: those of them in questions labelled with how soon the answer changes; in some
            languages it is only known whether it does.
        trained_on: SHA-256 of the files of questions, so that a measurement can tell what it has
            seen.
    """

    step: float
    bias: Weights
    met: str
    met_in_time: str
    weights: dict[str, Weights]
    trained_on: tuple[str, ...] = ()


def phrase_features(words: Sequence[str]) -> list[str]:
    """Phrases of two and three words, and each word with the first two (`who is|ceo`)."""
    if not words:
        return []
    line = (_START, *words)
    pairs = [f"{first} {second}" for first, second in pairwise(line)]
    names = [*pairs, *(f"{pair} {word}" for pair, word in zip(pairs, line[2:], strict=False))]
    if len(words) > _HEAD:
        head = f"{words[0]} {words[1]}"
        names += [f"{head}|{word}" for word in words[_HEAD:]]
    return names


def spelled(feature: str) -> str:
    """A word's or phrase's feature as it is shown to people."""
    return feature.removeprefix(f"{_START} ").replace("|", " … ")


def word_features(word: str) -> Iterator[str]:
    """A word and its parts of three to five characters, so that unmet forms are known by them."""
    yield word
    if len(word) >= _SHORTEST:
        closed = f"<{word}>"
        for size in _GRAMS:
            for start in range(len(closed) - size + 1):
                yield f"~{closed[start : start + size]}"


def sign_features(signs: int, length: int) -> Iterator[str]:
    """The signs, each pair of them, and how long the question is (`length_of`)."""
    shown = [name for place, name in enumerate(NAMES) if signs >> place & 1]
    for place, name in enumerate(shown):
        yield f"sign:{name}"
        for other in shown[place + 1 :]:
            yield f"sign:{name}+{other}"
    yield f"length:{length}"


def length_of(words: Sequence[str]) -> int:
    """How long a question is, in steps."""
    return sum(len(words) > bound for bound in _LENGTHS)


def features(words: Sequence[str]) -> list[str]:
    """Every feature of a question, as the weights were trained on."""
    return [
        *(feature for word in words for feature in word_features(word)),
        *phrase_features(words),
        *sign_features(signs_in(words), length_of(words)),
    ]


class RegimeModel:
    """The weights of one table, with what has been looked up of common words kept at hand.

    Attributes:
        trained_on: SHA-256 of the files that the weights are from.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self.trained_on = table.trained_on
        self._met = frozenset(table.met.split(" "))
        self._met_in_time = frozenset(table.met_in_time.split(" "))
        self._words: dict[str, Weights] = {}
        self._signs: dict[tuple[int, int], Weights] = {}

    def judge(self, words: Sequence[str], signs: int) -> Judged:
        """Add up what the words, phrases and signs of a question say.

        Args:
            words: of the folded question, years and numbers replaced.
            signs: of the same words.
        """
        table = self._table
        kept, weights = self._words, table.weights
        parts = [(word, kept.get(word) or self._of_word(word)) for word in words]
        parts += [(name, weights[name]) for name in phrase_features(words) if name in weights]
        totals = _sum([part for _, part in parts], self._of_signs(signs, length_of(words)))
        first, second, third = (
            _probability(bias + table.step * total)
            for bias, total in zip(table.bias, totals, strict=True)
        )
        return Judged(
            odds=(first, min(first, second), min(first, second, third)),
            parts=tuple(parts),
            met=_share(words, self._met),
            met_in_time=_share(words, self._met_in_time),
        )

    def _of_word(self, word: str) -> Weights:
        table = self._table.weights
        found = _sum([table[name] for name in word_features(word) if name in table])
        if len(self._words) < _KEPT:
            self._words[word] = found
        return found

    def _of_signs(self, signs: int, length: int) -> Weights:
        kept = self._signs.get((signs, length))
        if kept is None:
            table = self._table.weights
            kept = _sum([table[name] for name in sign_features(signs, length) if name in table])
            if len(self._signs) < _KEPT:
                self._signs[signs, length] = kept
        return kept


@cache
def shipped() -> RegimeModel:
    """Return the model of the package; read when the first question is asked."""
    text = files("seekwatch.processors.questions").joinpath(DATA).read_bytes()
    return RegimeModel(msgspec.json.decode(text, type=Table))


def _share(words: Sequence[str], met: frozenset[str]) -> float:
    return sum(word in met for word in words) / len(words) if words else 0.0


def _sum(weights: Sequence[Weights], start: Weights = _NOTHING) -> Weights:
    first, second, third = zip(start, *weights, strict=True)
    return sum(first), sum(second), sum(third)


def _probability(logit: float) -> float:
    return 1 / (1 + exp(-max(-60.0, min(60.0, logit))))
