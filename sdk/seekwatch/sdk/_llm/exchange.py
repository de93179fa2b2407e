"""A finished call of a model API, as far as it was seen."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelExchange:
    """What a model was asked and what came back, in bytes."""

    host: str
    path: str
    query: str
    asked: bytes | None
    """The request's body; None where it was streamed."""
    status: int | None
    headers: Mapping[str, str]
    """The answer's headers, names in lower case; of repeated ones the last."""
    answered: bytes
    """The answer's body, content-decoded as far as it was seen."""
    whole: bool
    """False when the body was closed early, broke off or was too long to hold."""
    started_ns: int
    first_chunk_ns: int | None
    """When the first bytes of the body came, where it was streamed."""
    ended_ns: int
