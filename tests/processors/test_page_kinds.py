"""Page kinds: walls that answer 200, and articles that only talk about walls."""

import pytest

from seekwatch.core.model import Page
from seekwatch.core.redaction import Redactor
from seekwatch.processors.pages.reader import Body, PageReader
from seekwatch.processors.pages.signals import PageSignal
from seekwatch.processors.sources.page_kinds import PageKind, kind_of_page
from tests.services import pages

URL = "https://example.com/page"


def kind(html: str, status: int | None = 200, url: str = URL) -> PageKind:
    body = Body(packed=html, content_type="text/html", url=url)
    return kind_of_page(status, url, PageReader(Redactor()).page(body, retrieved_at=2 * 10**18))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (pages.article("The council met."), PageKind.CONTENT),
        (pages.LOGIN, PageKind.LOGIN),
        (pages.CHALLENGE, PageKind.CHALLENGE),
        (pages.SOFT_404, PageKind.SOFT_404),
        (pages.CONSENT, PageKind.CONSENT),
        (pages.JS_SHELL, PageKind.JS_SHELL),
        (pages.EMPTY, PageKind.EMPTY),
        (pages.PARKED, PageKind.PARKED),
    ],
)
def test_each_kind_served_with_200(html: str, expected: PageKind) -> None:
    assert kind(html) is expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (404, PageKind.NOT_FOUND),
        (410, PageKind.NOT_FOUND),
        (403, PageKind.BLOCKED),
        (429, PageKind.BLOCKED),
        (500, PageKind.ERROR),
    ],
)
def test_a_status_speaks_for_an_ordinary_page(status: int, expected: PageKind) -> None:
    assert kind(pages.article("Sorry about that."), status) is expected


def test_a_challenge_is_one_whatever_its_status() -> None:
    assert kind(pages.CHALLENGE, 403) is PageKind.CHALLENGE
    assert kind(pages.CHALLENGE, 503) is PageKind.CHALLENGE


@pytest.mark.parametrize(
    "text",
    [
        "Captchas ask visitors to prove that they are human. Are you a robot? is the question. ",
        "The error 404 page not found is the best known of the web's status codes. ",
        "Log in or sign in: which wording do users prefer on a login page? A study. ",
        "Before you continue, accept all cookies: how consent walls changed the web. ",
    ],
)
def test_an_article_about_walls_is_content(text: str) -> None:
    assert kind(pages.article(text * 12, title="How the web says no")) is PageKind.CONTENT


def test_an_article_with_a_login_box_is_content() -> None:
    box = "<form action='/login'><input type='password'><button>Log in</button></form>"
    html = pages.article("The council met. " * 120, title="Tram line").replace("<h1>", box + "<h1>")
    assert kind(html) is PageKind.CONTENT


def test_a_body_that_was_not_captured_is_unread() -> None:
    assert kind_of_page(200, URL, None) is PageKind.UNREAD
    assert kind_of_page(200, URL, Page(byte_count=10)) is PageKind.UNREAD
    assert kind_of_page(200, URL, Page(byte_count=0)) is PageKind.EMPTY
    assert kind_of_page(404, URL, None) is PageKind.NOT_FOUND


def test_the_signals_that_are_read_exist() -> None:
    from seekwatch.processors.sources import page_kinds

    groups = [
        value
        for name, value in vars(page_kinds).items()
        if name.endswith("_SIGNALS") and isinstance(value, frozenset)
    ]
    assert groups
    assert frozenset().union(*groups) <= {signal.value for signal in PageSignal}
