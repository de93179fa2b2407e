"""What the headers of gateways become on the span; every name in the map is documented."""

from pathlib import Path
from typing import Any

import pytest

from seekwatch.sdk._llm.gateways import GATEWAYS, gateway_attributes

G = "seekwatch.gateway."


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        (
            {
                "x-prism-cost": "0.0031",
                "x-prism-latency-ms": "812",
                "x-prism-model-used": "gpt-4o-mini",
                "x-prism-fallback-used": "true",
            },
            {
                "name": "prism",
                "cost": 0.0031,
                "latency": 0.812,
                "model": "gpt-4o-mini",
                "fallback_used": True,
            },
        ),
        (
            {
                "x-litellm-response-cost": "2.85e-05",
                "x-litellm-response-duration-ms": "251.5",
                "x-litellm-attempted-fallbacks": "0",
                "x-litellm-call-id": "b1",
                "x-litellm-model-id": "8d3f",
                "x-litellm-key-spend": "12.5",
            },
            {
                "name": "litellm",
                "cost": 2.85e-05,
                "latency": 0.2515,
                "fallback_used": False,
                "request_id": "b1",
            },
        ),
        (
            {
                "x-portkey-cache-status": "SEMANTIC HIT",
                "x-portkey-last-used-option-index": "config.targets[1]",
                "x-portkey-trace-id": "t",
            },
            {"name": "portkey", "cache": "hit", "request_id": "t"},
        ),
        (
            {"helicone-id": "h", "helicone-cache": "MISS", "helicone-fallback-index": "1"},
            {"name": "helicone", "request_id": "h", "cache": "miss", "fallback_used": True},
        ),
        (
            {"cf-aig-step": "0", "cf-aig-cache-status": "HIT", "cf-aig-log-id": "01"},
            {"name": "cloudflare", "fallback_used": False, "cache": "hit", "request_id": "01"},
        ),
        (
            {"x-kong-llm-model": "openai/gpt-4", "x-kong-upstream-latency": "400"},
            {"name": "kong", "model": "openai/gpt-4", "latency": 0.4},
        ),
        (
            {
                "x-bifrost-routing-info-model": "gpt-4o",
                "x-bifrost-routing-info-provider": "openai",
                "x-bifrost-routing-info-is-fallback": "true",
                "x-bifrost-upstream-latency-ms": "9",
            },
            {
                "name": "bifrost",
                "model": "gpt-4o",
                "provider": "openai",
                "fallback_used": True,
                "latency": 0.009,
            },
        ),
        ({"x-tfy-resolved-model": "a/b"}, {"name": "truefoundry", "model": "a/b"}),
        ({"ngrok-aig-model": "m"}, {"name": "ngrok", "model": "m"}),
        ({"apim-request-id": "r"}, {"name": "azure-api-management", "request_id": "r"}),
        ({"x-generation-id": "gen-1"}, {"name": "openrouter", "request_id": "gen-1"}),
        ({"x-request-id": "1", "server": "nginx", "x-unknown-cost": "5"}, {}),
    ],
)
def test_documented_headers_are_mapped_and_others_left_alone(
    headers: dict[str, str], found: dict[str, Any]
) -> None:
    assert gateway_attributes(headers) == {G + key: value for key, value in found.items()}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("x-prism-cost", value)
            for value in (
                "nan",
                "inf",
                "-1",
                "free",
                "",
                "$1",
                "1,5",
                "1_0",
                "٣",
                "9" * 400,
                "1e999",
            )
        ),
        ("x-prism-latency-ms", "-3"),
        ("x-prism-latency-ms", "soon"),
        ("x-prism-fallback-used", "maybe"),
        ("x-litellm-attempted-fallbacks", "-1"),
        ("x-litellm-attempted-fallbacks", "1.5"),
        ("x-prism-model-used", ""),
        ("x-prism-model-used", "x" * 1000),
        ("x-prism-model-used", "a\x1bb"),
        ("x-portkey-cache-status", "PERHAPS"),
    ],
)
def test_a_value_that_is_not_what_it_is_documented_to_be_is_left_out(name: str, value: str) -> None:
    assert set(gateway_attributes({name: value})) == {"seekwatch.gateway.name"}


def test_a_cost_that_was_written_before_the_answer_is_none() -> None:
    streamed = {"content-type": "text/event-stream", "x-litellm-response-cost": "0.0"}
    assert "seekwatch.gateway.cost" not in gateway_attributes(streamed)
    assert gateway_attributes(streamed | {"content-type": "application/json"})[G + "cost"] == 0.0
    cached = {"content-type": "text/event-stream", "x-prism-cost": "0", "x-prism-cache": "hit"}
    assert gateway_attributes(cached)[G + "cost"] == 0.0, "a cached answer costs nothing"


def test_of_two_gateways_each_fact_comes_from_the_first_that_tells_it() -> None:
    found = gateway_attributes(
        {
            "x-litellm-call-id": "outer",
            "x-kong-llm-model": "gpt-4",
            "apim-request-id": "inner",
        }
    )
    assert found == {
        G + "name": "litellm",
        G + "request_id": "outer",
        G + "model": "gpt-4",
    }


def test_every_header_in_the_map_is_on_the_page_about_model_calls() -> None:
    page = (Path(__file__).parents[2] / "docs" / "model-calls.md").read_text()
    missing = [n for gateway in GATEWAYS for n, _, _ in gateway.headers if f"`{n}`" not in page]
    assert missing == []


def test_every_header_in_the_map_is_lower_case_and_named_once() -> None:
    names = [name for gateway in GATEWAYS for name, _, _ in gateway.headers]
    assert names == [name.lower() for name in names]
    assert len(set(names)) == len(names)
