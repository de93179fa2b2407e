"""What an answer says of itself: that it refuses, found nothing, or that its sources are old.

Small lists in several languages. A refusal counts only near the start of a short answer, because a
full answer may well mention what it could not find.
"""

import re
from typing import Final

from seekwatch.processors.text.fold import fold

_HEAD: Final = 400
_SHORT: Final = 600

_REFUSAL: Final = re.compile(
    r"\bi(?:'m| am) (?:sorry|afraid|unable|not able)\b|\bi (?:can't|cannot|can not|won't|"
    r"will not|am not going to) "
    r"(?:help|assist|answer|provide|do|comply|share|give|offer|access|browse|discuss|fulfil|"
    r"support|find|verify|"
    r"determine|confirm|recommend)|\b(?:as an ai|i must decline|i decline|i refuse)\b|"
    r"\bunable to (?:help|answer|provide|assist|find|determine|verify|complete|access)\b|"
    r"无法(?:回答|提供|帮助|协助|满足|完成|访问|确定|确认)|不能(?:回答|提供|帮助)|抱歉|对不起|"
    r"申し訳(?:ありません|ございません)|お答えできません|죄송합니다|답변(?:할 수|드릴 수) 없|"
    r"\blo siento\b|\bno puedo (?:ayudar|responder|proporcionar)|\bje suis desole|"
    r"\bje ne peux pas\b|"
    r"\btut mir leid\b|\bich kann (?:dir|ihnen|das|diese|nicht)\b.{0,30}\bnicht\b|\bdesculpe\b|"
    r"\bnao posso\b|"
    r"\bmi dispiace\b|не могу (?:помочь|ответить)|к сожалению"
)
_NOTHING_FOUND: Final = re.compile(
    r"\bi (?:could not|couldn't|cannot|can't|was unable to|was not able to|did not|didn't|don't|"
    r"do not) "
    r"(?:find|locate|determine|verify|have (?:enough |sufficient |any |access to )?\w*)|"
    r"\bno (?:reliable |relevant |credible |sufficient )?(?:information|sources?|results?|"
    r"evidence|data) "
    r"(?:was |were |is |are |could be )?(?:found|available|located)|\bnot enough information\b|"
    r"\binsufficient (?:information|evidence)\b|\bi don't know\b|\bcould not be (?:found|"
    r"determined|verified)\b|"
    r"\bthere is no (?:information|evidence|record)\b|"
    r"(?:没有|未能?|未)找到|找不到|查不到|信息不足|未查到|我不知道|暂无(?:相关)?信息|"
    r"見つかりませんでした|"
    r"찾을 수 없|\bno (?:encontre|pude encontrar|se encontro)|\bje n'ai (?:pas|rien) (?:pu )?trouv|"
    r"\bkeine (?:informationen|angaben|quellen)\b.{0,30}\b(?:gefunden|finden)|\bnao (?:encontrei|"
    r"foi possivel)|"
    r"\bnon ho trovato\b|не (?:удалось найти|нашел)"
)
_CAVEAT: Final = re.compile(
    r"\bas of\b|\baccurate as of\b|\bdated? (?:from |back )?(?:\w+ )?(?:19|20)\d\d|"
    r"\b(?:may|might|could) (?:be |have been |have |since )*(?:outdated|out of date|stale|old|"
    r"changed|superseded)|"
    r"\b(?:outdated|out[ -]of[ -]date|not up[ -]to[ -]date|no longer current)\b|"
    r"\b(?:could not|couldn't|did not|didn't|unable to|no) (?:find|locate)?\s?(?:any |"
    r"a )?(?:more recent|newer|more current|"
    r"up[ -]to[ -]date)|\b(?:newest|latest|most recent) (?:source|information|data|page|article|"
    r"report)s? "
    r"(?:i |that i |we |that we )?(?:could |can )?(?:find|found|is|are|available|dates?)|"
    r"\bpublished in (?:\w+ )?(?:19|20)\d\d|\blast updated\b|\bmy (?:information|sources?) (?:is|"
    r"are|only|may)\b|"
    r"\baccording to (?:a|an|the) (?:\w+ ){0,3}(?:from|of|dated) (?:\w+ )?(?:19|20)\d\d|"
    r"截至|截止到?|数据(?:来自|更新至)|可能(?:已经?)?过时|已过时|未能?找到(?:更新|最新)|"
    r"没有找到(?:更新|最新)|不是最新|"
    r"時点|現在のところ|古い(?:情報|可能性)|기준|오래된|\bstand:? |\bveraltet\b|"
    r"\ba partir de\b.{0,12}20\d\d|"
    r"\bdesactualizad|\ben date du\b|\bdate de 20\d\d|\bobsolet|\bnon aggiornat|по состоянию на|"
    r"устарел"
)
_CITATION_MARK: Final = re.compile(r"https?://|\[\d{1,3}\]|\]\(")


def is_refusal(answer: str) -> bool:
    """Tell whether the answer declines, or says that it found nothing, and leaves it at that."""
    text = fold(answer[: 4 * _SHORT])
    head = text[:_HEAD]
    match = _REFUSAL.search(head) or _NOTHING_FOUND.search(head)
    if match is None:
        return False
    # Sources beside the apology, or much text after it, make it an answer with a caveat.
    return len(answer) <= _SHORT and not _CITATION_MARK.search(text)


def has_caveat(answer: str) -> bool:
    """Tell whether the answer says how old its sources are, or that nothing newer was found."""
    return _CAVEAT.search(fold(answer[:20_000])) is not None
