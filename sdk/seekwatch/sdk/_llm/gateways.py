"""Headers by which gateways say what a call cost and who answered it: a map, and nothing else.

Only documented names stand here; a header that is not in the map is left alone, and so is a value
that is not what its header is documented to be. A cost in a header of a streamed answer was written
before the answer was, so a zero there counts only where a cache answered.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from seekwatch.core import attributes

Read = Callable[[str], Any]

_NUMBER: Final = re.compile(r"\d{1,12}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_TRUE: Final = frozenset({"true", "1", "yes"})
_FALSE: Final = frozenset({"false", "0", "no"})
_MAX_WORD: Final = 256
_HIT: Final = "hit"
_CACHE: Final = {
    "hit": _HIT,
    "semantic hit": _HIT,
    "true": _HIT,
    "miss": "miss",
    "semantic miss": "miss",
    "false": "miss",
    "refresh": "refresh",
    "bypass": "bypass",
    "disabled": "disabled",
}


def _number(text: str) -> float | None:
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _seconds(text: str) -> float | None:
    milliseconds = _number(text)
    return None if milliseconds is None else milliseconds / 1000


def _flag(text: str) -> bool | None:
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _any(text: str) -> bool | None:
    """Read a count, or the place in a list of targets, of which 0 is the first choice."""
    return int(text) > 0 if text.isascii() and text.isdigit() and len(text) < 10 else None


def _word(text: str) -> str | None:
    return text if 0 < len(text) <= _MAX_WORD and text.isprintable() else None


def _cache(text: str) -> str | None:
    return _CACHE.get(text.lower().replace("_", " "))


@dataclass(frozen=True, slots=True)
class Gateway:
    """One gateway: its name, and what its headers mean.

    `headers` maps a header to the attribute it becomes and how its value is read; of several that
    mean the same, the first that can be read counts.
    """

    name: str
    headers: tuple[tuple[str, str, Read], ...]


_COST: Final = attributes.GATEWAY_COST
_LATENCY: Final = attributes.GATEWAY_LATENCY
_MODEL: Final = attributes.GATEWAY_MODEL
_PROVIDER: Final = attributes.GATEWAY_PROVIDER
_FALLBACK: Final = attributes.GATEWAY_FALLBACK
_STATE: Final = attributes.GATEWAY_CACHE
_REQUEST: Final = attributes.GATEWAY_REQUEST_ID

GATEWAYS: Final = (
    Gateway(
        "prism",
        (
            ("x-prism-cost", _COST, _number),
            ("x-prism-cost-usd", _COST, _number),
            ("x-prism-latency-ms", _LATENCY, _seconds),
            ("x-prism-model-used", _MODEL, _word),
            ("x-prism-model", _MODEL, _word),
            ("x-prism-provider", _PROVIDER, _word),
            ("x-prism-fallback-used", _FALLBACK, _flag),
            ("x-prism-fallback", _FALLBACK, _flag),
            ("x-prism-cache", _STATE, _cache),
        ),
    ),
    Gateway(
        "litellm",
        (
            ("x-litellm-response-cost", _COST, _number),
            ("x-litellm-response-duration-ms", _LATENCY, _seconds),
            ("x-litellm-model-name", _MODEL, _word),
            ("x-litellm-attempted-fallbacks", _FALLBACK, _any),
            ("x-litellm-call-id", _REQUEST, _word),
            ("x-litellm-model-id", "", _word),
            ("x-litellm-version", "", _word),
        ),
    ),
    Gateway(
        "portkey",
        (
            # Which target answered is known too (`x-portkey-last-used-option-index`), but not
            # whether the targets are fallbacks or share the load.
            ("x-portkey-cache-status", _STATE, _cache),
            ("x-portkey-trace-id", _REQUEST, _word),
            ("x-portkey-last-used-option-index", "", _word),
        ),
    ),
    Gateway(
        "helicone",
        (
            ("helicone-fallback-index", _FALLBACK, _any),
            ("helicone-cache", _STATE, _cache),
            ("helicone-id", _REQUEST, _word),
        ),
    ),
    Gateway(
        "cloudflare",
        (
            ("cf-aig-step", _FALLBACK, _any),
            ("cf-aig-cache-status", _STATE, _cache),
            ("cf-aig-log-id", _REQUEST, _word),
            ("cf-aig-event-id", _REQUEST, _word),
        ),
    ),
    Gateway(
        "kong",
        (
            ("x-kong-llm-model", _MODEL, _word),
            ("x-kong-upstream-latency", _LATENCY, _seconds),
            ("x-kong-request-id", _REQUEST, _word),
        ),
    ),
    Gateway(
        "bifrost",
        (
            ("x-bifrost-upstream-latency-ms", _LATENCY, _seconds),
            ("x-bifrost-routing-info-model", _MODEL, _word),
            ("x-bifrost-resolved-model", _MODEL, _word),
            ("x-bifrost-routing-info-provider", _PROVIDER, _word),
            ("x-bifrost-provider", _PROVIDER, _word),
            ("x-bifrost-routing-info-is-fallback", _FALLBACK, _flag),
            ("x-bifrost-fallback-index", _FALLBACK, _any),
            ("x-bifrost-request-id", _REQUEST, _word),
        ),
    ),
    Gateway("truefoundry", (("x-tfy-resolved-model", _MODEL, _word),)),
    Gateway(
        "ngrok",
        (
            ("ngrok-aig-model", _MODEL, _word),
            ("ngrok-aig-request-id", _REQUEST, _word),
        ),
    ),
    Gateway("braintrust", (("x-bt-cached", _STATE, _cache),)),
    Gateway("openrouter", (("x-generation-id", _REQUEST, _word),)),
    Gateway("azure-api-management", (("apim-request-id", _REQUEST, _word),)),
)
"""The agent's own gateway comes before what stands behind it: of two that speak, the first in this
list says most, and names the call."""


def gateway_attributes(headers: Mapping[str, str]) -> dict[str, Any]:
    """Return what the headers of an answer, names in lower case, say of a gateway.

    Gateways stand behind each other; each fact comes from the first in the list that tells it.
    """
    values: dict[str, Any] = {}
    for gateway in GATEWAYS:
        for name, attribute, read in gateway.headers:
            if name not in headers:
                continue
            values.setdefault(attributes.GATEWAY_NAME, gateway.name)
            value = read(headers[name].strip())
            if attribute and value is not None:
                values.setdefault(attribute, value)
    streamed = headers.get("content-type", "").startswith(("text/event-stream", "application/x-nd"))
    early = streamed and values.get(_COST) == 0 and values.get(_STATE) != _HIT
    if early:
        del values[_COST]
    return values
