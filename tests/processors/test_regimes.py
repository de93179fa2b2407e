"""Regimes: how fast the answer to a question changes, by its wording and the year of the run."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core.policy import Regime
from seekwatch.processors.questions import regime_model
from seekwatch.processors.questions.regime_model import RegimeModel, Table, features
from seekwatch.processors.questions.regimes import (
    question_words,
    reading_of_question,
    regime_from_name,
    regime_of_question,
)
from seekwatch.processors.questions.signs import signs_in


@pytest.mark.parametrize(
    ("question", "regime"),
    [
        ("What is the Bitcoin price right now?", "real-time"),
        ("Will it rain in Oslo today?", "real-time"),
        ("今天北京天气怎么样", "real-time"),
        ("腾讯现在的股价是多少", "real-time"),
        ("What is the latest version of Android?", "fast"),
        ("Which films came out this week?", "fast"),
        ("How much does the new phone cost?", "fast"),
        ("最新的iPhone多少钱", "fast"),
        ("Who is the current prime minister of Norway?", "slow"),
        ("Who is the CEO of the company?", "slow"),
        ("How many people have walked on the moon?", "slow"),
        ("现任美国总统是谁", "slow"),
        ("Who wrote Middlemarch?", "insensitive"),
        ("When was the bridge built?", "insensitive"),
        ("Why is the sky blue?", "insensitive"),
        ("What was the unemployment rate in March 2020?", "insensitive"),
        ("2008年奥运会在哪里举行", "insensitive"),
        ("What state is known as the Aloha State?", "insensitive"),
    ],
)
def test_wording_decides(question: str, regime: str) -> None:
    assert regime_of_question(question, 2026) is Regime(regime)


def test_a_year_is_past_only_once_it_is_over() -> None:
    question = "What are the sales of electric cars in 2026?"
    assert regime_of_question(question, 2026) is Regime.FAST
    assert regime_of_question(question, 2027) is Regime.INSENSITIVE


@pytest.mark.parametrize(
    ("question", "regime"),
    [
        ("Кто сейчас президент Кении?", "slow"),
        ("Сколько лет Бьорк?", "slow"),
        ("Qui a écrit Madame Bovary ?", "insensitive"),
        ("Wie alt ist die Sängerin?", "slow"),
        ("Wer erfand den Buchdruck?", "insensitive"),
        ("Wie ist das Wetter heute in Köln?", "real-time"),
        ("¿Cuál es el precio del oro hoy?", "fast"),
        ("¿Quién escribió Rayuela?", "insensitive"),
        ("מי כתב את התנ״ך?", "insensitive"),
        ("كم عدد سكان القاهرة؟", "slow"),
        ("قصة الحضارة من كتبها؟", "insensitive"),
        ("東京の今日の天気は?", "real-time"),
        ("Mikä on Suomen pääkaupunki?", "insensitive"),
        ("Kuka kirjoitti Kalevalan?", "insensitive"),
    ],
)
def test_other_languages_are_read_by_what_is_known_of_them(question: str, regime: str) -> None:
    assert regime_of_question(question, 2026) is Regime(regime)


@pytest.mark.parametrize(
    "question", ["", "?", "x", "Zażółć gęślą jaźń", "ⵜⴰⵎⴰⵣⵉⵖⵜ ⵜⴰⵎⵙⵉⵔⵜ", "🦆🦆"]
)
def test_what_cannot_be_read_is_insensitive(question: str) -> None:
    assert regime_of_question(question, 2026) is Regime.INSENSITIVE


@pytest.mark.parametrize(
    ("query", "regime"),
    [
        ("bitcoin price", "real-time"),
        ("weather oslo", "real-time"),
        ("latest firefox version", "fast"),
        ("population of chile", "slow"),
        ("marie curie birthplace", "insensitive"),
    ],
)
def test_bare_search_words_are_read_too(query: str, regime: str) -> None:
    assert regime_of_question(query, 2026) is Regime(regime)


def test_the_reading_says_which_rule_or_words_decided() -> None:
    assert "year that is over" in reading_of_question("Who won in Oslo in 2019?", 2026).why
    assert "«" in reading_of_question("Who is the CEO of the company?", 2026).why
    assert "signs: today" in reading_of_question("Bugün altın ne kadar?", 2026).why


def test_the_model_adds_up_exactly_the_features_it_was_trained_on() -> None:
    question = "How many people live in the largest city of Chile this year?"
    words = question_words(question, 2026)
    names = features(words)
    table = Table(
        step=1.0,
        bias=(0.0, 0.0, 0.0),
        met="",
        met_in_time="",
        weights=dict.fromkeys(names, (0.01, 0.001, 0.0001)),
    )
    judged = RegimeModel(table).judge(words, signs_in(words))
    odds = [1 / (1 + math.exp(-len(names) * weight)) for weight in (0.01, 0.001, 0.0001)]
    assert judged.odds == pytest.approx(odds)


@given(st.text(max_size=3_000), st.integers(1970, 2100))
def test_any_text_has_a_regime_and_one_readable_line(text: str, year: int) -> None:
    reading = reading_of_question(text, year)
    assert isinstance(reading.regime, Regime)
    assert reading.why
    assert "\n" not in reading.why


def test_the_model_is_small() -> None:
    assert Path(regime_model.__file__).with_name(regime_model.DATA).stat().st_size < 1_500_000


@pytest.mark.parametrize(
    ("name", "regime"),
    [
        ("real-time", Regime.REAL_TIME),
        ("REAL_TIME", Regime.REAL_TIME),
        ("realtime", Regime.REAL_TIME),
        (" slow ", Regime.SLOW),
        ("weekly", None),
        ("", None),
        (None, None),
    ],
)
def test_an_agents_own_word_is_read(name: str | None, regime: Regime | None) -> None:
    assert regime_from_name(name) is regime
