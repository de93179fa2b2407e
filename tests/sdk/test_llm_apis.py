"""Which calls are generations, which are other calls of a model API, and which are neither."""

import pytest

from seekwatch.sdk._llm.apis import APIS, find, recognise
from seekwatch.sdk._llm.providers import PROVIDERS, provider_of
from tests.services.model_requests import NAMED, Call

VERTEX = "https://l-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers"
AWS = "https://bedrock-runtime.us-east-1.amazonaws.com"
PROFILE = "arn%3Aaws%3Abedrock%3Aus%3A1%3Ainference-profile%2Fus.a.b"


@pytest.mark.parametrize(
    ("url", "shape"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai-chat"),
        ("https://api.openai.com/v1/completions", "openai-chat"),
        ("https://api.openai.com/v1/responses", "openai-responses"),
        ("https://x.openai.azure.com/openai/deployments/d/chat/completions", "openai-chat"),
        ("https://x.openai.azure.com/openai/v1/responses", "openai-responses"),
        ("https://x.services.ai.azure.com/models/chat/completions", "openai-chat"),
        ("https://api.perplexity.ai/chat/completions", "openai-chat"),
        ("https://api.mistral.ai/v1/chat/completions", "openai-chat"),
        ("https://api.mistral.ai/v1/agents/completions", "openai-chat"),
        ("https://api.mistral.ai/v1/conversations", "mistral"),
        ("https://api.mistral.ai/v1/conversations/conv_1", "mistral"),
        ("https://openrouter.ai/api/v1/chat/completions", "openai-chat"),
        ("https://api.anthropic.com/v1/messages", "anthropic"),
        ("https://gateway.ai.cloudflare.com/v1/a/g/anthropic/v1/messages", "anthropic"),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/g-1.5:generateContent",
            "gemini",
        ),
        (f"{VERTEX}/google/models/g:streamGenerateContent", "gemini"),
        (f"{VERTEX}/anthropic/models/c@1:streamRawPredict", "anthropic"),
        (f"{VERTEX}/mistralai/models/m:rawPredict", "openai-chat"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/model/a.b-v1%3A0/converse", "bedrock"),
        (f"{AWS}/model/{PROFILE}/converse-stream", "bedrock"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/model/a.b-v1%3A0/invoke", "bedrock"),
        ("https://api.cohere.com/v2/chat", "cohere"),
        ("https://api.cohere.com/v1/chat", "cohere"),
        ("http://localhost:11434/api/chat", "ollama"),
        ("http://localhost:11434/api/generate", "ollama"),
        ("http://localhost:8000/v1/chat/completions", "openai-chat"),
    ],
)
def test_a_generation_is_told_by_its_path(url: str, shape: str) -> None:
    call = Call(url)
    found = find(call.path)
    assert found is not None
    assert found.api.shape == shape
    assert recognise(call) == "generation"


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("POST", "https://api.openai.com/v1/embeddings"),
        ("GET", "https://api.openai.com/v1/models"),
        ("GET", "https://api.openai.com/v1/responses/resp_1/input_items"),
        ("POST", "https://api.openai.com/v1/batches"),
        ("POST", "https://api.anthropic.com/v1/messages/count_tokens"),
        ("POST", "https://api.anthropic.com/v1/messages/batches"),
        ("POST", "https://generativelanguage.googleapis.com/v1beta/models/g:countTokens"),
        ("POST", "https://l-aiplatform.googleapis.com/v1/p/models/g:embedContent"),
        ("POST", f"{VERTEX}/anthropic/models/count-tokens:rawPredict"),
        ("POST", "https://api.cohere.com/v2/embed"),
        ("POST", "http://localhost:8000/v1/embeddings"),
        ("POST", "http://localhost:8000/v1/rerank"),
        ("POST", "http://localhost:11434/api/embed"),
    ],
)
def test_other_calls_of_a_model_api_are_neither_pages_nor_generations(
    method: str, url: str
) -> None:
    assert recognise(Call(url, method)) == "other"


@pytest.mark.parametrize("url", ["https://api.openai.com", "http://localhost:8000"])
def test_looking_at_a_response_by_its_id_is_no_page_fetch_either(url: str) -> None:
    assert recognise(Call(f"{url}/v1/responses/resp_1", "GET")) == "look"


@pytest.mark.parametrize(
    ("method", "url", "data"),
    [
        ("POST", "https://forms.example/survey/responses", b'{"answer": 1}'),
        ("POST", "https://shop.example/api/chat", b'{"text": "hello"}'),
        ("POST", "https://mail.example/v1/messages", b'{"to": "x"}'),
        ("POST", "https://shop.example/purchase/completions", b"{}"),
        ("GET", "https://news.example/v1/models", None),
        ("GET", "https://news.example/v1/chat/completions", None),
        ("GET", "https://openrouter.ai/docs/quickstart", None),
        ("GET", "https://ollama.com/library", None),
        ("POST", "https://us-discoveryengine.googleapis.com/v1/x:search", NAMED),
        ("POST", "https://l-aiplatform.googleapis.com/v1/x:retrieveContexts", NAMED),
        ("POST", "https://lambda.example/model/one/invoke", NAMED),
    ],
)
def test_what_only_looks_like_a_model_api_stays_a_page(
    method: str, url: str, data: bytes | None
) -> None:
    assert recognise(Call(url, method, data)) is None


def test_a_streamed_request_to_a_path_of_a_model_api_is_a_generation() -> None:
    assert recognise(Call("http://localhost:8000/v1/chat/completions", data=None)) == "generation"


def test_the_body_is_not_looked_at_where_host_or_path_tell() -> None:
    for url in (
        "https://api.openai.com/v1/chat/completions",
        "http://localhost/model/a.b/converse",
        "https://news.example/story",
    ):
        call = Call(url)
        recognise(call)
        assert call.asked == 0, url


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("api.anthropic.com", "anthropic"),
        ("eu.api.openai.com", "openai"),
        ("europe-west4-aiplatform.googleapis.com", "gcp.vertex_ai"),
        ("generativelanguage.googleapis.com", "gcp.gemini"),
        ("bedrock-runtime.eu-central-1.amazonaws.com", "aws.bedrock"),
        ("bedrock-runtime.cn-north-1.amazonaws.com.cn", "aws.bedrock"),
        ("mine.services.ai.azure.com", "azure.ai.inference"),
        ("us-south.ml.cloud.ibm.com", "ibm.watsonx.ai"),
        ("s3.amazonaws.com", None),
        ("api.openai.com.evil.example", None),
        ("notapi.openai.com", None),
    ],
)
def test_a_provider_is_told_by_its_host_and_by_nothing_like_it(
    host: str, provider: str | None
) -> None:
    assert provider_of(host) == provider


def test_every_entry_is_lower_case_and_reachable() -> None:
    assert all(host == host.lower() for host in PROVIDERS)
    assert len({api.path for api in APIS}) == len(APIS)
