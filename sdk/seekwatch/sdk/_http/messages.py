"""One form for the requests and answers of every HTTP library that an agent may use.

Each library has a pair of adapters in `_stacks`. An adapter only holds the library's own object;
what is asked of it is worked out when it is asked, mostly on the finisher's thread.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Hop:
    """An answer that led on to another URL."""

    url: str
    status: int | None
    location: str | None


class RequestView(Protocol):
    """A request as the agent's library is about to send it."""

    @property
    def method(self) -> str:
        """Upper case."""
        ...

    @property
    def url(self) -> str:
        """The whole URL."""
        ...

    @property
    def scheme(self) -> str:
        """Lower case."""
        ...

    @property
    def host(self) -> str:
        """Lower case."""
        ...

    @property
    def port(self) -> int | None:
        """None for the scheme's own."""
        ...

    @property
    def path(self) -> str:
        """Decoded."""
        ...

    @property
    def query(self) -> str:
        """Still encoded, without the question mark."""
        ...

    def header(self, name: str) -> str | None:
        """Return a header's value, whatever the case of its name."""
        ...

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return every header, names in lower case, repeated ones apart."""
        ...

    def body(self) -> bytes | None:
        """Return the body where it is held; one that is streamed is not waited for."""
        ...


class ResponseView(Protocol):
    """An answer as the agent's library hands it over."""

    @property
    def status(self) -> int:
        """The status code."""
        ...

    @property
    def url(self) -> str:
        """Where it came from, after every redirect."""
        ...

    def header(self, name: str) -> str | None:
        """Return a header's value, whatever the case of its name."""
        ...

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return every header, names in lower case, repeated ones apart."""
        ...

    def content(self) -> bytes | None:
        """Return the content-decoded body where the library holds it."""
        ...

    def wire_bytes(self) -> int | None:
        """Return how many bytes of body came over the wire, where the library counts them."""
        ...

    def hops(self) -> Sequence[Hop]:
        """Return the answers before this one, as far as the library keeps them."""
        ...

    def from_cache(self) -> bool | None:
        """Tell whether a cache of the library's answered; None where it does not say."""
        ...
