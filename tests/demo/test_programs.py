"""What of a user's environment reaches the demo's programs."""

from demo.programs import agent_environment, plain_environment

USER = {
    "PATH": "/usr/bin",
    "OPENAI_API_KEY": "secret",
    "OPENAI_BASE_URL": "https://models.example/v1",
    "HTTPS_PROXY": "http://proxy.example:3128",
    "https_proxy": "http://proxy.example:3128",
    "NO_PROXY": "intranet.example",
    "OTEL_SDK_DISABLED": "true",
    "SEEKWATCH_LOG": "kafka",
}


def test_only_what_the_demo_sets_of_seekwatch_and_opentelemetry_gets_through() -> None:
    own = {"SEEKWATCH_POLICY": "policy.yaml"}
    assert plain_environment(USER, own) == {"PATH": "/usr/bin", **own}


def test_the_agent_gets_the_key_and_a_proxy_that_spares_this_machine() -> None:
    got = agent_environment(USER, {})
    assert got["OPENAI_API_KEY"] == "secret"
    assert got["HTTPS_PROXY"] == "http://proxy.example:3128"
    assert got["NO_PROXY"] == "intranet.example,127.0.0.1,localhost"
    assert got["no_proxy"] == got["NO_PROXY"]
    assert not {"OTEL_SDK_DISABLED", "SEEKWATCH_LOG"} & set(got)


def test_without_a_key_the_agent_needs_no_proxy() -> None:
    user = {name: value for name, value in USER.items() if name != "OPENAI_API_KEY"}
    assert agent_environment(user, {}) == {"PATH": "/usr/bin"}
