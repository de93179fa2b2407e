"""Primary or secondary: who speaks for himself, told from the kind of domain.

Who is primary depends on the question; by kind of domain it can be told for public bodies,
universities, standards and international organisations, and for a company or product that the
question names. Policy adds domains.
"""

import re
from functools import lru_cache
from typing import Final

from seekwatch.processors.text.fold import fold

_PUBLIC_SUFFIX: Final = re.compile(
    r"(?:^|\.)(?:gov|mil|int|edu|gob|gouv|govt|gc|go|gub|ac|admin|parliament|"
    r"europa)(?:\.[a-z]{2,3})?$"
)
_PUBLIC_NAMES: Final = frozenset(
    [
        "europa.eu",
        "who.int",
        "un.org",
        "oecd.org",
        "imf.org",
        "worldbank.org",
        "wto.org",
        "nato.int",
        "icao.int",
        "iaea.org",
        "bund.de",
        "bundesregierung.de",
        "bundestag.de",
        "admin.ch",
        "gouv.fr",
        "service-public.fr",
        "legifrance.gouv.fr",
        "parliament.uk",
        "nhs.uk",
        "gov.uk",
        "canada.ca",
        "service.gov.uk",
        "legislation.gov.uk",
        "iso.org",
        "ietf.org",
        "rfc-editor.org",
        "w3.org",
        "unicode.org",
        "ecma-international.org",
        "ieee.org",
        "arxiv.org",
        "doi.org",
        "pubmed.ncbi.nlm.nih.gov",
        "nature.com",
        "science.org",
        "federalreserve.gov",
        "sec.gov",
        "ecb.europa.eu",
        "bis.org",
    ]
)
_COMMON_LABELS: Final = frozenset(
    ("time", "today", "news", "nature", "science", "world", "people", "medium", "mirror", "sun")
)
_REGULATORY: Final = re.compile(
    r"\b(?:laws?|legal(?:ly|ity)?|illegal|legislation|regulations?|regulatory|regulated|"
    r"regulator|statutes?|directive|"
    r"compliance|complian(?:t|ce)|gdpr|hipaa|tax(?:es|ation|able)?|vat|visas?|immigration|"
    r"permits?|licen[cs]es?|"
    r"licen[cs]ing|eligib(?:le|ility)|entitled|statutory|court|ruling|supreme court|ban(?:ned)?|"
    r"guidelines?|approv(?:ed|al) by|fda|ema|sec filing|filing deadline|requirements? (?:for|to)|"
    r"minimum wage|retirement age|social security|medicare|medicaid|passport|customs dut(?:y|"
    r"ies)|tariffs?)\b"
    r"|法律|法规|法规|条例|监管|合规|税|签证|移民|许可证|执照|资格|判决|禁令|指南|规定|最低工资|"
    r"退休年龄|社保|关税|护照"
)


@lru_cache(maxsize=4096)
def is_primary_domain(host: str) -> bool:
    """Tell whether a host belongs to a public body, a university or a body of standards."""
    if _PUBLIC_SUFFIX.search(host):
        return True
    labels = host.split(".")
    return any(".".join(labels[index:]) in _PUBLIC_NAMES for index in range(len(labels) - 1))


def is_regulatory(question: str) -> bool:
    """Tell whether the question is about a rule that somebody sets."""
    return _REGULATORY.search(fold(question[:2_000])) is not None


def names_site(question: str, site: str) -> bool:
    """Tell whether a question is about a site: it names the domain, or its first label as a name.

    As a name: with a capital inside a sentence, or after a word that introduces a source. Common
    words that are domains too (time.com) count only by their domain.
    """
    question = question[:2_000]
    folded, label = fold(question), site.split(".", 1)[0]
    # Few questions name a domain, and a pattern for each would have to be compiled.
    named = "." in site and site in folded
    if named and re.search(rf"(?<![\w.-]){re.escape(site)}(?![\w-])", folded):
        return True
    if len(label) < 3 or label in _COMMON_LABELS or label not in folded:
        return False
    introduced = rf"(?:according to|on|from|via|per|does|at|site:) ?{re.escape(label)}(?!\w)"
    capital = rf"(?<=\w )(?=[A-Z])(?i:{re.escape(label)})(?!\w)"
    return bool(re.search(introduced, folded) or re.search(capital, question))
