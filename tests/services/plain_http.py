"""HTTP to the services, by the standard library.

Not by httpx: tests instrument httpx, and a harness that polls must leave no spans among theirs.
"""

import urllib.parse
import urllib.request
from collections.abc import Mapping

_TIMEOUT_SECONDS = 10.0


def get(url: str, parameters: Mapping[str, str] | None = None) -> bytes:
    """Return the body of a 2xx answer.

    Raises:
        OSError: nobody answers, or the status is an error (`urllib.error.HTTPError`).
    """
    if parameters:
        url = f"{url}?{urllib.parse.urlencode(parameters)}"
    with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
        body: bytes = response.read()
    return body


def post(url: str, body: bytes = b"", *, content_type: str = "application/json") -> bytes:
    """Send `body` and return the body of a 2xx answer; raises as `get` does."""
    request = urllib.request.Request(url, body, {"Content-Type": content_type}, method="POST")
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
        answer: bytes = response.read()
    return answer


def answers(url: str) -> bool:
    """Whether a GET succeeds now."""
    try:
        get(url)
    except OSError:
        return False
    return True
