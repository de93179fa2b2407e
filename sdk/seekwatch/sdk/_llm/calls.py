"""What the HTTP layer asks about model calls: before one, and after it.

Told by path, host and a word of the body before the call, read on the finisher's thread after it.
"""

from collections.abc import Mapping
from typing import Any

from seekwatch.core import attributes

from . import openai_chat, openai_responses
from .apis import recognise
from .background import UNANSWERED, is_answer, looked_for, unanswered
from .coverage import Coverage, coverage
from .exchange import read_call
from .providers import provider_of
from .telling import asked_attributes, told_attributes

__all__ = [
    "UNANSWERED",
    "Coverage",
    "coverage",
    "input_attributes",
    "is_answer",
    "looked_for",
    "output_attributes",
    "provider_name",
    "read_call",
    "recognise",
    "unanswered",
]


def provider_name(host: str) -> str:
    """Return `gen_ai.provider.name` for a host that speaks OpenAI's shape."""
    return provider_of(host) or "openai"


def input_attributes(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request in OpenAI's shape asks, without the model."""
    reader = openai_chat if "messages" in asked else openai_responses
    values = asked_attributes(reader.read_asked(asked))
    values.pop(attributes.REQUEST_MODEL, None)
    values.pop(attributes.REQUEST_STREAM, None)
    return values


def output_attributes(answered: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer in OpenAI's shape, or one like it, says."""
    reader = openai_responses if "output" in answered else openai_chat
    told = reader.read_told(answered)
    if told.usage.input is None and told.usage.output is None:
        told.usage = openai_responses.read_told(answered).usage
    return told_attributes(told)
