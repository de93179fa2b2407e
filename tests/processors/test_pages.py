import base64
import zlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core.model import Page, PageDate
from seekwatch.core.redaction import Redactor
from seekwatch.processors.pages.parsing import MAX_TEXT
from seekwatch.processors.pages.reader import MAX_BODY, Body, PageReader, page_reader
from seekwatch.processors.pages.signals import PageSignal

REDACTOR = Redactor()
SEEN = int(datetime(2026, 6, 1, tzinfo=UTC).timestamp()) * 1_000_000_000
URL = "https://example.org/story"
WALLS = "Please log in to continue. This page could not be found. Access denied."
LONG = "The bridge opened to traffic after nine years of work. " * 30


def _page(html: str, url: str = URL, content_type: str | None = "text/html") -> Page:
    return PageReader(REDACTOR).page(
        Body(packed=html, content_type=content_type, url=url), retrieved_at=SEEN
    )


def _packed(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw)).decode()


def _json_ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def _zipped(packed: str) -> Page:
    body = Body(packed=packed, encoding="zlib+base64", content_type="text/html", url=URL)
    return PageReader(REDACTOR).page(body, retrieved_at=SEEN)


def _day(date: PageDate | None) -> tuple[str, str] | None:
    if date is None:
        return None
    return datetime.fromtimestamp(date.at / 1e9, tz=UTC).date().isoformat(), date.method


# --- text ---------------------------------------------------------------------------------------


def test_blocks_are_parted_by_spaces_and_words_stay_whole() -> None:
    page = _page(
        "<title> The\n bridge </title><p>It open<b>ed</b> in&nbsp;1932.</p><p>Next</p>"
        "<ul><li>one</li><li>two</li></ul><table><tr><td>a</td><td>b</td></tr></table>line<br>feed"
    )
    assert page.title == "The bridge"
    assert page.text == "It opened in 1932. Next one two a b line feed"


def test_what_is_not_shown_is_not_text() -> None:
    page = _page(
        "<style>x</style><script>y</script><template>z</template><noscript>n</noscript>"
        '<p hidden>h</p><p style="display:none">d</p><!-- c --><p>shown</p>'
    )
    assert page.text == "shown"


def test_language_and_canonical_url_come_from_the_page() -> None:
    page = _page('<html lang="de-AT"><link rel="canonical" href="/story?a=1"><p>x</p></html>')
    assert page.language == "de-AT"
    assert page.canonical_url == "https://example.org/story?a=1"
    assert _page('<html lang="<script>"><p>x</p></html>').language is None


def test_text_is_capped_and_redacted() -> None:
    secret = "tvly-" + "abcdefghijklmnop1234"
    page = _page(f"<p>{secret}</p><p>{'word ' * 20_000}</p>")
    assert page.text is not None
    assert page.text.startswith("**** word")
    assert len(page.text) <= MAX_TEXT


def test_a_secret_at_the_cut_leaves_no_half_of_itself() -> None:
    secret = "tvly-" + "S3cretS3cretS3cret99"
    for room in range(0, 30, 5):
        page = _page(
            f"<title>{'t' * (500 - room)} {secret}</title>{'x' * (MAX_TEXT - room)} {secret}"
        )
        assert page.text is not None
        assert page.title is not None
        assert "tvly-" not in page.text + page.title


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain", "a <b>\n  c", "a <b> c"),
        ("application/json", '{"a": 1}', '{"a": 1}'),
        (None, " <p>a</p>", "a"),
        (None, "plain\ntext", "plain text"),
    ],
)
def test_only_html_is_parsed(content_type: str | None, body: str, text: str) -> None:
    assert _page(body, content_type=content_type).text == text


# --- bodies -------------------------------------------------------------------------------------


def test_a_packed_body_is_unpacked() -> None:
    assert _zipped(_packed("<p>Grüße, 你好</p>".encode())).text == "Grüße, 你好"


def test_a_bomb_is_cut_and_says_so() -> None:
    page = _zipped(_packed(b"a" * (50 * MAX_BODY)))
    assert page.truncated


@pytest.mark.parametrize("packed", ["not base64!", "AAAA", "", "é"])
def test_a_body_that_is_not_what_it_says_has_no_text(packed: str) -> None:
    assert not _zipped(packed).text


def test_a_body_that_breaks_off_keeps_what_came_and_says_so() -> None:
    page = _zipped(base64.b64encode(zlib.compress(b"x" * 9_999)[:-8]).decode())
    assert page.truncated


def test_a_page_that_nests_without_end_is_cut() -> None:
    page = _page("<p>start</p>" + "<div>" * 100_000 + "deep" + "</div>" * 100_000)
    assert page.truncated
    assert page.text == "start"


def test_a_page_without_a_captured_body_has_no_text_and_no_signals() -> None:
    page = PageReader(REDACTOR).page(Body(packed=None), retrieved_at=SEEN, content_hash="sha256:x")
    assert (page.text, page.signals, page.content_hash) == (None, (), "sha256:x")


def test_pages_are_remembered_by_what_they_hold_not_by_what_they_claim() -> None:
    reader = PageReader(REDACTOR, capacity=2)

    def text(body: str, claimed: str) -> str | None:
        return reader.page(
            Body(packed=body, content_type="text/html"), retrieved_at=SEEN, content_hash=claimed
        ).text

    assert text("<p>one</p>", "sha256:same") == "one"
    assert text("<p>two</p>", "sha256:same") == "two"
    assert [text(f"<p>{n}</p>", "x") for n in range(9)] == [str(n) for n in range(9)]
    assert page_reader(REDACTOR) is page_reader(REDACTOR)


def test_a_remembered_page_is_dated_anew_for_each_fetch() -> None:
    reader = PageReader(REDACTOR)
    body = Body(
        packed='<meta property="article:published_time" content="2026-05-20"><p>x</p>',
        content_type="text/html",
    )
    assert _day(reader.page(body, retrieved_at=SEEN).published) == ("2026-05-20", "meta")
    earlier = SEEN - 90 * 86_400 * 1_000_000_000
    assert reader.page(body, retrieved_at=earlier).published is None


@given(st.text(max_size=400), st.sampled_from(["text/html", "text/plain", None, "x"]))
def test_any_text_is_a_page(body: str, content_type: str | None) -> None:
    page = _page(body, content_type=content_type)
    if page.text is not None:
        page.text.encode()


@pytest.mark.parametrize(
    "body",
    [
        "<" * 400_000,
        "<p " * 150_000,
        "<div>" * 100_000,
        "<a href='" * 50_000,
        "&#" * 200_000,
        "<!--" * 100_000,
        '<script type="application/ld+json">' + "[" * 200_000,
        "2026-" * 80_000,
        "1 January " * 40_000,
        "<title>" + "sign in " * 50_000,
        "<form class=login><input>" * 20_000,
        "<time datetime=2026-01-01>" * 20_000,
        "published " * 50_000,
    ],
    ids=range(13),
)
def test_hostile_pages_take_no_longer_than_long_ones(body: str) -> None:
    assert _page(body) == _page(body)


# --- dates --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "url", "expected"),
    [
        (
            _json_ld(
                '{"@graph": [{"@type": "NewsArticle", "datePublished": "2026-03-14T08:00Z"}]}'
            ),
            "https://e.org/2020/01/02/x",
            ("2026-03-14", "json-ld"),
        ),
        ('<meta name="pubdate" content="2026-03-14">', URL, ("2026-03-14", "meta")),
        (
            '<time itemprop="datePublished" datetime="2026-03-14T23:00:00Z">x</time>',
            URL,
            ("2026-03-14", "time-element"),
        ),
        ("<p>x</p>", "https://e.org/2026/03/14/x", ("2026-03-14", "url")),
        ("<p>x</p>", "https://e.org/news/20260314-x", ("2026-03-14", "url")),
        ("<p>Published: 14 March 2026 by Ann</p>", URL, ("2026-03-14", "text")),
        ("<p>Posted on March 14th, 2026</p>", URL, ("2026-03-14", "text")),
        ("<p>Veröffentlicht am 14. März 2026</p>", URL, ("2026-03-14", "text")),
        ("<p>发布时间：2026年3月14日</p>", URL, ("2026-03-14", "text")),
        ("<p>Veröffentlicht: 14.03.2026</p>", URL, ("2026-03-14", "text")),
        ("<p>Published 27/03/2026</p>", URL, ("2026-03-27", "text")),
        ("<p>Published 03/27/2026</p>", URL, ("2026-03-27", "text")),
        (
            "<p>Menu</p><h1>Snow closes the mountain pass</h1><p>By Ann, 14.3.2026</p>",
            URL,
            ("2026-03-14", "text-below-heading"),
        ),
        (
            "<title>Snow closes the pass | News</title><p>Snow closes the pass</p><p>14 March 2026",
            URL,
            ("2026-03-14", "text-below-heading"),
        ),
        # What must stay unknown.
        ("<p>Published 03/04/2026</p>", URL, None),
        ("<p>Version 14.3.2026.1 is out</p>", URL, None),
        ("<p>14.03.2026</p><h1>Snow closes the mountain pass</h1>", URL, None),
        (f"<h1>Snow closes the mountain pass</h1><p>{'x ' * 60}14.03.2026</p>", URL, None),
        ("<h1>Snow closes the pass</h1><p>Updated 14.03.2026</p>", URL, None),
        ("<h1>Home</h1><p>14.03.2026</p>", URL, None),
        ("<p>It opened on 14 March 2026.</p>", URL, None),
        ("<p>© 2019-2026 Example</p>", URL, None),
        ("<p>Copyright published 14 March 2026</p>", URL, None),
        ('<meta name="date" content="2031-01-01">', URL, None),
        ('<meta name="date" content="1970-01-01">', URL, None),
        ('<meta name="date" content="03/04/2026">', URL, None),
        ("<p>x</p>", "https://e.org/2026/13/40/x", None),
        (
            _json_ld('{"@type": "Comment", "datePublished": "2026-03-14"}'),
            URL,
            None,
        ),
        ("<p>x</p>", "https://e.org/item/1202603141", None),
    ],
)
def test_dates_are_found_where_they_are_said_and_nowhere_else(
    html: str, url: str, expected: tuple[str, str] | None
) -> None:
    assert _day(_page(html, url).published) == expected


def test_modified_is_kept_apart_and_the_header_is_trusted_least() -> None:
    page = _page('<meta property="article:modified_time" content="2026-03-14"><p>x</p>')
    assert page.published is None
    assert _day(page.modified) == ("2026-03-14", "meta")
    reader = PageReader(REDACTOR)
    dated = reader.page(
        Body(packed="<p>x</p>", content_type="text/html"),
        retrieved_at=SEEN,
        last_modified="Sat, 14 Mar 2026 10:00:00 GMT",
    )
    assert _day(dated.modified) == ("2026-03-14", "last-modified")
    assert dated.modified is not None
    assert dated.modified.confidence < 0.5


# --- signals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "signals"),
    [
        (
            '<title>Sign in</title><form action="/login"><input type="password"></form>',
            {PageSignal.PASSWORD_FIELD, PageSignal.LOGIN_FORM, PageSignal.LOGIN_TITLE},
        ),
        ("<title>404 Not Found</title><p>x</p>", {PageSignal.NOT_FOUND_TITLE}),
        ("<p>Sorry, this page could not be found.</p>", {PageSignal.NOT_FOUND_TEXT}),
        (
            "<title>Just a moment...</title><script>window._cf_chl_opt={}</script>",
            {PageSignal.CHALLENGE_TITLE, PageSignal.CHALLENGE_SCRIPT},
        ),
        ("<title>Access denied</title>", {PageSignal.BLOCKED_TITLE}),
        ("<p>Before you continue to Example</p>", {PageSignal.CONSENT_WALL}),
        (f"<p>{LONG}</p><p>Subscribe to continue reading</p>", {PageSignal.PAYWALL}),
        (
            '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root">',
            {PageSignal.JS_SHELL, PageSignal.JS_REQUIRED, PageSignal.EMPTY_TEXT},
        ),
        ("<title>503 Service Unavailable</title>", {PageSignal.ERROR_TITLE}),
        ("<p>This domain is for sale</p>", {PageSignal.PARKED}),
        ('<meta name="robots" content="noindex,follow"><p>x</p>', {PageSignal.NOINDEX}),
        ("", {PageSignal.EMPTY_TEXT, PageSignal.SHORT_TEXT}),
    ],
)
def test_each_signal_is_seen(html: str, signals: set[PageSignal]) -> None:
    assert signals <= set(_page(html).signals)


@pytest.mark.parametrize(
    "html",
    [
        f"<title>How bot walls work</title><p>{LONG} {WALLS}</p>",
        f'<title>The bridge</title><div id="root"><p>{LONG}</p></div>',
        f"<title>The bridge</title><p>{LONG}</p>",
    ],
)
def test_a_long_page_that_talks_of_walls_is_none(html: str) -> None:
    assert _page(html).signals == ()


def test_signals_come_from_the_closed_set() -> None:
    closed = {signal.value for signal in PageSignal}
    assert set(_page("<title>Login 404</title>").signals) <= closed


@pytest.mark.parametrize("kind", ["text/html", "text/plain"])
def test_a_page_whose_text_is_cut_says_so(kind: str) -> None:
    def read(words: int) -> Page:
        body = Body(packed="word " * words, content_type=kind)
        return PageReader(Redactor()).page(body, retrieved_at=0)

    assert not read(MAX_TEXT // 5).truncated
    long = read(MAX_TEXT // 5 + 10)
    assert long.truncated
    assert len(long.text or "") == MAX_TEXT
