"""Who a host belongs to, by `gen_ai.provider.name`'s well-known values where there is one.

An unknown host stays unknown: its answers speak a shape, and `server.address` says who answered.
"""

from functools import lru_cache
from typing import Final

PROVIDERS: Final = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "aiplatform.googleapis.com": "gcp.vertex_ai",
    "api.cohere.com": "cohere",
    "api.cohere.ai": "cohere",
    "api.mistral.ai": "mistral_ai",
    "codestral.mistral.ai": "mistral_ai",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.perplexity.ai": "perplexity",
    "api.x.ai": "x_ai",
    "api.moonshot.ai": "moonshot_ai",
    "api.moonshot.cn": "moonshot_ai",
    # From here on the registry has no value; the names follow its spelling.
    "openrouter.ai": "openrouter",
    "api.together.xyz": "together_ai",
    "api.together.ai": "together_ai",
    "api.fireworks.ai": "fireworks_ai",
    "api.cerebras.ai": "cerebras",
    "api.sambanova.ai": "sambanova",
    "api.deepinfra.com": "deepinfra",
    "router.huggingface.co": "huggingface",
    "integrate.api.nvidia.com": "nvidia",
    "models.github.ai": "github",
    "api.ai21.com": "ai21",
    "ai-gateway.vercel.sh": "vercel",
    "ollama.com": "ollama",
    "dashscope.aliyuncs.com": "dashscope",
    "dashscope-intl.aliyuncs.com": "dashscope",
    "open.bigmodel.cn": "zhipu_ai",
    "api.z.ai": "zhipu_ai",
}
_SUFFIXES: Final = {
    ".openai.azure.com": "azure.ai.openai",
    ".cognitiveservices.azure.com": "azure.ai.openai",
    ".services.ai.azure.com": "azure.ai.inference",
    ".models.ai.azure.com": "azure.ai.inference",
    ".inference.ai.azure.com": "azure.ai.inference",
    ".api.openai.com": "openai",
    "-aiplatform.googleapis.com": "gcp.vertex_ai",
    ".ml.cloud.ibm.com": "ibm.watsonx.ai",
}
_ENDINGS: Final = tuple(_SUFFIXES)
_BEDROCK: Final = ("bedrock-runtime.", "bedrock-runtime-fips.", "bedrock-mantle.")
_AWS: Final = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
_SITES: Final = {
    "openrouter.ai": "/api/",
    "ollama.com": "/api/",
    "models.github.ai": "/inference/",
    "dashscope.aliyuncs.com": "/compatible-mode/",
}
"""Hosts that are a website too, and the paths of their API."""
_MIXED: Final = (".cognitiveservices.azure.com", "aiplatform.googleapis.com")
"""Hosts that serve more than models: search, speech, pipelines; only known paths are a model's."""


@lru_cache(maxsize=256)
def provider_of(host: str) -> str | None:
    """Return `gen_ai.provider.name` for a host; None where it is nobody's known."""
    found = PROVIDERS.get(host)
    if found is not None:
        return found
    if host.endswith(_ENDINGS):
        return next(name for suffix, name in _SUFFIXES.items() if host.endswith(suffix))
    if host.startswith(_BEDROCK) and host.endswith(_AWS):
        return "aws.bedrock"
    return None


def is_provider(host: str, path: str) -> bool:
    """Tell whether every call to a path of this host is one of a model API's."""
    if provider_of(host) is None or host.endswith(_MIXED):
        return False
    return path.startswith(_SITES.get(host, "/"))
