"""Ids that are the same whenever the same verdict is exported, so that twice is once."""

import hashlib

SCORE_ID_LENGTH = 32


def score_id(trace: str, name: str, scorer_revision: str, trace_revision: int) -> str:
    """Return the id of one score of one trace: 32 hex digits.

    Args:
        trace: trace id.
        name: the axis, or what else is scored.
        scorer_revision: what judged; another scorer's score is another score.
        trace_revision: 1, or 2 after late spans.
    """
    text = "\x00".join((trace, name, scorer_revision, str(trace_revision)))
    return hashlib.sha256(text.encode()).hexdigest()[:SCORE_ID_LENGTH]
