import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core.model import Answer, Citation
from seekwatch.processors.answers.citations import build_answer, trim_url
from seekwatch.processors.answers.claims import sentences

A, B = "https://a.example/x", "https://b.example/y"


def _answer(text: str, structured: tuple[Citation, ...] | None = None) -> Answer:
    return build_answer(text, "00" * 8, structured)


def _urls(answer: Answer) -> list[str]:
    return [citation.url for citation in answer.citations]


def _cited(answer: Answer) -> list[tuple[str, list[str]]]:
    return [
        (claim.text, [answer.citations[index].url for index in claim.citations])
        for claim in answer.claims
    ]


_PIECES = st.sampled_from(
    [
        "It opened in 1932.",
        " ",
        "\n",
        "\n\n",
        "“",
        "”",
        '"',
        "「",
        "」",
        "。",
        "它于1932年开放",
        "Dr. Li",
        f"[1]({A})",
        f"[2]({B})",
        "[1]",
        "[^2]",
        f"[1]: {A}",
        A,
        f"({B})",
        "> quote",
        "- ",
        "1. ",
        "##",
        "Sources:",
        "参考资料",
        "!",
        "?",
        "...",
        "e.g. ",
        "【1】",
        "[",
        "]",
        "(",
        ")",
        "《》",
        "é",
        "🙂",
    ]
)


@given(st.one_of(st.text(), st.lists(_PIECES, max_size=25).map("".join)))
def test_offsets_are_exact_for_any_text(text: str) -> None:
    answer = _answer(text)
    previous = 0
    for claim in answer.claims:
        assert text[claim.start : claim.end] == claim.text
        assert claim.start >= previous
        previous = claim.end
        assert all(0 <= index < len(answer.citations) for index in claim.citations)
    for citation in answer.citations:
        assert citation.start is not None
        assert citation.end is not None
        assert 0 <= citation.start < citation.end <= len(text)
    assert sum(len(claim.citations) for claim in answer.claims) <= len(answer.citations)


def test_markdown_links_belong_to_the_sentence_that_holds_them() -> None:
    text = f"The array opened in March [1]({A}). It has 18 turbines [Project page]({B})."
    answer = _answer(text)
    assert _cited(answer) == [
        (f"The array opened in March [1]({A}).", [A]),
        (f"It has 18 turbines [Project page]({B}).", [B]),
    ]
    assert [citation.title for citation in answer.citations] == [None, "Project page"]


def test_a_mark_behind_the_full_stop_belongs_to_the_sentence_before_it() -> None:
    text = f"It opened in March. [1]({A}) It has 18 turbines.[2]({B})"
    assert _cited(_answer(text)) == [
        (f"It opened in March. [1]({A})", [A]),
        (f"It has 18 turbines.[2]({B})", [B]),
    ]


def test_numbered_marks_are_resolved_by_the_list_of_references() -> None:
    body = "It opened in March [1]. It has 18 turbines [1, 2]."
    text = f"{body}\n\nSources:\n[1] The bridge {A}\n[2]: {B}\n"
    answer = _answer(text)
    assert _cited(answer) == [
        ("It opened in March [1].", [A]),
        ("It has 18 turbines [1, 2].", [A, B]),
    ]
    assert answer.citations[0].title == "The bridge"


def test_a_numbered_list_of_sources_under_a_heading_is_a_list_of_references() -> None:
    text = f"It opened in March [1].\n\n## References\n1. [The bridge]({A})\n2. <{B}>"
    answer = _answer(text)
    assert _urls(answer) == [A, B]
    assert _cited(answer)[0] == ("It opened in March [1].", [A])


def test_numbered_statements_with_links_are_statements() -> None:
    text = f"1. It opened in March ({A}).\n2. It has 18 turbines ({B})."
    assert [cited for _, cited in _cited(_answer(text))] == [[A], [B]]


def test_bare_urls_lose_the_sentence_around_them() -> None:
    answer = _answer(f"See {A}, or ({B}). 见{A}。")
    assert _urls(answer) == [A, B, A]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://e.example/a_(b)", "https://e.example/a_(b)"),
        ("https://e.example/a)", "https://e.example/a"),
        ("https://e.example/a).", "https://e.example/a"),
        ("https://e.example/?q=1!", "https://e.example/?q=1"),
        ("https://e.example/**", "https://e.example/"),
    ],
)
def test_urls_are_trimmed_like_a_reader_would(text: str, url: str) -> None:
    assert trim_url(text) == url


def test_chinese_and_mixed_sentences_are_split_at_their_own_stops() -> None:
    text = f"该桥于1932年开放[1]({A})。它有18个涡轮机！Is it open? 是的。"
    assert [claim.text for claim in _answer(text).claims] == [
        f"该桥于1932年开放[1]({A})。",
        "它有18个涡轮机！",
        "Is it open?",
        "是的。",
    ]
    assert _answer(text).claims[0].citations == (0,)


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Li of the U.S. team measured 3.5 metres vs. 4.1 m in Jan. 2024.",
        "See example.org for v1.2.3 of the tool.",
        "It costs $1.5 million, i.e. twice the plan.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert [text[span.start : span.end] for span in sentences(text)] == [text]


def test_headings_and_reference_headings_are_no_statements() -> None:
    text = f"# Result\n\nIt opened in March [1].\n\n**Sources:**\n[1] {A}"
    assert [claim.text for claim in _answer(text).claims] == ["It opened in March [1]."]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (f'He said "the bridge opened in 1932" [1]({A}).', "the bridge opened in 1932"),
        (f"He said “the bridge opened in 1932” [1]({A}).", "the bridge opened in 1932"),
        (f"Er sagte „die Brücke ist offen“ [1]({A}).", "die Brücke ist offen"),
        (f"Il a dit « le pont est ouvert » [1]({A}).", "le pont est ouvert"),
        (f"他说「大桥于1932年开放」[1]({A})。", "大桥于1932年开放"),
        (f"According to [1]({A}), “the bridge opened in 1932”.", "the bridge opened in 1932"),
        ("> The bridge opened\n> in 1932.\n\n", None),
        (f"> The bridge opened\n> in 1932.\n[1]({A})", "The bridge opened in 1932."),
        (f"It opened in March [1]({A}).", None),
        (f'The "ABC" bridge [1]({A}).', None),
    ],
)
def test_a_quoted_passage_belongs_to_the_citation_beside_it(text: str, quote: str | None) -> None:
    answer = _answer(text)
    assert [citation.quote for citation in answer.citations] == ([quote] if A in text else [])


def test_a_quotation_belongs_to_one_citation_only() -> None:
    answer = _answer(f'"The bridge opened in 1932" [1]({A}). It is long [2]({B}).')
    assert [citation.quote for citation in answer.citations] == ["The bridge opened in 1932", None]


def test_structured_citations_find_their_marks() -> None:
    text = f"It opened in March [1]({A}). It has 18 turbines."
    structured = (
        Citation(url=A + "/?utm_source=x", title="A", quote="opened"),
        Citation(url=B, title="B"),
    )
    answer = _answer(text, structured)
    assert [(c.url, c.title, c.quote) for c in answer.citations] == [
        (A + "/?utm_source=x", "A", "opened"),
        (B, "B", None),
    ]
    assert answer.claims[0].citations == (0,)
    assert answer.citations[1].start is None


def test_structured_offsets_are_kept_and_impossible_ones_dropped() -> None:
    text = "It opened in March. It has 18 turbines."
    answer = _answer(text, (Citation(url=A, start=20, end=39), Citation(url=B, start=5, end=9_999)))
    assert answer.claims[1].citations == (0,)
    assert answer.citations[1].start is None


def test_an_answer_without_sources_has_claims_only() -> None:
    answer = _answer("It opened in March [1].")
    assert answer.citations == ()
    assert len(answer.claims) == 1


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "](" * 30_000,
        '"' * 50_000,
        "> \n" * 20_000,
        "“" * 50_000,
        "a." * 50_000,
        "[1](https://a.example/" + "(" * 50_000,
        "[1] https://a.example/ " * 5_000,
        "【1" * 30_000,
        "1. https://a.example/\n" * 3_000,
        "https://" * 12_000,
        ". [1]" * 20_000,
        "\n" * 100_000,
        "Sources:\n" + "1. x https://a.example/\n" * 3_000,
        "«" * 50_000,
        " " * 100_000,
    ],
    ids=range(16),
)
def test_hostile_answers_take_no_longer_than_long_ones(text: str) -> None:
    """Each of these made a naive pattern quadratic; the timeout of the suite would catch it."""
    answer = _answer(text)
    assert answer.text == text


def test_numbers_count_the_stated_citations_where_the_text_has_no_list() -> None:
    stated = (Citation(url="https://a.org/1"), Citation(url="https://b.org/2"))
    answer = _answer("It opened in 1932 [2]. It is long [1]. Both say so [1, 2].", stated)
    assert _cited(answer) == [
        ("It opened in 1932 [2].", ["https://b.org/2"]),
        ("It is long [1].", ["https://a.org/1"]),
        ("Both say so [1, 2].", ["https://a.org/1", "https://b.org/2"]),
    ]


@pytest.mark.parametrize("text", ["It opened [1] and closed [3].", "See [0].", "An array [n]."])
def test_numbers_that_count_something_else_place_no_stated_citation(text: str) -> None:
    stated = (Citation(url="https://a.org/1"), Citation(url="https://b.org/2"))
    assert all(citation.start is None for citation in _answer(text, stated).citations)


def test_a_list_of_references_goes_before_counting() -> None:
    stated = (Citation(url="https://a.org/1"), Citation(url="https://b.org/2"))
    text = "It opened in 1932 [1].\n\n[1] https://b.org/2\n[2] https://a.org/1"
    assert _cited(_answer(text, stated))[0] == ("It opened in 1932 [1].", ["https://b.org/2"])
