"""Word lists that the text scorers share: data, kept apart from the rules that read it.

Lists are short on purpose: each word is here because leaving it out of a query loses nothing.
"""

from typing import Final


def _words(block: str) -> frozenset[str]:
    return frozenset(block.split())


STOP_WORDS: Final = _words(
    """
    a about above according after again against al all also am an and any are as at au auf aux
    avec based be because been before being below between both but by called can ce ces che chi
    como compare con could cual cuales cuando current currently dans das de del della dem den der
    des describe di did do does doing donde dove down du during e each ein eine either el else
    en es est et ever every explain few find for from further get gets give given gli go goes
    going had has have having he hear heard help her here hers herself hi him himself his how
    i i'd i'll i'm i've if il im in into is ist it it's its itself just know la las le les let
    let's like list lo los made make many may me might mine mit more most much must my myself name
    need nel no nor not now of off ok okay on once one only or other our ours out over own para
    per please por pour put quando que quel quelle qui quien quoi say says se see shall she should
    show sind so some sono sont su such sur tell than thank thanks that that's the their
    theirs them themselves then there these they thing things think this those through to too un
    una und under une until up upon us use used uses using very via von wann want wants was way we
    welche welcher welches well wer were what what's when where where's which while who who's whom
    whose why wie will with within without wo would wurde y yes yet you you'd you'll you're you've
    your yours yourself zu
    """
)
"""English function words and fillers, and those of a few languages beside it."""

CJK_FUNCTION: Final = _words(
    """
    为什么 怎么样 一下 一个 为何 什么 什麼 以及 关于 可以 告诉 哪个 哪些 哪儿 哪裡 哪里 多少 如何
    当前 怎么 怎样 是否 最近 现在 目前 知道 請問 请问 上 下 与 个 中 为 之 也 了 于 些 从 他 们 会
    你 個 們 其 几 到 又 及 向 吗 吧 呢 和 哪 啊 嗎 在 她 它 对 将 就 幾 很 想 我 或 把 是 有 由
    的 等 给 能 被 要 誰 请 谁 还 这 這 那 都 里
    """
)
"""Han words at which a run is cut: particles, question words, pronouns."""

QUESTION_OPENERS: Final = _words(
    """
    a about according after also among an and any are aren't as at based before between both but
    by can can't compare could current describe did do does don't during each either explain find
    first for from get give great had has have he hello help her hi his how how's i i'm i've
    identify if in interesting is isn't it its last let let's list look make many may might most
    must my name need neither next no no-one not of ok okay on or our over please provide search
    several shall she should show since so some summarise summarize sure tell thank thanks that
    the their there these they this those through to under until want was we well were what what's
    when when's where where's which who who's whom whose why will with without would wow write yes
    you your
    """
)
"""Capitalised only because they open a sentence."""
