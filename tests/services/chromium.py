"""Chromium for tests that drive a browser: Debian's, found on the PATH."""

import functools
import shutil

from tests.services.unavailable import UnavailableError

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
"""For a container: no user namespaces, no graphics, little shared memory."""


@functools.cache
def chromium() -> str:
    """Return the path of the browser.

    Raises:
        UnavailableError: there is none.
    """
    for name in ("chromium", "chromium-browser"):
        found = shutil.which(name)
        if found is not None:
            return found
    raise UnavailableError("no Chromium; apt-get install chromium")
