"""Sentences of a prompt that speak to the model: how to answer, and what day it is.

They often stand right behind the question, and read as its constraints would count against a run.
"""

import re
from typing import Final

from seekwatch.processors.text.fold import fold

_ORDERS: Final = (
    # English
    r"answer|cite|use|respond|reply|never|always|do not|don't|only (?:use|cite|answer)|return|"
    r"write|include|provide|keep|ensure|avoid|rely|base|if you|make sure|think|"
    # German
    r"antworte|beantworte|zitiere|nutze|verwende|benutze|gib|schreibe?|nenne|niemals|halte|"
    r"stutze|erfinde|"
    # French
    r"repond(?:s|ez)|cite[sz]|utilise[sz]?|n'utilise[sz]?|ne \w+|n'\w+ (?:pas|jamais)|"
    r"redige[sz]?|ecri(?:s|vez)|"
    # Spanish, Portuguese and Italian
    r"responde|responda|contesta|conteste|cita|"
    r"usa (?:solo|soltanto|unicamente|apenas|el|las?|"
    r"los|le|i|as|os)|utiliza|utilice|utilize|nunca|no (?:uses?|"
    r"utilices?|cites?|inventes?)|nao (?:use|cite|invente|utilize)|escreva|escribe|"
    r"rispondi|rispondere|utilizza|usare|non (?:usare|citare|inventare|utilizzare)|scrivi|"
    r"mai (?:usare|citare)"
)
_PLEASE: Final = r"(?:please|bitte|s'il (?:te|vous) plait|veuillez|por favor|per favore)?[,\s]*"
_TODAY: Final = (
    r"(?:today|the (?:current |present )?date|(?:the )?current (?:date|time)|today's date|heute|"
    r"das heutige datum|aujourd'hui|nous sommes|la date|hoy|la fecha|oggi|la data|hoje|"
    r"a data)\b[^?]{0,60}\d"
)
_OPENS: Final = re.compile(rf"[\s\-*•]*(?:{_PLEASE}(?:{_ORDERS})\b|{_TODAY})")
_SPACELESS: Final = re.compile(
    r"\s*(?:请|請|不要|切勿|仅|僅|只[用使能]|务必|必须|用\w{1,4}回答|今天是|今日は\s*\d|"
    r"(?:当前|當前|今天的?|本日の?|現在の?)日(?:期|付))|"
    r"(?:てください|て下さい|ないでください|しないこと|すること)[。.!！\s]*$"
)
_ASKING_END: Final = re.compile(r"[?？؟]\s*[\"'”’»」』)*`]*\s*$")


def ends_asking(sentence: str) -> bool:
    """Tell whether a sentence ends with a question mark."""
    return bool(_ASKING_END.search(sentence[-20:]))


def addresses_model(sentence: str) -> bool:
    """Tell whether a sentence orders how to answer or states today's date, and does not ask."""
    if ends_asking(sentence):
        return False
    straight = sentence.replace("’", "'")
    return bool(_OPENS.match(fold(straight)) or _SPACELESS.search(straight))


def without_orders(lines: list[list[str]]) -> list[str]:
    """Return the sentences of a labelled part but for orders that follow what is asked.

    Args:
        lines: the sentences of each line. A line that is one sentence is taken to ask.
    """
    kept: list[str] = []
    asked = False
    for line in lines:
        for sentence in line:
            if asked and addresses_model(sentence):
                continue
            kept.append(sentence)
            asked = asked or ends_asking(sentence) or len(line) == 1
    return kept
