"""What sort of page a fetch brought: content, or one of the many pages that answer 200 and say no.

Rules over status, address, title, visible text and the signals that `pages/signals.py` read from
the HTML. Most walls are short, so wording counts only on a short page or in its title: an article
about captchas is content.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

from seekwatch.core.model import Fetch, Page
from seekwatch.processors.text.fold import fold


class PageKind(StrEnum):
    """A closed set; everything but `content` and `paywalled` is not what an answer can rest on."""

    CONTENT = "content"
    SOFT_404 = "soft_404"
    NOT_FOUND = "not_found"
    LOGIN = "login"
    CHALLENGE = "challenge"
    BLOCKED = "blocked"
    CONSENT = "consent"
    JS_SHELL = "js_shell"
    ERROR = "error"
    EMPTY = "empty"
    PARKED = "parked"
    PAYWALLED = "paywalled"
    UNREAD = "unread"
    """No readable body in the trace: not judged."""


USABLE: Final = frozenset({PageKind.CONTENT, PageKind.PAYWALLED})

_SHORT: Final = 1_500
"""Characters up to which a page is short enough to be a wall: the longest login and challenge
pages that were looked at stay below, the shortest articles above."""
_HEAD: Final = 600
_EMPTY: Final = 30

_CHALLENGE: Final = re.compile(
    r"just a moment|checking (?:your|if the site connection|the site connection)|"
    r"attention required|"
    r"verify(?:ing)? (?:that )?you are (?:a |not a )?(?:human|robot)|are you (?:a |"
    r"really )?(?:human|robot)|"
    r"complete the (?:security check|captcha)|ddos protection|"
    r"please enable (?:javascript and )?cookies|"
    r"enable javascript and cookies to continue|unusual traffic|security check|"
    r"you are being redirected|"
    r"press (?:and|&) hold|not a robot|pardon our interruption|human verification|"
    r"prove (?:that )?you(?:'re| are) (?:a )?human|bot detection|anti-?ddos|one more step|"
    r"performing security verification|please wait while we verify|incapsula incident|"
    r"人机验证|安全验证|请完成验证|验证您是真人|滑动验证|访问验证|私はロボットではありません"
)
_CHALLENGE_SIGNALS: Final = frozenset({"challenge-script", "challenge-title"})
_BLOCKED: Final = re.compile(
    r"access denied|access to this (?:page|site|resource) (?:has been|is) (?:denied|blocked|"
    r"forbidden)|"
    r"you have been blocked|request (?:blocked|rejected)|403 forbidden|\bforbidden\b|"
    r"you don't have permission|not available in your (?:country|region)|banned your (?:ip|access)|"
    r"your ip (?:address )?has been|unavailable for legal reasons|too many requests|rate limit|"
    r"禁止访问|拒绝访问|访问被拒绝|访问受限"
)
_NOT_FOUND: Final = re.compile(
    r"\b404\b|page not found|not found|page (?:you(?:'re| are)? (?:requested|looking for|"
    r"were looking for|"
    r"tried to reach) )?(?:can(?:no|')t be found|could not be found|does(?:n't| not) exist|"
    r"no longer exists|is no longer available|has been (?:removed|deleted|moved))|"
    r"we (?:can't|cannot|couldn't|could not) find (?:the|that|this) page|"
    r"nothing (?:was )?found here|"
    r"this page isn't available|seite (?:wurde )?nicht gefunden|page (?:non trouvee|introuvable)|"
    r"pagina no encontrada|pagina non trovata|pagina nao encontrada|strona nie (?:istnieje|"
    r"zostala)|"
    r"nie znaleziono|sidan hittades inte|страница не найдена|"
    r"页面不存在|找不到(?:该|您|此|页面)|页面未找到|网页不存在|内容不存在|已被删除|"
    r"ページが見つかりません|페이지를 찾을 수 없습니다"
)
_LOGIN: Final = re.compile(
    r"\b(?:log ?in|sign ?in|log ?on|sign ?on)\b|forgot (?:your )?password|enter your password|"
    r"create an account|anmelden|einloggen|se connecter|connexion|iniciar sesion|accedi|"
    r"войти|登录|登入|ログイン|로그인"
)
_LOGIN_NAME: Final = (
    r"log ?-?(?:in|on)|sign ?-?(?:in|on)|login|authentication|authenticate|authentification|"
    r"anmelden|anmeldung|einloggen|connexion|iniciar sess?[ai]o|iniciar sesion|accedi|entrar|"
    r"inloggen|logga in|log ind|logg inn|zaloguj|вход|войти|登录|登入|ログイン|로그인"
)
_LOGIN_TITLE: Final = re.compile(
    rf"^(?:[^\w\s]+ |\w+ ){{0,3}}(?:{_LOGIN_NAME})(?!\w)|(?<!\w)(?:{_LOGIN_NAME})(?: \S+){{0,3}}$"
)
_LOGIN_PATH: Final = re.compile(
    r"/(?:log-?in|sign-?in|signin|sso|auth|oauth2?|authorize|session/new|accounts?/login|"
    r"users/sign_in)(?:[/?.]|$)"
)
_LOGIN_SIGNALS: Final = frozenset({"password-field", "login-form"})
_CONSENT: Final = re.compile(
    r"before you continue|we value your privacy|accept (?:all )?cookies|cookie (?:consent|"
    r"preferences|settings)|"
    r"your privacy choices|consent to (?:the use|our use)|einwilligung|bevor sie|avant d'acceder|"
    r"tout accepter"
)
_CONSENT_HOST: Final = re.compile(r"^https?://(?:consent|guce|privacy-?mgmt)[.\w-]*/")
_JS: Final = re.compile(
    r"(?:enable|requires?|needs?|turn on|activate) javascript|javascript (?:is )?(?:required|"
    r"disabled|to run)|"
    r"you need to enable javascript|browser does not support javascript|^loading\W*$|"
    r"启用javascript|开启javascript"
)
_JS_SIGNALS: Final = frozenset({"js-shell", "js-required"})
_ERROR: Final = re.compile(
    r"internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|"
    r"something went wrong|an error (?:has )?occurred|application error|under maintenance|"
    r"\b50[0234]\b|服务器错误|系统错误|系统繁忙|系统维护"
)
_PARKED: Final = re.compile(
    r"(?:this|the) domain (?:name )?(?:is|may be) (?:for sale|parked)|buy this domain|"
    r"domain (?:is )?for sale|"
    r"domain parking|parked (?:free|domain)|related searches|域名出售|该域名"
)
_PAYWALL_SIGNALS: Final = frozenset({"paywall"})


def kind_of_fetch(fetch: Fetch) -> PageKind:
    """Tell what sort of page one attempt brought."""
    return kind_of_page(fetch.status, fetch.final_url or fetch.url, fetch.page)


def kind_of_page(status: int | None, url: str, page: Page | None) -> PageKind:
    """Tell what sort of page this is from its status, its last address and its content."""
    if page is None or (page.text is None and page.title is None):
        return _by_status(status) or (
            PageKind.EMPTY if page is not None and page.byte_count == 0 else PageKind.UNREAD
        )
    text = fold((page.text or "")[: _SHORT + 1])
    return _kind(status, url.lower(), fold((page.title or "")[:300]), text, page.signals)


def _by_status(status: int | None) -> PageKind | None:
    if status in (404, 410):
        return PageKind.NOT_FOUND
    if status in (401, 403, 407, 429, 451):
        return PageKind.BLOCKED
    return PageKind.ERROR if status is not None and status >= 400 else None


@lru_cache(maxsize=1024)
def _kind(
    status: int | None, url: str, title: str, text: str, signals: tuple[str, ...]
) -> PageKind:
    marks = frozenset(signals)
    short = len(text) <= _SHORT
    wording = f"{title}\n{text}" if short else title
    denied = _by_status(status)
    if "blocked-title" in marks and "challenge-script" not in marks:
        return PageKind.BLOCKED
    if _is_challenge(marks, title, wording, short=short):
        return PageKind.CHALLENGE
    if _is_login(marks, url, title, text, short=short):
        return PageKind.LOGIN
    if denied is not None:
        return denied
    if _NOT_FOUND.search(title) or (short and _NOT_FOUND.search(text[:_HEAD])):
        return PageKind.SOFT_404
    if _BLOCKED.search(title) or (short and _BLOCKED.search(text[:_HEAD])):
        return PageKind.BLOCKED
    if _CONSENT_HOST.match(url) or (short and _CONSENT.search(wording)):
        return PageKind.CONSENT
    return _unreadable(marks, title, text, short=short) or (
        PageKind.PAYWALLED if marks & _PAYWALL_SIGNALS else PageKind.CONTENT
    )


def _unreadable(marks: frozenset[str], title: str, text: str, *, short: bool) -> PageKind | None:
    if short and (_JS.search(text[:_HEAD]) or (marks & _JS_SIGNALS and len(text) < 200)):
        return PageKind.JS_SHELL
    if len(text) < _EMPTY:
        return PageKind.EMPTY
    if short and _ERROR.search(f"{title}\n{text[:_HEAD]}"):
        return PageKind.ERROR
    return PageKind.PARKED if short and _PARKED.search(f"{title}\n{text}") else None


def _is_challenge(marks: frozenset[str], title: str, wording: str, *, short: bool) -> bool:
    if _CHALLENGE.search(title):
        return True
    if not short:
        return False
    return bool(marks & _CHALLENGE_SIGNALS) or _CHALLENGE.search(wording) is not None


def _is_login(marks: frozenset[str], url: str, title: str, text: str, *, short: bool) -> bool:
    form = bool(marks & _LOGIN_SIGNALS)
    if _LOGIN_TITLE.search(title) and (form or short):
        return True
    if _LOGIN_PATH.search(url) and (form or (short and _LOGIN.search(text))):
        return True
    return form and short and _LOGIN.search(text) is not None
