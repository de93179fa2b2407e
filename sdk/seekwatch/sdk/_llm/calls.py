"""Model calls in OpenAI's wire shapes (chat completions, responses), at any base URL.

Told by path and body before the call, read on the finisher's thread after it. What an answer does
not say stays missing: no usage is not a usage of zero.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.trace import Span

from seekwatch.core import attributes
from seekwatch.sdk._http.messages import RequestView
from seekwatch.sdk._shapes import as_list, as_mapping, is_list, is_mapping, lookup

from .exchange import ModelExchange

_GENERATION_PATHS: Final = ("/chat/completions", "/responses")
_OTHER_MODEL_PATHS: Final = (
    "/v1/embeddings",
    "/v1/moderations",
    "/v1/rerank",
    "/v1/images/generations",
    "/v1/audio/speech",
    "/v1/audio/transcriptions",
)

_PROVIDERS: Final = {
    "api.openai.com": "openai",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral_ai",
    "api.perplexity.ai": "perplexity",
    "api.x.ai": "x_ai",
    "openrouter.ai": "openrouter",
    "api.together.xyz": "together_ai",
    "api.fireworks.ai": "fireworks_ai",
    "generativelanguage.googleapis.com": "gcp.gemini",
}
_PROVIDER_SUFFIXES: Final = {
    ".openai.azure.com": "azure.ai.openai",
    ".services.ai.azure.com": "azure.ai.inference",
    ".api.openai.com": "openai",
}
_COMPATIBLE: Final = "openai"
"""For an unknown host, the API's shape; `server.address` says who really answered."""

_OPENAI_INSTRUMENTORS: Final = (
    ("openinference.instrumentation.openai", "OpenAIInstrumentor"),
    ("opentelemetry.instrumentation.openai", "OpenAIInstrumentor"),
    ("opentelemetry.instrumentation.openai_v2", "OpenAIInstrumentor"),
    ("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor"),
    ("traceai_openai", "OpenAIInstrumentor"),
)
_LLM_MARKS: Final = frozenset({"chat", "text_completion", "generate_content"})


def is_model_path(path: str) -> bool:
    """Tell whether a path looks like one of a model API's, generation or not."""
    return path.endswith((*_GENERATION_PATHS, *_OTHER_MODEL_PATHS))


def is_generation(request: RequestView) -> bool:
    """Tell a generation from other posts under such a path: a JSON body that names a model."""
    if not request.path.endswith(_GENERATION_PATHS):
        return False
    return "/deployments/" in request.path or b'"model"' in (request.body() or b"")


def is_covered(span: Span, request: RequestView) -> bool:
    """Tell whether an instrumentor makes the span of this call already.

    Either the current span is a model call's, or the request comes from OpenAI's library and an
    instrumentor for it is turned on.
    """
    described = as_mapping(getattr(span, "attributes", None))
    if described.get(attributes.SPAN_KIND) == attributes.KIND_LLM:
        return True
    if described.get(attributes.OPERATION_NAME) in _LLM_MARKS or "llm.request.type" in described:
        return True
    if "openai/" not in (request.header("user-agent") or "").lower():
        return False
    return any(_is_on(module, name) for module, name in _OPENAI_INSTRUMENTORS)


def _is_on(module: str, name: str) -> bool:
    loaded = sys.modules.get(module)
    instrumentor = getattr(loaded, name, None)
    return bool(getattr(instrumentor, "_is_instrumented_by_opentelemetry", False))


def provider_name(host: str) -> str:
    """Return `gen_ai.provider.name` for a host."""
    for suffix, provider in _PROVIDER_SUFFIXES.items():
        if host.endswith(suffix):
            return provider
    return _PROVIDERS.get(host, _COMPATIBLE)


def read_call(exchange: ModelExchange) -> dict[str, Any]:
    """Return the attributes of a model call."""
    asked = _json(exchange.asked or b"")
    values: dict[str, Any] = {
        attributes.PROVIDER_NAME: provider_name(exchange.host),
        attributes.OPERATION_NAME: attributes.OPERATION_CHAT,
    }
    _put(values, attributes.REQUEST_MODEL, asked.get("model"), str)
    values |= input_attributes(asked)
    if not exchange.headers.get("content-type", "").startswith("application/json"):
        # A stream of events, or an error page: nothing here says what was used.
        return values
    return values | output_attributes(_json(exchange.answered))


def output_attributes(answered: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a response says: model, id, usage, finish reasons and messages."""
    values: dict[str, Any] = {}
    _put(values, attributes.RESPONSE_MODEL, answered.get("model"), str)
    _put(values, attributes.RESPONSE_ID, answered.get("id"), str)
    return values | _usage(answered) | _output(answered)


def _json(data: bytes) -> dict[str, Any]:
    try:
        decoded = json.loads(data)
    except ValueError:
        return {}
    return dict(as_mapping(decoded))


def _put(values: dict[str, Any], key: str, value: object, kind: type[Any]) -> None:
    if isinstance(value, kind) and not isinstance(value, bool):
        values[key] = value


_USAGE: Final = {
    attributes.INPUT_TOKENS: ("usage.input_tokens", "usage.prompt_tokens"),
    attributes.OUTPUT_TOKENS: ("usage.output_tokens", "usage.completion_tokens"),
    attributes.CACHE_READ_INPUT_TOKENS: (
        "usage.input_tokens_details.cached_tokens",
        "usage.prompt_tokens_details.cached_tokens",
    ),
    attributes.REASONING_OUTPUT_TOKENS: (
        "usage.output_tokens_details.reasoning_tokens",
        "usage.completion_tokens_details.reasoning_tokens",
    ),
}


def _usage(answered: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, paths in _USAGE.items():
        for path in paths:
            _put(values, key, lookup(answered, path), int)
    return values


def input_attributes(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request asks, in the GenAI conventions' form."""
    messages = asked.get("messages", asked.get("input"))
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    values: dict[str, Any] = {}
    if is_list(messages):
        values[attributes.INPUT_MESSAGES] = _dump([_message(item) for item in as_list(messages)])
    instructions = asked.get("instructions")
    if isinstance(instructions, str):
        values[attributes.SYSTEM_INSTRUCTIONS] = _dump([{"type": "text", "content": instructions}])
    return values


def _output(answered: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    messages: list[dict[str, Any]] = []
    reasons: list[str] = []
    for choice in as_list(answered.get("choices")):
        message = _message(lookup(choice, "message"))
        reason = lookup(choice, "finish_reason")
        if isinstance(reason, str):
            reasons.append(reason)
            message["finish_reason"] = reason
        messages.append(message)
    output = answered.get("output")
    messages.extend(map(_message, as_list(output)))
    if is_list(output) and isinstance(answered.get("status"), str):
        reason = lookup(answered, "incomplete_details.reason") or answered["status"]
        reasons.append("stop" if reason == "completed" else str(reason))
    if messages:
        values[attributes.OUTPUT_MESSAGES] = _dump(messages)
    if reasons:
        values[attributes.FINISH_REASONS] = reasons
    return values


def _message(message: object) -> dict[str, Any]:
    """Return one message, or one item of the responses API, in the GenAI conventions' form."""
    if not is_mapping(message):
        return {"role": "user", "parts": []}
    item = as_mapping(message)
    kind = item.get("type", "message")
    if kind == "function_call":
        return {"role": "assistant", "parts": [_tool_call(item.get("call_id"), item)]}
    if kind == "function_call_output":
        return {"role": "tool", "parts": [_tool_answer(item.get("call_id"), item.get("output"))]}
    if kind == "reasoning":
        text = lookup(item, "summary.0.text")
        return {"role": "assistant", "parts": [{"type": "reasoning", "content": text or ""}]}
    if kind != "message":
        part = {"type": "server_tool_call", "name": kind.removesuffix("_call"), kind: item}
        return {"role": "assistant", "parts": [part]}
    role = item.get("role", "assistant")
    if role == "tool":
        return {
            "role": role,
            "parts": [_tool_answer(item.get("tool_call_id"), item.get("content"))],
        }
    parts = _content_parts(item.get("content"))
    parts += [
        _tool_call(lookup(call, "id"), lookup(call, "function"))
        for call in as_list(item.get("tool_calls"))
    ]
    return {"role": role, "parts": parts}


def _tool_call(identity: object, function: object) -> dict[str, Any]:
    return {
        "type": "tool_call",
        "id": identity,
        "name": lookup(function, "name"),
        "arguments": lookup(function, "arguments"),
    }


def _tool_answer(identity: object, answer: object) -> dict[str, Any]:
    return {"type": "tool_call_response", "id": identity, "response": answer}


def _content_parts(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "content": content}]
    parts: list[dict[str, Any]] = []
    for part in as_list(content):
        text = lookup(part, "text")
        kind = lookup(part, "type")
        if isinstance(text, str):
            entry: dict[str, Any] = {"type": "text", "content": text}
            annotations = lookup(part, "annotations")
            if annotations:
                # The model's own citations; no convention has a place for them yet.
                entry["annotations"] = annotations
            parts.append(entry)
        else:
            # An image or a file: that there was one is enough.
            parts.append({"type": str(kind)})
    return parts


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
