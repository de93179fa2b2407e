"""At most one worker per file: an advisory lock that the kernel lets go when its process dies."""

import fcntl
import os
from pathlib import Path

from seekwatch.core.errors import ConfigurationError


class WorkerLock:
    """Held from construction until `release()`.

    Raises:
        ConfigurationError: another worker, in this process or another, holds it.
    """

    def __init__(self, path: Path) -> None:
        # A file of its own: SQLite's own locks on the log are per process and would be lost when
        # any other descriptor of that file is closed here.
        self._descriptor = os.open(f"{path}.worker", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._descriptor)
            raise ConfigurationError(
                "embedded.path",
                str(path),
                "another worker reads this file; stop it, or give this one a file of its own",
            ) from error

    def release(self) -> None:
        """Let the next worker in."""
        os.close(self._descriptor)
