"""How fast the answer to a question changes: the regime that its sources' age is judged by.

Rules over the wording, first match wins, in English and Chinese. The question alone decides; an
agent that knows better says so in `seekwatch.freshness.regime`.
"""

import re
from functools import lru_cache
from typing import Final

from seekwatch.core.policy import Regime
from seekwatch.processors.text.fold import fold

_MAX: Final = 2_000

_REAL_TIME: Final = re.compile(
    r"\b(?:right now|at (?:this|the) moment|at present time|live (?:score|updates?|stream)|"
    r"in real[ -]time|"
    r"real[ -]time|as of now|(?:in|over) the (?:last|past|next) (?:\d+ |few )?(?:minutes?|hours?)|"
    r"breaking news|(?:stock|share|gold|oil|gas|bitcoin|btc|ethereum|crypto\w*) price|"
    r"price of (?:bitcoin|gold|oil)|"
    r"exchange rate|(?:trading|traded) at|weather|forecast|temperature in|air quality|"
    r"traffic (?:on|in|at|condition)|"
    r"(?:flight|train) (?:status|delays?)|today|tonight|todays?'s|this (?:morning|afternoon|"
    r"evening)|"
    r"tomorrow|yesterday|currently (?:open|trending|trading|playing|online|streaming)|trending|"
    r"power outages?|wait times?|open now|in stock|availab(?:le|ility) (?:now|today))\b"
    r"|实时|此刻|现在几点|股价|汇率|金价|油价|币价|天气|气温|今天|今日|今晚|明天|昨天|热搜|路况|"
    r"航班动态|比分|直播"
)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR: Final = r"(1\d{3}|20\d\d)"
_DATED: Final = re.compile(
    r"\b(?:in|during|of|by|around|the|from|between|until|before|for) (?:the )?"
    rf"(?:late |early |mid-?)?{_YEAR}s?\b|"
    rf"\b{_MONTH}\.?(?: \d{{1,2}}(?:st|nd|rd|th)?,?)? (?:of )?{_YEAR}\b|"
    rf"\b{_YEAR} (?:\w+ ){{0,3}}(?:world cup|olympics?|election|season|film|super bowl|"
    rf"championship|movie|finals?|edition)|{_YEAR}年"
)
_CENTURY: Final = re.compile(r"\b\d{1,2}(?:st|nd|rd|th) century\b|世纪")
_NEWS: Final = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|recent(?:ly)?|current(?:ly)?|now|nowadays|these days|"
    r"upcoming|so far|up[ -]to[ -]date|this (?:week|month|quarter|year|season|weekend)(?:'s)?|"
    r"(?:last|past|next|coming) (?:\d+ |few |couple of |several )?"
    r"(?:days?|weeks?|months?|quarters?|seasons?|years?)(?:'s)?|news|just (?:announced|released)|"
    r"next (?:game|match|election|episode|release|film|movie|album|novel)|last time|ongoing|as of|"
    r"(?:how many|how much|what) .{3,60} (?:predicted|expected|projected|forecast)|predict\w*|"
    r"will be|is expected|are expected)\b"
    r"|最新|最近|近期|目前|现在|当前|本周|本月|本季|今年|上周|上个月|下周|下个月|即将|新闻|动态|进展"
)
_OFFICE: Final = re.compile(
    r"\b(?:president|prime minister|chancellor|king|queen|pope|emperor|monarch|ceo|cfo|cto|"
    r"chair\w*|leader|governor|mayor|minister|secretary|head of (?:the )?(?:state|government)|"
    r"senator|coach|captain|hosts?|owner|currency|capital|headquarter\w*|law|constitution|"
    r"minimum wage)\b"
    r"|总统|总理|首相|国王|主席|市长|首席执行官|董事长|教练|队长|首都|货币"
)
_MOVING: Final = re.compile(
    r"\b(?:(?:how much|what) (?:does|do|is|are|will)\b.{0,60}\b(?:cost|price|worth)s?|"
    r"(?:base|starting|average) price|prices?|(?:world|fifa|atp|wta) ranking|ranked|rank(?:ing)?s?|"
    r"best[ -]selling|top[ -](?:selling|rated|grossing)|standings|leaderboard|"
    r"most[ -](?:viewed|watched|streamed|followed|subscribed|popular|liked|played|visited|read)|"
    r"followers|subscribers|net worth|richest|market cap(?:italization)?|box office|polls?|polling|"
    r"unemployment|inflation|interest rate|mortgage rate|available (?:on|in|at)|trends?|sales)\b"
    r"|排名|热门|价格|多少钱|销量|行情|房价"
)
_STANDING: Final = re.compile(
    r"\b(?:how many .{2,80}\b(?:has|have|are there|does|do|is|are)\b|number of|population|"
    r"how old|records?|largest|biggest|tallest|highest|fastest|longest|"
    r"most (?:\w+ ){1,3}(?:in|of|ever)|member(?:s|ship)|legal|allowed|requirements?|guidelines?|"
    r"polic(?:y|ies)|tax(?:es)?|regulations?|eligib\w+|visas?|salary|percentage|version|"
    r"still|does .{2,40} (?:have|own|support)|best (?:way|practice|\w+ for)|"
    r"(?:has|have) .{2,60} (?:ever|won|played|been|published|released))\b"
    r"|多少|人口|纪录|最大|最高|最长|总部|法律|规定|政策|标准|税|要求|版本|平均"
)
_PAST_TENSE: Final = re.compile(
    r"\b(?:did|was|were|wrote|invented|discovered|founded|painted|composed|directed|created|"
    r"designed|starred|played|won|died|born|killed|named after|originally|ancient|"
    r"histor(?:y|ical))\b|哪一年|什么时候(?:成立|出生|发明)|是谁(?:写|发明|创立)|历史上|古代"
)


@lru_cache(maxsize=512)
def regime_of_question(question: str, year: int) -> Regime:
    """Classify a question; what shows no sign of time is insensitive, which condemns nothing.

    Args:
        question: as the user asked it.
        year: of the run; a question about an earlier year has an answer that stays.
    """
    text = fold(question[:_MAX])
    if _REAL_TIME.search(text):
        return Regime.REAL_TIME
    if _about_the_past(text, year):
        return Regime.INSENSITIVE
    office = _OFFICE.search(text) is not None
    if _NEWS.search(text):
        return Regime.SLOW if office and not _PAST_TENSE.search(text) else Regime.FAST
    if _PAST_TENSE.search(text):
        return Regime.INSENSITIVE
    if _MOVING.search(text):
        return Regime.FAST
    return Regime.SLOW if office or _STANDING.search(text) else Regime.INSENSITIVE


def _about_the_past(text: str, year: int) -> bool:
    years = [int(part) for match in _DATED.finditer(text) for part in match.groups() if part]
    return all(named < year for named in years) if years else bool(_CENTURY.search(text))


def regime_from_name(name: str | None) -> Regime | None:
    """Read an agent's own regime; other words than ours are no regime."""
    folded = (name or "").strip().lower().replace("_", "-").replace("realtime", "real-time")
    return Regime(folded) if folded in set(Regime) else None
