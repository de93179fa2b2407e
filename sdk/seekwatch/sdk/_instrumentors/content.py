"""Asks GenAI's instrumentors for what was said: without it they tell models and tokens alone."""

import os
from collections.abc import Callable
from typing import Final

CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ON_SPANS: Final = "span_only"


def capture_on_spans() -> Callable[[], None]:
    """Have content written onto spans unless the user has decided; returns what undoes it."""
    if CAPTURE in os.environ:
        return lambda: None
    os.environ[CAPTURE] = _ON_SPANS

    def restore() -> None:
        if os.environ.get(CAPTURE) == _ON_SPANS:
            del os.environ[CAPTURE]

    return restore
