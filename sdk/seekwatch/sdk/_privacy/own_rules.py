"""Redactions of the agent's developer: callables that may do anything, and must not be passed by.

A text that one of them did not clean stays in the process, and so does its span. The developer is
told which one it was, once: without that, nothing arrives and nothing says why.
"""

import logging
import threading
from collections.abc import Callable, Sequence

from seekwatch.sdk._guard import say

Rule = Callable[[str], object]
"""From text to text, if it is right."""


class RedactionFailedError(Exception):
    """A redaction of the agent's developer raised, or returned something else than text."""

    already_told = True
    """The log names the redaction; see `_guard.failed`."""


class OwnRules:
    """Applies callables one after another to a text.

    Args:
        rules: what `redact` of `instrument` had of them.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._told: set[int] = set()

    def __call__(self, text: str) -> str:
        """Return the text as they leave it.

        Raises:
            RedactionFailedError: one of them raised, or returned no text.
            KeyboardInterrupt: on the main thread, where it is the user's and not the callable's.
        """
        for number, rule in enumerate(self._rules):
            text = self._applied(number, rule, text)
        return text

    def _applied(self, number: int, rule: Rule, text: str) -> str:
        try:
            cleaned = rule(text)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and _on_main_thread():
                raise
            # Not only `Exception`: on a thread of ours `SystemExit` would end that thread alone.
            raise self._failed(number, f"raised {type(error).__qualname__}") from error
        if not isinstance(cleaned, str):
            raise self._failed(number, f"returned {type(cleaned).__qualname__} in place of str")
        # A subclass of `str` may be anything further on; its characters are what counts.
        return cleaned if type(cleaned) is str else "".join((cleaned,))

    def _failed(self, number: int, what: str) -> RedactionFailedError:
        rule = self._rules[number]
        name = str(getattr(rule, "__qualname__", type(rule).__qualname__))
        if number not in self._told:
            self._told.add(number)
            say(
                logging.WARNING,
                "the redact callable %s.%s %s: the spans with text that it did not clean stay in "
                "the process and are counted as refused; let it return a str for every str",
                getattr(rule, "__module__", "?"),
                name,
                what,
            )
        return RedactionFailedError(f"redact callable {name} {what}")


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
