"""Reads the settings: flags before environment before file before defaults.

A wrong key or value stops the start and is named as the person wrote it (a flag, a variable, a key
of the file), because the message is all that an operator of a container sees.
"""

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsError

from seekwatch.core.errors import ConfigurationError, why_unreadable

from .declaring import unit_of
from .kafka_options import typed_options
from .model import ENVIRONMENT_PREFIX, NESTING, Settings
from .pairs import ALONE
from .shown_values import shown

CONFIG_VARIABLE: Final = f"{ENVIRONMENT_PREFIX}CONFIG"
_TEST_PREFIX: Final = f"{ENVIRONMENT_PREFIX}TEST_"

OF_AGENTS: Final = frozenset(
    ENVIRONMENT_PREFIX + name
    for name in (
        *("AGENT", "CAPTURE_CONTENT", "CAPTURE_PAGES", "ENDPOINT", "ENTRYPOINT"),
        *("ENVIRONMENT", "RELEASE", "RUN_MAX_SECONDS", "RUN_PID", "RUN_QUIET_SECONDS", "SALT"),
    )
)
"""Variables of the SDK: one machine, or one shell, may have an agent and its monitor."""

_OPEN_ENDED: Final = ("kafka.options", "evaluation.headers")
"""Settings whose value is a mapping that the user fills."""
_DAY: Final = 86_400.0

_SERVICE_LINK: Final = re.compile(
    r".*_(SERVICE_(HOST|PORT(_.+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)
"""Variables that Kubernetes sets for each Service of the namespace: ours begin with our name."""


def load_settings(file: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
    """Read and check every setting.

    Args:
        file: YAML; None takes the file that `SEEKWATCH_CONFIG` names, or none.
        flags: nested values that win over file and environment.

    Raises:
        ConfigurationError: a key or value that is wrong.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    path = file or (Path(named) if named else None)
    document = {} if path is None else _read(path)
    _check_environment(os.environ)
    origins = _Origins(path, document, flags or {})
    try:
        settings = _with_file(document)(**(flags or {}))
    except ValidationError as error:
        raise origins.error(error) from error
    except SettingsError as error:
        raise _not_json(error) from error
    _check_retention(settings)
    typed_options(settings.kafka.options)
    return settings


def parse_assignments(assignments: Iterable[str]) -> dict[str, Any]:
    """Turn `section.key=value` flags into nested values; values are read as YAML.

    Raises:
        ConfigurationError: an assignment without `=`.
    """
    flags: dict[str, Any] = {}
    for assignment in assignments:
        key, separator, text = assignment.partition("=")
        if not separator or not key.strip():
            raise ConfigurationError("--set", assignment, "write --set section.key=value")
        try:
            value = yaml.safe_load(text) if text else ""
        except yaml.YAMLError:
            value = text
        put(flags, key.strip().split("."), value)
    return flags


def put(values: dict[str, Any], key: Sequence[str], value: Any) -> None:
    """Set a nested value, making the mappings on the way."""
    for part in key[:-1]:
        inner = values.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigurationError(".".join(key), value, f"{part} is a value, not a section")
        values = cast("dict[str, Any]", inner)
    values[key[-1]] = value


def setting_keys(model: type[BaseModel] = Settings, prefix: str = "") -> list[str]:
    """Return every setting's dotted key, in the order of the model."""
    keys: list[str] = []
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            keys += setting_keys(field.annotation, f"{prefix}{name}.")
        else:
            keys.append(prefix + name)
    return keys


def variable(key: str) -> str:
    """Return the environment variable of a dotted key."""
    return ENVIRONMENT_PREFIX + key.replace(".", NESTING).upper()


def _check_retention(settings: Settings) -> None:
    """Refuse a log that forgets records which an open trace still needs."""
    closing, kept = settings.closing, settings.embedded.retention
    least = closing.max_age + closing.late_window + _DAY
    if kept and kept < least:
        raise ConfigurationError(
            "embedded.retention",
            kept,
            "shorter than closing.max_age, closing.late_window and a day together; set at least "
            f"{least:g} seconds, or 0 to keep records for ever",
        )


def _not_json(error: SettingsError) -> ConfigurationError:
    """Name the variable of a whole section that is no JSON."""
    match = re.search(r'field "([a-z_]+)"', str(error))
    name = variable(match[1]) if match else f"{ENVIRONMENT_PREFIX}*"
    return ConfigurationError(
        name, shown(name, os.environ.get(name)), f"is no JSON; write it, or set {name}{NESTING}KEY"
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError("--config", str(path), why_unreadable(error)) from error
    except yaml.YAMLError as error:
        raise ConfigurationError("--config", str(path), f"is no YAML: {error}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigurationError("--config", str(path), "must be a mapping of sections")
    return cast("dict[str, Any]", document)


def _check_environment(environment: Mapping[str, str]) -> None:
    """Refuse a variable that begins with our name and sets nothing: it is a typing error."""
    known = {variable(key) for key in setting_keys()}
    sections = {variable(name) for name in Settings.model_fields}
    open_ended = tuple(variable(key) + NESTING for key in _OPEN_ENDED)
    for name, value in environment.items():
        upper = name.upper()
        if not upper.startswith(ENVIRONMENT_PREFIX) or upper.startswith(_TEST_PREFIX):
            continue
        if upper in known | sections | OF_AGENTS or upper == CONFIG_VARIABLE:
            continue
        if upper.startswith(open_ended) or _SERVICE_LINK.fullmatch(upper):
            continue
        raise ConfigurationError(name, shown(name, value), _nearest(upper, known))


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"no such setting; {hint}Remove it or mend its name"


class _Origins:
    """Knows where a value came from, so that an error can name what the person wrote."""

    def __init__(
        self, path: Path | None, document: Mapping[str, Any], flags: Mapping[str, Any]
    ) -> None:
        self._path = path
        self._document = document
        self._flags = flags

    def error(self, error: ValidationError) -> ConfigurationError:
        """Turn the first finding into an error with key, value and fix."""
        finding = error.errors(include_url=False)[0]
        parts = [str(part) for part in finding["loc"]]
        given = finding["input"]
        if finding["type"] == ALONE:  # found in a section, and about one setting of it
            about = finding.get("ctx", {})
            parts.append(str(about["setting"]))
            given = about["value"]
        key = self._name(parts)
        value = shown(key, given)
        if finding["type"] == "extra_forbidden":
            near = _nearest(".".join(parts), setting_keys())
            return ConfigurationError(key, value, near)
        return ConfigurationError(key, value, _fix(finding["msg"], parts))

    def _name(self, parts: list[str]) -> str:
        dotted = ".".join(parts)
        if _holds(self._flags, parts):
            return f"--set {dotted}"
        name = variable(dotted)
        for given in os.environ:
            if given.upper() == name:
                return given
        if _holds(self._document, parts) and self._path is not None:
            return f"{dotted} (in {self._path})"
        return dotted or "settings"


def _holds(values: Any, parts: list[str]) -> bool:
    for part in parts:
        if not isinstance(values, Mapping) or part not in values:
            return False
        values = cast("Mapping[str, Any]", values)[part]
    return bool(parts)


def _fix(message: str, parts: list[str]) -> str:
    described = _description(parts)
    message = message.removeprefix("Value error, ")
    return f"{message}. {described}" if described else message


def _description(parts: list[str]) -> str:
    model: type[BaseModel] = Settings
    for part in parts:
        field = model.model_fields.get(part)
        if field is None:
            return ""
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            model = field.annotation
            continue
        unit = unit_of(field)
        return f"{field.description} Unit: {unit}." if unit != "-" else field.description or ""
    return ""


def _with_file(document: Mapping[str, Any]) -> type[Settings]:
    class FromFile(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, _Document(settings_cls, document)

    return FromFile


class _Document(PydanticBaseSettingsSource):
    """The file, read already: its errors are ours to word."""

    def __init__(self, settings: type[BaseSettings], document: Mapping[str, Any]) -> None:
        super().__init__(settings)
        self._document = dict(document)

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        """Return a field's value; unused, because `__call__` gives the whole document."""
        return self._document.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the document."""
        return self._document
