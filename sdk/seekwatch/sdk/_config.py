"""What the agent's developer chose, checked once when instrumentation starts.

Wrong arguments are a mistake in the program and are reported at once, by name and with the fix;
whatever goes wrong later is ours to bear and never reaches the agent.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from seekwatch.core.redaction import Redactor

from ._search_apis import SearchApi

DEFAULT_PAGE_BYTES: Final = 256 * 1024
"""Cap for one page body on a span, in bytes before compression."""

Redact = str | Callable[[str], str]
"""A regular expression whose matches are masked, or a callable applied last to every string."""


@dataclass(frozen=True, slots=True)
class Config:
    """The arguments of `instrument`, checked."""

    agent: str
    endpoint: str | None = None
    environment: str | None = None
    release: str | None = None
    capture_content: bool = True
    page_bytes: int = DEFAULT_PAGE_BYTES
    """Cap for a page body, bytes before compression; 0 keeps every body off the spans."""
    redactor: Redactor = field(default_factory=Redactor)
    search_apis: tuple[SearchApi, ...] = ()
    entrypoint: tuple[str, str] | None = None
    """Module and attribute path of the agent's function."""


def build_config(
    agent: str,
    *,
    endpoint: str | None,
    environment: str | None,
    release: str | None,
    capture_content: bool,
    capture_pages: bool | int,
    redact: Redact | Iterable[Redact],
    search_apis: Sequence[SearchApi],
    entrypoint: str | None,
) -> Config:
    """Check the arguments of `instrument`.

    Raises:
        ValueError: an argument cannot be used; the message has its name, value and the fix.
    """
    if not agent.strip():
        raise ValueError('instrument("") needs a name: instrument("my-agent")')
    return Config(
        agent=agent.strip(),
        endpoint=_checked_endpoint(endpoint),
        environment=environment,
        release=release,
        capture_content=capture_content,
        page_bytes=_page_bytes(capture_pages),
        redactor=_redactor(redact),
        search_apis=tuple(search_apis),
        entrypoint=None if entrypoint is None else _entrypoint(entrypoint),
    )


def _checked_endpoint(endpoint: str | None) -> str | None:
    if endpoint is None:
        return None
    if not endpoint.startswith(("http://", "https://", "grpc://", "grpcs://")):
        raise ValueError(
            f"endpoint {endpoint!r} needs a scheme: http://host:4318 (OTLP over HTTP) or "
            "grpc://host:4317 (OTLP over gRPC)"
        )
    try:
        usable = urlsplit(endpoint).port != 0 and bool(urlsplit(endpoint).hostname)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(f"endpoint {endpoint!r} needs a host, and a port from 1 to 65535 if any")
    return endpoint


def _page_bytes(capture_pages: bool | int) -> int:
    if capture_pages is True:
        return DEFAULT_PAGE_BYTES
    if capture_pages < 0:
        raise ValueError(f"capture_pages {capture_pages!r} is a number of bytes; 0 means never")
    return int(capture_pages)


def _redactor(redact: Redact | Iterable[Redact]) -> Redactor:
    rules = [redact] if isinstance(redact, str) or callable(redact) else list(redact)
    patterns = [rule for rule in rules if isinstance(rule, str)]
    functions = [rule for rule in rules if not isinstance(rule, str)]
    if not functions:
        return Redactor(patterns)

    def apply(text: str) -> str:
        for function in functions:
            text = function(text)
        return text

    return Redactor(patterns, function=apply)


def _entrypoint(entrypoint: str) -> tuple[str, str]:
    module, separator, attribute = entrypoint.partition(":")
    parts = [*module.split("."), *attribute.split(".")]
    if not separator or not all(part.isidentifier() for part in parts):
        raise ValueError(
            f'entrypoint {entrypoint!r} is not of the form "package.module:function" '
            '(or "package.module:Class.method")'
        )
    return module, attribute
