"""What a secret looks like, and how it is masked, the same on both sides of the wire.

The SDK masks before export; the receiver masks before the append; the normaliser masks what others
wrote to the topic. All three use this module, so a scorecard can never show what a span may not.
Patterns begin with fixed letters where they can: a regular-expression engine then skips most text
at memory speed. This module imports the standard library only: it is loaded into agents.
"""

import functools
import re
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import SplitResult, unquote, unquote_plus, urlsplit, urlunsplit

MASK: Final = "****"

TOKEN_PATTERNS: Final[tuple[str, ...]] = (
    r"sk-[A-Za-z0-9_-]{20,}",
    r"tvly-[A-Za-z0-9_-]{16,}",
    r"gh[pousr]_[A-Za-z0-9]{36,}",
    r"github_pat_[A-Za-z0-9_]{40,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"AKIA[0-9A-Z]{16}",
    r"ASIA[0-9A-Z]{16}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"eyJ[A-Za-z0-9_-]{8,1000}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r"Bearer\s+[A-Za-z0-9._~+/-]{16,}=*",
    r"bearer\s+[A-Za-z0-9._~+/-]{16,}=*",
    r"Basic\s+[A-Za-z0-9+/]{16,}=*",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----",
)
"""Shapes of well-known tokens, each from its issuer's documentation; only the match is masked.

A JWT's header is bounded (1000 is the most that RE2, the Collector's engine, counts to): a text of
nothing but `eyJ` would else be searched to its end from every one of them."""

_LITERAL_BEGIN: Final = re.compile(r"[A-Za-z0-9_-]+(?![A-Za-z0-9_*?{-])")


def _with_begin(pattern: str) -> tuple[str, re.Pattern[str]]:
    begin = _LITERAL_BEGIN.match(pattern)
    return begin.group() if begin else "", re.compile(pattern)


_TOKENS: Final = tuple(map(_with_begin, reversed(TOKEN_PATTERNS)))
"""Each with the letters that it begins with: to look for those first costs a tenth. The last ones
go first, because they are the longer ones and may have another in them."""

SECRET_KEY: Final = re.compile(
    r"(?i)(?:.*[._-])?(?:authorization|proxy-authorization|cookie|set-cookie|password|passwd|pwd|"
    r"secret|client[_-]?secret|api[_-]?key|apikey|x-api-key|subscription[_-]?key|access[_-]?token|"
    r"refresh[_-]?token|id[_-]?token|auth[_-]?token|private[_-]?key|signature|sig|"
    r"x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature)"
)
"""Names of attributes, headers and query parameters whose whole value is masked (full match)."""

_SECRET_QUERY_NAMES: Final = frozenset({"key", "token", "code", "auth", "session", "sessionid"})
"""Query parameters that carry secrets by custom although the bare name is too common for a key."""

_URL_IN_TEXT: Final = re.compile(r"https?://[^\s\"'<>\\)\]}]+")
_SEPARATORS: Final = re.compile(r"([&;])")
_LOOKS_LIKE_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_USERINFO_IN_TEXT: Final = re.compile(r"://[^\s/?#@\"'<>\\]{1,256}@")
"""The password of any scheme's URL (`postgres://user:password@host`)."""
_PARAMETER_IN_TEXT: Final = re.compile(r"(?<=[?&;#])[A-Za-z0-9_.%-]{1,64}=[^&\s\"'<>#)\]}\\]+")
"""A query parameter outside of a whole URL, as in `GET /search?api_key=…`."""

_NAME_OF_PARAMETER: Final = re.compile(r"[?&;#]([A-Za-z0-9_.%-]{1,64})=")
_MOST_ENCODINGS: Final = 3
"""A URL in a parameter of a URL that is a search query is encoded twice, as a form three times."""

_NAMES_OF_SECRETS: Final = (
    r"(?:passw(?:or)?d|pwd|secret|api[_-]?key|private[_-]?key|access[_-]?key|"
    r"subscription[_-]?(?:key|token)|(?:access|refresh|id|auth|session|security)[_-]?token)"
)
_NAMES_OF_HEADERS: Final = (
    r"(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key|api-key|x-subscription-token)"
)
_NAME_HINTS: Final = ("passw", "pwd", "secret", "authorization", "cookie", "token")
_KEY_HINTS: Final = ("api", "private", "access", "subscription")
"""Every text that one of the five patterns below can match has, in lower case, one of the first or
"key" and one of the second. Looking for them costs a fiftieth of looking for the patterns."""
_MEMBER: Final = re.compile(
    # Of JSON, of a Python mapping, or of either inside a JSON string any number of times (`\"`);
    # or an entry of a list of headers as browsers archive them (`"name": …, "value": …`).
    rf"(?ai)((?:{_NAMES_OF_SECRETS}|{_NAMES_OF_HEADERS})(\\*[\"'])\s*"
    r"(?::|,\s*\2value\2\s*:)\s*\[?b?(\2))"
    r"(?:(?!(?<!\\)\3).)+\3"
)
_PAIR: Final = re.compile(
    # In a list of headers, `["authorization", "…"]`; prose in a list of two is no name.
    rf"(?ai)([\[(]\s*b?(\\*[\"'])[\w.-]{{0,64}}(?:{_NAMES_OF_SECRETS}|{_NAMES_OF_HEADERS})"
    r"\2\s*,\s*b?(\2))"
    r"(?:(?!(?<!\\)\3).)+\3(?=\s*[\])])"
)
_TOKEN_MEMBER: Final = re.compile(
    # The bare name is also that of a word in a model's answer, so only what looks random counts.
    r"(?ai)((?<![a-z0-9])token(\\*[\"'])\s*:\s*\2)[a-z0-9._~+/=-]{16,}(?=\2)"
)
_ASSIGNMENT: Final = re.compile(rf"(?ai)({_NAMES_OF_SECRETS} ?= ?[\"']?)[^\s\"',;&)\]}}]+")
_HEADER_LINE: Final = re.compile(
    # At the start of a line, real or inside a JSON string, or as one quoted argument; after the
    # type of an exception; with the marks that command-line clients set before it.
    rf"(?aim)(^(?:[\w.]{{1,128}}: )?[ \t<>*]*{_NAMES_OF_HEADERS}:[ \t]*)\S.*$"
    rf"|((?:[\"']|\\[nr])[ \t<>*]{{0,8}}{_NAMES_OF_HEADERS}:[ \t]*)[^\s\"'\\][^\"'\\\n]*"
)

UserRedaction = Callable[[str], str]


@functools.lru_cache(maxsize=4096)
def is_secret_key(key: str) -> bool:
    """Tell whether whatever stands under `key` is a secret; see `SECRET_KEY`.

    The same few hundred names come on every span, so the answers are kept.
    """
    return SECRET_KEY.fullmatch(key) is not None


class Redactor:
    """Masks secrets in URLs, in text and under telling keys.

    Args:
        patterns: regular expressions of the user's own, masked beside `TOKEN_PATTERNS`.
        function: a user's callable, applied last to every string. What it returns is used.

    Raises:
        ValueError: a pattern does not compile, or matches where nothing is; the message names it.
    """

    def __init__(
        self, patterns: Iterable[str] = (), *, function: UserRedaction | None = None
    ) -> None:
        own = tuple(patterns)
        # One after the other: joined, their flags, names and numbers of groups would mix.
        self._own = tuple(map(_own_pattern, own))
        self._function = function
        self._decoded: Redactor | None = None
        if not isinstance(self, _Decoded):
            self._decoded = _Decoded(own)

    def attribute(self, key: str, value: str) -> str:
        """Return `value` as it may be stored under `key`."""
        if is_secret_key(key):
            return MASK
        return self.text(value)

    def text(self, value: str) -> str:
        """Return `value` with tokens, named secrets and secrets inside URLs masked."""
        if "://" in value:
            if "@" in value:
                value = _USERINFO_IN_TEXT.sub("://", value)
            value = _URL_IN_TEXT.sub(lambda match: self._url(match.group()), value)
        if "=" in value and any(mark in value for mark in "?&;#"):
            value = _PARAMETER_IN_TEXT.sub(lambda match: self._parameter(match.group()), value)
        if ":" in value or "=" in value or "," in value:
            value = _mask_named(value)
        value = self._mask_tokens(value)
        return value if self._function is None else self._function(value)

    def _mask_tokens(self, value: str) -> str:
        for begin, pattern in _TOKENS:
            if begin in value:
                value = pattern.sub(MASK, value)
        for pattern in self._own:
            value = pattern.sub(MASK, value)
        return value

    def url(self, value: str) -> str:
        """Return a URL without userinfo, fragment and secrets in its query.

        A text that is no URL is treated as text.
        """
        if not _LOOKS_LIKE_URL.match(value):
            return self.text(value)
        masked = self._mask_tokens(self._url(value, drop_fragment=True))
        return masked if self._function is None else self._function(masked)

    def query(self, value: str) -> str:
        """Return a URL's query, or path and query, without its secrets."""
        path, separator, query = value.rpartition("?")
        return self.text(path + separator + self._query(query))

    def _url(self, value: str, *, drop_fragment: bool = False) -> str:
        if not any(mark in value for mark in "@=%") and not (drop_fragment and "#" in value):
            # No userinfo, no parameter, nothing encoded: most URLs, and parsing is what costs.
            return value
        try:
            parts = urlsplit(value)
        except ValueError:
            # Not a URL to us, yet its authority may hold a password: keep what cannot.
            return value.split("://", 1)[0] + "://" + MASK
        rest = parts._replace(
            netloc=_without_userinfo(parts),
            path=self._path(parts.path),
            query=self._query(parts.query),
            fragment="" if drop_fragment else self._query(parts.fragment),
        )
        return value if rest == parts else urlunsplit(rest)

    def _path(self, path: str) -> str:
        if "%" not in path:
            return path
        return "/".join(MASK if self._hides_secret(part) else part for part in path.split("/"))

    def _query(self, query: str) -> str:
        """Mask values of secret parameters; order, encoding and the rest stay as they were."""
        if "=" not in query:
            return MASK if self._hides_secret(query) else query
        if ";" in query:
            return "".join(map(self._parameter, _SEPARATORS.split(query)))
        return "&".join(map(self._parameter, query.split("&")))

    def _parameter(self, parameter: str) -> str:
        name, separator, value = parameter.partition("=")
        if separator and (
            _is_secret_parameter(name) or _has_secret_parameter(value) or self._hides_secret(value)
        ):
            return f"{name}={MASK}"
        return parameter

    def _hides_secret(self, encoded: str) -> bool:
        """Tell whether what is percent-encoded once or twice would be masked if it were not."""
        if self._decoded is None or ("%" not in encoded and "+" not in encoded):
            return False
        decoded = encoded
        for _ in range(_MOST_ENCODINGS):
            before, decoded = decoded, unquote_plus(decoded)
            if decoded == before:
                return False
            if self._decoded.text(decoded) != decoded:
                return True
        return False


def _own_pattern(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(
            f"redaction pattern {pattern!r} is not a regular expression: {error}"
        ) from error
    if compiled.search(""):
        raise ValueError(
            f"redaction pattern {pattern!r} matches an empty text, so it would mask between any "
            "two characters; write one that needs at least one"
        )
    return compiled


class _Decoded(Redactor):
    """Looks at what was percent-encoded, and not for anything encoded in it again."""


def _without_userinfo(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _has_hint(lowered: str) -> bool:
    if any(hint in lowered for hint in _NAME_HINTS):
        return True
    return "key" in lowered and any(hint in lowered for hint in _KEY_HINTS)


def _mask_named(text: str) -> str:
    """Mask what stands under a telling name: members of JSON, assignments, header lines."""
    if not _has_hint(text.lower()):
        return text
    text = _MEMBER.sub(rf"\g<1>{MASK}\g<3>", text)
    text = _PAIR.sub(rf"\g<1>{MASK}\g<3>", text)
    text = _TOKEN_MEMBER.sub(rf"\g<1>{MASK}", text)
    text = _ASSIGNMENT.sub(rf"\g<1>{MASK}", text)
    return _HEADER_LINE.sub(lambda match: f"{match[1] or match[2]}{MASK}", text)


@functools.lru_cache(maxsize=4096)
def _is_secret_parameter(name: str) -> bool:
    name = unquote(name) if "%" in name else name
    return name.lower() in _SECRET_QUERY_NAMES or is_secret_key(name)


def _has_secret_parameter(value: str) -> bool:
    """Tell whether a parameter is itself a URL, not encoded, with a secret parameter."""
    return "=" in value and any(map(_is_secret_parameter, _NAME_OF_PARAMETER.findall(value)))
