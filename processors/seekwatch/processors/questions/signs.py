"""Signs of time in a question: words and phrases, in many languages, that say how an answer ages.

A sign is one idea ("now", "a price", "an office that people hold") whatever the language it is
said in, so that what was learnt of it in one language holds in the others. Scripts without spaces
are read character by character: a phrase of two characters is a phrase of two words.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from seekwatch.processors.text.fold import CJK, KANA, fold

WORD: Final = re.compile(f"[{CJK}{KANA}]|[^\\W_{CJK}{KANA}]+")
"""A word, or one character of a script without spaces; for folded text."""

MAX_PHRASE: Final = 4
"""Words of the longest phrase below."""

SIGNS: Final[dict[str, str]] = {
    "now": (
        "now|right now|current*|presently|nowadays|these days|at the moment|at present|to date|"
        "at this moment|still|active|existing|"
        "сейчас|теперь|текущ*|нынешн*|действующ*|в настоящее время|на данный момент|до сих пор|"
        "actuel*|maintenant|en ce moment|aujourd'hui encore|toujours|"
        "aktuell*|derzeit*|jetzt|momentan|gegenwartig*|heutig*|"
        "actual|actuales|actualmente|ahora|atual|atuais|atualmente|agora|attuale|attualmente|"
        "adesso|huidig*|nu|obecn*|teraz|aktualn*|şu anda|guncel|"
        "עכשיו|כיום|כרגע|נוכחי*|הנוכחי*|حاليا*|الآن|الان|الحالي*|حالي*|"
        "现在|目前|当前|现任|如今|現在|目前|当今|지금|현재"
    ),
    "today": (
        "today*|tonight*|tomorrow*|yesterday*|this morning|this afternoon|this evening|"
        "last night|live score*|live update*|live stream*|realtime|real time|"
        "breaking news|as of now|right now|past hour|last hour|"
        "next hour|hour ago|hours ago|minutes ago|past few hours|next few hours|open now|"
        "in stock|"
        "сегодня*|завтра|вчера|aujourd hui|demain|hier|ce soir|heute|morgen|gestern|"
        "hoy|manana|ayer|hoje|amanha|ontem|oggi|domani|ieri|vandaag|dzisiaj|dzis|bugun|"
        "היום|מחר|אתמול|اليوم|غدا|أمس|"
        "今天|今日|今晚|明天|昨天|实时|此刻|直播|明日|昨日|오늘|내일|어제"
    ),
    "period": (
        "this week*|this month*|this quarter*|this season*|this weekend*|this summer|"
        "this winter|this fall|this spring|this year*|last week*|last month*|last quarter*|"
        "past week|past month|past year|past few|past quarter|last few|next week*|next month*|"
        "next quarter|next season|coming weeks|coming months|coming days|"
        "на этой неделе|в этом месяце|в этом году|этого года|на прошлой неделе|"
        "cette semaine|ce mois|cette annee|la semaine derniere|diese woche|dieser woche|"
        "diesen monat|dieses jahr*|letzte woche|letzten monat|esta semana|este mes|este ano|"
        "la semana pasada|questa settimana|questo mese|quest anno|deze week|"
        "השבוע|החודש|השנה|هذا الأسبوع|هذا الشهر|هذا العام|"
        "本周|本月|今年|上周|上个月|下周|下个月|今週|今月|先週|이번 주|이번 달"
    ),
    "recent": (
        "recent*|lately|newly|just|upcoming|ongoing|soon|недавно|последнее время|скоро|"
        "recemment|bientot|kurzlich|neulich|bald|recientemente|recentemente|proximamente|"
        "לאחרונה|בקרוב|مؤخرا|قريبا|最近|近期|即将|まもなく|최근"
    ),
    "last_year": "last year*|previous year|в прошлом году|l an dernier|letztes jahr|去年|昨年|작년",
    "latest": (
        "latest|newest|most recent*|up to date|most up to date|last time|новейш*|самый новый|"
        "le plus recent|la plus recente|neueste*|neuste*|jungste*|mas reciente|mais recente|"
        "piu recente|האחרון ביותר|הכי חדש|أحدث|最新|最近一次|最新の|최신"
    ),
    "last": (
        "last|последн*|dernier|derniere|derniers|dernieres|letzte*|ultimo|ultima|ultimos|"
        "ultimas|laatste|ostatni*|האחרון|האחרונה|אחרון|آخر|الأخير*|最后|上一次|上次|最後|마지막"
    ),
    "new": (
        "new|updated|update|новый|новая|новое|новые|свеж*|nouveau|nouvelle|nouveaux|neue|neuer|"
        "neues|nuevo|nueva|novo|nova|nuovo|nuova|nieuwe|חדש|חדשה|جديد*|الجديد*|新的|新款|새"
    ),
    "next": (
        "next|following|следующ*|prochain*|nachste*|proximo|proxima|prossimo|prossima|"
        "volgende|הבא|הבאה|القادم*|المقبل*|下一|下次|下届|次の|次回|다음"
    ),
    "future": (
        "will|scheduled|expected|predict*|projected|forecast*|going to be|planned|plans|"
        "будет|будут|состоится|sera|seront|aura|wird|werden|sera|habra|יהיה|תהיה|سوف|سيكون|"
        "将|会不会|预计|でしょう|예정"
    ),
    "price": (
        "price*|pricing|cost|costs|worth|fee|fees|fare*|how much is|how much does|"
        "how much do|how much are|rent|salary|salaries|valuation|"
        "цен*|стоит|стоимост*|сколько стоит|зарплат*|prix|coute|cout|combien coute|salaire|"
        "preis*|kostet|kosten|gehalt|precio*|cuesta|cuanto cuesta|preco*|custa|prezzo|costa|"
        "מחיר*|עולה|כמה עולה|سعر|أسعار|تكلفة|ثمن|价格|多少钱|售价|房价|工资|値段|価格|가격"
    ),
    "market": (
        "stock*|shares|bitcoin|btc|ethereum|crypto*|exchange rate*|trading|traded|nasdaq|"
        "dow jones|gold price|price of gold|price of silver|price of oil|oil price*|gas price*|"
        "dollar|euro to|usd|курс|акци*|биткоин*|доллар*|cours|bourse|aktie*|kurs|wechselkurs|"
        "bolsa|acciones|cotizacion|מניה|שער|דולר|ביטקוין|سهم|بورصة|بيتكوين|سعر الصرف|"
        "股价|汇率|金价|油价|币价|行情|股票|株価|為替|주가|환율"
    ),
    "economy": (
        "market cap*|interest rate*|mortgage rate*|inflation|unemployment|gdp|yield*|deficit|"
        "debt|budget|housing market|инфляц*|безработиц*|ввп|ставк*|chomage|taux|pib|"
        "arbeitslos*|zinsen|bip|inflacion|desempleo|inflacao|אינפלציה|אבטלה|תמג|ריבית|"
        "تضخم|بطالة|الناتج المحلي|通胀|失业率|利率|国内生产总值|失業率|물가|실업률"
    ),
    "weather": (
        "weather|forecast|humidity|air quality|uv index|raining|snowing|"
        "погод*|meteo|quel temps fait|wetter|clima hoy|tiempo en|que tiempo hace|"
        "מזג האוויר|מזג אוויר|الطقس|天气|空气质量|天気|날씨"
    ),
    "temperature": (
        "temperature*|degrees|rain|snow|wind|температур*|градус*|temperature|temperatur|regen|"
        "טמפרטורה|גשם|درجة الحرارة|مطر|气温|温度|下雨|気温|雨|기온"
    ),
    "live": (
        "traffic|delay*|flight status|outage*|wait time*|waiting time*|online|trending|"
        "streaming|score|scores|standings|leaderboard|queue|viewers|road closure*|congestion|"
        "available|availability|in effect|open|пробки|счет матча|embouteillages|stau|trafico|"
        "תנועה|ازدحام|路况|热搜|比分|航班动态|渋滞|교통"
    ),
    "emergency": (
        "wildfire*|fire|storm*|hurricane*|flood*|earthquake*|evacuat*|outbreak|emergency|"
        "shelter*|crash|attack|shooting|blackout|heatwave|tornado*|strike|protest*|"
        "recall*|missing|injur*|casualt*|rescue*|explosion|spill|cleanup|victims|"
        "пожар*|землетрясени*|incendie|seisme|erdbeben|hochwasser|terremoto|地震|火灾|洪水"
    ),
    "news": (
        "news|announce*|report*|statement|launch*|unveil*|investigat*|respond*|response|"
        "negotiat*|talks|campaign|deal|agreement|merger|acquisition|impact*|affect*|measures|"
        "новост*|nouvelles|actualites|nachrichten|noticias|חדשות|أخبار|新闻|动态|进展|ニュース|뉴스"
    ),
    "office": (
        "president*|prime minister*|chancellor|king|queen|pope|emperor|monarch|ceo|cfo|cto|"
        "chair|chairman|chairperson|chairwoman|leader*|governor*|mayor*|minister*|secretary|"
        "head of state|head of government|head of the state|head of the government|senator*|"
        "speaker|justice|judge*|director|commissioner|ambassador|heads|leads|runs|"
        "президент*|премьер*|корол*|министр*|губернатор*|мэр*|глав*|лидер*|директор*|канцлер*|"
        "president*|premier ministre|roi|reine|maire|ministre|chef|dirige*|directeur|"
        "prasident*|ministerprasident*|kanzler*|konig*|burgermeister*|minister*|leiter|"
        "presidente|primer ministro|rey|reina|alcalde|gobernador|primeiro ministro|rei|rainha|"
        "prefeito|primo ministro|re|regina|sindaco|premier|burgemeester|prezydent|"
        "נשיא*|ראש הממשלה|ראש ממשלת|מלך|מלכה|שר|שרת|מנכ|ראש העיר|ראש|"
        "رئيس|الرئيس|ملك|ملكة|وزير|محافظ|حاكم|عمدة|زعيم|"
        "总统|总理|首相|国王|女王|主席|市长|首席执行官|董事长|部长|州长|领导人|大統領|社長|대통령|총리|시장"
    ),
    "role": (
        "coach*|manager|captain*|host|hosts|owner*|owns|quarterback|goalkeeper|starting|"
        "spokesperson|presenter|member of|plays for|play for|works for|employer|lead singer|"
        "married|wife|husband|spouse|girlfriend|boyfriend|dating|partner|children|kids|lives|"
        "тренер*|капитан*|ведущ*|владел*|жена|муж|женат*|дет*|entraineur|capitaine|femme de|"
        "mari|enfants|trainer|kapitan|moderator|ehefrau|ehemann|verheiratet|kinder|entrenador|"
        "esposa|marido|hijos|מאמן|קפטן|אשתו|בעלה|ילדים|נשוי|נשואה|مدرب|قائد|زوجة|زوج|أطفال|"
        "教练|队长|妻子|丈夫|老公|孩子|主持人|監督|감독"
    ),
    "capital": (
        "capital of|capital city|currency|headquarter*|constitution|official language*|"
        "столиц*|валют*|capitale|monnaie|hauptstadt|wahrung|moneda|moeda|valuta|בירת|מטבע|"
        "عاصمة|عملة|首都|货币|总部|通貨"
    ),
    "rank": (
        "rank*|number one|number 1|no 1|richest|wealthiest|net worth|best selling|top selling|"
        "top rated|top grossing|highest grossing|highest paid|most popular|most followed|"
        "most viewed|most watched|most liked|most streamed|most subscribed|most visited|"
        "most downloaded|most expensive|top 10|top ten|top|box office|followers|subscribers|"
        "views|viewership|ratings|rating|polls|polling|sales|revenue*|chart|charts|trend*|"
        "рейтинг*|богат*|популярн*|подписчик*|дорог*|riche|populaire|abonnes|classement|chere|"
        "reichste*|beliebteste*|teuerste*|abonnenten|rangliste|popular|seguidores|ranking|"
        "עשיר*|פופולרי*|עוקבים|דירוג|أغنى|الأكثر|شعبية|متابعين|تصنيف|"
        "排名|热门|销量|首富|最富|最受欢迎|粉丝|最贵|人気|ランキング"
    ),
    "count": (
        "how many|number of|how much|percentage|percent|proportion|share of|amount of|total|"
        "average|rate|rates|size of|сколько|количеств*|числ*|процент*|combien|nombre|"
        "wie viele|wieviele|anzahl|prozent|cuantos|cuantas|numero de|quantos|quantas|quanti|"
        "quante|hoeveel|ile|kac|כמה|מספר|אחוז|كم|عدد|نسبة|多少|几个|数量|比例|いくつ|何人|몇"
    ),
    "population": (
        "population*|populous|inhabitants|people live|residents|households|"
        "населени*|жител*|проживает|живет|habitants|bevolkerung*|einwohner*|leben in|habitantes|"
        "poblacion|populacao|popolazione|abitanti|אוכלוסי*|תושבים|חיים|سكان|السكان|يعيش|نسمة|"
        "人口|居民|居住|人住|인구"
    ),
    "age": (
        "how old|age of|years old|old is|how long has|how long have|"
        "how many years has|how many years have|"
        "сколько лет|возраст*|quel age|age a|wie alt|alter|cuantos anos tiene|que edad|"
        "quantos anos|quanti anni|בן כמה|בת כמה|כמה שנים|גיל|כמה זמן|كم عمر|عمر|عمره|"
        "كم سنة|几岁|多大|年龄|多少岁|何歳|몇 살"
    ),
    "superlative": (
        "largest|biggest|tallest|highest|fastest|longest|oldest|youngest|strongest|smallest|"
        "most|best|record|records|greatest|world record|leading|heaviest|deepest|"
        "самый|самая|самое|самые|самого|рекорд*|больше всего|лучш*|крупнейш*|le plus|la plus|"
        "les plus|record|meilleur*|grosste*|hochste*|langste*|schnellste*|meisten|beste*|"
        "rekord*|mas grande|mas alto|mas largo|maior|melhor|mejor|piu|migliore|"
        "הכי|הגדול*|הגבוה*|שיא|ביותר|أكبر|أعلى|أطول|أسرع|الأكبر|رقم قياسي|أفضل|"
        "最大|最高|最长|最快|最多|最好|纪录|记录|世界纪录|最も|一番|가장"
    ),
    "rule": (
        "law|laws|legal*|illegal|allowed|requirement*|required|guideline*|policy|policies|tax|"
        "taxes|regulation*|eligib*|visa*|minimum wage|deadline*|limit|insurance|tariff*|ban|"
        "banned|mandatory|license|"
        "закон*|налог*|разрешен*|виз*|пенси*|loi|impot*|visa|autorise|gesetz*|steuer*|erlaubt|"
        "ley|leyes|impuesto*|legge|חוק*|מס|ויזה|מותר|قانون|ضريبة|تأشيرة|"
        "法律|规定|政策|标准|税|要求|签证|法律|ビザ|법"
    ),
    "release": (
        "version*|release|releases|released|update*|episode*|season|seasons|album*|edition|"
        "generation|model|models|sequel|patch|верси*|сезон*|сери*|выпуск*|частей|saison*|"
        "episode*|staffel*|folgen|version|temporada*|episodio*|עונות|עונה|פרקים|גרסה|"
        "مواسم|موسم|حلقات|حلقة|إصدار|版本|季|集|部"
    ),
    "event": (
        "world cup|olympic*|super bowl|oscar*|grammy*|emmy*|award*|championship*|champion|"
        "champions|league|tournament|finals|grand prix|nobel|election*|ballon d or|playoff*|"
        "nba|nfl|mlb|nhl|fifa|uefa|premier league|wimbledon|formula 1|festival|parliament|"
        "чемпион*|олимпи*|выбор*|кубок|оскар*|преми*|coupe du monde|jeux olympiques|election*|"
        "weltmeister*|olympische*|wahl*|mundial|olimpi*|elecciones|copa|גביע|אולימפיאדה|"
        "בחירות|אוסקר|كأس|أولمبياد|انتخابات|بطولة|أوسكار|"
        "世界杯|奥运会|选举|冠军|奥斯卡|锦标赛|五輪|選挙|올림픽|선거|월드컵"
    ),
    "ever": (
        "has|have|had|ever|been|so far|since|until now|in total|throughout|of all time|"
        "in history|all time|за всю историю|всего|depuis|au total|de tous les temps|insgesamt|"
        "aller zeiten|jemals|en total|de la historia|אי פעם|סך הכל|בסך הכל|على الإطلاق|"
        "حتى الآن|一共|总共|有史以来|曾|过"
    ),
    "past": (
        "did|was|were|wrote|written|invented|discovered|founded|painted|composed|directed|"
        "created|designed|starred|played|died|born|killed|built|named after|originally|"
        "ancient|history|historical|happened|became|began|started|ended|established|signed|"
        "won|lost|came out|previous|former|"
        "был|была|было|были|написал*|родил*|умер*|основан*|изобрел*|открыл*|создал*|построен*|"
        "произош*|появил*|началась|начался|снял*|сыграл*|стал|стала|получил*|жил|снимал*|"
        "etait|ecrit|invente|decouvert|fonde*|ne|nee|mort|peint|construit|cree|eu lieu|"
        "a ete|ont ete|war|waren|wurde|wurden|schrieb|geschrieben|erfunden|gegrundet|geboren|"
        "gestorben|starb|gebaut|fand|hat geschrieben|erschien|fue|fueron|escribio|nacio|murio|"
        "invento|fundo|foi|foram|escreveu|nasceu|morreu|fu|scrisse|nacque|mori|"
        "היה|היתה|הייתה|היו|כתב|כתבה|נולד|נולדה|מת|נפטר|המציא|נוסד*|הוקם|הוקמה|צייר|התרחש*|"
        "כان|كان|كانت|كتب|ولد|ولدت|توفي|مات|اخترع|تأسس*|أسس|اكتشف|رسم|حدث|حدثت|بني|"
        "哪一年|什么时候|何时|写的|谁写|出生|发明|创立|成立|历史上|古代|发生|去世|建于|作者|导演|"
        "だった|생|누가 썼"
    ),
    "timeless": (
        "mean|means|meaning|definition|define|difference between|formula|called|known as|"
        "chemical|element|planet|animal|mammal|species|novel|poem|river|ocean|mountain|island|"
        "symbol|language|religion|century|war|battle|bible|shakespeare|why do|why does|"
        "why is|how do you|how to|stand for|stands for|spelled|located|painting|composer|"
        "значит|означает|что такое|определени*|формул*|называется|планет*|животн*|рек*|"
        "река|гор*|остров*|роман*|войн*|почему|signifie|qu est ce que|appelle*|planete|fleuve|"
        "riviere|montagne|guerre|pourquoi|bedeutet|was ist ein|was ist eine|heisst|planet*|"
        "fluss|berg|krieg|warum|significa|que es un|que es una|planeta|rio|guerra|por que|"
        "מה זה|פירוש|נקרא*|כוכב|נהר|הר|מלחמה|מלחמת|למה|מדוע|ما هو|ما هي|معنى|يسمى|كوكب|نهر|"
        "جبل|حرب|لماذا|什么是|意思|定义|公式|叫什么|行星|动物|河流|山|战争|为什么|世纪|とは|意味|なぜ|"
        "왜|뜻"
    ),
    "first": (
        "first|second|third|original|last name|full name|nickname|"
        "перв*|втор*|premier|premiere|erste*|zweite*|primero|primera|primeiro|primo|prima|"
        "ראשון|ראשונה|הראשון|הראשונה|أول|الأول|第一|首次|最初|첫"
    ),
}
"""Phrases of each sign, separated by `|`; a last word that ends in `*` stands for all that begin
so. In the languages of the labelled questions (English, Russian, French, German, Hebrew, Arabic,
Chinese), and the commonest ones in a dozen more."""

NAMES: Final = tuple(SIGNS)


def words_of(folded: str) -> list[str]:
    """Split folded text into words, scripts without spaces into characters."""
    return WORD.findall(folded)


def _mask_of(tables: list[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, bit in tables:
        found[key] = found.get(key, 0) | bit
    return found


_ENTRIES: Final = [
    (" ".join(words_of(fold(phrase))), 1 << place, phrase.endswith("*"))
    for place, phrases in enumerate(SIGNS.values())
    for phrase in phrases.split("|")
]
_WHOLE: Final = _mask_of([(key, bit) for key, bit, begins in _ENTRIES if not begins])
_BEGUN: Final = _mask_of([(key, bit) for key, bit, begins in _ENTRIES if begins])
_FIRSTS: Final = frozenset(key.split(" ", 1)[0] for key, _, _ in _ENTRIES if " " in key)
"""First words of phrases."""
_HEADS: Final = frozenset(key.rsplit(" ", 1)[0] for key in _BEGUN if " " in key)
"""Phrases without their last word, where any word that begins so may stand."""
_SHORTEST: Final = min(len(key) for key in _BEGUN)
_PREFIXED: Final = re.compile("^(?:וה|שה|בה|ה|ו|ב|ל|וال|وال|بال|ال|و|ب|ل)(?=[^\\W\\d_]{2})")
"""Articles and particles that Hebrew and Arabic write as one with the word."""


@lru_cache(maxsize=8_192)
def _signs_of_word(word: str) -> int:
    found = _WHOLE.get(word, 0) | _beginning(word)
    if not found and word[0] > "\u0590":
        bare = _PREFIXED.sub("", word)
        found = _WHOLE.get(bare, 0) | _beginning(bare)
    return found


def _beginning(phrase: str) -> int:
    found = 0
    for end in range(_SHORTEST, len(phrase) + 1):
        found |= _BEGUN.get(phrase[:end], 0)
    return found


def signs_in(words: Sequence[str]) -> int:
    """The signs in a question's words, as bits in the order of `NAMES`."""
    found = 0
    for start, word in enumerate(words):
        found |= _signs_of_word(word)
        if word in _FIRSTS:
            phrase = word
            for other in words[start + 1 : start + MAX_PHRASE]:
                head, phrase = phrase, f"{phrase} {other}"
                found |= _WHOLE.get(phrase, 0)
                if head in _HEADS:
                    found |= _beginning(phrase)
    return found
