import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.processors.urls import (
    host_of,
    is_valid_host,
    normalise_url,
    registrable_domain,
    same_page,
    site_of,
    url_key,
)

_PARTS = st.sampled_from(
    [
        "http",
        "https",
        "HTTPS",
        "ftp",
        ":",
        "//",
        "/",
        "?",
        "#",
        "@",
        "[",
        "]",
        "%",
        "%2",
        "%41",
        "%zz",
        "::1",
        "127.0.0.1",
        "example.com",
        "EXAMPLE.com.",
        "例え.jp",
        "xn--r8jz45g.jp",
        ":80",
        ":443",
        ":99999",
        ":x",
        ".",
        "..",
        "/../",
        "utm_source=a",
        "&",
        "a=b",
        " ",
        "\n",
        "\x00",
        "é",
        "\ud800",
        "www.",
        "user:pw@",
        "\\",
        "|",
        "\u202e",
        "\ufdd0",
    ]
)
URL_LIKE = st.lists(_PARTS, max_size=12).map("".join)
ANY_TEXT = st.one_of(st.text(), URL_LIKE, URL_LIKE.map("https://".__add__))


@given(ANY_TEXT)
def test_no_text_raises(text: str) -> None:
    normalise_url(text)
    url_key(text)
    host_of(text)
    site_of(text)
    registrable_domain(text)
    same_page(text, text)


@given(ANY_TEXT)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_url(text)
    if once is not None:
        assert normalise_url(once) == once
        assert url_key(once) == url_key(text)
        assert once.isascii()


@given(ANY_TEXT)
def test_a_normalised_url_has_a_valid_host_and_a_site(text: str) -> None:
    url = normalise_url(text)
    if url is not None:
        host = host_of(url)
        assert host is not None
        assert ":" in host or is_valid_host(host)
        assert site_of(url) is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTPS://Example.ORG:443/a/./b/../c?utm_source=x&q=1#top", "https://example.org/a/c?q=1"),
        ("http://example.org", "http://example.org/"),
        (
            "http://user:pw@example.org:8080/%7Eann/%e4%bd%a0",
            "http://example.org:8080/~ann/%E4%BD%A0",
        ),
        ("https://example.org/你好 there", "https://example.org/%E4%BD%A0%E5%A5%BDthere"),
        ("https://例え.jp/", "https://xn--r8jz45g.jp/"),
        ("https://[2001:DB8::0:1]:443/", "https://[2001:db8::1]/"),
        ("https://example.org./?", "https://example.org/"),
        ("https://example.org/?fbclid=1&gclid=2", "https://example.org/"),
        ("https://example.org/a%2fb", "https://example.org/a%2Fb"),
        ("ftp://example.org/", None),
        ("https://", None),
        ("https://exa mple..org/", None),
        ("https://[::1/", None),
        ("https://example.org:port/", None),
        ("not a url", None),
    ],
)
def test_one_spelling_per_url(text: str, expected: str | None) -> None:
    assert normalise_url(text) == expected


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("https://www.example.org/a/", "http://example.org/a?utm_medium=m", True),
        ("https://example.org", "https://example.org/#x", True),
        ("https://example.org/a?b=1", "https://example.org/a?b=2", False),
        ("https://example.org/a", "https://example.org/A", False),
        ("https://a.example.org/", "https://b.example.org/", False),
        ("https://www.com/", "https://com/", False),
        ("nonsense", "nonsense", False),
    ],
)
def test_spellings_of_one_page_compare_equal(left: str, right: str, same: bool) -> None:
    assert same_page(left, right) is same


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("ann.github.io", "ann.github.io"),
        ("github.io", None),
        ("com", None),
        ("a.b.example.unlisted", "example.unlisted"),
        ("127.0.0.1", None),
        ("::1", None),
        ("", None),
        (".com", None),
        ("食狮.com.cn", "食狮.com.cn"),
        ("shop.xn--85x722f.com.cn", "xn--85x722f.com.cn"),
    ],
)
def test_registrable_domains_follow_the_public_suffix_list(host: str, domain: str | None) -> None:
    assert registrable_domain(host) == domain


def test_the_site_of_an_address_is_its_host() -> None:
    assert site_of("http://127.0.0.1:8000/x") == "127.0.0.1"
    assert site_of("http://localhost/x") == "localhost"
    assert site_of("https://news.example.co.uk/x") == "example.co.uk"
    assert site_of("mailto:a@example.org") is None
