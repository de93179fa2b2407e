"""Regions and languages with their spellings: data for the query axis.

One entry a line, spellings of one thing separated by `|`. Demonyms belong to their country, since
queries swap them freely. Small on purpose: names that are not here are still kept as entities.
"""

from typing import Final

_REGIONS: Final = """
united states|u.s.a|u.s|usa|america|american|americans|the states|美国|美國
united kingdom|u.k|uk|britain|british|great britain|英国|英國
european union|eu|european|europe|europeans|欧盟|欧洲
england|english football|英格兰
scotland|scottish
wales|welsh
ireland|irish|爱尔兰
china|chinese|mainland china|prc|中国|中國
hong kong|香港
taiwan|taiwanese|台湾|臺灣
japan|japanese|日本
south korea|korea|korean|韩国|韓國
north korea|朝鲜
india|indian|印度
pakistan|pakistani|巴基斯坦
bangladesh|bangladeshi
indonesia|indonesian|印度尼西亚|印尼
malaysia|malaysian|马来西亚
singapore|singaporean|新加坡
thailand|thai|泰国
vietnam|vietnamese|越南
philippines|philippine|filipino|菲律宾
australia|australian|澳大利亚|澳洲
new zealand|新西兰
canada|canadian|加拿大
mexico|mexican|墨西哥
brazil|brazilian|巴西
argentina|argentine|argentinian|阿根廷
chile|chilean|智利
colombia|colombian|哥伦比亚
peru|peruvian|秘鲁
venezuela|venezuelan
cuba|cuban|古巴
germany|german|德国
france|french|法国
italy|italian|意大利
spain|spanish|西班牙
portugal|portuguese|葡萄牙
netherlands|dutch|holland|荷兰
belgium|belgian|比利时
switzerland|swiss|瑞士
austria|austrian|奥地利
sweden|swedish|瑞典
norway|norwegian|挪威
denmark|danish|丹麦
finland|finnish|芬兰
iceland|icelandic
poland|polish|波兰
czech republic|czechia|czech|捷克
hungary|hungarian|匈牙利
romania|romanian
bulgaria|bulgarian
greece|greek|希腊
turkey|turkish|土耳其
russia|russian|俄罗斯
ukraine|ukrainian|乌克兰
israel|israeli|以色列
iran|iranian|伊朗
iraq|iraqi|伊拉克
saudi arabia|saudi|沙特
united arab emirates|uae|阿联酋
qatar|qatari|卡塔尔
egypt|egyptian|埃及
south africa|south african|南非
nigeria|nigerian|尼日利亚
kenya|kenyan|肯尼亚
ethiopia|ethiopian
morocco|moroccan
africa|african|非洲
asia|asian|亚洲
latin america|south america|南美
middle east|中东
new york|nyc|纽约
california|californian|加州
texas|texan|德州
florida
hawaii
washington
chicago
los angeles|la county|洛杉矶
london|伦敦
paris|巴黎
berlin|柏林
tokyo|东京
beijing|北京
shanghai|上海
shenzhen|深圳
guangzhou|广州
"""

_LANGUAGES: Final = """
in english|english-language|english language|英文|英语
in chinese|chinese-language|中文
in mandarin|mandarin
in cantonese|cantonese|粤语
in spanish|spanish-language
in french|french-language|法语
in german|german-language|德语
in japanese|japanese-language|日语
in arabic|arabic-language|arabic
in portuguese|portuguese-language
in hindi|hindi
"""


def _index(block: str) -> dict[str, str]:
    entries = (line.split("|") for line in block.split("\n") if line)
    return {spelling: spellings[0] for spellings in entries for spelling in spellings}


REGIONS: Final = _index(_REGIONS)
"""Folded spelling to the region it names."""

LANGUAGES: Final = _index(_LANGUAGES)
"""Folded spelling to the language it asks for."""
