"""How fast the answer to a question changes: the regime that its sources' age is judged by.

A few rules that are sure go first; then a small model weighs the words; where it knows too few of
them (another language), signs of time decide. The question alone decides; an agent that knows
better says so in `seekwatch.freshness.regime`.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from seekwatch.core.policy import Regime
from seekwatch.processors.questions.regime_model import (
    Judged,
    RegimeModel,
    Weights,
    shipped,
    spelled,
)
from seekwatch.processors.questions.signs import NAMES, signs_in, words_of
from seekwatch.processors.text.fold import fold

_MAX: Final = 600
"""Characters of a question that are read, of its beginning and of its end: a long prompt asks in
either, and what lies between is its material."""
_MAX_WORDS: Final = 240
_MET: Final = 0.4
"""Share of words that the model has met below which it has no say: another language, or names."""
_CHANGES: Final = 0.5
_SOON_SIGNED: Final = 0.55
_SOON_UNSIGNED: Final = 0.75
_WITHIN_A_DAY: Final = 0.5
"""Odds above which a threshold is passed. What condemns pages within weeks has to be surer, most of
all without a sign of time: nine in ten of people's fast questions have one, the others are mostly
questions whose style alone resembles news."""
_MAX_REASONS: Final = 2

_YEAR: Final = re.compile(r"1\d{3}|20\d\d")
PAST_YEAR: Final = "#past"
NUMBER: Final = "#"
_THIS_YEAR: Final = ("this", "year")
_COMING_YEAR: Final = ("next", "year")

REGIMES: Final = (Regime.INSENSITIVE, Regime.SLOW, Regime.FAST, Regime.REAL_TIME)


def _mask(*names: str) -> int:
    return sum(1 << NAMES.index(name) for name in names)


_PRESENT: Final = _mask("now", "today", "period", "recent", "latest", "next", "last_year")
_PERIOD: Final = _mask("period")
_TODAY: Final = _mask("today")
_NOW: Final = _mask("now", "today")
_FAST: Final = 2
_SOON: Final = (Regime.FAST, Regime.REAL_TIME)
_BY_THE_HOUR: Final = _mask("market", "weather", "live")
_MONTHS: Final = _mask(
    "period", "recent", "latest", "price", "rank", "market", "economy", "weather"
)
_TIMELY: Final = (
    _PRESENT
    | _MONTHS
    | _BY_THE_HOUR
    | _mask("last", "future", "emergency", "news", "event", "release", "role")
    | _mask("count", "superlative")
)
_YEARS: Final = _mask(
    "now", "office", "role", "capital", "population", "age", "rule", "superlative"
)
_PAST: Final = _mask("past", "first")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A regime and why.

    Attributes:
        why: the rule, or the words that weighed most; one short line.
    """

    regime: Regime
    why: str


def regime_of_question(question: str, year: int) -> Regime:
    """Classify a question; what shows no sign of time is insensitive, which condemns nothing.

    Args:
        question: as the user asked it.
        year: of the run; a question about an earlier year has an answer that stays.
    """
    return reading_of_question(question, year).regime


@lru_cache(maxsize=512)
def reading_of_question(question: str, year: int) -> Reading:
    """Classify a question and say why."""
    return read_words(question_words(question, year), shipped())


def question_words(question: str, year: int) -> list[str]:
    """Split a question into folded words; numbers are one word, years say when they are."""
    if len(question) > 2 * _MAX:
        question = f"{question[:_MAX]} {question[-_MAX:]}"
    words: list[str] = []
    for word in words_of(fold(question))[:_MAX_WORDS]:
        if word[0] > "9":
            words.append(word)
        elif _YEAR.fullmatch(word):
            words += _year_words(int(word), year)
        else:
            words.append(NUMBER if word.isdecimal() else word)
    return words


def _year_words(named: int, year: int) -> tuple[str, ...]:
    """A year as it would be said without its number."""
    if named < year:
        return (PAST_YEAR,)
    return _THIS_YEAR if named == year else _COMING_YEAR


def read_words(words: Sequence[str], model: RegimeModel) -> Reading:
    """Classify a question by its words, with a given model."""
    signs = signs_in(words)
    ruled = _by_rule(words, signs)
    if ruled is not None:
        return ruled
    judged = model.judge(words, signs)
    if judged.met < _MET:
        return _by_signs(signs)
    place = _reached(judged.odds, signs)
    if place < _FAST and signs & _PERIOD and PAST_YEAR not in words:
        return Reading(regime=Regime.FAST, why="it asks for this or the last week, month or year")
    if place and judged.met_in_time < _MET:
        # It has learnt of this language only whether an answer changes, not how soon.
        told = _by_signs(signs)
        return told if told.regime in _SOON else Reading(regime=Regime.SLOW, why=told.why)
    return Reading(regime=REGIMES[place], why=_heaviest(judged, place))


def _by_rule(words: Sequence[str], signs: int) -> Reading | None:
    """What needs no weighing."""
    if PAST_YEAR in words and not signs & _PRESENT:
        return Reading(regime=Regime.INSENSITIVE, why="it names a year that is over")
    if signs & _TODAY and signs & _BY_THE_HOUR:
        return Reading(regime=Regime.REAL_TIME, why="it asks for today what changes by the hour")
    return None


def _by_signs(signs: int) -> Reading:
    """What signs say alone, for languages that the model has not met; never faster than sure."""
    if signs & _BY_THE_HOUR and signs & _NOW:
        regime = Regime.REAL_TIME
    elif signs & _TODAY:
        regime = Regime.FAST
    elif signs & _PAST and not signs & _PRESENT:
        regime = Regime.INSENSITIVE
    elif signs & _MONTHS:
        regime = Regime.FAST
    else:
        regime = Regime.SLOW if signs & _YEARS else Regime.INSENSITIVE
    shown = [name for place, name in enumerate(NAMES) if signs >> place & 1][:_MAX_REASONS]
    return Reading(regime=regime, why=f"signs: {', '.join(shown)}" if shown else "no sign of time")


def _reached(odds: Weights, signs: int) -> int:
    """How many thresholds are passed; each needs the ones before it."""
    soon = _SOON_SIGNED if signs & _TIMELY else _SOON_UNSIGNED
    passed = 0
    for chance, bound in zip(odds, (_CHANGES, soon, _WITHIN_A_DAY), strict=True):
        if chance <= bound:
            break
        passed += 1
    return passed


def _heaviest(judged: Judged, place: int) -> str:
    """The phrases that spoke most for the regime: for its own threshold, or against any change."""
    side, threshold = (-1, 0) if place == 0 else (1, place - 1)
    spoke = [side * weights[threshold] for _, weights in judged.parts]
    heaviest: list[str] = []
    for _ in range(_MAX_REASONS):
        most = max(spoke, default=0.0)
        if most > 0:
            at = spoke.index(most)
            heaviest.append(judged.parts[at][0])
            spoke[at] = 0.0
    if not heaviest:
        return "no word speaks of time"
    shown = dict.fromkeys(map(spelled, heaviest))
    return f"words: {', '.join(f'«{words}»' for words in shown)}"


def regime_from_name(name: str | None) -> Regime | None:
    """Read an agent's own regime; other words than ours are no regime."""
    folded = (name or "").strip().lower().replace("_", "-").replace("realtime", "real-time")
    return Regime(folded) if folded in set(Regime) else None
