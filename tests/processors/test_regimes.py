"""Regimes: how fast the answer to a question changes, by its wording and the year of the run."""

import pytest

from seekwatch.core.policy import Regime
from seekwatch.processors.questions.regimes import regime_from_name, regime_of_question


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
