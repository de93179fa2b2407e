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
_FAST: Final = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|recent(?:ly)?|current(?:ly)?|now|nowadays|these days|"
    r"upcoming|"
    r"so far|up[ -]to[ -]date|this (?:week|month|quarter|year|season|weekend)(?:'s)?|"
    r"(?:last|past|next) (?:week|month|quarter|season|few days|\d+ (?:days|weeks))(?:'s)?|still|"
    r"news|just (?:announced|released)|next (?:game|match|election|episode|release|year)|"
    r"(?:how much|what) (?:does|do|is|are)\b.{0,60}\b(?:cost|price)s?|(?:base|starting) price|"
    r"(?:world|fifa|atp|wta) ranking|ranked|rank(?:ing)?s?|(?:top|best)[ -]selling|standings|"
    r"leaderboard|"
    r"most[ -](?:viewed|watched|streamed|followed|subscribed|popular|liked|played)|followers|"
    r"subscribers|"
    r"net worth|rich(?:est|er)|market cap(?:italization)?|box office|poll(?:s|ing)?|unemployment|"
    r"inflation|"
    r"interest rate|ongoing|schedul(?:ed?|ing)|available (?:on|in)|running for|as of)\b"
    r"|最新|最近|近期|目前|现在|当前|本周|本月|本季|今年|上周|上个月|下周|下个月|排名|热门|价格|"
    r"多少钱|现任|即将|新闻|动态|进展"
)
_SLOW: Final = re.compile(
    r"\b(?:who (?:is|'s) the (?:\w+ ){0,4}(?:president|prime minister|ceo|cfo|cto|chair\w*|head|"
    r"leader|governor|mayor|"
    r"king|queen|pope|coach|captain|owner|manager|director|minister|chancellor|host|champion|"
    r"secretary)|"
    r"how many|number of|population|how old|record|largest|biggest|tallest|highest|most|fastest|"
    r"longest|richest|"
    r"headquarter\w*|ceo of|capital of|member(?:s|ship)|law|legal|allowed|requirement|guideline|"
    r"policy|polic(?:y|ies)|tax|"
    r"regulation|eligib\w+|visa|salary|average|rate of|percentage|share of|version|support(?:s|"
    r"ed)?|"
    r"how (?:much|often|long)|does .{2,40} have|latest winner|best (?:way|practice)|last|next|"
    r"have .{2,60} (?:ever|won|played|been)|has .{2,60} (?:won|ever|been|played))\b"
    r"|现任|多少|人口|纪录|最大|最高|最长|总部|法律|规定|政策|标准|税|要求|版本|平均|总统|总理|"
    r"首相|市长|首席执行官"
)
_PAST: Final = re.compile(
    r"\b(?:in|during|of|since|before|by|around|the|on \w+ \d{1,2},?) (?:1\d{3}|20[01]\d|"
    r"202[0-4])\b|"
    r"\b(?:1\d{3}|20[01]\d|202[0-4]) (?:\w+ ){0,3}(?:world cup|olympics?|election|season|"
    r"super bowl|championship|film|movie|final)|"
    r"^(?:when|in (?:what|which) (?:year|month|city|country)|what year|what date|"
    r"on what date) (?:was|were|did)\b|"
    r"\bwho (?:wrote|invented|discovered|founded|painted|composed|directed|created|built|"
    r"designed|was|were)\b|"
    r"\b(?:was|were) .{2,80} (?:born|founded|built|invented|established|released|published|"
    r"written)\b|"
    r"\b(?:historical|history of|ancient|originally|first ever)\b"
    r"|(?:19|18)\d\d年|20[01]\d年|202[0-4]年|哪一年|什么时候(?:成立|出生|发明)|是谁(?:写|发明|"
    r"创立)|历史上|古代"
)
_TIMELESS: Final = re.compile(
    r"^(?:why|how (?:do|does|to|can|is|are)|what (?:does|is the (?:definition|meaning|formula|"
    r"difference|name|capital)|"
    r"are the (?:causes|symptoms|benefits|effects))|define|explain|calculate|solve|prove)\b|"
    r"\b(?:definition of|meaning of|mean by|formula|theorem|chemical|element|translate|synonym|"
    r"author of)\b"
    r"|什么是|是什么意思|定义|为什么|原理|公式|区别|怎么(?:做|写|计算)"
)


@lru_cache(maxsize=512)
def regime_of_question(question: str) -> Regime:
    """Classify a question; ties go to the slower regime, which condemns less."""
    text = fold(question[:_MAX])
    if _REAL_TIME.search(text):
        return Regime.REAL_TIME
    if _FAST.search(text) and not _PAST.match(text):
        return Regime.FAST
    if _PAST.search(text):
        return Regime.INSENSITIVE
    if _SLOW.search(text):
        return Regime.SLOW
    return Regime.INSENSITIVE if _TIMELESS.search(text) else Regime.SLOW


def regime_from_name(name: str | None) -> Regime | None:
    """Read an agent's own regime; other words than ours are no regime."""
    folded = (name or "").strip().lower().replace("_", "-").replace("realtime", "real-time")
    return Regime(folded) if folded in set(Regime) else None
