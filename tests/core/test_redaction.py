import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core import redaction
from seekwatch.core.redaction import MASK, TOKEN_PATTERNS, Redactor, is_secret_key

SECRETS = {
    "openai": "sk-proj-canary0123456789abcdefghij",
    "tavily": "tvly-dev-canary0123456789abcd",
    "github": "ghp_" + "canary0123456789abcdefghijklmnopqrstuv",
    "github-fine": "github_pat_" + "canary0123456789abcdefghijklmnopqrstuv_0123",
    "gitlab": "glpat-canary0123456789abcdef",
    "aws": "AKIACANARY0123456789",
    "aws-session": "ASIACANARY0123456789",
    "google": "AIza" + "canary0123456789abcdefghijklmnopqrs",
    "google-oauth": "ya29.canary0123456789abcdefghij",
    "slack": "xoxb-canary-0123456789",
    "huggingface": "hf_canary0123456789abcdefghijklmno",
    "jwt": "eyJhbGciOiJIUzI1.eyJzdWIiOiJjYW5hcnk.canary01234567",
    "bearer": "Bearer canary0123456789abcdef==",
    "basic": "Basic Y2FuYXJ5OmNhbmFyeTEyMw==",
    "key": "-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----",
}


# What the names of secrets and the marks around them are made of.
HINTED = [
    *("password", "pwd", "secret", "api", "key", "private", "access", "refresh", "subscription"),
    *("id", "auth", "session", "security", "token", "authorization", "cookie", "set", "x", "K"),
    *("_", "-", '"', "'", "=", ": ", ",", "[", "]", "\\", "\n", "0123456789abcdef", "ſ", "K"),
]


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("frame", ["{}", "before {} after", '{{"note": "{}"}}', "<p>{}</p>"])
def test_every_documented_shape_is_masked_wherever_it_stands(secret: str, frame: str) -> None:
    masked = Redactor().text(frame.format(secret))
    assert "canary" not in masked.lower()
    assert masked == frame.format(MASK)


def test_every_pattern_has_a_canary_here() -> None:
    unmatched = [
        pattern
        for pattern in TOKEN_PATTERNS
        if not any(re.search(pattern, secret) for secret in SECRETS.values())
    ]
    assert unmatched == [r"bearer\s+[A-Za-z0-9._~+/-]{16,}=*"]


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://a.example/x?page=2", "https://a.example/x?page=2"),
        ("https://bob:canary@a.example/", "https://a.example/"),
        ("https://a.example/#canary", "https://a.example/"),
        ("https://a.example/?api_key=canary&q=x", f"https://a.example/?api_key={MASK}&q=x"),
        ("https://a.example/?q=x&KEY=canary", f"https://a.example/?q=x&KEY={MASK}"),
        ("https://a.example/?X-Amz-Signature=canary", f"https://a.example/?X-Amz-Signature={MASK}"),
        ("https://a.example/?my.access_token=canary", f"https://a.example/?my.access_token={MASK}"),
        ("https://u:canary@[broken/", f"https://{MASK}"),
        ("https://[broken/", "https://[broken/"),
        ("/relative?token=canary", f"/relative?token={MASK}"),
        ("/relative#access_token=canary", f"/relative#access_token={MASK}"),
        ("https://a.example/?api%5Fkey=canary", f"https://a.example/?api%5Fkey={MASK}"),
        ("https://a.example/?a=1;sig=canary;b=2", f"https://a.example/?a=1;sig={MASK};b=2"),
        (
            "https://a.example/?next=https%3A%2F%2Fb.example%2F%3Fapi_key%3Dcanary&q=x",
            f"https://a.example/?next={MASK}&q=x",
        ),
        (
            "https://a.example/?u=ftp%253A%252F%252Fu%253Acanary%2540b",
            f"https://a.example/?u={MASK}",
        ),
        ("https://a.example/?q=a%3Db%20c", "https://a.example/?q=a%3Db%20c"),
    ],
)
def test_urls_lose_what_is_secret_in_them(url: str, masked: str) -> None:
    assert Redactor().url(url) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("see https://u:canary@a.example/x now", "see https://a.example/x now"),
        ("(https://a.example/?sig=canary)", f"(https://a.example/?sig={MASK})"),
        ("GET /search?api_key=canary&q=x failed", f"GET /search?api_key={MASK}&q=x failed"),
        ('{"password": "can\\"ary"}', f'{{"password": "{MASK}"}}'),
        ('{"openai_api_key":"canary"}', f'{{"openai_api_key":"{MASK}"}}'),
        ("GET /\nX-API-Key: canary\nHost: a", f"GET /\nX-API-Key: {MASK}\nHost: a"),
        ("Cookie: a=canary; b=canary", f"Cookie: {MASK}"),
        ("the cookie: a story", "the cookie: a story"),
        ("see postgres://u:canary@db/x", "see postgres://db/x"),
        ('<a href="/?a=1&amp;api_key=canary">', f'<a href="/?a=1&amp;api_key={MASK}">'),
        ("{'api_key': 'canary', 'q': 'x'}", f"{{'api_key': '{MASK}', 'q': 'x'}}"),
        ('{"Cookie": "canary", "pwd":"canary"}', f'{{"Cookie": "{MASK}", "pwd":"{MASK}"}}'),
        ('{"token": "canary0123456789abcdef"}', f'{{"token": "{MASK}"}}'),
        ('{"token": "snow", "logprob": -1}', '{"token": "snow", "logprob": -1}'),
        ('[["Authorization", "canary"]]', f'[["Authorization", "{MASK}"]]'),
        ("[(b'x-api-key', b'canary')]", f"[(b'x-api-key', b'{MASK}')]"),
        ('{"name": "Cookie", "value": "canary"}', f'{{"name": "Cookie", "value": "{MASK}"}}'),
        ('{"title": "The secret", "url": "x"}', '{"title": "The secret", "url": "x"}'),
        ('["The secret", "of snow"]', '["The secret", "of snow"]'),
        ("Client(api_key='canary', x=1)", f"Client(api_key='{MASK}', x=1)"),
        ("password = canary; done", f"password = {MASK}; done"),
        ("curl -H 'X-Api-Key: canary' http://a", f"curl -H 'X-Api-Key: {MASK}' http://a"),
        ("GET /\\r\\nCookie: a=canary\\r\\nHost", f"GET /\\r\\nCookie: {MASK}\\r\\nHost"),
        ("  > Authorization: canary", f"  > Authorization: {MASK}"),
        ("2 + 2 = 4 & 3 = 3", "2 + 2 = 4 & 3 = 3"),
        ("skate-boards and task-lists", "skate-boards and task-lists"),
    ],
)
def test_text_loses_what_is_secret_in_it_and_nothing_else(text: str, masked: str) -> None:
    assert Redactor().text(text) == masked


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("value", ["canary", 'can"ary', "canary\\path", "canary: {x}"])
def test_a_secret_is_masked_however_deep_json_lies_in_json(depth: int, value: str) -> None:
    text = json.dumps({"q": "snow", "api_key": value, "n": 1})
    for _ in range(depth):
        text = json.dumps({"arguments": text})
    masked: object = Redactor().text(text)
    for _ in range(depth):
        assert isinstance(masked, str)
        masked = json.loads(masked)["arguments"]
    assert isinstance(masked, str)
    assert json.loads(masked) == {"q": "snow", "api_key": MASK, "n": 1}


@given(st.lists(st.sampled_from(HINTED) | st.text(max_size=4), max_size=6).map("".join))
def test_the_hints_miss_nothing_that_the_patterns_find(text: str) -> None:
    patterns = (
        redaction._MEMBER,
        redaction._PAIR,
        redaction._TOKEN_MEMBER,
        redaction._ASSIGNMENT,
        redaction._HEADER_LINE,
    )
    if any(pattern.search(text) for pattern in patterns):
        assert redaction._has_hint(text.lower())


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ("q=x&api_key=canary", f"q=x&api_key={MASK}"),
        ("/search?q=x&token=canary", f"/search?q=x&token={MASK}"),
        ("/search", "/search"),
    ],
)
def test_a_query_without_its_url_is_masked_too(value: str, masked: str) -> None:
    assert Redactor().query(value) == masked


@pytest.mark.parametrize(
    "key",
    [
        "authorization",
        "http.request.header.authorization",
        "http.request.header.x-api-key",
        "http.response.header.set-cookie",
        "db.password",
        "OPENAI_API_KEY",
        "client-secret",
    ],
)
def test_telling_keys_mask_their_whole_value(key: str) -> None:
    assert is_secret_key(key)
    assert Redactor().attribute(key, "anything") == MASK


@pytest.mark.parametrize(
    "key",
    [
        "gen_ai.usage.input_tokens",
        "session.id",
        "seekwatch.content.hash",
        "http.response.header.etag",
        "url.full",
        "authorization_server_name",
    ],
)
def test_other_keys_do_not(key: str) -> None:
    assert not is_secret_key(key)


def test_a_users_patterns_and_function_come_last() -> None:
    redactor = Redactor([r"CASE-\d+"], function=str.upper)
    assert redactor.text("about case CASE-12") == "ABOUT CASE ****"


def test_a_token_inside_a_token_leaves_no_part_of_the_outer_one() -> None:
    inner = SECRETS["openai"]
    jwt = f"eyJhbGciOiJIUzI1.eyJzdWIiOiJ4{inner}.signature-{inner}"
    assert Redactor().text(f"a {jwt} b") == f"a {MASK} b"
    assert Redactor().text(f"Bearer {inner}") == MASK


def test_every_token_is_looked_for_by_the_letters_it_begins_with() -> None:
    assert "" not in {begin for begin, _ in redaction._TOKENS}


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}"])
def test_a_pattern_that_does_not_compile_is_named(pattern: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(pattern))):
        Redactor([pattern])


@pytest.mark.parametrize("pattern", ["", "a|", "x*", "(?=a)?", "$"])
def test_a_pattern_that_matches_nothing_at_all_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="matches an empty text"):
        Redactor([pattern])


@pytest.mark.parametrize(
    ("patterns", "text", "masked"),
    [
        (["(?i)alice"], "Alice", MASK),
        (["nobody", "(?i)alice"], "ALICE nobody", f"{MASK} {MASK}"),
        (["(a)b", r"(\w)\1"], "ab oo", f"{MASK} {MASK}"),
        (["(?P<name>a)", "(?P<name>b)"], "a b", f"{MASK} {MASK}"),
        (["(?x) a  b # a comment", "c"], "ab c", f"{MASK} {MASK}"),
    ],
)
def test_patterns_of_one_user_do_not_change_each_other(
    patterns: list[str], text: str, masked: str
) -> None:
    assert Redactor(patterns).text(text) == masked


@given(st.text())
def test_masking_twice_is_masking_once(text: str) -> None:
    redactor = Redactor()
    once = redactor.text(text)
    assert redactor.text(once) == once


@given(st.text(alphabet="abc:/?#[]@!&=%. ", max_size=60))
def test_no_url_raises(text: str) -> None:
    Redactor().url(f"http://{text}")
