"""The question in a prompt that holds more: instructions, and text that the run itself brought.

Templates are many, and each puts the question elsewhere. What they share: what was found is known
from the run, a part may bear a label that says what it is, and a question mostly asks.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from seekwatch.processors.text.addressed import without_orders
from seekwatch.processors.text.fold import fold

_BARE: Final = 400
"""Characters: a single line up to this length is taken as it stands, where it bears no label."""
_TRUSTED: Final = 2_000
"""Characters: up to this length, a text of which nothing was brought is the person's own."""
_MAX_PROMPT: Final = 200_000
_MAX_BROUGHT: Final = 1_000_000
_RUN: Final = 4
"""Words in a row that, where they stand in a result too, are taken from it."""
_SHARE: Final = 0.5
"""Share of a stretch's words that has to be taken from results for all of it to be."""
_TOKEN: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_ASKED: Final = (
    r"question|query|frage|anfrage|pregunta|consulta|requete|domanda|pergunta|vraag|pytanie|"
    r"zapytanie|fraga|sp[oø]rgsmal|sp[oø]rsmal|kysymys|otazka|kerdes|intrebare|soru|cau hoi|"
    r"pertanyaan|вопрос|запрос|питання|ερωτηση|سؤال|السؤال|שאלה|प्रश्न|คำถาม|问题|提问|問題|提問|查询|質問|質問文|질문"
)
_SPEAKER: Final = (
    r"user|human|input|task|request|nutzer|benutzer|usuario|utilisateur|utente|gebruiker|uzytkownik|"
    r"aufgabe|tarea|tache|compito|taak|пользователь|задача|用户|用戶|任务|ユーザー|사용자"
)
_LABELS: Final = tuple(
    (
        re.compile(
            rf"(?:^|(?<=[\s*#(\[>。.!?,]))(?:[\w']+[ _-]){{0,3}}\w{{0,10}}?(?:{words})"
            r"(?:[ _-][\w']+)?\**\s*:\**"
        ),
        re.compile(rf"(?:[\w']+[ _-]){{0,2}}\w{{0,10}}?(?:{words})(?:[ _-][\w']+)?"),
    )
    for words in (_ASKED, _SPEAKER)
)
"""Inline and standing alone, of what is asked before who speaks."""
_COLON: Final = re.compile(r"[:：]\**")
_MAX_LABEL: Final = 120
_ELEMENT_END: Final = re.compile(r"</([\w-]{1,40})>")
_BRACKET_END: Final = re.compile(r"\[/([\w-]{1,40})\]")
_BRACKETED: Final = re.compile(r"\[(/?)([\w-]{1,40})\]")
_MAX_PARTS: Final = 300
"""Colons and elements that are looked at, from the beginning and from the end."""
_HTML: Final = re.compile(r"<(?:!doctype|html)\b.*?(?:</html>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKUP: Final = re.compile(
    r"</?(?:a|article|b|body|br|div|em|h[1-6]|head|i|img|li|link|main|meta|nav|ol|p|script|section|"
    r"span|strong|style|table|td|th|title|tr|ul)\b[^>]{0,500}>",
    re.IGNORECASE,
)
_JSON: Final = re.compile(r"\s*(?:[\[{].*[\"']\s*:|\"[^\"]{1,60}\"\s*:|[\[\]{},\s]+$)")
_NEXT_LABEL: Final = re.compile(r"\n(?=[ \t]*(?:\n|#{1,6} |<|[^\W\d][\w '’-]{0,40}[:：]))")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])(?![\"'”」』）)])")
_MARK: Final = re.compile(r"[?？؟]\s*[\"'”’»)*`]*\.?\s*$")
_OPENER: Final = re.compile(
    r"(?:who|whose|whom|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|has|"
    r"have|should|will|would|wer|was|welche[rsnm]?|wann|wo|warum|wie|wieviel|ist|sind|hat|gibt|qui|"
    r"que|quoi|quel(?:le)?s?|quand|ou|pourquoi|comment|combien|est-ce|quien(?:es)?|cual(?:es)?|cuando|"
    r"donde|por que|como|cuanto?s?|chi|che|cosa|quale?|quando|dove|perche|come|quanto?|quem|qual|"
    r"onde|wie|wat|welke?|wanneer|waar|waarom|hoe|kto|co|ktor[yae]|kiedy|gdzie|dlaczego|jak|ile|кто|что|"
    r"как(?:ои|ая|ие)|когда|где|почему|как|сколько)\b"
)
_OPENER_ANYWHERE: Final = re.compile(
    r"[谁誰哪]|什么|甚麼|怎么|怎樣|多少|几|吗|嗎|为何|何時|なぜ|どこ|いつ|だれ|誰|何|ですか|ますか|누구|무엇|언제|어디|왜|얼마"
)
_PART: Final = re.compile(r"\"([^\"]{3,})\"|“([^”]{3,})”|「([^」]{2,})」|[:：]\s*([^:：]+)$")
_OUTER: Final = " \t\r\n\"'`*“”«»"


def tokens(text: str) -> list[str]:
    """Words, or characters where a script has no spaces."""
    return _TOKEN.findall(fold(text))


def asks(text: str) -> bool:
    """Tell whether a sentence asks, by its mark or how it opens."""
    folded = fold(text).strip()
    return bool(
        _MARK.search(folded[-20:])
        or _OPENER.match(folded)
        or (_OPENER_ANYWHERE.search(folded) and len(folded) <= _BARE)
    )


@dataclass(slots=True)
class Brought:
    """Texts that the run itself found or sent, against which a prompt is held.

    Attributes:
        texts: of results and pages.
        queries: what was searched for; a stretch that is one of them is nobody's finding.
    """

    texts: Sequence[str] = ()
    queries: Sequence[str] = ()
    _words: str = field(default="", init=False)
    _runs: frozenset[tuple[str, ...]] = field(default=frozenset(), init=False)
    _asked: frozenset[str] = field(default=frozenset(), init=False)
    _query_words: frozenset[str] = field(default=frozenset(), init=False)

    def hold_against(self, prompt: str) -> None:
        """Keep of the texts what the prompt may have from them."""
        wanted = set(_runs(tokens(prompt)))
        found: set[tuple[str, ...]] = set()
        kept: list[str] = []
        left = _MAX_BROUGHT
        for text in self.texts:
            words = tokens(text[: max(0, left)])
            left -= len(text)
            kept.append(" ".join(words))
            found.update(run for run in _runs(words) if run in wanted)
        self._words = "\n".join(f" {text} " for text in kept)
        self._runs = frozenset(found)
        asked = [tokens(query) for query in self.queries]
        self._asked = frozenset(" ".join(query) for query in asked)
        self._query_words = frozenset(word for query in asked for word in query)

    def holds(self, stretch: str) -> bool:
        """Tell whether a stretch of the prompt stands in what was brought."""
        words = tokens(stretch)
        whole = " ".join(words)
        if not words or whole in self._asked:
            return False
        if len(words) < _RUN or asks(stretch):
            # A question has names and phrases of its answer in it.
            return f" {whole} " in self._words
        covered: set[int] = set()
        for start, run in enumerate(_runs(words)):
            if run in self._runs:
                covered.update(range(start, start + _RUN))
        return len(covered) >= _SHARE * len(words)

    def searched_for(self, stretch: str) -> bool:
        """Tell whether the run searched for what a stretch says."""
        return self.share_searched_for(stretch) >= _SHARE

    def share_searched_for(self, stretch: str) -> float:
        """Return the share of a stretch's words that were searched for."""
        words = set(tokens(stretch))
        return len(words & self._query_words) / max(1, len(words))


def _runs(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return (tuple(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1))


def may_be_prompt(text: str) -> bool:
    """Tell, at no cost, a text that may hold more than a question from one that is one."""
    return len(text) > _BARE or "\n" in text or "<" in text or "[/" in text or _is_labelled(text)


def _is_labelled(text: str) -> bool:
    return (":" in text or "：" in text) and any(inline.search(fold(text)) for inline, _ in _LABELS)


def question_in(prompt: str, brought: Brought) -> str | None:
    """Return what the person asked, None where nothing in the prompt can be trusted to be it.

    Args:
        prompt: a message to a model that speaks for a person.
        brought: what the run has found.
    """
    if not may_be_prompt(prompt):
        return prompt
    text = prompt[:_MAX_PROMPT]
    brought.hold_against(text)
    without = _HTML.sub("\n\n", text)
    paragraphs, cut = _paragraphs(without, brought)
    labelled = _labelled(_angled(without), brought, cut or without != text)
    if labelled is not None:
        return labelled
    if without == text and not cut:
        return prompt if len(prompt) <= _TRUSTED else None
    return _chosen(paragraphs, brought)


def _angled(text: str) -> str:
    """Write elements in square brackets, of which the end is there too, in angle brackets."""
    ended = {end[1] for end in _BRACKET_END.finditer(text)}
    return _BRACKETED.sub(
        lambda each: f"<{each[1]}{each[2]}>" if each[2] in ended else each[0], text
    )


def _labelled(text: str, brought: Brought, holds_context: bool) -> str | None:
    for inline, alone in _LABELS:
        found = _in_elements(text, alone, brought)
        found += _under_headings(text, alone, brought, holds_context)
        found += _after_labels(text, inline, brought, holds_context)
        if found:
            return found[-1]
    return None


def _under_headings(
    text: str, alone: re.Pattern[str], brought: Brought, holds_context: bool
) -> list[str]:
    found: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1]):
        name = line.strip(" \t#*=-_[]:：【】")
        decorated = name != line.strip()
        if not name or len(name) > 60 or not decorated or not alone.fullmatch(fold(name)):
            continue
        part = _until_next("\n".join(lines[number + 1 :]).lstrip())
        own = _own(part, brought, open_ended=holds_context)
        if own:
            found.append(own)
    return found


def _in_elements(text: str, alone: re.Pattern[str], brought: Brought) -> list[str]:
    found: list[str] = []
    for end in _first_and_last(list(_ELEMENT_END.finditer(text))):
        if not alone.fullmatch(fold(end[1])):
            continue
        opening = f"<{end[1]}>"
        start = text.rfind(opening, 0, end.start())
        own = _own(text[start + len(opening) : end.start()], brought) if start >= 0 else None
        if own:
            found.append(own)
    return found


def _after_labels(
    text: str, inline: re.Pattern[str], brought: Brought, holds_context: bool
) -> list[str]:
    found: list[str] = []
    for colon in _first_and_last(list(_COLON.finditer(text))):
        before = fold(text[max(0, colon.start() - _MAX_LABEL) : colon.end()].rpartition("\n")[2])
        if any(match.end() == len(before) for match in inline.finditer(before)):
            rest = text[colon.end() : colon.end() + _TRUSTED].lstrip()
            own = _own(_until_next(rest), brought, open_ended=holds_context)
            if own:
                found.append(own)
    return found


def _first_and_last(matches: list[re.Match[str]]) -> list[re.Match[str]]:
    if len(matches) <= 2 * _MAX_PARTS:
        return matches
    return matches[:_MAX_PARTS] + matches[-_MAX_PARTS:]


def _until_next(text: str) -> str:
    """Return a part up to an empty line or the next part that bears a label."""
    cut = _NEXT_LABEL.search(text)
    return text if cut is None else text[: cut.start()]


def _own(text: str, brought: Brought, *, open_ended: bool = False) -> str | None:
    """Return a labelled part without what was brought, nor orders where nothing ends it."""
    lines = [
        [each for each in _sentences(line) if not _is_foreign(each, brought)]
        for line in text.split("\n")
    ]
    kept = without_orders(lines) if open_ended else [each for line in lines for each in line]
    own = " ".join(each.strip() for each in kept).strip(_OUTER)
    return own if tokens(own) and len(own) <= _TRUSTED else None


def _sentences(text: str) -> list[str]:
    return [each for line in text.split("\n") for each in _SENTENCE_END.split(line) if each.strip()]


def _is_foreign(stretch: str, brought: Brought) -> bool:
    return bool(_MARKUP.search(stretch) or _JSON.match(stretch)) or brought.holds(stretch)


def _paragraphs(text: str, brought: Brought) -> tuple[list[list[str]], bool]:
    """Return the sentences of each paragraph that were not brought, and whether any was."""
    paragraphs: list[list[str]] = [[]]
    cut = False
    for line in text.split("\n"):
        if not line.strip():
            paragraphs.append([])
            continue
        sentences = [each for each in _SENTENCE_END.split(line) if each.strip()]
        foreign = [_is_foreign(each, brought) for each in sentences]
        if any(foreign):
            cut = True
            # The rest of the line is of the same result, but for what was searched for.
            own = [
                each
                for each, is_cut in zip(sentences, foreign, strict=True)
                if not is_cut and asks(each) and brought.searched_for(each)
            ]
            paragraphs += [own, []]
        else:
            paragraphs[-1] += sentences
    return [each for each in paragraphs if each], cut


def _chosen(paragraphs: list[list[str]], brought: Brought) -> str | None:
    asking = [
        _core(" ".join(each.strip() for each in stretch), brought)
        for paragraph in paragraphs
        if (stretch := _asking(paragraph))
    ]
    if asking:
        named = [each for each in asking if brought.searched_for(each)]
        return min(named or asking, key=len).strip(_OUTER)
    telling = [
        _core(text, brought)
        for paragraph in paragraphs
        if (text := " ".join(paragraph).strip()) and not text.endswith((":", "："))
    ]
    named = [text for text in telling if brought.searched_for(text)]
    return min(named, key=len).strip(_OUTER) if named else None


def _core(text: str, brought: Brought) -> str:
    """Return what a lead-in leads to, or what is quoted, where that is what was searched for."""
    for part in _PART.finditer(text):
        inner = next(each for each in part.groups() if each is not None)
        around = text.replace(inner, " ")
        share = brought.share_searched_for(inner)
        if share > brought.share_searched_for(around) and (asks(inner) or share >= _SHARE):
            return inner.strip(_OUTER)
    return text


def _asking(paragraph: list[str]) -> list[str]:
    """Return a paragraph from its first sentence that asks to its last one."""
    places = [index for index, each in enumerate(paragraph) if asks(each)]
    return paragraph[places[0] : places[-1] + 1] if places else []
