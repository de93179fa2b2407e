"""Claims of the labelled sets, judged as the citation axis judges them."""

from collections.abc import Sequence

from seekwatch.core.policy import CitationPolicy
from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.statements import own_words
from seekwatch.processors.text.support import Support, support_of

_HALF = 0.5


def support_score(claim: str, pages: Sequence[str]) -> float:
    """Return the number of a claim's support check, 0 to 1."""
    found = _support(claim, pages)
    return min(found.overlap, _HALF) if found.missing_numbers else found.overlap


def supported(claim: str, pages: Sequence[str]) -> bool:
    """Tell whether the check calls a claim supported, by the default policy."""
    found = _support(claim, pages)
    return found.overlap >= CitationPolicy().support_overlap and not found.missing_numbers


def _support(claim: str, pages: Sequence[str]) -> Support:
    return support_of(own_words(claim), [fold(page) for page in pages])
