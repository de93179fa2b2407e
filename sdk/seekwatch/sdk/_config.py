"""What the agent's developer chose, checked once when instrumentation starts.

Wrong arguments are a mistake in the program and are reported at once, by name and with the fix;
whatever goes wrong later is ours to bear and never reaches the agent.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, cast
from urllib.parse import urlsplit

from seekwatch.core.redaction import MASK, Redactor

from ._privacy.own_rules import OwnRules
from ._search.apis import SearchApi
from ._shapes import as_list, is_list

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

    def other_arguments(self, other: "Config") -> list[str]:
        """Name the arguments of `instrument` that have another value there.

        Not `redact`: two callables cannot be compared.
        """
        named = {"page_bytes": "capture_pages"}
        return [
            named.get(each.name, each.name)
            for each in fields(self)
            if each.name != "redactor" and getattr(self, each.name) != getattr(other, each.name)
        ]


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
    """Check the arguments of `instrument`, their types too: not everyone runs a type checker.

    Raises:
        ValueError: an argument cannot be used; the message has its name, value and the fix.
    """
    return Config(
        agent=_agent(agent),
        endpoint=_checked_endpoint(_text_or_none("endpoint", endpoint, "http://host:4318")),
        environment=_text_or_none("environment", environment, "production"),
        release=_text_or_none("release", release, "1.2.3"),
        capture_content=_switch("capture_content", capture_content),
        page_bytes=_page_bytes(capture_pages),
        redactor=_redactor(redact),
        search_apis=_search_apis(search_apis),
        entrypoint=_entrypoint(_text_or_none("entrypoint", entrypoint, "package.module:function")),
    )


def check_provider(name: str, provider: object, needed: str) -> None:
    """Check that what was given as a provider has the method that a provider is used by.

    Raises:
        ValueError: it has not.
    """
    if provider is not None and not callable(getattr(provider, needed, None)):
        raise ValueError(
            f"{name} {provider!r} is no provider of OpenTelemetry; give one of its SDK, or leave "
            f"{name} out to join the process's"
        )


def _agent(agent: object) -> str:
    if not isinstance(agent, str) or not agent.strip():
        raise ValueError(f'agent {agent!r} needs a name: instrument("my-agent")')
    return agent.strip()


def _text_or_none(name: str, value: object, example: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise ValueError(f"{name} {value!r} needs to be a string, such as {example!r}, or None")


def _switch(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{name} {value!r} needs to be True or False")


def _search_apis(given: object) -> tuple[SearchApi, ...]:
    entries = as_list(given) if is_list(given) else None
    if entries is None or not all(isinstance(entry, SearchApi) for entry in entries):
        raise ValueError(
            f"search_apis {given!r} needs to be a list of SearchApi entries: "
            "search_apis=[SearchApi(name=…, …)]"
        )
    return tuple(entry for entry in entries if isinstance(entry, SearchApi))


def _checked_endpoint(endpoint: str | None) -> str | None:
    if endpoint is None:
        return None
    if not endpoint.startswith(("http://", "https://", "grpc://", "grpcs://")):
        raise ValueError(
            f"endpoint {_shown(endpoint)} needs a scheme: http://host:4318 (OTLP over HTTP) or "
            "grpc://host:4317 (OTLP over gRPC)"
        )
    try:
        usable = urlsplit(endpoint).port != 0 and bool(urlsplit(endpoint).hostname)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(
            f"endpoint {_shown(endpoint)} needs a host, and a port from 1 to 65535 if any"
        )
    return endpoint


def _shown(endpoint: str) -> str:
    """Return an endpoint as a log may show it: the message may end in one."""
    before, at, after = endpoint.rpartition("@")
    scheme, separator, _ = before.partition("://")
    return repr(f"{scheme}{separator}{MASK}@{after}" if at and separator else after)


def _page_bytes(capture_pages: object) -> int:
    if capture_pages is True:
        return DEFAULT_PAGE_BYTES
    if not isinstance(capture_pages, int) or capture_pages < 0:
        raise ValueError(
            f"capture_pages {capture_pages!r} needs to be True, False or a number of bytes; "
            "0 means never"
        )
    return int(capture_pages)


def _redactor(redact: Redact | Iterable[Redact]) -> Redactor:
    rules = _redact_rules(redact)
    patterns = [rule for rule in rules if isinstance(rule, str)]
    functions = [rule for rule in rules if not isinstance(rule, str)]
    if not functions:
        return Redactor(patterns)

    return Redactor(patterns, function=OwnRules(functions))


def _redact_rules(redact: object) -> list[Redact]:
    if isinstance(redact, str) or callable(redact):
        return [cast("Redact", redact)]
    several = isinstance(redact, Iterable) and not isinstance(redact, bytes)
    given: list[Any] = list(cast("Iterable[Any]", redact)) if several else [redact]
    wrong = [rule for rule in given if not isinstance(rule, str) and not callable(rule)]
    if wrong:
        raise ValueError(
            f"redact {wrong[0]!r} needs to be a regular expression as a string, a callable from "
            "text to text, or a list of these"
        )
    return given


def _entrypoint(entrypoint: str | None) -> tuple[str, str] | None:
    if entrypoint is None:
        return None
    module, separator, attribute = entrypoint.partition(":")
    parts = [*module.split("."), *attribute.split(".")]
    if not separator or not all(part.isidentifier() for part in parts):
        raise ValueError(
            f'entrypoint {entrypoint!r} is not of the form "package.module:function" '
            '(or "package.module:Class.method")'
        )
    return module, attribute
