"""How our own log lines look: text for people, JSON for machines, always on standard error."""

import json
import logging
from datetime import UTC, datetime
from typing import Final

from seekwatch.monitor.settings.model import LogFormat, LoggingSettings

_TEXT: Final = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
_NOISY: Final = ("httpcore", "httpx", "kafka", "uvicorn", "opentelemetry", "grpc")


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, logger, message, and the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        time = datetime.fromtimestamp(record.created, UTC)
        line = {
            "time": time.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure_logging(settings: LoggingSettings) -> None:
    """Send everything to standard error; other people's libraries speak only when it is serious."""
    handler = logging.StreamHandler()
    if settings.format is LogFormat.JSON:
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(logging.Formatter(_TEXT, datefmt="%H:%M:%S"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    for name in _NOISY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
