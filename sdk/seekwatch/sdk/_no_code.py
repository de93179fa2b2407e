"""Instrumentation without a line in the agent: its arguments as variables of the environment.

Whoever starts the agent (`run`, `opentelemetry-instrument`, a deployment) sets them; `instrument`
itself does not read them, so that a call in the agent's code means what it says.
"""

import logging
import os
from collections.abc import Mapping
from typing import Any, Final

from ._config import Config, build_config
from ._guard import say
from ._instrument import instrument

AGENT: Final = "SEEKWATCH_AGENT"
SERVICE_NAME: Final = "OTEL_SERVICE_NAME"
CAPTURE_CONTENT: Final = "SEEKWATCH_CAPTURE_CONTENT"
CAPTURE_PAGES: Final = "SEEKWATCH_CAPTURE_PAGES"
TEXTS: Final = {
    "endpoint": "SEEKWATCH_ENDPOINT",
    "environment": "SEEKWATCH_ENVIRONMENT",
    "release": "SEEKWATCH_RELEASE",
    "entrypoint": "SEEKWATCH_ENTRYPOINT",
}
"""Argument of `instrument` and its variable, for those that are plain text."""

_NO: Final = frozenset({"0", "false", "no", "off"})
_YES: Final = frozenset({"1", "true", "yes", "on"})


def arguments(environment: Mapping[str, str] = os.environ) -> dict[str, Any] | None:
    """Return the arguments of `instrument`, or None where no agent is named.

    Raises:
        ValueError: a variable cannot be used; the message has its name, value and the fix.
    """
    agent = environment.get(AGENT) or environment.get(SERVICE_NAME)
    if not agent:
        return None
    given: dict[str, Any] = {"agent": agent}
    for argument, variable in TEXTS.items():
        given[argument] = environment.get(variable) or None
    given["capture_content"] = _switch(CAPTURE_CONTENT, environment.get(CAPTURE_CONTENT) or "1")
    given["capture_pages"] = _bytes(CAPTURE_PAGES, environment.get(CAPTURE_PAGES) or "true")
    check(given)
    return given


def check(given: Mapping[str, Any]) -> Config:
    """Check the arguments as `instrument` will.

    Raises:
        ValueError: one cannot be used.
    """
    return build_config(**given, redact=(), search_apis=())


def instrument_from_environment() -> bool:
    """Instrument this process as its environment says; returns whether an agent is named.

    What is wrong is logged: a process that was started for its work does it unwatched.
    """
    try:
        given = arguments()
    except ValueError as error:
        say(logging.WARNING, "this process is not watched: %s", error)
        return True
    if given is None:
        return False
    instrument(**given)
    return True


def _switch(variable: str, value: str) -> bool:
    lowered = value.strip().lower()
    if lowered not in _NO | _YES:
        raise ValueError(f"{variable} {value!r} needs to be true or false")
    return lowered in _YES


def _bytes(variable: str, value: str) -> bool | int:
    lowered = value.strip().lower()
    if lowered.isdigit():
        return int(lowered) if lowered != "0" else False
    return _switch(variable, value) if lowered in _NO | _YES else _refuse(variable, value)


def _refuse(variable: str, value: str) -> int:
    raise ValueError(f"{variable} {value!r} needs to be true, false or a number of bytes")
