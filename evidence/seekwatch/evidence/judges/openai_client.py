"""Asks a model behind any OpenAI-compatible endpoint, and names what went wrong.

Servers differ in how they take a schema and a limit of tokens. The strictest form is tried first;
a server that refuses it as a bad request is asked in the next one from then on.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import openai

from .asking import MAX_TOKENS, Failure, JudgeError, ModelAnswer

_RETRIES: Final = 1


class OpenAIJudge:
    """A model behind an endpoint that speaks OpenAI's chat completions.

    Args:
        endpoint: base URL, such as `https://host/v1`.
        model: its name there.
        key: API key; None for servers that ask for none.
    """

    def __init__(self, endpoint: str, model: str, key: str | None) -> None:
        self.model = model
        self._client = openai.OpenAI(base_url=endpoint, api_key=key or "none", max_retries=_RETRIES)
        self._form = 0

    def ask(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], timeout: float
    ) -> ModelAnswer:
        """Ask once, in the strictest form that the server takes."""
        forms = _forms(schema)
        while True:
            form = self._form
            try:
                return self._ask(messages, forms[form], timeout)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if form + 1 >= len(forms):
                    raise JudgeError(Failure.REJECTED, _said(error)) from error
                self._form = max(self._form, form + 1)
            except openai.APITimeoutError as error:
                raise JudgeError(Failure.TIMEOUT, f"no answer in {timeout:.3g} s") from error
            except openai.APIStatusError as error:
                later = error.status_code in (408, 409, 429) or error.status_code >= 500
                failure = Failure.UNAVAILABLE if later else Failure.REJECTED
                raise JudgeError(failure, _said(error)) from error
            except (openai.OpenAIError, ValueError) as error:
                # The client lets a body that is no JSON through as it fails to decode it.
                raise JudgeError(Failure.UNAVAILABLE, _said(error)) from error

    def _ask(
        self, messages: Sequence[Mapping[str, str]], form: Mapping[str, Any], timeout: float
    ) -> ModelAnswer:
        create = cast("Any", self._client.chat.completions.create)
        answered: Any = create(model=self.model, messages=list(messages), timeout=timeout, **form)
        choices: Any = getattr(answered, "choices", None)
        text = getattr(choices[0].message, "content", None) if choices else None
        if not isinstance(text, str):
            raise JudgeError(Failure.REJECTED, "the server answered without a text")
        usage = getattr(answered, "usage", None)
        return ModelAnswer(
            text=text,
            model=str(getattr(answered, "model", None) or self.model),
            input_tokens=_count(getattr(usage, "prompt_tokens", None)),
            output_tokens=_count(getattr(usage, "completion_tokens", None)),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _forms(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    structured = {"name": "judgement", "strict": True, "schema": schema}
    return [
        {
            "response_format": {"type": "json_schema", "json_schema": structured},
            "max_completion_tokens": MAX_TOKENS,
            "temperature": 0,
        },
        {
            "response_format": {"type": "json_object"},
            "max_tokens": MAX_TOKENS,
            "temperature": 0,
        },
        {"response_format": {"type": "json_object"}, "max_completion_tokens": MAX_TOKENS},
        {},
    ]


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 1 << 31 else None


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
