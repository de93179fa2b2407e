"""URLs and hosts compared as a reader of citations compares them.

An agent cites `https://Example.org/a?utm_source=x#top` after it fetched `http://www.example.org/a/`:
the same page. Everything here accepts any text, never raises, and reads nothing from the network;
the Public Suffix List is the snapshot that `publicsuffixlist` ships.
"""

import ipaddress
import re
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import idna
from publicsuffixlist import PublicSuffixList

_MAX_LENGTH: Final = 16_384
"""Longer texts are no URLs: servers refuse from 8 KiB on."""

_WEB_URL: Final = re.compile(r"(?i)https?://[^\s/?#]")
_PLAIN_HOST: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_-]{1,63})*")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_NOT_ALLOWED: Final = re.compile(r"[^A-Za-z0-9\-._~:/?@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_CONTROL: Final = re.compile(r"[\x00-\x20\x7f]+")

_TRACKING: Final = re.compile(
    r"(?i)(?:utm_.*|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|igshid|"
    r"mc_cid|mc_eid|_hsenc|_hsmi|mkt_tok|vero_id|wickedid|oly_anon_id|oly_enc_id|_openstat|"
    r"spm|scm|ref_src|ref_url|cmpid|icid|srsltid|s_cid|ga_source|ga_medium|ga_campaign)"
)
"""Parameters that say where a reader came from and never which page; full match of the name."""

_SUFFIXES: Final = PublicSuffixList()


def is_web_url(text: str) -> bool:
    """Tell whether `text` begins like an absolute http(s) URL."""
    return _WEB_URL.match(text) is not None


@lru_cache(maxsize=8192)
def normalise_url(text: str) -> str | None:
    """Return the canonical spelling of an http(s) URL, or None for anything else.

    Lower-case scheme and host, IDNA host, no default port, userinfo, fragment or tracking
    parameter, dot segments resolved, percent-encoding in one form, `/` for an empty path. Applying
    it again changes nothing.
    """
    if len(text) > _MAX_LENGTH:
        return None
    try:
        parts = urlsplit(_CONTROL.sub("", text.strip()))
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    host = normalise_host(parts.hostname or "")
    if scheme not in _DEFAULT_PORTS or host is None:
        return None
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        netloc = f"{netloc}:{port}"
    path = _resolve_dots(_escape(parts.path)) or "/"
    query = _without_tracking(_escape(parts.query))
    return f"{scheme}://{netloc}{path}{'?' + query if query else ''}"


@lru_cache(maxsize=8192)
def url_key(text: str) -> str | None:
    """Return what two spellings of one page's address share, or None for what is no http(s) URL.

    Beyond `normalise_url`: http and https are one, as are `www.` and none, and a slash at the end
    of the path or none.
    """
    url = normalise_url(text)
    if url is None:
        return None
    rest = url.partition("://")[2]
    if rest.startswith("www.") and rest.count(".", 0, rest.index("/")) > 1:
        rest = rest[4:]
    path, separator, query = rest.partition("?")
    return path.rstrip("/") + separator + query


def same_page(left: str, right: str) -> bool:
    """Tell whether two URLs name one page."""
    key = url_key(left)
    return key is not None and key == url_key(right)


@lru_cache(maxsize=8192)
def host_of(url: str) -> str | None:
    """Return the normalised host of an http(s) URL, or None."""
    if not is_web_url(url):
        return None
    try:
        return normalise_host(urlsplit(url).hostname or "")
    except ValueError:
        return None


def normalise_host(host: str) -> str | None:
    """Return a host name in lower-case ASCII (punycode) or a canonical IP address, or None.

    IPv6 comes without brackets. A final dot is dropped.
    """
    host = host.lower().removesuffix(".")
    if ":" in host or host.replace(".", "").isdigit():
        return _normalise_address(host)
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode().removesuffix(".")
        except (idna.IDNAError, UnicodeError):
            return None
    return host if is_valid_host(host) else None


def is_valid_host(host: str) -> bool:
    """Tell whether an ASCII host name is well formed (RFC 1123 lengths; `_` is tolerated)."""
    if not host or len(host) > 253:
        return False
    return all(_LABEL.fullmatch(label) for label in host.split("."))


@lru_cache(maxsize=8192)
def registrable_domain(host: str) -> str | None:
    """Return the registrable domain of a host name by the Public Suffix List.

    None when the host is itself a public suffix, an IP address, empty or malformed. Unicode names
    give Unicode, punycode gives punycode.
    """
    host = host.lower().removesuffix(".")
    if not host or host.startswith(".") or ":" in host or host.replace(".", "").isdigit():
        return None
    try:
        return _SUFFIXES.privatesuffix(host)
    except (ValueError, UnicodeError):
        return None


@lru_cache(maxsize=8192)
def site_of(url: str) -> str | None:
    """Return the registrable domain that a URL belongs to; the host itself where it has none."""
    host = host_of(url)
    if host is None:
        return None
    return registrable_domain(host) or host


def _normalise_address(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        return None


def _escape(text: str) -> str:
    """Bring percent-encoding into one form: unreserved characters plain, hex digits upper case."""
    if "%" in text:
        text = _ESCAPE.sub(_plain_or_upper, text)
    if _NOT_ALLOWED.search(text) is None:
        return text
    return _NOT_ALLOWED.sub(_encoded, text)


def _plain_or_upper(match: re.Match[str]) -> str:
    character = chr(int(match.group(1), 16))
    return character if character in _UNRESERVED else match.group().upper()


def _encoded(match: re.Match[str]) -> str:
    raw = match.group().encode("utf-8", errors="replace")
    return "".join(f"%{byte:02X}" for byte in raw)


def _resolve_dots(path: str) -> str:
    """Remove `.` and `..` segments (RFC 3986, section 5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)


def _without_tracking(query: str) -> str:
    if not query:
        return query
    return "&".join(
        parameter
        for parameter in query.split("&")
        if parameter and not _TRACKING.fullmatch(parameter.partition("=")[0])
    )
