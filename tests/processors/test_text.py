"""Text primitives: folding, words, numbers, dates, statements, passages; any script, any input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.processors.text.constraints import Kind, constraints
from seekwatch.processors.text.dates import calendar_dates
from seekwatch.processors.text.entities import entities
from seekwatch.processors.text.fold import fold, shortened, typographic
from seekwatch.processors.text.numbers import han_value, numbers_of
from seekwatch.processors.text.passages import quotations, searchable, stands_on
from seekwatch.processors.text.phrases import has_caveat, is_refusal
from seekwatch.processors.text.statements import own_words, states_something
from seekwatch.processors.text.support import support_of
from seekwatch.processors.text.words import content_words, stem

MIXED = st.text(
    alphabet=st.sampled_from(
        "aB9 .,-–'\"“”年月日第三万亿百米km%$€多少不“《》ＡéßñЖ中文がガ한글\n\t?!()[]:/"
    ),
    max_size=80,
)
TEXT = st.one_of(st.text(max_size=80), MIXED)


@given(TEXT)
def test_folding_again_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("São Paulo", "sao paulo"),
        ("ＡＢＣ１２３", "abc123"),
        ("“Don’t” – ok…", '"don\'t" - ok...'),
        ("Straße", "strasse"),
        ("ガ", "ガ"),
        ("한글", "한글"),
        ("a\u200bb\u00adc", "abc"),
    ],
)
def test_folding_keeps_what_is_another_letter(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(TEXT, st.integers(2, 50))
def test_a_shortened_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = shortened(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
    line.encode()


@given(TEXT)
def test_spans_are_where_they_say(text: str) -> None:
    for found in constraints(text):
        assert text[found.start : found.end] == found.span
    for name in entities(text):
        assert len(typographic(text)) != len(text) or name.span in typographic(text)


@given(TEXT, TEXT)
def test_no_text_makes_a_primitive_raise(first: str, second: str) -> None:
    content_words(first)
    numbers_of(first)
    calendar_dates(fold(first))
    support_of(first, [fold(second)])
    stands_on(first, searchable(second), 90)
    own_words(first)
    states_something(first)
    is_refusal(first)
    has_caveat(first)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,500 and 2.5 million", [1500, 2_500_000]),
        ("$5m for 3km", [5_000_000, 3]),
        ("50万辆", [500_000]),
        ("十二公里", [12]),
        ("twenty miles", [20]),
        ("RTX4090 and v1.2.3", []),
        ("from 3.5% to 4 %", [3.5, 4]),
    ],
)
def test_numbers_are_values(text: str, values: list[float]) -> None:
    assert [number.value for number in numbers_of(text)] == pytest.approx(values)


def test_numbers_compare_across_units_of_one_dimension_only() -> None:
    kilometres, metres, minutes = (numbers_of(text)[0] for text in ("3 km", "3000 m", "3 minutes"))
    assert kilometres.equals(metres)
    assert not kilometres.equals(minutes)


@pytest.mark.parametrize(
    ("text", "value"), [("十", 10), ("二十三", 23), ("三百零五", 305), ("两千", 2000)]
)
def test_han_numbers(text: str, value: int) -> None:
    assert han_value(text) == value


@pytest.mark.parametrize(
    "text",
    ["March 5, 2024", "5 March 2024", "Mar. 5th, 2024", "2024-03-05", "2024/3/5", "2024年3月5日"],
)
def test_a_date_in_any_form_is_one_date(text: str) -> None:
    (date,) = calendar_dates(fold(text))
    assert (date.year, date.month, date.day) == (2024, 3, 5)


def test_may_the_verb_is_no_month() -> None:
    assert calendar_dates(fold("You may go, march on")) == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("2000 calories a day", [Kind.NUMBER]),
        ("in 2000", [Kind.YEAR]),
        ("$2,000", [Kind.NUMBER]),
        ("the 1990s", [Kind.YEAR]),
        ("Norman Blake", []),
        ("tell us more", []),
        ("in the US", [Kind.REGION]),
        ("I don't know what to cook", []),
        ("is it real or not", []),
        ("Who was born first, Ann or Bob?", []),
        ("the first man", [Kind.ORDINAL]),
    ],
)
def test_what_is_and_what_is_no_constraint(text: str, kinds: list[Kind]) -> None:
    assert [found.kind for found in constraints(text)] == kinds


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Who is older Craig Nicholls or Norman Blake?", ["Craig Nicholls", "Norman Blake"]),
        ("What does the World Health Organization say?", ["World Health Organization"]),
        ("Is GPT-4 better than an RTX4090?", ["GPT-4", "RTX4090"]),
        ("best iPhone deals", ["iPhone"]),
        ("清华大学和张伟有什么关系", ["清华大学", "张伟"]),
        ("ドナルド・トランプの年齢", ["ドナルド・トランプ"]),
        ("How To Fix A Bike", []),
        ("what is the weather like", []),
    ],
)
def test_names_are_found_by_simple_means(text: str, names: list[str]) -> None:
    assert [name.span for name in entities(text)] == names


def test_stems_join_inflections() -> None:
    assert stem("visas") == stem("visa")
    assert stem("cities") == stem("city")
    assert stem("released") == stem("releases") == stem("releasing")


def test_elided_parts_must_stand_in_order() -> None:
    page = searchable("First came the plan, then much later came the tram, and then the fare.")
    assert stands_on("First came the plan … then the fare", page)
    assert not stands_on("then the fare … First came the plan", page)


def test_function_words_may_differ_and_content_words_may_not() -> None:
    page = searchable("The council of the city approved a plan for 42 new trams on Monday evening.")
    assert stands_on("council of city approved the plan for 42 new trams on Monday", page, 85)
    assert not stands_on("council of the city rejected a plan for 42 new trams on Monday", page, 85)
    assert not stands_on("council of the city approved a plan for 24 new trams on Monday", page, 85)


def test_a_chinese_quotation_is_found_across_markup_spaces() -> None:
    assert stands_on("该桥于1932年开放", searchable("据报道，该桥 于1932年 开放。"))
    assert not stands_on("该桥于1933年开放", searchable("据报道，该桥 于1932年 开放。"))


def test_quotations_are_taken_when_long_enough() -> None:
    text = "He said “the tram will open on Monday morning” and “no”."
    assert quotations(text) == ["the tram will open on Monday morning"]


@pytest.mark.parametrize(
    ("claim", "own"),
    [
        ("It opened in 1932 [1].", "It opened in 1932."),
        ("It opened ([source](https://a.com/x)) in 1932.", "It opened in 1932."),
        ("See https://a.com/x for it", "See for it"),
        ("开放于1932年【3†source】。", "开放于1932年。"),
    ],
)
def test_marks_are_no_words_of_a_claim(claim: str, own: str) -> None:
    assert " ".join(own_words(claim).split()) == own


@pytest.mark.parametrize(
    ("sentence", "states"),
    [
        ("The bridge opened to traffic in spring.", True),
        ("It has 42.", True),
        ("Is that so?", False),
        ("Here it is:", False),
        ("https://a.com/x", False),
    ],
)
def test_only_statements_need_support(sentence: str, states: bool) -> None:
    assert states_something(sentence) is states


def test_support_wants_the_words_together_and_every_number() -> None:
    page = fold("The tram opened in 1998. " + "Filler words go on and on. " * 60 + "A bridge fell.")
    assert support_of("The tram opened in 1998", [page]).overlap == 1
    assert support_of("The tram opened in 1999", [page]).missing_numbers == ("1999",)
    assert support_of("The tram bridge fell and opened", [page]).overlap < 1


def test_pages_support_a_claim_together() -> None:
    claim = "The Corrow bridge is longer: 212 metres against 187 m for the Minnow bridge"
    first, second = fold("The Corrow bridge is 212 m long."), fold("Minnow bridge: 187 metres.")
    assert support_of(claim, [first]).missing_numbers == ("187 m",)
    assert support_of(claim, [first, second]).missing_numbers == ()
    assert support_of(claim, [first, second]).overlap > support_of(claim, [first]).overlap


@pytest.mark.parametrize(
    "answer",
    [
        "Je suis désolé, mais je ne peux pas répondre à cette question.",
        "No puedo ayudar con eso.",
        "Non posso aiutarti con questa richiesta.",
        "Desculpe, não posso ajudar com isso.",
        "Dabei kann ich leider nicht helfen.",
        "Sorry, daar kan ik niet mee helpen.",
        "Det kan jeg dessverre ikke hjelpe med.",
        "Jag kan tyvärr inte hjälpa dig med det.",
        "Valitettavasti en voi auttaa.",
        "Przepraszam, nie mogę pomóc w tej sprawie.",
        "Sajnálom, ebben nem tudok segíteni.",
        "Üzgünüm, bu konuda yardımcı olamam.",
        "К сожалению, я не могу помочь с этим запросом.",
        "На жаль, я не можу допомогти.",
        "Λυπάμαι, δεν μπορώ να βοηθήσω.",
        "عذرًا، لا أستطيع المساعدة في هذا الطلب.",
        "מצטער, אני לא יכול לעזור בזה.",
        "क्षमा करें, मैं इसमें आपकी मदद नहीं कर सकता।",
        "ขออภัย ฉันไม่สามารถช่วยได้",
        "Xin lỗi, tôi không thể giúp bạn.",
        "Maaf, saya tidak dapat membantu.",
        "抱歉，我无法提供他人的私人信息。",
        "申し訳ありませんが、その質問にはお答えできません。",
        "죄송합니다. 그 질문에는 답변할 수 없습니다.",
    ],
)
def test_a_refusal_is_one_in_any_language(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I found nothing about that.",
        "I found nothing.",
        "Sorry, I found no results for your question.",
        "Sorry. I found no reliable sources on this.",
        "Unfortunately, my search returned no relevant results.",
        "The search results do not contain the designer's name.",
        "There are no results for this question.",
        "Nothing was found.",
        "Ich habe dazu nichts gefunden.",
        "Leider konnte ich keine verlässlichen Angaben zu dieser Frage finden.",
        "Zu Ihrer Frage wurden keine Ergebnisse gefunden.",
        "Es gibt dazu keine Informationen.",
        "Je n'ai rien trouvé à ce sujet.",
        "Je n'ai trouvé aucun résultat.",
        "Aucune information n'a été trouvée.",
        "No he encontrado nada sobre eso.",
        "No se encontraron resultados.",
        "No encontré información sobre ese tema.",
        "Non ho trovato nulla.",
        "Non sono riuscito a trovare informazioni.",
        "Não encontrei nada sobre isso.",
        "Não foram encontrados resultados.",
        "Ik heb hierover niets gevonden.",
        "Ik kon geen informatie over deze vraag vinden.",
        "Er zijn geen resultaten gevonden.",
        "Я ничего не нашёл по этому вопросу.",
        "Ничего не найдено.",
        "Мне не удалось найти информацию.",
        "我没有找到相关信息。",
        "没有查到任何结果。",
        "很遗憾，未能检索到相关资料。",
        "該当する情報は見つかりませんでした。",
        "この件に関する情報はありません。",
        "관련 정보를 찾지 못했습니다.",
        "Nie znalazłem żadnych informacji.",
        "Jag hittade ingenting om det.",
    ],
)
def test_who_says_that_nothing_was_found_refuses(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The bridge opened in 1932. I found no results for its reopening.",
        "It was designed by Ada Berg. My search returned no information on the costs.",
        "I found nothing on the official site, but the bridge opened in 1932.",
        "I found nothing wrong with the bridge: it carries 40 tonnes.",
        "Die Brücke wurde 1932 eröffnet. Zu den Kosten habe ich nichts gefunden.",
        "Le pont a ouvert en 1932. Je n'ai trouvé aucun résultat sur son coût.",
        "大桥于1932年通车，全长一千米，由北方桥梁公司设计并建造完成。没有查到造价。",
        "The study reports no results for children under two and good ones for adults.",
        "There was a search: sources mention the year 1932 as that of the opening.",
    ],
)
def test_what_was_not_found_beside_an_answer_is_no_refusal(answer: str) -> None:
    assert not is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The museum opens at nine. Unfortunately there is no cafe.",
        "К сожалению, музей закрыт по понедельникам, но открыт во вторник.",
        "Leider öffnet das Museum erst um 10 Uhr.",
        "Musea kunnen helaas niet open.",
    ],
)
def test_a_regret_about_the_answer_is_no_refusal(answer: str) -> None:
    assert not is_refusal(answer)
