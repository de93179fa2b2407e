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
from urllib.parse import SplitResult, urlsplit, urlunsplit

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
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r"Bearer\s+[A-Za-z0-9._~+/-]{16,}=*",
    r"bearer\s+[A-Za-z0-9._~+/-]{16,}=*",
    r"Basic\s+[A-Za-z0-9+/]{16,}=*",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----",
)
"""Shapes of well-known tokens, each from its issuer's documentation; only the match is masked."""

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
_LOOKS_LIKE_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_QUOTED_SECRET: Final = re.compile(
    r"(?i)(\"(?:[a-z0-9]+[._-])*(?:authorization|password|passwd|client_?secret|secret|api_?-?key|"
    r"access_?token|refresh_?token|id_?token|private_?key)\"\s*:\s*\")((?:[^\"\\]|\\.)+)(\")"
)

_PARAMETER_IN_TEXT: Final = re.compile(r"(?<=[?&])[A-Za-z0-9_.-]{1,64}=[^&\s\"'<>#)\]}\\]+")
"""A query parameter outside of a whole URL, as in `GET /search?api_key=…`."""
_HEADER_LINE: Final = re.compile(
    r"(?im)^((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|api-key|x-subscription-token)"
    r"(:[ \t]*)\S.*$"
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
        ValueError: a pattern does not compile; the message names it.
    """

    def __init__(
        self, patterns: Iterable[str] = (), *, function: UserRedaction | None = None
    ) -> None:
        own = tuple(patterns)
        for pattern in own:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(
                    f"redaction pattern {pattern!r} is not a regular expression: {error}"
                ) from error
        self._tokens = re.compile("|".join(f"(?:{p})" for p in (*TOKEN_PATTERNS, *own)))
        self._function = function

    def attribute(self, key: str, value: str) -> str:
        """Return `value` as it may be stored under `key`."""
        if is_secret_key(key):
            return MASK
        return self.text(value)

    def text(self, value: str) -> str:
        """Return `value` with tokens, quoted secrets and secrets inside URLs masked."""
        if "://" in value:
            value = _URL_IN_TEXT.sub(lambda match: self._url(match.group()), value)
        if '"' in value:
            value = _QUOTED_SECRET.sub(rf"\g<1>{MASK}\g<3>", value)
        if "=" in value and ("?" in value or "&" in value):
            value = _PARAMETER_IN_TEXT.sub(lambda match: _mask_parameter(match.group()), value)
        if ":" in value:
            value = _HEADER_LINE.sub(rf"\g<1>\g<2>{MASK}", value)
        value = self._tokens.sub(MASK, value)
        return value if self._function is None else self._function(value)

    def url(self, value: str) -> str:
        """Return a URL without userinfo, fragment and secrets in its query.

        A text that is no URL is treated as text.
        """
        if not _LOOKS_LIKE_URL.match(value):
            return self.text(value)
        masked = self._tokens.sub(MASK, self._url(value, drop_fragment=True))
        return masked if self._function is None else self._function(masked)

    def query(self, value: str) -> str:
        """Return a URL's query, or path and query, without its secrets."""
        path, separator, query = value.rpartition("?")
        return self.text(path + separator + _mask_query(query))

    def _url(self, value: str, *, drop_fragment: bool = False) -> str:
        if "@" not in value and "=" not in value and not (drop_fragment and "#" in value):
            # No userinfo and no parameter: most URLs, and parsing is what costs.
            return value
        try:
            parts = urlsplit(value)
        except ValueError:
            # Not a URL to us, yet its authority may hold a password: keep what cannot.
            return value.split("://", 1)[0] + "://" + MASK
        rest = parts._replace(
            netloc=_without_userinfo(parts),
            query=_mask_query(parts.query),
            fragment="" if drop_fragment else _mask_query(parts.fragment),
        )
        return value if rest == parts else urlunsplit(rest)


def _without_userinfo(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _mask_query(query: str) -> str:
    """Mask values of secret parameters; order, encoding and the rest stay as they were."""
    if "=" not in query:
        return query
    return "&".join(_mask_parameter(parameter) for parameter in query.split("&"))


def _mask_parameter(parameter: str) -> str:
    name, separator, _ = parameter.partition("=")
    if separator and (name.lower() in _SECRET_QUERY_NAMES or is_secret_key(name)):
        return f"{name}={MASK}"
    return parameter
