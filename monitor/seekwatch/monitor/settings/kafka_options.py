"""Options of kafka-python's clients that a user passes through: typed, checked, and kept secret.

The names and the types are the library's own, so what it knows is what we accept. Variables carry
text alone, so the type of the library's default decides how a text is read.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from seekwatch.core.errors import ConfigurationError

from .shown_values import shown


def typed_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the types that the library wants.

    Raises:
        ConfigurationError: an unknown name, one that is ours to set, or a value of a wrong type.
    """
    if not options:
        return {}
    # Imported here: the library takes a third of a second, and most starts pass nothing through.
    from seekwatch.collector.kafka_client import KafkaSettings

    known = _known()
    typed = {name: _typed(name, value, known.get(name)) for name, value in options.items()}
    try:
        KafkaSettings(options=typed).check()
    except ConfigurationError as error:
        raise ConfigurationError(error.key, shown(error.key, error.value), error.fix) from error
    return typed


def _known() -> dict[str, Any]:
    kafka: Any = importlib.import_module("kafka")
    return {
        **kafka.KafkaAdminClient.DEFAULT_CONFIG,
        **kafka.KafkaProducer.DEFAULT_CONFIG,
        **kafka.KafkaConsumer.DEFAULT_CONFIG,
    }


def _typed(name: str, value: Any, default: Any) -> Any:
    if not isinstance(value, str):
        return value
    key = f"kafka.options.{name}"
    if isinstance(default, bool):
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if value.lower() not in words:
            raise ConfigurationError(key, shown(key, value), "write true or false")
        return words[value.lower()]
    if isinstance(default, int | float):
        try:
            number = float(value)
        except ValueError:
            raise ConfigurationError(key, shown(key, value), "write a number") from None
        return int(number) if number == int(number) else number
    return value
