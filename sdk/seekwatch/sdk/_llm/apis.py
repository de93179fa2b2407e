"""Model APIs in declarative form: which path is whose, in which wire shape.

Looked at before each call, on the agent's thread: no body is decoded here. What tells a call is
its path, and where that could be anyone's, its host or the word `"model"` in the body.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from seekwatch.core import attributes
from seekwatch.sdk._http.messages import RequestView

from .background import looked_for
from .providers import is_provider

Shape = Literal[
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "cohere",
    "bedrock",
    "mistral",
    "ollama",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelApi:
    """One way to ask a model over HTTP.

    Example:
        >>> ModelApi(shape="anthropic", path=r"/v1/messages$", provider="anthropic").named
        False
    """

    shape: Shape
    path: str
    """A regular expression, searched in the decoded path; a group `model` names the model."""
    provider: str
    """`gen_ai.provider.name` where the host says nothing."""
    operation: str = attributes.OPERATION_CHAT
    named: bool = False
    """The path is nobody else's; else an unknown host's body has to name a model."""


CHAT: Final = ModelApi(
    shape="openai-chat",
    path=r"/chat/completions$|/agents/completions$|/ml/v1/text/chat(?:_stream)?$",
    provider="openai",
)
"""OpenAI's shape as most servers speak it: Groq, Mistral, DeepSeek, OpenRouter, vLLM, …; Perplexity
without `/v1`, Mistral's agents and watsonx under names of their own."""

APIS: Final = (
    ModelApi(
        shape="openai-chat",
        path=r"/openai/deployments/(?P<model>[^/]+)/chat/completions$",
        provider="azure.ai.openai",
        named=True,
    ),
    ModelApi(
        shape="openai-chat",
        path=r"/deployments/(?P<model>[^/]+)/chat/completions$",
        provider="openai",
        named=True,
    ),
    CHAT,
    ModelApi(
        shape="openai-chat",
        path=r"(?:/deployments/(?P<model>[^/]+))?(?<!chat)/completions$",
        provider="openai",
        operation="text_completion",
    ),
    ModelApi(shape="openai-responses", path=r"/responses$", provider="openai"),
    ModelApi(shape="anthropic", path=r"/v1/messages$", provider="anthropic"),
    ModelApi(
        shape="anthropic",
        path=r"/publishers/anthropic/models/(?P<model>(?!count-tokens)[^/:@]+)[^/:]*"
        r":(?:rawPredict|streamRawPredict)$",
        provider="gcp.vertex_ai",
        named=True,
    ),
    ModelApi(
        shape="openai-chat",
        path=r"/publishers/[^/]+/models/(?P<model>(?!count-tokens)[^/:@]+)[^/:]*"
        r":(?:rawPredict|streamRawPredict)$",
        provider="gcp.vertex_ai",
        named=True,
    ),
    ModelApi(
        shape="gemini",
        path=r"/(?:models|tunedModels|endpoints)/(?P<model>[^/:]+)"
        r":(?:generateContent|streamGenerateContent)$",
        provider="gcp.gen_ai",
        operation="generate_content",
        named=True,
    ),
    ModelApi(
        shape="bedrock",
        path=r"/model/(?P<model>.+)/converse(?:-stream)?$",
        provider="aws.bedrock",
        named=True,
    ),
    ModelApi(
        shape="bedrock",
        path=r"/model/(?P<model>[^/]*[.:].*)/invoke(?:-with-response-stream)?$",
        provider="aws.bedrock",
        named=True,
    ),
    ModelApi(shape="cohere", path=r"/v2/chat$", provider="cohere"),
    ModelApi(shape="cohere", path=r"/v1/chat$", provider="cohere"),
    ModelApi(shape="mistral", path=r"/v1/conversations(?:/[^/]+)?$", provider="mistral_ai"),
    ModelApi(shape="ollama", path=r"/api/chat$", provider="ollama"),
    ModelApi(
        shape="ollama", path=r"/api/generate$", provider="ollama", operation="text_completion"
    ),
)

_ENDINGS: Final = (
    "completions",
    "/responses",
    "/v1/messages",
    "/chat",
    "/text/chat_stream",
    "Predict",
    "GenerateContent",
    ":generateContent",
    "/converse",
    "/converse-stream",
    "/invoke",
    "/invoke-with-response-stream",
    "/api/generate",
)
"""What every path above ends in, save conversations: one look that most requests end at."""
_CONVERSATIONS: Final = "/v1/conversations"
_PATTERNS: Final = tuple((api, re.compile(api.path)) for api in APIS)

_OTHER: Final = re.compile(
    r"/v1(?:beta\d*)?/(?:embeddings|moderations|rerank|images/(?:generations|edits|variations)|"
    r"audio/(?:speech|transcriptions|translations)|fine_tuning/jobs|fine-tuning/jobs|"
    r"messages/(?:count_tokens|batches)|responses/(?:input_tokens|compact))(?:/|$)"
    r"|/deployments/[^/]+/(?:embeddings|images/\w+|audio/\w+)$"
    r"|/v[12]/(?:embed|rerank|classify)$"
    r"|/api/(?:embed|embeddings)$"
    r"|:(?:countTokens|embedContent|batchEmbedContents|batchGenerateContent)$"
    r"|/models/count-tokens[^/]*:rawPredict$"
)
"""Other calls by paths that nobody else has; `/v1/models` of an unknown host may list cars."""
_MODEL: Final = b'"model"'
_AGENT: Final = b'"agent_id"'
_EDGE: Final = 2048
_REMEMBERED_PATHS: Final = 256
"""Paths of model APIs that are remembered; an agent asks at few of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """A call that a model API's path was recognised in."""

    api: ModelApi
    model: str | None


def find(path: str) -> Found | None:
    """Return the API that generates under a path."""
    if not path.endswith(_ENDINGS) and _CONVERSATIONS not in path:
        return None
    return _found(path)


@lru_cache(maxsize=_REMEMBERED_PATHS)
def _found(path: str) -> Found | None:
    for api, pattern in _PATTERNS:
        match = pattern.search(path)
        if match is not None:
            return Found(api, match.groupdict().get("model"))
    return None


def recognise(request: RequestView) -> Literal["generation", "look", "other"] | None:
    """Tell a generation, a look for its answer, another call of a model API, or none of them.

    Another call (embeddings, counting tokens, listing models) is no page that an agent reads, and
    no generation either: it gets no span.
    """
    path = request.path
    if looked_for(request.method, path) is not None:
        return "look"
    known = is_provider(request.host, path)
    if request.method != "POST":
        return "other" if known else None
    found = find(path)
    if found is not None and (known or found.api.named or _names_model(request, found.api)):
        return "generation"
    return "other" if known or _is_other(path) else None


@lru_cache(maxsize=_REMEMBERED_PATHS)
def _is_other(path: str) -> bool:
    return _OTHER.search(path) is not None


def _names_model(request: RequestView, api: ModelApi) -> bool:
    body = request.body()
    if body is None:
        # Streamed, and not waited for; a form or a page is not sent that way.
        return True
    # It stands before the messages or behind them; in between only by chance.
    if len(body) > 2 * _EDGE and (_MODEL in body[:_EDGE] or _MODEL in body[-_EDGE:]):
        return True
    return _MODEL in body or (api.shape == "mistral" and _AGENT in body)
