"""What asking a model means, whoever does it: the answer, and the names of what goes wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

MAX_TOKENS: Final = 700
"""Of one answer: the rationale's two sentences and a quotation, with room for any script."""


class Failure(StrEnum):
    """Why there is no answer: a closed set, fit for a metric label."""

    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    """No connection, 5xx, or too many requests: later ones may go through."""
    REJECTED = "rejected"
    """The key, the model's name or the request itself was refused."""


class JudgeError(Exception):
    """A model gave no answer.

    Attributes:
        failure: what kind of.
    """

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered; tokens are None where the server does not say."""

    text: str
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None


class JudgeClient(Protocol):
    """Asks one model; safe to call from several threads."""

    model: str

    def ask(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], timeout: float
    ) -> ModelAnswer:
        """Ask once.

        Args:
            messages: of the conversation.
            schema: JSON Schema that the answer should follow.
            timeout: seconds.

        Raises:
            JudgeError: there is no answer.
        """
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
