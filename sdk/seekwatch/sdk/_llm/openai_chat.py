"""Chat completions and the older completions: OpenAI's shape, which most servers speak.

Perplexity's `citations` and `search_results`, OpenRouter's annotations and cost, Groq's and
DeepSeek's ways to count are read here too: they are additions to the one shape.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from seekwatch.sdk._shapes import as_float, as_list, as_mapping, is_number, lookup

from . import telling
from .openai_parts import content_parts, is_tool_role, tool_call_parts
from .streams import Event
from .telling import Asked, Message, Part, Told, Usage, count, flag, word

_CARRIED: Final = (
    "id",
    "model",
    "usage",
    "x_groq",
    "provider",
    "citations",
    "search_results",
    "error",
)
"""Fields of a chunk that the last chunk that has one tells for the whole answer."""


def read_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request."""
    messages = body.get("messages", body.get("prompt"))
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    return Asked(
        model=word(body.get("model")),
        messages=None if messages is None else [_message(item) for item in as_list(messages)],
        streams=flag(body.get("stream")),
    )


def read_told(body: Mapping[str, Any]) -> Told:
    """Read an answer."""
    told = Told(
        model=word(body.get("model")),
        id=word(body.get("id")),
        usage=read_usage(body),
        cost=_cost(body),
        provider=word(body.get("provider")),
    )
    cited = _listed_citations(body)
    for choice in as_list(body.get("choices")):
        reason = word(lookup(choice, "finish_reason"))
        said = lookup(choice, "message")
        if said is None and isinstance(lookup(choice, "text"), str):
            said = {"content": choice["text"]}
        made = _message({"role": "assistant", **as_mapping(said)}, cited)
        made["parts"] = [*_searched(body, made["parts"]), *made["parts"]]
        if reason is not None:
            told.finish_reasons.append(reason)
            made["finish_reason"] = reason
        told.messages.append(made)
    return told


def read_usage(body: Mapping[str, Any]) -> Usage:
    """Read the usage of an answer; absent stays None."""
    usage = as_mapping(body.get("usage")) or as_mapping(lookup(body, "x_groq.usage"))
    output, reasoning = (
        count(usage.get("completion_tokens")),
        count(lookup(usage, "completion_tokens_details.reasoning_tokens")),
    )
    given = count(usage.get("prompt_tokens"))
    if output is not None and reasoning and given is not None:
        # xAI counts reasoning beside the completion; the total gives it away.
        apart = count(usage.get("total_tokens")) == given + output + reasoning
        output += reasoning if apart else 0
    cached = count(lookup(usage, "prompt_tokens_details.cached_tokens"))
    return Usage(
        input=given,
        output=output,
        cache_read=count(usage.get("prompt_cache_hit_tokens")) if cached is None else cached,
        cache_creation=count(lookup(usage, "prompt_tokens_details.cache_write_tokens")),
        reasoning=reasoning,
    )


def _cost(body: Mapping[str, Any]) -> float | None:
    """Read what the answer says that it cost, in US dollars.

    OpenRouter: a number of credits, each a dollar; for a key of one's own, what its provider takes
    comes on top. Perplexity: an object with a total. The name `cost` says dollars nowhere else, so
    the caller asks only where one of the two answered.
    """
    cost = lookup(body, "usage.cost")
    value = cost if is_number(cost) else lookup(cost, "total_cost")
    if not is_number(value):
        return None
    upstream = lookup(body, "usage.cost_details.upstream_inference_cost")
    if lookup(body, "usage.is_byok") is True and is_number(upstream):
        value += upstream
    return as_float(value)


def _message(item: object, citations: Iterable[Part] = ()) -> Message:
    fields = as_mapping(item)
    if not fields:
        return telling.message("user", content_parts(item))
    if is_tool_role(fields):
        part = telling.tool_answer(fields.get("tool_call_id"), fields.get("content"))
        return telling.message("tool", [part])
    reasoning = word(fields.get("reasoning_content")) or word(fields.get("reasoning"))
    parts = [] if reasoning is None else [telling.reasoning_part(reasoning)]
    beside = fields.get("annotations") or list(citations)
    parts += content_parts(fields.get("content"), beside)
    if word(fields.get("refusal")):
        parts.append(telling.text_part(fields["refusal"]))
    parts += tool_call_parts(fields.get("tool_calls"))
    return telling.message(fields.get("role", "user"), parts)


def _listed_citations(body: Mapping[str, Any]) -> list[Part]:
    """Read Perplexity's list of cited URLs, which `[n]` in the text counts from one."""
    titles = {
        lookup(result, "url"): word(lookup(result, "title"))
        for result in as_list(body.get("search_results"))
        if isinstance(lookup(result, "url"), str)
    }
    urls = [word(url) for url in as_list(body.get("citations"))] or list(titles)
    return [telling.citation(url, title=titles.get(url)) for url in urls if url]


def _searched(body: Mapping[str, Any], parts: list[Part]) -> list[Part]:
    """Return the search that the provider ran, as far as the answer tells of it.

    Perplexity lists what it found, not what it asked for. From others only citations come: they
    show that there was a search, and nothing of what else it found.
    """
    results = as_list(body.get("search_results"))
    cited = (item for part in parts for item in part.get("annotations", ()))
    if not results and not any(item.get("url") for item in cited):
        return []
    found = [telling.server_call(None, "web_search", {"type": "web_search"})]
    if results:
        found.append(telling.server_answer(None, {"type": "web_search", "results": list(results)}))
    return found


class _Choice:
    """One choice of a streamed answer; texts are joined at the end."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.parts: list[Any] = []
        self.calls: dict[object, dict[str, list[str] | str]] = {}
        self.annotations: list[Any] = []
        self.role: object = "assistant"
        self.reason: object = None

    def add(self, choice: Mapping[str, Any]) -> None:
        delta = as_mapping(choice.get("delta")) or as_mapping(choice.get("message"))
        delta = delta or {"content": choice.get("text")}
        self.role = delta.get("role") or self.role
        self.reason = choice.get("finish_reason") or self.reason
        for key in ("content", "reasoning_content", "reasoning", "refusal"):
            if isinstance(delta.get(key), str):
                self.texts.setdefault(key, []).append(delta[key])
        for part in as_list(delta.get("content")):
            # Mistral's reasoning models send parts; their texts follow each other.
            kind, text = lookup(part, "type"), lookup(part, "text")
            if kind == "text" and isinstance(text, str):
                self.texts.setdefault("content", []).append(text)
            else:
                self.parts.append(part)
        self.annotations.extend(as_list(delta.get("annotations")))
        for position, call in enumerate(as_list(delta.get("tool_calls"))):
            self._add_call(position, as_mapping(call))

    def _add_call(self, position: int, call: Mapping[str, Any]) -> None:
        index = count(call.get("index"))
        held = self.calls.setdefault(position if index is None else index, {"arguments": []})
        held["id"] = held.get("id") or word(call.get("id")) or ""
        held["name"] = held.get("name") or word(lookup(call, "function.name")) or ""
        arguments, pieces = lookup(call, "function.arguments"), held["arguments"]
        if isinstance(arguments, str) and isinstance(pieces, list):
            pieces.append(arguments)

    def whole(self) -> dict[str, Any]:
        said: dict[str, Any] = {key: "".join(texts) for key, texts in self.texts.items()}
        if self.parts:
            text = said.get("content")
            said["content"] = [*self.parts, *([{"type": "text", "text": text}] if text else [])]
        said["role"] = self.role
        said["annotations"] = self.annotations
        said["tool_calls"] = [
            {
                "id": call["id"],
                "function": {"name": call["name"], "arguments": "".join(call["arguments"])},
            }
            for call in self.calls.values()
        ]
        return {"message": said, "finish_reason": self.reason}


def assemble(events: Iterable[Event]) -> dict[str, Any]:
    """Put a streamed answer together."""
    whole: dict[str, Any] = {}
    choices: dict[int, _Choice] = {}
    for event in events:
        chunk = event.data
        whole |= {key: chunk[key] for key in _CARRIED if chunk.get(key)}
        for choice in as_list(chunk.get("choices")):
            index = count(lookup(choice, "index")) or 0
            choices.setdefault(index, _Choice()).add(as_mapping(choice))
    whole["choices"] = [choices[index].whole() for index in sorted(choices)]
    return whole
