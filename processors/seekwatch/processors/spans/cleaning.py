"""What a string goes through before it may enter an episode: redaction, length, valid Unicode.

Spans that others wrote to the topic were never masked by our SDK or receiver; this is the one gate
where they are. A string is cleaned once, when it is known to be kept.
"""

from typing import Final

from seekwatch.core.redaction import Redactor

MAX_TEXT: Final = 100_000
"""Characters of a question, answer, snippet or the like that are kept."""
MAX_NAME: Final = 200
"""Characters of a name (agent, model, provider, session)."""
MAX_URL: Final = 8_192
MARGIN: Final = 16_384
"""Characters beyond a limit that are still masked before the cut: longer than any secret (a PEM key
of 8192 bits has 6,400), so that no half of one is left at the end."""


class Cleaner:
    """Cleans strings with one redactor.

    Args:
        redactor: masks secrets.
    """

    __slots__ = ("redactor",)

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor

    def text(self, value: str, limit: int = MAX_TEXT) -> str:
        """Return text as it may be kept.

        Masking comes before the cut to `limit` characters; beyond `MARGIN` nothing is looked at.
        """
        return self.redactor.text(_valid(value[: limit + MARGIN]))[:limit]

    def name(self, value: str | None) -> str | None:
        """Return a short name as it may be kept; None for no name."""
        if value is None or not value.strip():
            return None
        return self.text(value.strip(), MAX_NAME)

    def optional(self, value: str | None, limit: int = MAX_TEXT) -> str | None:
        """Return text as it may be kept, or None."""
        return None if value is None else self.text(value, limit)

    def url(self, value: str) -> str:
        """Return a URL without userinfo, fragment and secrets in its query."""
        return self.redactor.url(_valid(value[:MAX_URL].strip()))

    def header(self, name: str, value: str | None) -> str | None:
        """Return a header's value as it may be kept."""
        if value is None:
            return None
        return self.redactor.attribute(name, _valid(value[:MAX_URL]))


def _valid(value: str) -> str:
    """Replace lone surrogates, which no encoder of the episode would take."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value
