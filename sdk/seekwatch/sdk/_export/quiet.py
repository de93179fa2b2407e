"""Keeps the stock exporters from telling an agent's log the same thing every few seconds.

A collector that is down makes them log each attempt and each batch. Ours is said once, by us; what
they say while they work for us goes to our own logger, for debugging. Exporters of others speak as
before.
"""

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from seekwatch.sdk._guard import is_said, say

_SPEAKERS: Final = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "opentelemetry.exporter.otlp.proto.grpc.exporter",
    "urllib3.connection",
    "urllib3.connectionpool",
)
_ours = threading.local()
# Reentrant: a signal may interrupt an export here and export in its turn.
_lock = threading.RLock()
_state = {"exporting": 0, "wanted": 0}


class _OncePerKind(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        """Let a record pass unless it was made by an export of ours."""
        if not getattr(_ours, "exporting", False):
            return True
        if is_said(logging.DEBUG):
            say(logging.DEBUG, "the exporter said: %s", record.getMessage())
        return False


_filter = _OncePerKind()


@contextmanager
def quietly() -> Generator[None]:
    """Mark what this thread does in the block as an export of ours."""
    _ours.exporting = True
    with _lock:
        _state["exporting"] += 1
    try:
        yield
    finally:
        _ours.exporting = False
        with _lock:
            _state["exporting"] -= 1
            _remove_where_done()


def install() -> None:
    """Listen to the stock exporters and what they send by; doing it again changes nothing."""
    with _lock:
        _state["wanted"] = True
        for name in _SPEAKERS:
            logging.getLogger(name).addFilter(_filter)


def uninstall() -> None:
    """Leave the stock exporters to themselves, once what was given up in one of ours is over."""
    with _lock:
        _state["wanted"] = False
        _remove_where_done()


def reset_after_fork() -> None:
    """Forget the exports of the parent, whose threads are not there."""
    global _lock
    _lock = threading.RLock()
    _ours.exporting = False
    _state["exporting"] = 0


def _remove_where_done() -> None:
    if not _state["wanted"] and not _state["exporting"]:
        for name in _SPEAKERS:
            logging.getLogger(name).removeFilter(_filter)
