"""A claim's own words, and whether it states anything that a source could support."""

import re
from typing import Final

from seekwatch.processors.text.fold import single_spaced
from seekwatch.processors.text.words import content_words

_MARK: Final = re.compile(
    r"\s*(?:\[\^?[\w.,\- ]{1,20}\](?:\(<?https?://[^\s)]*\)?)?|【[^】\n]{1,60}】|"
    r"\(?\[[^\]\n]{1,120}\]\(https?://[^)\s]+\)\)?"
    r"|[¹²³⁴-⁹]+)"
)
_URL: Final = re.compile(r"https?://\S+")
_LOOSE: Final = re.compile(r"\s+([.,;:!?。，；！？])")
_MINIMUM: Final = 3


def own_words(claim: str) -> str:
    """The claim without citation marks and addresses."""
    # Single spaces first: from a long run of them the patterns would be tried at every one.
    text = _URL.sub(" ", _MARK.sub(" ", single_spaced(claim)))
    return _LOOSE.sub(r"\1", single_spaced(text)).strip()


def states_something(claim: str) -> bool:
    """Tell whether a sentence says something to be supported: no question, no lead-in."""
    own = own_words(claim)
    if not own or own.endswith(("?", "？", ":", "：")):
        return False
    stems = content_words(own)
    return len(stems) >= _MINIMUM or (bool(stems) and any(map(str.isdigit, own)))
