"""Query quality: what the question constrains and names, and what the queries keep of it."""

import msgspec
import pytest

from seekwatch.core.model import Completeness, Search, StopReason
from seekwatch.core.policy import Policy, QueryPolicy
from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.testing import START
from seekwatch.core.verdicts import Reason, Verdict
from seekwatch.processors.testing import assert_axis, score_trace
from tests.services.runs import episode, good_run


def judged(question: str | None, *queries: str, policy: Policy | None = None) -> AxisVerdict:
    searches = tuple(
        Search(span=f"{index:016x}", start=START + index, end=START + index + 1, query=query)
        for index, query in enumerate(queries, 1)
    )
    run = episode(question=question, searches=searches)
    return score_trace(run, policy=policy).axis(Axis.QUERY_QUALITY)


KEPT = [
    ("Best laptop under $1,500 in 2026?", "best laptop 2026 under 1500 dollars"),
    ("Who won the 2007 Copa America Final?", "2007 Copa America final winner"),
    ("What happened on March 5, 2024 in Berlin?", "Berlin events 5 March 2024"),
    ("What happened on March 5, 2024 in Berlin?", "Berlin 2024-03-05"),
    ("What is the latest Python version?", "python newest release"),
    ("What is the latest Python version?", "python version 2026"),
    ("Cities with more than 5 million people in Germany", "German cities over 5,000,000 people"),
    ("Hotels in Japan without breakfast", "japanese hotels not including breakfast -buffet"),
    ("How far is 10 km north of the reserve?", "ten kilometers north of reserve 10km"),
    ("Changes in Django 5.1.2", "django v5.1.2 changelog"),
    ("The second continental congress", "2nd continental congress"),
    ("特斯拉2024年在中国的销量超过50万辆吗", "特斯拉 2024 中国 销量 50万辆"),
    ("日本でiPhone 16はいくらですか", "iPhone 16 価格 日本"),
    ("Unemployment in the United States in 1932", "US unemployment rate 1932"),
    ("Who played for the Hornets in 1992-93?", "Hornets roster 1992–93 season"),
    ("docs on retries site:python.org", "retries site:python.org"),
]


@pytest.mark.parametrize(("question", "query"), KEPT)
def test_a_constraint_in_another_spelling_is_kept(question: str, query: str) -> None:
    verdict = judged(question, query)
    constraints = [check for check in verdict.checks if check.name == "constraints"]
    assert [check.verdict for check in constraints] == [Verdict.GOOD], verdict


DROPPED = [
    ("Best laptop under $1,500 in 2026?", "best laptop under $1,500", "2026"),
    ("Best laptop under $1,500 in 2026?", "best laptop 2026", "under $1,500"),
    ("Best laptop under $1,500?", "best laptop over $1,500", "under $1,500"),
    ("What happened on March 5, 2024 in Berlin?", "Berlin events March 5", "2024"),
    ("What happened on March 5, 2024 in Berlin?", "Berlin events 2024", "March 5"),
    ("Hotels in Japan without breakfast", "hotels Japan breakfast", "without breakfast"),
    ("Changes in Django 5.1.2", "django 5.1 changelog", "5.1.2"),
    ("What is new in Windows 7 for Windows users?", "what is new in Windows", "7"),
    ("The second continental congress", "continental congress delegates", "second"),
    ('Where is the company behind "Revenge" based?', "company based", '"Revenge"'),
    ("docs on retries site:python.org", "docs on retries", "site:python.org"),
    ("What is the latest Python version?", "python version history", "latest"),
    ("特斯拉2024年在中国的销量", "特斯拉 中国 销量", "2024"),
    ("特斯拉2024年在中国的销量", "特斯拉 2024 销量", "中国"),
    ("北京除了故宫还有哪些景点", "北京 故宫 景点", "除了"),
    ("张伟上周访问了哪些国家", "张伟 访问 国家", "上周"),
    ("Who played for the Hornets in 1992-93?", "Hornets roster 1992", "1992-93"),
]


@pytest.mark.parametrize(("question", "query", "span"), DROPPED)
def test_a_dropped_constraint_is_named(question: str, query: str, span: str) -> None:
    verdict = judged(question, query)
    assert verdict.verdict is Verdict.BAD
    assert f"«{span}" in verdict.evidence
    assert "constraint-drop" in verdict.tags


def test_a_question_split_over_queries_is_judged_on_all_of_them() -> None:
    verdict = judged(
        "Did Berlin or Paris have more visitors in 2024?",
        "Berlin visitors 2024",
        "Paris visitors 2024",
    )
    assert verdict.verdict is Verdict.GOOD
    assert [check.subject for check in verdict.checks if check.name == "on-topic"] == [
        "Berlin visitors 2024",
        "Paris visitors 2024",
    ]


def test_a_lost_name_is_named() -> None:
    verdict = judged("What did Ada Lovelace write about Charles Babbage?", "famous engines notes")
    assert "entity-loss" in verdict.tags
    entities = next(check for check in verdict.checks if check.name == "entities")
    assert "«Ada Lovelace»" in entities.evidence
    assert "«Charles Babbage»" in entities.evidence


def test_an_acronym_stands_for_its_name() -> None:
    verdict = judged("Who leads the World Health Organization?", "who leads the WHO director")
    assert verdict.verdict is Verdict.GOOD


def test_a_chinese_name_that_is_gone_is_lost() -> None:
    verdict = judged("清华大学在哪里", "大学 位置")
    assert "entity-loss" in verdict.tags


def test_a_query_that_keeps_almost_nothing_is_over_broad() -> None:
    verdict = judged(
        "which tram stops near the harbour closed for repair after flooding", "public transport"
    )
    assert "over-broad" in verdict.tags


def test_a_query_about_something_else_is_reported_and_does_not_decide() -> None:
    verdict = judged("capital of France", "capital of France", "pasta recipes")
    assert verdict.verdict is Verdict.GOOD
    off_topic = [check for check in verdict.checks if check.verdict is Verdict.BAD]
    assert [check.subject for check in off_topic] == ["pasta recipes"]


def test_a_year_that_the_agent_added_is_no_drop() -> None:
    assert judged("latest Rust release", "Rust latest release 2026").verdict is Verdict.GOOD


def test_the_score_is_the_mean_of_key_terms_and_content_words() -> None:
    verdict = judged("Did Ada Lovelace move to Berlin in 1840 or 1841?", "Ada Lovelace Berlin 1840")
    measures = verdict.measures
    assert measures["constraint_preservation"] == pytest.approx(2 / 3)
    assert measures["entity_recall"] == 1.0
    assert verdict.score == pytest.approx((2 / 3 + measures["content_recall"]) / 2)
    assert verdict.score is not None
    assert measures["scale"] == pytest.approx(1 + 4 * verdict.score)


def test_policy_decides_how_much_must_be_kept() -> None:
    lenient = Policy(query=QueryPolicy(minimum_constraints=0.5))
    question, query = "Was Ada Lovelace in Berlin in 1840 or 1841?", "Ada Lovelace Berlin 1840"
    assert judged(question, query).verdict is Verdict.BAD
    assert judged(question, query, policy=lenient).verdict is Verdict.GOOD


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"question": None}, Reason.NO_QUESTION),
        ({"question": "Why?"}, Reason.NO_QUERY),
        ({"question": None, "completeness": Completeness(withheld=True)}, Reason.NO_CONTENT),
    ],
)
def test_what_was_not_seen_is_unscorable(fields: dict[str, object], reason: Reason) -> None:
    verdict = score_trace(episode(**fields)).axis(Axis.QUERY_QUALITY)
    assert (verdict.verdict, verdict.reason) == (Verdict.UNSCORABLE, reason)


def test_the_axis_attaches_to_the_search_span() -> None:
    builder = good_run()
    card = score_trace(builder)
    found = assert_axis(card, Axis.QUERY_QUALITY, Verdict.GOOD)
    assert found.spans
    assert all(len(span) == 16 for span in found.spans)


SEARCH = Search(span="0" * 15 + "2", start=START, end=START, query="Chile what happened")
STOPPED = {
    "deadline": {"stop_reason": StopReason.DEADLINE},
    "budget": {"stop_reason": StopReason.BUDGET},
    "crash": {"stop_reason": StopReason.CRASHED},
    "lost span": {"completeness": Completeness(missing_parents=1)},
    "unseen query": {"searches": (SEARCH, Search(span="0" * 16, start=START, end=START))},
}


@pytest.mark.parametrize("fields", STOPPED.values(), ids=STOPPED)
def test_where_queries_may_be_missing_a_drop_is_no_finding(fields: dict[str, object]) -> None:
    run = episode(question="What happened in Chile in 2019?", searches=(SEARCH,))
    assert_axis(score_trace(run), "query_quality", "bad", evidence="2019")
    stopped = msgspec.structs.replace(run, **fields)
    verdict = assert_axis(score_trace(stopped), "query_quality", "unscorable", evidence="2019")
    assert verdict.tags == ()


@pytest.mark.parametrize("fields", STOPPED.values(), ids=STOPPED)
def test_what_was_kept_stays_kept_where_queries_may_be_missing(fields: dict[str, object]) -> None:
    run = episode(question="What happened in Chile?", searches=(SEARCH,))
    assert_axis(score_trace(msgspec.structs.replace(run, **fields)), "query_quality", "good")


@pytest.mark.parametrize(
    ("question", "query"),
    [
        (
            "Wow, that is better than I thought. What are treatments for asthma?",
            "asthma treatments",
        ),
        ("谢谢你的解释，真的很有帮助。哮喘有哪些治疗方法？", "哮喘 治疗方法"),
    ],
)
def test_a_remark_before_the_question_is_nothing_that_a_query_could_lose(
    question: str, query: str
) -> None:
    assert judged(question, query).measures["content_recall"] == 1.0


def test_a_name_or_a_number_in_the_remark_is_asked_for_all_the_same() -> None:
    question = "I live in Chile and earn $900. Which taxes do I pay?"
    verdict = judged(question, "which taxes do I pay")
    assert verdict.verdict is Verdict.BAD
    assert "Chile" in verdict.evidence
    assert "900" in verdict.evidence
