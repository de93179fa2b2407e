"""Names in a question: capitalised runs, words with digits, acronyms, Chinese and Japanese names.

Simple means on purpose: no model, no dictionary of the world. What it misses in lower-case
questions, the content words of the query axis still see.
"""

import re
from typing import Final

import msgspec

from seekwatch.processors.text.fold import CJK, HAS_CJK, KATAKANA, typographic
from seekwatch.processors.text.lexicon import QUESTION_OPENERS, STOP_WORDS
from seekwatch.processors.text.words import content_words

MAX_CHARACTERS: Final = 4_000
MAX_ENTITIES: Final = 32

_UPPER: Final = (
    r"(?:(?<![\w])[a-z]{1,2}[A-Z]\w+|"
    r"(?<![\w])[A-ZÀ-ÖØ-ÞĀ-ŽА-ЯΑ-Ω][\w'&.+#-]*\w|(?<![\w])[A-Z](?![\w]))"
)
_LINK: Final = r"(?:of|the|de|da|del|di|van|von|der|la|le|al|bin|for|and|&|at|in)"
_RUN: Final = re.compile(rf"{_UPPER}(?:\s+(?:{_LINK}\s+){{0,2}}{_UPPER}|\s+(?=\d)\d+(?![\w.%]))*")
_SPLIT_LINKS: Final = re.compile(r"\s+(?:and|at|for|in|&)\s+")
_ALPHANUMERIC: Final = re.compile(
    r"(?<![\w.-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w-])"
)
_ORDINAL_OR_UNIT: Final = re.compile(
    r"(?i)\d+(?:st|nd|rd|th|s|k|m|km|kg|am|pm|bn|mm|cm|gb|mb|h|p|d)?"
)
_KATAKANA_NAME: Final = re.compile(f"[{KATAKANA}][{KATAKANA}ー・]{{2,}}")
_HAN_RUN: Final = re.compile(f"[{CJK}]+")
_HAN_BREAK: Final = re.compile(
    "上周|上个月|本周|昨天|今天|明天|去年|什么|哪些|哪个|哪里|怎么样|怎么|如何|为什么|多少|是否|"
    "请问|目前|现在|当前|最新|最近|今年|以及|关于|之间|"
    "[的了是在和与及或吗呢吧有被把将就都也还又很请谁几从到向对由为]"
)
_HAN_SUFFIX: Final = re.compile(
    rf"[{CJK}]{{2,12}}?(?:公司|集团|大学|学院|银行|医院|研究院|研究所|委员会|协会|基金会|法院|"
    rf"政府|电视台|出版社|"
    "[省市县区州国镇]|山|江|河|湖|岛|奖|杯|法|案|条例)"
)
_SURNAMES: Final = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔"
    "钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温习"
)
_HAN_PERSON: Final = re.compile(rf"^(?:欧阳|司马|上官|诸葛|[{_SURNAMES}])[{CJK}]{{1,2}}$")


class Entity(msgspec.Struct, frozen=True, gc=False):
    """A name in a text.

    Attributes:
        span: as the text spells it.
        start, end: half-open, in the text.
        stems: the words that identify it; empty for Han names, which are matched as text.
    """

    span: str
    start: int
    end: int
    stems: tuple[str, ...] = ()

    @property
    def acronym(self) -> str:
        """Its initials, lower case, or empty when it has fewer than two words."""
        initials = [word[0] for word in self.span.split() if word[0].isupper()]
        return "".join(initials).lower() if len(initials) > 1 else ""


def entities(text: str) -> tuple[Entity, ...]:
    """Find the names in a question, each spelling once, in the order of the text."""
    text = text[:MAX_CHARACTERS]
    plain = typographic(text)
    if len(plain) != len(text):
        plain = text
    found = _capitalised(plain) + _alphanumeric(plain)
    if HAS_CJK.search(plain):
        found += _east_asian(plain)
    found.sort(key=lambda entity: (entity.start, -entity.end))
    kept: list[Entity] = []
    for entity in found:
        inside = kept and entity.start < kept[-1].end
        if not inside and all(entity.span != other.span for other in kept):
            kept.append(entity)
    return tuple(kept[:MAX_ENTITIES])


def _capitalised(text: str) -> list[Entity]:
    found: list[Entity] = []
    upper = sum(1 for word in text.split() if word[:1].isupper())
    # In a title ("How To Fix A Bike") capitals say nothing; acronyms and digits still do.
    if upper > 3 and upper > 0.8 * len(text.split()):
        return [_entity(text, *match.span()) for match in re.finditer(r"\b[A-Z]{2,6}\b", text)]
    for match in _RUN.finditer(text):
        for start, end in _parts(text, match):
            start = _without_opener(text, start, end)
            entity = _entity(text, start, end)
            if entity.stems:
                found.append(entity)
    return found


def _parts(text: str, match: "re.Match[str]") -> list[tuple[int, int]]:
    """Cut a run at links that join two names rather than make one; short names stay whole."""
    start, end = match.span()
    cuts = [cut.span() for cut in _SPLIT_LINKS.finditer(text, start, end)]
    if not cuts:
        return [(start, end)]
    pieces: list[tuple[int, int]] = []
    for cut_start, cut_end in cuts:
        pieces.append((start, cut_start))
        start = cut_end
    return [*pieces, (start, end)]


def _without_opener(text: str, start: int, end: int) -> int:
    """Skip words that are capitalised because a sentence begins with them."""
    while start < end:
        word = re.match(r"\S+\s*", text[start:end])
        if not word or word[0].strip().lower().rstrip(".,") not in QUESTION_OPENERS:
            break
        start += word.end()
    before = text[:start].rstrip()
    opens = not before or before[-1] in ".!?:\n"
    first = text[start:end].split(None, 1)
    # One lone capitalised word at the start of a sentence is a name only if it is spelt like one.
    if opens and len(first) == 1 and first[0].lower() in STOP_WORDS:
        return end
    return start


def _alphanumeric(text: str) -> list[Entity]:
    return [
        _entity(text, *match.span())
        for match in _ALPHANUMERIC.finditer(text)
        if not _ORDINAL_OR_UNIT.fullmatch(match[0])
    ]


def _east_asian(text: str) -> list[Entity]:
    found = [Entity(m[0], m.start(), m.end()) for m in _KATAKANA_NAME.finditer(text)]
    for run in _HAN_RUN.finditer(text):
        start = run.start()
        for end in [*(cut.start() + run.start() for cut in _HAN_BREAK.finditer(run[0])), run.end()]:
            piece = text[start:end]
            cut = _HAN_BREAK.match(text, end)
            if _HAN_PERSON.match(piece):
                found.append(Entity(piece, start, end))
            else:
                found.extend(
                    Entity(m[0], start + m.start(), start + m.end())
                    for m in _HAN_SUFFIX.finditer(piece)
                )
            start = cut.end() if cut else end
    return found


def _entity(text: str, start: int, end: int) -> Entity:
    span = text[start:end].strip(" .,;:'-")
    stems = content_words(span.removesuffix("'s"))
    return Entity(span, start, start + len(span) if span else end, stems)
