"""Questions made by rule, for what the labelled sets lack: bare search words and other languages.

Each template stands for one regime that nobody would dispute, filled with names of each kind.
"""

from collections.abc import Iterator
from itertools import product
from string import Formatter
from typing import Final

_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "city": ("Oslo", "Lima", "Nairobi", "Osaka"),
    "firm": ("Siemens", "Nokia", "Toyota", "Nestle"),
    "coin": ("bitcoin", "ethereum"),
    "land": ("Norway", "Kenya", "Chile", "Japan"),
    "team": ("Arsenal", "Juventus", "Lakers"),
    "thing": ("Fairphone", "Roomba", "Kindle"),
    "program": ("Firefox", "Blender", "PostgreSQL"),
    "person": ("Chopin", "Kafka", "Marie Curie"),
    "singer": ("Bjork", "Shakira", "Drake"),
}

REAL_TIME, FAST, SLOW, INSENSITIVE = 3, 2, 1, 0

_TEMPLATES: Final[dict[int, str]] = {
    REAL_TIME: """
weather in {city}
{city} weather now
what is the temperature in {city} right now
{coin} price
price of {coin}
current {coin} price
{firm} stock price
what is the stock price of {firm}
exchange rate {land} currency today
{team} score
score of the {team} game
traffic in {city}
flight status {city}
is it raining in {city}
is {program} down right now
{city}天气
{city}现在的天气怎么样
{firm}股价
{firm}现在的股价是多少
{coin}价格
погода в {city}
курс {coin} сегодня
акции {firm} сейчас
météo {city}
cours du {coin}
quel temps fait-il à {city}
Wetter {city}
{coin} Kurs aktuell
wie ist das Wetter in {city}
מזג האוויר ב{city}
מחיר {coin} עכשיו
الطقس في {city}
سعر {coin} اليوم
tiempo en {city} hoy
precio de {coin}
acciones de {firm} hoy
{city}の天気
{firm}の株価
""",
    FAST: """
{firm} news
latest news about {firm}
latest {program} version
what is the latest version of {program}
how much does a {thing} cost
price of {thing}
{thing} price
{team} next match
next {team} game
who did {team} beat last week
top songs by {singer} this month
tickets {singer} tour
{city} events this weekend
best selling {thing} this year
{firm} quarterly revenue this year
最新的{thing}多少钱
{thing}价格
{firm}最新消息
{program}最新版本是什么
сколько стоит {thing}
последние новости {firm}
последняя версия {program}
combien coûte {thing}
dernières nouvelles de {firm}
dernière version de {program}
was kostet {thing}
Nachrichten über {firm}
neueste Version von {program}
כמה עולה {thing}
חדשות {firm}
הגרסה האחרונה של {program}
كم سعر {thing}
أخبار {firm}
أحدث إصدار من {program}
cuánto cuesta {thing}
últimas noticias de {firm}
última versión de {program}
{program}の最新バージョン
{firm} ニュース
""",
    SLOW: """
ceo of {firm}
who is the ceo of {firm}
{land} president
who is the prime minister of {land}
population of {city}
{city} population
how old is {singer}
how many children does {singer} have
minimum wage in {land}
visa requirements for {land}
rules for bringing a dog into {land}
which languages does {program} support
how many employees does {firm} have
list of presidents of {land}
who coaches {team}
{team} coach
how many people have visited {land} in total
{firm}的首席执行官是谁
{land}总统是谁
{city}人口有多少
{singer}多大
кто президент {land}
население {city}
сколько лет {singer}
qui est le président de {land}
population de {city}
quel âge a {singer}
wer ist der Präsident von {land}
wie viele Einwohner hat {city}
wie alt ist {singer}
מי נשיא {land}
כמה תושבים יש ב{city}
בן כמה {singer}
من هو رئيس {land}
كم عدد سكان {city}
كم عمر {singer}
quién es el presidente de {land}
población de {city}
cuántos años tiene {singer}
{land}の大統領は誰
{city}の人口
""",
    INSENSITIVE: """
{person} birthplace
when was {person} born
where did {person} die
what is {person} known for
who founded {firm}
when was {firm} founded
history of {city}
how does {program} work
how to install {program}
difference between {program} and {firm}
which continent is {land} in
what does {firm} mean
average temperature in {city} in july
compare {program} and {thing} for a new project
pros and cons of {program} against a {thing}
explain how {program} works in simple words
how do i install {program} on a new computer
how do i reset my {thing}
write a report on the history of {city}
summarize the arguments for and against moving to {city}
why is {city} called that
help me write an email to {firm}
translate a letter to {firm} into french
what are the side effects of ibuprofen
what are the symptoms of diabetes
what are the benefits of sleep
what causes earthquakes
how to cook rice for four people
write a function that sorts a list of numbers
what is the difference between a virus and a bacterium
how do vaccines work
how long does it take to boil an egg
capital of {land}
{person}出生于哪一年
谁创立了{firm}
{program}是什么意思
где родился {person}
кто основал {firm}
в каком году умер {person}
où est né {person}
qui a fondé {firm}
en quelle année est mort {person}
wo wurde {person} geboren
wer gründete {firm}
wann starb {person}
איפה נולד {person}
מי ייסד את {firm}
أين ولد {person}
من أسس شركة {firm}
dónde nació {person}
quién fundó {firm}
en qué año murió {person}
{person}はどこで生まれた
{firm}の創業者
""",
}


def made_questions() -> Iterator[tuple[str, int]]:
    """Every template with every name of its kind.

    Yields:
        A question and the place of its regime.
    """
    for regime, lines in _TEMPLATES.items():
        for template in lines.strip().splitlines():
            slots = list(
                dict.fromkeys(name for _, name, _, _ in Formatter().parse(template) if name)
            )
            for names in product(*(_NAMES[slot] for slot in slots)):
                yield template.format(**dict(zip(slots, names, strict=True))), regime
