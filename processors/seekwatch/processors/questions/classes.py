"""Whether a question asks for one fact or a view over many, which sets how many domains are due."""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

from seekwatch.processors.text.fold import fold


class QuestionClass(StrEnum):
    """What kind of answer is due."""

    FACTUAL = "factual"
    SYNTHESIS = "synthesis"


_SYNTHESIS: Final = re.compile(
    r"\b(?:compare|comparison|versus|vs\.?|pros and cons|advantages and disadvantages|"
    r"trade-?offs?|overview|"
    r"summar(?:y|ize|ise)|analy[sz]e|analysis|assess|evaluate|review (?:of|the)|survey|report on|"
    r"research on|"
    r"state of the art|landscape|trends?|implications?|impacts? of|effects? of|causes? of|"
    r"differences? between|best (?:ways?|practices|options|tools|\w+ for)|should i|recommend\w*|"
    r"alternatives|"
    r"what are (?:the )?(?:main|major|key|different|most|best|top|common|various|current|some)|"
    r"how (?:does|do|did|has|have|will) .{3,80} (?:affect|influence|impact|change|evolve|compare|"
    r"differ)|"
    r"why (?:is|are|do|does|did|has|have)|arguments? (?:for|against)|debate|controvers\w+|"
    r"opinions?|strategy|strategies)\b"
    r"|比较|对比|优缺点|利弊|综述|总结|分析|评估|趋势|影响|原因|区别|差异|建议|推荐|最佳|"
    r"如何看待|为什么|现状|前景|观点"
)


@lru_cache(maxsize=512)
def class_of_question(question: str) -> QuestionClass:
    """Classify by wording; a plain question is factual."""
    found = _SYNTHESIS.search(fold(question[:2_000]))
    return QuestionClass.SYNTHESIS if found else QuestionClass.FACTUAL
