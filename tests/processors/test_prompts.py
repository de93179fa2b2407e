"""A question is what the person asked, however the agent put it to its model."""

import json
import time

import pytest

from seekwatch.core import attributes as names
from seekwatch.core.model import Episode
from seekwatch.core.otlp.requests import raw_items
from seekwatch.core.policy import LanePolicy
from seekwatch.core.records import Signal
from seekwatch.core.redaction import Redactor
from seekwatch.core.testing import START, span, trace_id, traces_request
from seekwatch.processors.normalise import normalise
from seekwatch.processors.text.prompts import Brought, question_in
from tests.services.span_zoo import cut_of

RESULTS = (
    (
        "Vestfjord regatta 2026: results",
        "https://news.example/regatta",
        "The Bodø sailing club won the Vestfjord regatta in 2026 after a race. More? Read on.",
    ),
    (
        "Regatta archive",
        "https://archive.example/r",
        "All winners since 1998, with times and crews of each boat.",
    ),
)
LINES = "\n".join(
    f"[{rank}] {title} ({url}): {text}" for rank, (title, url, text) in enumerate(RESULTS, 1)
)
PAGES = "\n".join(
    f'<html lang="en"><head><title>{title}</title><meta property="article:published_time" '
    f'content="2026-05-01"></head>\n<body><p>{text}</p>\n<script>var a = "Why?";</script></body>'
    "</html>"
    for title, _, text in RESULTS
)
RECORDS = json.dumps(
    [{"title": title, "url": url, "content": text} for title, url, text in RESULTS]
)
PRETTY = json.dumps(json.loads(RECORDS), indent=2)
CONTEXTS = {"lines": LINES, "html": PAGES, "json": RECORDS, "indented json": PRETTY}
QUESTIONS = (
    "Which team won the Vestfjord regatta in 2026?",
    "winner Vestfjord regatta 2026",
    "谁赢得了2026年的帆船赛？",
    "Welches Team gewann 2026 die Regatta?",
    "Quelle équipe a gagné la régate de Bodø en 2026 ?",
)
TEMPLATES = {
    "stuff": "Use the following pieces of context to answer the question at the end. If you don't "
    "know, say so.\n\n{ctx}\n\nQuestion: {q}\nHelpful Answer:",
    "question first": "Question: {q}\n\nSearch results:\n{ctx}\n\nAnswer with sources.",
    "elements": "<question>{q}</question>\n<documents>\n{ctx}\n</documents>\nCite them.",
    "elements last": "<context>\n{ctx}\n</context>\n\n<user_query>\n{q}\n</user_query>",
    "context first": "Context:\n{ctx}\n\nQuestion: {q}",
    "bare first": "{q}\n\nHere are search results from the web:\n{ctx}",
    "bare last": "Here are search results:\n{ctx}\n\nAnswer from them alone.\n\n{q}",
    "one line": "Answer the question based on the context. Context: {ctx} Question: {q}",
    "headings": "## Context\n{ctx}\n\n## User question\n{q}\n\n## Answer",
    "hashes": "# CONTEXT #\n{ctx}\n# QUESTION #\n{q}\n# ANSWER #",
    "following": "Answer the following question:\n\n{q}\n\nSources:\n{ctx}",
    "led in": "Based on these results, answer: {q}\n\n{ctx}",
    "quoted": 'Using the sources below, answer "{q}".\n\n{ctx}',
    "German": "Beantworte die Frage mit diesen Quellen.\n\nQuellen:\n{ctx}\n\nFrage: {q}\nAntwort:",
    "French": "Réponds à l'aide du contexte.\nContexte : {ctx}\n\nQuestion : {q}\nRéponse :",
    "Spanish": "Contexto:\n{ctx}\n\nPregunta: {q}\nRespuesta:",
    "Chinese": "根据以下资料回答问题。\n资料：\n{ctx}\n\n问题：{q}\n回答：",
    "Japanese": "以下の情報をもとに答えてください。\n{ctx}\n\n質問：{q}\n回答：",
    "Russian": "Контекст:\n{ctx}\n\nВопрос: {q}\nОтвет:",
}


LABELLED = {
    "closed brackets": "[SOURCES]\n{ctx}\n[/SOURCES]\n[USER] {q} [/USER]\n{tail}",
    "brackets on lines": "[SOURCES]\n{ctx}\n[/SOURCES]\n[USER]\n{q}\n[/USER]\n{tail}",
    "angles": "<sources>\n{ctx}\n</sources>\n<user>{q}</user>\n{tail}",
    "label, next line": "Context:\n{ctx}\n\nQuestion: {q}\n{tail}",
    "heading": "## Context\n{ctx}\n\n## Question\n{q}\n{tail}",
}
REMINDED = "Context:\n{ctx}\n\nRemember, the question is: {q} {tail}"
TAILS = (
    "Today is 2026-12-01. Cite as [n].",
    "Answer only in English and never use older sources than 2020.",
    "Do not use older sources than 2020.",
    "Heute ist der 1.12.2026. Antworte nur auf Deutsch.",
    "Bitte verwende keine Quellen vor 2020.",
    "Répondez en français. N’utilisez pas de sources d'avant 2020.",
    "Hoy es 1 de diciembre de 2026. Responde solo en español.",
    "Oggi è il 2026-12-01. Rispondi in italiano.",
    "Hoje é 2026-12-01. Não use fontes anteriores a 2020.",
    "今天是2026年12月1日。请用中文回答。",
    "今日は2026年12月1日です。日本語で答えてください。",
)


def _brought(*queries: str) -> Brought:
    return Brought([part for found in RESULTS for part in found], list(queries))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_question_is_found_among_what_the_run_brought(
    template: str, context: str, question: str
) -> None:
    prompt = TEMPLATES[template].format(ctx=CONTEXTS[context], q=question)
    assert question_in(prompt, _brought(question)) == question


@pytest.mark.parametrize("template", sorted(set(TEMPLATES) - {"led in", "quoted"}))
def test_a_question_is_found_that_was_searched_for_in_other_words(template: str) -> None:
    question = QUESTIONS[0]
    prompt = TEMPLATES[template].format(ctx=LINES, q=question)
    assert question_in(prompt, _brought("Bodø sailing")) == question


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("label", LABELLED)
def test_orders_behind_a_labelled_question_are_no_part_of_it(
    label: str, tail: str, question: str
) -> None:
    prompt = LABELLED[label].format(ctx=LINES, q=question, tail=tail)
    assert question_in(prompt, _brought(question)) == question


@pytest.mark.parametrize("question", [each for each in QUESTIONS if each[-1] in "?？"])
@pytest.mark.parametrize("tail", TAILS)
def test_orders_on_the_line_of_a_question_with_a_mark_are_no_part_of_it(
    tail: str, question: str
) -> None:
    prompt = REMINDED.format(ctx=LINES, q=question, tail=tail)
    assert question_in(prompt, _brought(question)) == question


@pytest.mark.parametrize(
    "message",
    [
        "What is X? Only sources since 2020, please.",
        "What is X? Do not use sources before 2020.",
        "What is X?\nDo not use sources before 2020.",
        "When did the bridge open?",
        "Norway: who is its king?",
        "I plan a trip to Bodø.\n\nWhat does the ferry cost in 2026, and what on Sundays?",
        "Compare these two:\n- the old bridge\n- the new bridge\n\nUse metres.",
        "bridge opening year",
        "Summarise https://paper.example/a for me",
    ],
)
def test_what_a_person_wrote_stays_as_it_is(message: str) -> None:
    assert question_in(message, _brought("bridge")) == message


@pytest.mark.parametrize("own", ["Do not use sources before 2020.", "USA only."])
def test_a_constraint_within_what_a_person_was_quoted_with_stays(own: str) -> None:
    asked = f"{QUESTIONS[0]} {own}"
    for prompt in (f"Question: {asked}", LABELLED["angles"].format(ctx=LINES, q=asked, tail="")):
        assert question_in(prompt, _brought("regatta")) == asked


@pytest.mark.parametrize("prompt", [LINES, PAGES, PRETTY, f"Summarise this.\n\n{LINES}"])
def test_findings_alone_are_no_question(prompt: str) -> None:
    assert question_in(prompt, _brought("regatta")) is None


@pytest.mark.parametrize(
    "piece", ["a ", "Question: ", "<a>", "\n", "?\n", '"', "a:", "{[", "# \n", "问", "[1] "]
)
def test_a_hostile_prompt_takes_no_long_time(piece: str) -> None:
    prompt = "x\n" + piece * (200_000 // len(piece))
    began = time.process_time()
    question_in(prompt, _brought("a"))
    assert time.process_time() - began < 10


QUESTION = QUESTIONS[0]
ANSWER = f"The Bodø sailing club won [1]({RESULTS[0][1]})."
REWRITE = (
    "Rewrite the following user question as a short web search query. Return only the query.\n\n"
    + QUESTION
)


def _run(
    *calls: str | list[dict[str, str]], root: str | None = "implicit", asked: str = ""
) -> Episode:
    """A search between model calls, the last of which answers; the SDK's root holds `asked`."""
    trace = trace_id("prompt")
    spans = [span("search", trace=trace)][:0]
    parent = None
    if root is not None:
        first = calls[0] if isinstance(calls[0], str) else calls[0][-1]["content"]
        parent = "a0" * 8
        told = {
            names.SPAN_KIND: names.KIND_AGENT,
            names.RUN_ROOT: root,
            names.QUESTION: asked or first,
            names.ANSWER: ANSWER,
        }
        spans.append(span("run", trace=trace, span=parent, attributes=told, end=START + 10**10))
    documents = [
        {"id": url, "title": title, "content": text, "url": url} for title, url, text in RESULTS
    ]
    searched = {
        names.SPAN_KIND: names.KIND_RETRIEVER,
        names.SEARCH_PROVIDER: "tavily",
        names.SEARCH_QUERY: "Vestfjord regatta 2026 winner",
        names.GENAI_RETRIEVAL_DOCUMENTS: json.dumps(documents),
    }
    spans.append(span("search", trace=trace, span="b0" * 8, parent=parent, attributes=searched))
    for number, call in enumerate(calls):
        messages = [{"role": "user", "content": call}] if isinstance(call, str) else call
        said = ANSWER if number == len(calls) - 1 else "vestfjord winner"
        described = {
            names.SPAN_KIND: names.KIND_LLM,
            names.INPUT_MESSAGES: json.dumps(messages),
            names.OUTPUT_MESSAGES: json.dumps([{"role": "assistant", "content": said}]),
        }
        start = START + (number + 1) * 10**9
        made = span(
            "chat",
            trace=trace,
            span=f"c{number}" * 8,
            parent=parent,
            attributes=described,
            start=start,
            end=start + 10**8,
        )
        spans.append(made)
    request = traces_request(spans, scope="seekwatch.sdk")
    cut = cut_of(trace, raw_items(request, Signal.TRACES))
    episode = normalise(cut, Redactor(), LanePolicy())
    assert episode is not None
    return episode


@pytest.mark.parametrize("root", ["implicit", None])
@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_a_run_that_nobody_marked_is_asked_what_its_prompt_asks(
    template: str, root: str | None
) -> None:
    prompt = TEMPLATES[template].format(ctx=LINES, q=QUESTION)
    assert _run(prompt, root=root).question == QUESTION


@pytest.mark.parametrize("root", ["implicit", None])
@pytest.mark.parametrize("template", ["bare question", *sorted(TEMPLATES)])
def test_a_call_that_rewrites_the_query_does_not_ask_the_question(
    template: str, root: str | None
) -> None:
    prompt = TEMPLATES.get(template, "{q}").format(ctx=LINES, q=QUESTION)
    assert _run(REWRITE, prompt, root=root).question == QUESTION


def test_the_first_question_stays_where_later_calls_ask_for_steps() -> None:
    asked = "Who won the Vestfjord regatta in 2026, and who in 2025?"
    assert _run(asked, "Who won in 2025?").question == asked
    assert _run(asked, "Write the report from these notes.").question == asked
    assert _run("What is A and what is B?", "what is B?").question == "What is A and what is B?"


def test_the_last_turn_of_a_chat_is_its_question() -> None:
    turns = [
        {"role": "user", "content": "Who won in 2025?"},
        {"role": "assistant", "content": "Svolvær."},
        {"role": "user", "content": "And in 2026?"},
    ]
    history = "Given the chat, write a standalone question.\nFollow-up: And in 2026?\nStandalone:"
    assert _run(turns).question == "And in 2026?"
    assert _run(history, turns).question == "And in 2026?"


@pytest.mark.parametrize("root", ["agent_run", "entrypoint"])
def test_what_the_agent_stated_is_never_cut(root: str) -> None:
    prompt = TEMPLATES["context first"].format(ctx=LINES, q="something else?")
    assert _run(prompt, root=root, asked=prompt).question == prompt


def test_what_a_framework_was_called_with_is_the_question() -> None:
    prompt = TEMPLATES["context first"].format(ctx=LINES, q="something else?")
    assert _run(prompt, asked=QUESTION).question == QUESTION


def test_a_prompt_of_findings_alone_leaves_no_question() -> None:
    assert _run(f"Summarise.\n\n{LINES}").question is None
