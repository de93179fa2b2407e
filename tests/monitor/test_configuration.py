"""Settings come from flags, variables and a file; a wrong one is named as it was written."""

import json
from pathlib import Path

import pytest

from seekwatch.core.errors import ConfigurationError
from seekwatch.monitor.settings.reading import (
    load_settings,
    parse_assignments,
    setting_keys,
    variable,
)


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "seekwatch.yaml"
    path.write_text(text)
    return path


def _refused(file: Path | None = None, flags: list[str] | None = None) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as refusal:
        load_settings(file, parse_assignments(flags or []))
    return refusal.value


def test_flags_win_over_variables_over_the_file_over_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _file(tmp_path, "closing: {quiet: 1, idle: 11, span_cap: 111}")
    monkeypatch.setenv("SEEKWATCH_CLOSING__QUIET", "2")
    monkeypatch.setenv("SEEKWATCH_CLOSING__IDLE", "22")
    closing = load_settings(file, parse_assignments(["closing.quiet=3"])).closing
    assert (closing.quiet, closing.idle, closing.span_cap) == (3, 22, 111)
    assert closing.max_age == 7_200


def test_the_file_can_be_named_by_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEEKWATCH_CONFIG", str(_file(tmp_path, "closing: {quiet: 4}")))
    assert load_settings().closing.quiet == 4


@pytest.mark.parametrize(
    ("text", "key", "fix"),
    [
        ("closing: {quite: 3}", "closing.quite", "did you mean closing.quiet?"),
        ("closing: {idle: 0}", "closing.idle", "greater than 0"),
        ("colsing: {quiet: 3}", "colsing", "no such setting"),
        ("closing: 5", "closing", "dictionary"),
        ("receiver: {tls_key: a.pem}", "receiver.tls_key", "set receiver.tls_cert too"),
        ("receiver: {tls_cert: a.pem}", "receiver.tls_cert", "set receiver.tls_key too"),
        ("receiver: {http_port: 99999}", "receiver.http_port", "65535"),
        ("evaluation: {endpoint: 'localhost:4318'}", "evaluation.endpoint", "http(s)://host:4318"),
        ("embedded: {retention: 60}", "embedded.retention", "or 0 to keep records for ever"),
        ("kafka: {options: {sasl_mechansim: PLAIN}}", "kafka.options.sasl_mechansim", "no option"),
        ("kafka: {options: {group_id: a}}", "kafka.options.group_id", "leave it out"),
        (
            "kafka: {options: {fetch_max_wait_ms: soon}}",
            "kafka.options.fetch_max_wait_ms",
            "number",
        ),
        ("logging: {level: loud}", "logging.level", "'debug', 'info', 'warning' or 'error'"),
        ("- a list", "--config", "must be a mapping"),
        ("closing: [", "--config", "is no YAML"),
    ],
)
def test_a_wrong_key_or_value_of_the_file_is_named(
    tmp_path: Path, text: str, key: str, fix: str
) -> None:
    error = _refused(_file(tmp_path, text))
    assert error.key.startswith(key)
    assert fix in error.fix


def test_an_error_says_in_which_file_the_key_stands(tmp_path: Path) -> None:
    file = _file(tmp_path, "closing: {idle: -1}")
    assert _refused(file).key == f"closing.idle (in {file})"


def test_a_missing_file_stops_the_start(tmp_path: Path) -> None:
    assert "no such file" in _refused(tmp_path / "nowhere.yaml").fix


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("SEEKWATCH_CLOSING__QUIET", "soon", "valid number"),
        ("SEEKWATCH_CLOSNG__QUIET", "1", "did you mean SEEKWATCH_CLOSING__QUIET?"),
        ("SEEKWATCH_QUIET", "1", "no such setting"),
        ("SEEKWATCH_KAFKA", "localhost:9092", "is no JSON"),
        ("SEEKWATCH_METRICS__PORT", "http", "valid integer"),
    ],
)
def test_a_wrong_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, fix: str
) -> None:
    monkeypatch.setenv(name, value)
    error = _refused()
    assert (error.key, error.value) == (name, value)
    assert fix in error.fix


@pytest.mark.parametrize(
    ("flag", "key"),
    [
        ("closing.quiet=-1", "--set closing.quiet"),
        ("closing.quite=1", "--set closing.quite"),
        ("closing", "--set"),
        ("closing.quiet.a=1", "--set closing.quiet"),
    ],
)
def test_a_wrong_flag_is_named(flag: str, key: str) -> None:
    assert _refused(flags=[flag]).key == key


def test_a_flag_that_needs_another_is_named_with_its_value() -> None:
    error = _refused(flags=["receiver.tls_cert=a.pem"])
    assert (error.key, error.value) == ("--set receiver.tls_cert", "a.pem")
    assert "receiver.tls_key" in error.fix


def test_variables_of_a_kubernetes_service_are_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "SEEKWATCH_SERVICE_HOST": "10.0.0.1",
        "SEEKWATCH_SERVICE_PORT": "9464",
        "SEEKWATCH_SERVICE_PORT_METRICS": "9464",
        "SEEKWATCH_PORT": "tcp://10.0.0.1:9464",
        "SEEKWATCH_RECEIVER_PORT_4317_TCP_ADDR": "10.0.0.1",
        "SEEKWATCH_TEST_CACHE": "/tmp",
    }.items():
        monkeypatch.setenv(name, value)
    load_settings()


def test_an_empty_variable_means_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEKWATCH_RECEIVER__GRPC_PORT", "")
    monkeypatch.setenv("SEEKWATCH_POLICY", "")
    settings = load_settings()
    assert settings.receiver.grpc_port is None
    assert settings.policy is None


def test_kafka_options_of_variables_get_the_types_of_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from seekwatch.monitor.settings.kafka_options import typed_options

    monkeypatch.setenv("SEEKWATCH_KAFKA__OPTIONS__SESSION_TIMEOUT_MS", "6000")
    monkeypatch.setenv("SEEKWATCH_KAFKA__OPTIONS__SSL_CHECK_HOSTNAME", "false")
    monkeypatch.setenv("SEEKWATCH_KAFKA__OPTIONS__SECURITY_PROTOCOL", "SASL_SSL")
    monkeypatch.setenv("SEEKWATCH_KAFKA__OPTIONS__SASL_MECHANISM", "PLAIN")
    monkeypatch.setenv("SEEKWATCH_KAFKA__OPTIONS__SASL_PLAIN_USERNAME", "seekwatch")
    monkeypatch.setenv("SEEKWATCH_KAFKA__OPTIONS__SASL_PLAIN_PASSWORD", "1234")
    assert typed_options(load_settings().kafka.options) == {
        "session_timeout_ms": 6000,
        "ssl_check_hostname": False,
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "seekwatch",
        "sasl_plain_password": "1234",
    }


@pytest.mark.parametrize(
    "text",
    [
        "receiver: {token: [hunter2]}",
        "receiver: {token: hunter2, tls_key: hunter2}",
        "kafka: {options: {sasl_plain_pasword: hunter2}}",
        "kafka: {options: {sasl_plain_password: hunter2, group_id: x}}",
        "evaluation: {headers: {authorization: [hunter2]}}",
    ],
)
def test_no_error_shows_a_secret(tmp_path: Path, text: str) -> None:
    assert "hunter2" not in str(_refused(_file(tmp_path, text)))


def test_no_error_shows_a_secret_of_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEKWATCH_RECEIVER__TOKEEN", "hunter2")
    assert "hunter2" not in str(_refused())


def test_every_setting_can_be_set_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = load_settings()
    for key in setting_keys():
        value: object = defaults
        for part in key.split("."):
            value = getattr(value, part)
        text = json.dumps(value) if isinstance(value, dict | bool) else str(value)
        monkeypatch.setenv(variable(key), "" if value is None else text)
    assert load_settings().model_dump() == defaults.model_dump()


def test_variables_of_an_agent_on_the_same_machine_are_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SEEKWATCH_AGENT", "SEEKWATCH_ENDPOINT", "SEEKWATCH_SALT"):
        monkeypatch.setenv(name, "an agent's")
    load_settings()
