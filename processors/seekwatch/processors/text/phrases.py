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
    r"\b(?:"
    r"i(?:'m| am) (?:sorry|afraid|unable|not able)\b|i (?:can't|cannot|can not|won't|will not|"
    r"am not going to) (?:help|assist|answer|provide|do|comply|share|give|offer|access|browse|"
    r"discuss|fulfil|support|find|verify|determine|confirm|recommend)|(?:as an ai|"
    r"i must decline|i decline|i refuse)\b|unable to (?:help|answer|provide|assist|find|"
    r"determine|verify|complete|access)\b|lo siento\b|no puedo (?:ayudar|responder|"
    r"proporcionar)|je suis desole|je ne peux pas\b|tut mir leid\b|ich kann (?:dir|ihnen|das|"
    r"diese|nicht)\b.{0,30}\bnicht\b|desculpe\b|nao posso\b|mi dispiace\b)|"
    r"无法(?:回答|提供|帮助|协助|满足|完成|访问|确定|确认)|不能(?:回答|提供|帮助)|抱歉|对不起|"
    r"申し訳(?:ありません|ございません)|お答えできません|죄송합니다|답변(?:할 수|드릴 수) 없|"
    r"не могу (?:помочь|ответить)"
)
_REFUSAL_ELSEWHERE: Final = re.compile(
    # Dutch, German, the Scandinavian languages, Finnish
    r"\b(?:kan ik (?:je |u |jou )?(?:helaas )?niet\b|ik kan (?:je |u |jou )?\w+ niet\b|kann ich "
    r"(?:\w+ ){0,2}nicht (?:helfen|beantworten|weiterhelfen)|(?:jag|jeg|eg) kan (?:\w+ )?(?:inte|"
    r"ikke|ikkje) (?:hjalpa|hjelpe|hjælpe|svara|svare)|kan (?:jag|jeg) (?:\w+ )?(?:inte|ikke) "
    r"(?:hjalpa|hjelpe|hjælpe|svara|svare)|en voi (?:auttaa|vastata)|"
    # Polish, Czech, Hungarian, Romanian, Italian, Turkish
    r"nie moge (?:\w+ )?(?:pomoc|odpowiedziec)|nemohu (?:\w+ )?(?:pomoci|odpovedet)|nem tudok "
    r"(?:\w+ )?(?:segiteni|valaszolni)|nu (?:va |te )?pot (?:ajuta|raspunde)|non posso (?:aiutar|"
    r"risponder)|uzgunum\b|yardımcı olam|cevap veremem|"
    # Vietnamese, Indonesian and Malay
    r"toi (?:rat tiec|khong the (?:giup|tra loi))|saya tidak (?:dapat|bisa|boleh) (?:membantu|"
    r"menjawab))|"
    # Ukrainian, Greek, Arabic, Hebrew, Hindi, Thai
    r"не можу (?:допомогти|відповісти)|δεν μπορω να (?:σας |σε )?(?:βοηθησω|απαντησω)|"
    r"لا (?:يمكنني|[اأ]ستطيع) (?:\w+ )?(?:ال)?(?:مساعد|[اإ]جاب)|"
    r"(?:לא יכול(?:ה)?|לא אוכל) (?:לעזור|לענות|לסייע)|"
    r"(?:मदद|सहायता) नहीं कर|उत्तर नहीं दे|ไม่สามารถ(?:ช่วย|ตอบ)"
)
_NOTHING_FOUND: Final = re.compile(
    r"\b(?:"
    r"i (?:could not|couldn't|cannot|can't|was unable to|was not able to|did not|didn't|don't|"
    r"do not) (?:find|locate|determine|verify|have (?:enough |sufficient |any |"
    r"access to )?\w*)|no (?:reliable |relevant |credible |sufficient )?(?:information|"
    r"sources?|results?|evidence|data) (?:was |were |is |are |could be )?(?:found|available|"
    r"located)|not enough information\b|insufficient (?:information|evidence)\b|"
    r"i don't know\b|could not be (?:found|determined|verified)\b|there is no (?:information|"
    r"evidence|record)\b|no (?:encontre|pude encontrar|se encontro)|je n'ai (?:pas|"
    r"rien) (?:pu )?trouv|keine (?:informationen|angaben|quellen)\b.{0,30}\b(?:gefunden|"
    r"finden)|nao (?:encontrei|foi possivel)|non ho trovato\b)|"
    r"(?:没有|未能?|未)找到|找不到|查不到|信息不足|未查到|我不知道|暂无(?:相关)?信息|"
    r"見つかりませんでした|찾을 수 없|не (?:удалось найти|нашел)"
)
_FOUND_NOTHING: Final = re.compile(
    # English
    r"\b(?:(?:i|we|(?:the|my|our) (?:\w+ )?search(?:es)?)(?:'ve| have| has)? (?:found|find|"
    r"returned|"
    r"yielded|gave|turned up|came up with|see|got) (?:absolutely |"
    r"unfortunately )?(?:nothing(?: (?:about|"
    r"on|for|regarding|relevant|useful|that|in|to|at all)\b|\W*$|[.,;!])|"
    r"no (?:\w+ ){0,2}(?:results?|"
    r"information|sources?|answers?|mentions?|data|records?|match(?:es)?|articles?|pages?|"
    r"documents?|"
    r"hits?|details?)\b)|nothing (?:relevant |useful )?(?:was |could be |has been )?found|"
    r"there (?:is|"
    r"are|was|were) no (?:\w+ )?(?:results?|information|records?|match(?:es)?|hits?)\b|(?:sources|"
    r"search results|context|documents|results) (?:do not|don't|does not|doesn't|did not|didn't) "
    r"(?:\w+ )?(?:contain|provide|include|mention|say|answer|return|yield)|"
    # German, Dutch, the Scandinavian languages
    r"(?:habe|haben|konnte|konnten|kann) (?:\w+ ){0,5}(?:nichts|"
    r"keine\w*) (?:\w+ ){0,6}(?:ge)?f[iu]nden|"
    r"(?:nichts|keine (?:\w+ ){1,3})(?:dazu |daruber |hierzu )?gefunden|"
    r"fand(?:en)? (?:\w+ ){0,2}(?:nichts|"
    r"keine)|es gibt (?:dazu |hierzu |leider )*keine (?:\w+ )?(?:informationen|ergebnisse|angaben|"
    r"treffer)|(?:heb|hebben|kon|konden|kan) (?:\w+ ){0,5}(?:niets|"
    r"geen) (?:\w+ ){0,6}(?:gevonden|vinden)|"
    r"(?:niets|geen (?:\w+ ){1,3})(?:hierover |daarover )?gevonden|"
    r"vond(?:en)? (?:\w+ ){0,2}(?:niets|geen)|"
    r"(?:hittade|fant|fandt|fann) (?:\w+ ){0,2}(?:inget|inga|ingen|ingenting|intet)|"
    # French, Spanish, Italian, Portuguese
    r"n'(?:ai|avons|a) (?:\w+ ){0,2}(?:rien|pas) (?:\w+ ){0,2}trouve|n'(?:ai|"
    r"avons) (?:pu )?trouver? "
    r"aucun|aucune? (?:\w+ )?(?:resultat|information|source|reponse)s? (?:\w+ ){0,2}(?:n'a|trouve|"
    r"disponible)|no (?:he|hemos|se ha|se han) (?:podido )?(?:encontra|halla)|no (?:halle|hallamos|"
    r"encontramos|se encontraron|hay (?:\w+ )?(?:resultados|informacion))|non (?:ho|abbiamo|"
    r"e stat[oa]|"
    r"sono stat[ie]|sono riuscit[oa] a) (?:\w+ )?trova|nessun(?:a)? (?:risultato|"
    r"informazione) (?:\w+ )?"
    r"trovat|non ci sono (?:risultati|informazioni)|nao (?:achei|encontramos|consegui encontrar|"
    r"foram? encontrad|ha (?:resultados|informacoes))|nenhuma? (?:resultado|informacao) (?:\w+ )?"
    r"encontrad|"
    # Polish, Turkish
    r"nie (?:znalaz[lł]|znaleziono|uda[lł]o (?:mi )?sie znalezc))|bulamad|bulunamad|"
    # Russian, Chinese, Japanese, Korean
    r"не (?:нашел|нашла|нашли|нашлось|наиден|удалось наити|смог(?:ла)? наити)|"
    r"(?:没有?|沒有?|未能?)能?(?:找到|搜索?到|查询?到|检索到|發現|发现任何)|没有(?:任何)?(?:相关的?)?"
    r"(?:结果|信息|资料)|見つか(?:りません|らな|らず)|見当たりません|(?:情報|結果)[はが](?:ありません|"
    r"得られません)|찾(?:을 수 없|지 못)|(?:결과|정보)[가는] 없"
)
_SENTENCE_END: Final = re.compile(r"[.!?]\s|[。！？]")
_APOLOGY: Final = 14
"""Characters before a sentence end that are no answer yet: "Sorry.", "Hello!"."""
_BUT: Final = re.compile(
    r"\b(?:but|however|though|aber|jedoch|mais|cependant|pero|ma|mas|porem|maar|но|однако)\b|但|"
    r"不过|しかし|ですが"
)
_CAVEAT: Final = re.compile(
    # English
    r"\b(?:as of (?!yet)|accurate as of\b|at the time of writing\b|dated? (?:from |"
    r"back )?(?:\w+ )?(?:19|20)\d\d|(?:may|might|could) (?:\w+ )?(?:no longer be|not be up|"
    r"(?:be |have been |have |since )*(?:outdated|out of date|stale|old|changed|superseded))|"
    r"(?:outdated|out[ -]of[ -]date|not up[ -]to[ -]date|no longer current)\b|"
    r"(?:could not|couldn't|did not|didn't|unable to|cannot|can't) (?:find|locate|see) (?:any |"
    r"anything |a )?(?:more recent|newer|more current|fresher|later|up[ -]to[ -]date)|(?:found|"
    r"find|there (?:is|are|was|were)|see) (?:no|nothing|not any) (?:more recent|newer|"
    r"more current|fresher|later (?:source|figure|data|information)|up[ -]to[ -]date)|"
    r"no (?:more recent|newer|more current|fresher|up[ -]to[ -]date) (?:\w+ ){0,2}(?:was |were |"
    r"is |are |could )|(?:newest|latest|most recent) (?:\w+ )?(?:source|information|data|page|"
    r"article|report|figure)s? (?:i |that i |we |that we |in the )?(?:could |can |have )?(?:find|"
    r"found|is|are|available|dates?|results)|published in (?:\w+ )?(?:19|20)\d\d|last updated\b|"
    r"my (?:information|sources?|data) (?:is|are|only|may|ends?|goes)\b|according to (?:a|an|"
    r"the) (?:\w+ ){0,3}(?:from|of|dated) (?:\w+ )?(?:19|20)\d\d|"
    # German, Dutch, the Scandinavian languages
    r"stand:? (?:vom )?(?:\d\d?\. ?)?(?:\w+ )?(?:19|20)\d\d|veraltet\b|nicht (?:mehr )?aktuell\b|"
    r"(?:keine|nichts) (?:\w+ )?(?:aktuelleren?|neueren?|neueres|aktuelleres)\b|verouderd\b|"
    r"per (?:\d\d? )?\w+ 20\d\d|geen (?:recentere|nieuwere|actuelere)\b|foraldra[dt]|foreldet\b|"
    r"inga nyare\b|ingen nyere\b|"
    # French, Spanish, Portuguese, Italian, Romanian
    r"en date du\b|a la date d|date de 20\d\d|obsolete?|plus a jour\b|pas a jour\b|(?:rien|"
    r"pas|aucune?) (?:\w+ ){0,5}plus recente?s?\b|selon (?:\w+ ){1,4}(?:19|20)\d\d|a partir de\b"
    r".{0,12}20\d\d|a fecha de\b|(?:desactualizad|desatualizad)|no (?:\w+ ){1,4}mas (?:reciente|"
    r"actual)|segun (?:\w+ ){1,4}(?:19|20)\d\d|nao (?:\w+ ){1,4}mais (?:recente|atua)|segundo (?:"
    r"\w+ ){1,4}(?:19|20)\d\d|non aggiornat|non (?:\w+ ){1,4}piu recent|aggiornat[oai] a[l]? |"
    r"invechiat|"
    # Polish, Turkish, Indonesian, Vietnamese
    r"stan na\b|nieaktualn|nowszych (?:danych|informacji)|itibari?yla\b|guncel olmayabilir|daha "
    r"guncel\b.{0,30}bulamad|per tanggal\b|tinh den (?:thang|nam|ngay)?)"
)
_CAVEAT_ELSEWHERE: Final = re.compile(
    r"itibarıyla|"
    # Russian, Ukrainian, Hebrew, Arabic, Hindi
    r"по состоянию на|по данным (?:на|за) |устарел|станом на|застаріл|(?:более|больше) (?:свежи|"
    r"новы|поздни)\w+ .{0,30}не |не .{0,30}(?:более|больше) (?:свежи|новы|поздни)|נכון ל|אינו "
    r"מעודכן|לא מעודכן|עדכני יותר|اعتبار[اً]+ من|حتى تاريخ|قد تكون (?:قديمة|غير محدثة)|معلومات "
    r"أحدث|पुरान[ीाे]|तक की जानकारी|"
    # Chinese, Japanese, Korean
    r"截至|截止到?|数据(?:来自|更新至)|可能(?:已经?)?过时|已过时|未能?找到(?:更新|最新|更近)|"
    r"(?:没有|沒有)找到(?:更新|最新|更近)|不是最新|時点|現在のところ|古い(?:情報|可能性)|"
    r"(?:より)?新しい(?:情報|データ)[はが]|最新(?:の)?(?:情報)?では(?:ない|ありません)|"
    r"\d[년월일] 기준|오래된|최신 (?:정보|자료)[를가는]? .{0,8}(?:없|못)"
)
_CITATION_MARK: Final = re.compile(r"https?://|\[\d{1,3}\]|\]\(")


def is_refusal(answer: str) -> bool:
    """Tell whether the answer declines, or says that it found nothing, and leaves it at that."""
    # Much text, or sources beside the apology, make it an answer with a caveat.
    if len(answer) > _SHORT:
        return False
    text = fold(answer)
    if _CITATION_MARK.search(text):
        return False
    head = text[:_HEAD]
    return bool(
        _REFUSAL.search(head)
        or _REFUSAL_ELSEWHERE.search(head)
        or _NOTHING_FOUND.search(head)
        or _begins_with_nothing(head)
    )


def _begins_with_nothing(head: str) -> bool:
    """Tell whether the first sentence says that nothing was found, and no figure follows a "but".

    Such words are too common to be looked for further on, where an answer has been given.
    """
    found = _FOUND_NOTHING.search(head)
    if found is None:
        return False
    ended = _SENTENCE_END.search(head, _APOLOGY, found.start())
    turn = _BUT.search(head, found.end())
    return ended is None and (turn is None or not any(map(str.isdigit, head[turn.end() :])))


def has_caveat(answer: str) -> bool:
    """Tell whether the answer says how old its sources are, or that nothing newer was found."""
    text = fold(answer[:20_000])
    if _CAVEAT.search(text) is not None:
        return True
    return not text.isascii() and _CAVEAT_ELSEWHERE.search(text) is not None
