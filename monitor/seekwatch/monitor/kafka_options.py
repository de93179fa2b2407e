"""Client options of kafka-python that a user may pass through, and those that are ours.

Names and types are taken from the library itself, so that what it knows is what we accept.
"""

import importlib
from collections.abc import Mapping
from typing import Any, Final

from seekwatch.core.errors import ConfigurationError
from seekwatch.core.redaction import MASK, SECRET_KEY

_OURS: Final = {
    "bootstrap_servers": "set kafka.bootstrap_servers",
    "group_id": "set kafka.group_id",
    "transactional_id": "it is made from kafka.group_id and the partition",
    "enable_idempotence": "the log's transactions need it as it is",
    "enable_auto_commit": "the log owns the commit",
    "isolation_level": "the log's transactions need it as it is",
    "auto_offset_reset": "a partition without a commit is read from its beginning",
    "acks": "the log's durability needs it as it is",
    "key_serializer": "records are bytes",
    "value_serializer": "records are bytes",
    "key_deserializer": "records are bytes",
    "value_deserializer": "records are bytes",
    "partitioner": "records are keyed by trace id as every producer does it",
}


def check_options(options: Mapping[str, Any]) -> None:
    """Check names and types.

    Raises:
        ConfigurationError: an unknown name, one that is ours to set, or a value of a wrong type.
    """
    known = _known()
    for name, value in options.items():
        key = f"kafka.options.{name}"
        shown = MASK if SECRET_KEY.fullmatch(name) or "password" in name else value
        if name in _OURS:
            raise ConfigurationError(key, shown, f"not to be passed through: {_OURS[name]}")
        if name not in known:
            raise ConfigurationError(key, shown, "kafka-python has no such option; mend its name")
        try:
            _typed(value, known[name])
        except ValueError as error:
            raise ConfigurationError(key, shown, str(error)) from error


def typed_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the types of the library's defaults: variables carry text alone."""
    known = _known()
    return {name: _typed(value, known[name]) for name, value in options.items()}


def _known() -> dict[str, Any]:
    # Imported here: the library takes a third of a second, and most starts pass nothing through.
    kafka: Any = importlib.import_module("kafka")
    return {
        **kafka.KafkaAdminClient.DEFAULT_CONFIG,
        **kafka.KafkaProducer.DEFAULT_CONFIG,
        **kafka.KafkaConsumer.DEFAULT_CONFIG,
    }


def _typed(value: Any, default: Any) -> Any:
    if not isinstance(value, str):
        return value
    if isinstance(default, bool):
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if value.lower() not in words:
            raise ValueError("write true or false")
        return words[value.lower()]
    if isinstance(default, int | float):
        number = float(value) if value.replace(".", "", 1).isdigit() else None
        if number is None:
            raise ValueError("write a number")
        return int(number) if number == int(number) else number
    return value
