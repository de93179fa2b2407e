"""A request to a model API as the HTTP layer hands it on, for what is asked before a call."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

NAMED = b'{"model": "m"}'


@dataclass
class Call:
    """A request as the HTTP layer hands it on."""

    url: str
    method: str = "POST"
    data: bytes | None = NAMED
    sent: dict[str, str] = field(default_factory=dict[str, str])
    asked: int = 0
    """How often the body was looked at."""

    @property
    def scheme(self) -> str:
        return urlsplit(self.url).scheme

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int | None:
        return urlsplit(self.url).port

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.url).path)

    @property
    def query(self) -> str:
        return urlsplit(self.url).query

    def header(self, name: str) -> str | None:
        return self.sent.get(name)

    def headers(self) -> Iterable[tuple[str, str]]:
        return self.sent.items()

    def body(self) -> bytes | None:
        self.asked += 1
        return self.data
