"""What a page carries that tells its kind: evidence from a closed set, never a verdict.

Which signals together make a login wall or a soft 404 is for the citation axis to say; here each is
a plain observation that a person can check in the page's source.
"""

import re
from enum import StrEnum
from typing import Final

from seekwatch.processors.pages.dates import json_ld_says_paid
from seekwatch.processors.pages.parsing import ParsedPage


class PageSignal(StrEnum):
    """The closed set. Order of definition is the order in `Page.signals`."""

    PASSWORD_FIELD = "password-field"  # noqa: S105 - the name of an observation
    LOGIN_FORM = "login-form"
    LOGIN_TITLE = "login-title"
    LOGIN_TEXT = "login-text"
    NOT_FOUND_TITLE = "not-found-title"
    NOT_FOUND_TEXT = "not-found-text"
    CHALLENGE_SCRIPT = "challenge-script"
    CHALLENGE_TITLE = "challenge-title"
    CHALLENGE_TEXT = "challenge-text"
    BLOCKED_TITLE = "blocked-title"
    BLOCKED_TEXT = "blocked-text"
    CONSENT_WALL = "consent-wall"
    PAYWALL = "paywall"
    JS_SHELL = "js-shell"
    JS_REQUIRED = "js-required"
    ERROR_TITLE = "error-title"
    ERROR_TEXT = "error-text"
    PARKED = "parked"
    META_REFRESH = "meta-refresh"
    EMPTY_TEXT = "empty-text"
    SHORT_TEXT = "short-text"
    NOINDEX = "noindex"


EMPTY_CHARACTERS: Final = 12
"""Visible characters below which a page says nothing."""
SHORT_CHARACTERS: Final = 700
"""Visible characters below which a phrase can be the whole message of a page: walls and error
pages are short, articles that merely talk about walls are not."""

WALL_CHARACTERS: Final = 3_000
"""Visible characters up to which a page can be a bot wall, its small print included."""
CHALLENGE_WINDOW: Final = 60_000
"""Characters of source in which a bot wall's script is looked for: walls are small pages."""
PAYWALL_WINDOW: Final = 1_200
"""Characters at the end of a long text where a paywall's invitation stands."""

# Phrases are lower case and are looked for in lower case: a pattern that ignores case cannot skip
# ahead to its first letters and takes four times as long.
_LOGIN_TITLE: Final = re.compile(
    r"\b(?:log[- ]?in|sign[- ]?in|log[- ]?on|anmelden|einloggen|connexion|iniciar sesi[oó]n|"
    r"acceder|accedi|entrar|inloggen|logga in)\b|войти|вход|登录|登入|登錄|ログイン|로그인"
)
_LOGIN_ACTION: Final = re.compile(r"(?i)log[-_]?in|sign[-_]?in|session|auth|logon|account")
_LOGIN_TEXT: Final = re.compile(
    r"(?:please |you (?:must|need to|have to) )(?:log|sign) ?in|(?:log|sign) ?in to "
    r"(?:continue|view|read|access|your account)|forgot(?:ten)? (?:your )?password|请先?登录|"
    r"ログインしてください|bitte (?:melden sie sich an|einloggen)"
)
_NOT_FOUND: Final = re.compile(
    r"\b404\b|(?:page|document|file|article|resource|content|site)s?\W{1,3}(?:\w+ ){0,4}?"
    r"(?:not found|(?:does|do)(?:n't|n’t| not) exist|no longer (?:available|exists)|"
    r"(?:can(?:not|'t|’t)|could(?: not|n't|n’t)) be found|(?:is |has been )(?:missing|removed))|"
    r"^\s*not found|nicht gefunden|page introuvable|p[aá]gina no encontrada|pagina non trovata|"
    r"nie znaleziono|nie istnieje|страница не найдена|页面不存在|找不到|頁面不存在|見つかりません"
)
_CHALLENGE_MARKS: Final = (
    "cdn-cgi/challenge-platform",
    "_cf_chl_",
    "__cf_chl",
    "cf-challenge",
    "jschl-vc",
    "jschl_vc",
    "jschl_answer",
    "cf-browser-verification",
    "_Incapsula_Resource",
    "captcha-delivery.com",
    "px-captcha",
    "/_px/",
    "ddos-guard/js",
    "sucuri_cloudproxy",
    "AwsWafIntegration",
    ".awswaf.com/",
    "KPSDK",
    "/_sec/cp_challenge",
)
"""What bot walls load or set, spelt as they spell it: substrings are found at memory speed."""
_CHALLENGE_TITLE: Final = re.compile(
    r"just a moment|attention required|checking your browser|are you (?:a )?(?:human|robot)|"
    r"(?:human|security|browser) (?:verification|check)|verify(?:ing)? (?:that )?you|captcha|"
    r"you are being redirected|ddos[- ]?(?:protection|guard)|bot (?:check|verification)|"
    r"robot check|pardon our interruption|请稍候|安全验证"
)
_CHALLENGE_TEXT: Final = re.compile(
    r"checking (?:if the site connection is secure|your browser before)|verify(?:ing)? "
    r"(?:that )?you(?:'re| are|’re) (?:a |not a )?(?:human|robot)|complete the (?:security check|"
    r"captcha)|prove (?:that )?you(?:'re| are|’re) (?:human|not a robot)|enable javascript and "
    r"cookies to continue|unusual traffic from your|ddos protection by|solve th(?:e|is) captcha|"
    r"needs to review the security of your connection|automated (?:requests|access)"
)
_BLOCKED: Final = re.compile(
    r"access (?:to this (?:page|site) )?(?:has been )?(?:denied|blocked)|you have been "
    r"blocked|\b403\b.{0,20}forbidden|forbidden\b.{0,20}\b403\b|^\s*forbidden|request blocked|"
    r"not available in your (?:country|region)|error 10(?:06|07|08|09|10|12|20)|permission to "
    r"access|访问被拒绝|拒绝访问"
)
_CONSENT: Final = re.compile(
    r"before you continue|we (?:and our partners )?(?:value|care about) your privacy|"
    r"consent\.(?:google|yahoo|youtube)\.|accept (?:all )?cookies to continue|your privacy choices"
)
_PAYWALL: Final = re.compile(
    r"subscribe to (?:continue|read|keep reading)|subscription (?:required|to read)|"
    r"(?:this (?:article|content|story) is|exclusive) (?:for|to) (?:our )?(?:subscribers|members)|"
    r"already a subscriber|remaining free articles|jetzt abonnieren|réservé aux abonnés|"
    r"solo para suscriptores|订阅后"
)
_JS_REQUIRED: Final = re.compile(
    r"(?:you need to |please |must )(?:enable|turn on|activate) javascript|javascript "
    r"(?:is (?:required|disabled|not enabled)|must be enabled)|requires javascript|"
    r"enable javascript to (?:run|use|view|continue)"
)
_SHELL_ROOT: Final = (
    "#root, #app, #__next, #__nuxt, #svelte, app-root, [ng-app], [ng-version], [data-reactroot]"
)
_ERROR: Final = re.compile(
    r"\b50[0-4]\b.{0,30}(?:error|unavailable|gateway|timeout)|(?:internal )?server error|"
    r"service (?:temporarily )?unavailable|bad gateway|gateway time-?out|something went wrong|"
    r"an? (?:unexpected |application )?error (?:has )?occurred|under maintenance|web server is "
    r"down|database (?:connection )?error|error establishing|服务器错误|系统错误"
)
_PARKED: Final = re.compile(
    r"(?:this )?domain (?:name )?(?:is|may be|has been) (?:for sale|parked|expired|registered)|"
    r"buy this domain|parked (?:free|by|domain)|sedoparking|parkingcrew|bodis\.com|"
    r"future home of something quite cool|域名(?:出售|已过期)"
)


def read_signals(page: ParsedPage) -> list[PageSignal]:
    """Look at forms, scripts and metadata; call it before the tree loses its scripts."""
    found: set[PageSignal] = set()
    tree, title = page.tree, (page.title or "").lower()
    if tree.css_first('input[type="password" i]') is not None:
        found.add(PageSignal.PASSWORD_FIELD)
    if _has_login_form(page):
        found.add(PageSignal.LOGIN_FORM)
    for signal, pattern in _TITLE_PATTERNS:
        if pattern.search(title):
            found.add(signal)
    if json_ld_says_paid(page):
        found.add(PageSignal.PAYWALL)
    if "noindex" in page.metas.get("robots", "").lower():
        found.add(PageSignal.NOINDEX)
    if "url=" in page.metas.get("refresh", "").lower():
        found.add(PageSignal.META_REFRESH)
    if page.noscript and _JS_REQUIRED.search(page.noscript.lower()):
        found.add(PageSignal.JS_REQUIRED)
    return _ordered(found)


def text_signals(page: ParsedPage, early: list[PageSignal]) -> tuple[PageSignal, ...]:
    """Add what the visible text says; phrases count on short pages only."""
    found = set(early)
    text, head = page.text, page.text[:SHORT_CHARACTERS].lower()
    length = len(text)
    if length < EMPTY_CHARACTERS:
        found.add(PageSignal.EMPTY_TEXT)
    if length < SHORT_CHARACTERS:
        found.add(PageSignal.SHORT_TEXT)
        found.update(signal for signal, pattern in _TEXT_PATTERNS if pattern.search(head))
        # A root element of a framework with much text in it was rendered on the server.
        if page.tree.css_first(_SHELL_ROOT) is not None:
            found.add(PageSignal.JS_SHELL)
    elif _PAYWALL.search(text[-PAYWALL_WINDOW:].lower()):
        found.add(PageSignal.PAYWALL)
    if length < WALL_CHARACTERS:
        # Content behind a wall's provider loads its scripts too, so they tell only where there
        # is little else.
        source = page.source[:CHALLENGE_WINDOW]
        if any(mark in source for mark in _CHALLENGE_MARKS):
            found.add(PageSignal.CHALLENGE_SCRIPT)
    return tuple(_ordered(found))


_TITLE_PATTERNS: Final = (
    (PageSignal.LOGIN_TITLE, _LOGIN_TITLE),
    (PageSignal.NOT_FOUND_TITLE, _NOT_FOUND),
    (PageSignal.CHALLENGE_TITLE, _CHALLENGE_TITLE),
    (PageSignal.BLOCKED_TITLE, _BLOCKED),
    (PageSignal.ERROR_TITLE, _ERROR),
    (PageSignal.PARKED, _PARKED),
)
_TEXT_PATTERNS: Final = (
    (PageSignal.LOGIN_TEXT, _LOGIN_TEXT),
    (PageSignal.NOT_FOUND_TEXT, _NOT_FOUND),
    (PageSignal.CHALLENGE_TEXT, _CHALLENGE_TEXT),
    (PageSignal.BLOCKED_TEXT, _BLOCKED),
    (PageSignal.ERROR_TEXT, _ERROR),
    (PageSignal.CONSENT_WALL, _CONSENT),
    (PageSignal.PAYWALL, _PAYWALL),
    (PageSignal.JS_REQUIRED, _JS_REQUIRED),
    (PageSignal.PARKED, _PARKED),
)
_POSITION: Final = {signal: index for index, signal in enumerate(PageSignal)}


def _ordered(found: set[PageSignal]) -> list[PageSignal]:
    return sorted(found, key=_POSITION.__getitem__)


def _has_login_form(page: ParsedPage) -> bool:
    for form in page.tree.css("form")[:20]:
        attributes = form.attributes
        told = " ".join(attributes.get(key) or "" for key in ("action", "id", "class", "name"))
        if _LOGIN_ACTION.search(told) and form.css_first("input") is not None:
            return True
    return False
