"""What an error message may show of a setting's value: everything but secrets.

A misspelt key is not on any list, so a name that is only *near* to a secret's is masked too.
"""

import difflib
import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from seekwatch.core.redaction import MASK, SECRET_KEY

_SECRET_WORDS: Final = ("token", "password", "passwd", "secret", "authorization", "key", "headers")
_NEAR: Final = 0.75
"""Likeness (difflib's ratio) from which a word is taken for a misspelt one."""


def shown(key: str, value: Any) -> Any:
    """Return `value`, or a mask for a secret, or an ellipsis for a section that may hold one."""
    if isinstance(value, Mapping | BaseModel):
        return "…"
    last = re.split(r"__|\.", key.split(" (")[0])[-1].lower()
    if SECRET_KEY.fullmatch(last) or any(_is_secret(word) for word in re.split(r"[_-]", last)):
        return MASK
    return "…" if isinstance(value, list) else value


def _is_secret(word: str) -> bool:
    return bool(difflib.get_close_matches(word, _SECRET_WORDS, n=1, cutoff=_NEAR))
