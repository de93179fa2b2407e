"""Makes spans current and undoes it, without a log line when it cannot be undone.

OpenTelemetry's `detach` logs an error when a token comes from another context, which happens to
every `with` block inside a generator that is left early or collected by another task. Nothing is
wrong then: that other context never had our span.
"""

from typing import Any

from opentelemetry import context as api
from opentelemetry.context import Context


def attach(context: Context) -> Any:
    """Make a context current; returns the token for `detach`."""
    return api.attach(context)


def detach(token: Any) -> bool:
    """Undo `attach`; returns False when the token belongs to another context."""
    if token is None:
        return True
    runtime: Any = getattr(api, "_RUNTIME_CONTEXT", None)
    if runtime is None:
        api.detach(token)
        return True
    try:
        runtime.detach(token)
    except (ValueError, RuntimeError):
        return False
    return True
