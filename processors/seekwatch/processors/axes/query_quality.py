"""Axis 1: do the queries, taken together, still ask what the user asked?

A question may be split over several queries, so constraints, names and content words are looked
for in all of them; single queries are reported, and fail only for having nothing to do with it.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from seekwatch.core.model import Search, StopReason
from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Check, Reason, Verdict, conjunction, ratio
from seekwatch.processors.axes.joining import joined, quoted_list, unscorable_axis
from seekwatch.processors.sources.run_view import RunView
from seekwatch.processors.text.constraints import Constraint, constraints
from seekwatch.processors.text.entities import Entity, entities
from seekwatch.processors.text.fold import fold, shortened
from seekwatch.processors.text.preservation import Queries, lost_part
from seekwatch.processors.text.words import content_words

CHECK_NAMES: Final = frozenset({"constraints", "entities", "breadth", "on-topic"})
"""`constraints`, `entities` and `breadth` decide; `on-topic` (one per query) is reported."""

_DECIDING: Final = ("constraints", "entities", "breadth")
_MAX_REPORTED: Final = 16
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_ENTITY_SHARE: Final = 0.5
"""Share of a name's words that a query must hold for the name to count as kept."""


def judge(run: RunView) -> AxisVerdict:
    """Compare the question with the queries.

    The score is the mean of two shares: the lower of constraint preservation and entity recall, and
    content recall (each 0 to 1). Key terms tell best on split questions, content words on single
    rewrites; the mean is the better of neither and good on both.
    """
    episode = run.episode
    asked = [search for search in episode.searches if search.query]
    if not episode.question:
        reason = Reason.NO_CONTENT if episode.completeness.withheld else Reason.NO_QUESTION
        return unscorable_axis(Axis.QUERY_QUALITY, reason, "the trace does not hold the question")
    if not asked:
        reason = Reason.NO_CONTENT if episode.completeness.withheld else Reason.NO_QUERY
        return unscorable_axis(
            Axis.QUERY_QUALITY, reason, "no query was seen", spans=(episode.root,)
        )
    return _judged(run, episode.question, asked)


class _Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A question against all queries: what it asks for, and what of it went missing."""

    wanted: tuple[Constraint, ...]
    lost: list[tuple[Constraint, str]]
    names: list[Entity]
    lost_names: list[Entity]
    content: Sequence[str]
    kept: list[str]

    @property
    def preservation(self) -> float | None:
        """Share of the constraints that are kept; None without any."""
        return ratio(len(self.wanted) - len(self.lost), len(self.wanted))

    @property
    def recall(self) -> float | None:
        """Share of the names that are kept; None without any."""
        return ratio(len(self.names) - len(self.lost_names), len(self.names))

    @property
    def breadth(self) -> float | None:
        """Share of the content words that are kept; None without any."""
        return ratio(len(self.kept), len(self.content))

    @property
    def score(self) -> float | None:
        """Mean of key terms and content words, of what there is."""
        key_terms = [share for share in (self.preservation, self.recall) if share is not None]
        shares = [*([min(key_terms)] if key_terms else []), self.breadth]
        known = [share for share in shares if share is not None]
        return sum(known) / len(known) if known else None

    @property
    def summary(self) -> str:
        """The line of a good verdict."""
        constraints_kept = f"{len(self.wanted) - len(self.lost)} of {len(self.wanted)} constraints"
        names_kept = f"{len(self.names) - len(self.lost_names)} of {len(self.names)} names"
        return f"kept {constraints_kept}, {names_kept}"

    def measures(self) -> dict[str, float]:
        """The shares that exist, and the score on a scale from 1 (nothing kept) to 5 (all)."""
        score = self.score
        shares = {
            "constraint_preservation": self.preservation,
            "entity_recall": self.recall,
            "content_recall": self.breadth,
            "scale": None if score is None else 1.0 + 4.0 * score,
        }
        return {name: share for name, share in shares.items() if share is not None}


def _compare(question: str, queries: Queries) -> _Compared:
    wanted = constraints(question)
    names = free_entities(question, wanted)
    content = content_words(asking_part(question))
    return _Compared(
        wanted=wanted,
        lost=[(item, part) for item in wanted if (part := lost_part(item, queries)) is not None],
        names=names,
        lost_names=[name for name in names if not entity_kept(name, queries)],
        content=content,
        kept=[stem for stem in content if _has_stem(stem, queries)],
    )


def _unseen_queries(run: RunView) -> tuple[Reason, str] | None:
    """Why there may be queries that were not seen, or were never sent through no fault of theirs.

    What is lost is then no finding; what is kept still is.
    """
    episode = run.episode
    if not episode.completeness.complete:
        return Reason.INCOMPLETE_TRACE, "the trace is incomplete"
    if any(search.query is None for search in episode.searches):
        return Reason.NO_QUERY, "the query of a search was not seen"
    stopped = episode.stop_reason in (StopReason.DEADLINE, StopReason.BUDGET, StopReason.CRASHED)
    if stopped and episode.answer is None:
        return Reason.NO_ANSWER, f"the run was stopped ({episode.stop_reason}) before its answer"
    return None


def _excused(check: Check | None, unseen: tuple[Reason, str] | None) -> Check | None:
    """A failed check where queries may be missing: open, with what was not found so far."""
    if check is None or unseen is None or check.verdict is not Verdict.BAD:
        return check
    line = f"{unseen[1]}; so far: {check.evidence}"
    return Check.unscorable(check.name, unseen[0], line, spans=check.spans)


def _judged(run: RunView, question: str, asked: list[Search]) -> AxisVerdict:
    policy = run.policy.query
    spans = tuple(search.span for search in asked)
    found = _compare(question, Queries([search.query or "" for search in asked], run.episode.as_of))
    judged = (
        (_constraint_check(found, policy.minimum_constraints, spans), FailureTag.CONSTRAINT_DROP),
        (_entity_check(found, policy.minimum_entities, spans), FailureTag.ENTITY_LOSS),
        (_breadth_check(found, policy.minimum_content, spans), FailureTag.OVER_BROAD),
    )
    unseen = _unseen_queries(run)
    tagged = [(_excused(check, unseen), tag) for check, tag in judged]
    deciding = [check for check, _ in tagged if check is not None]
    return joined(
        Axis.QUERY_QUALITY,
        deciding,
        [*deciding, *_on_topic(asked, found, run)],
        conjunction(check.verdict for check in deciding),
        score=found.score,
        tags=[tag for check, tag in tagged if check and check.verdict is Verdict.BAD],
        spans=spans,
        measures={
            "queries": len(asked),
            "constraints": len(found.wanted),
            **found.measures(),
        },
        summary=found.summary,
        nothing=(Reason.NOT_APPLICABLE, "the question has nothing that a query could lose"),
    )


def asking_part(question: str) -> str:
    """Return the sentences that ask, where some do: a remark around them is nothing to search for.

    Names and constraints of the remark still count; only its other words do not.
    """
    sentences = _SENTENCE_END.split(question)
    asking = [sentence for sentence in sentences if sentence.rstrip().endswith(("?", "？"))]
    return " ".join(asking) if asking else question


def free_entities(question: str, wanted: tuple[Constraint, ...]) -> list[Entity]:
    """Names of the question that are not already judged as constraints."""
    return [
        name
        for name in entities(question)
        if not any(name.start < item.end and item.start < name.end for item in wanted)
    ]


def entity_kept(name: Entity, queries: Queries) -> bool:
    """Tell whether a query names it: as text, by enough of its words, or by its initials."""
    if not name.stems:
        return fold(name.span) in queries.folded
    held = sum(1 for stem in name.stems if _has_stem(stem, queries))
    if held / len(name.stems) > _ENTITY_SHARE or held == len(name.stems):
        return True
    if len(name.stems) == 2 and held == 1 and _has_stem(name.stems[-1], queries):
        return True
    return bool(name.acronym) and f" {name.acronym} " in queries.plain


def _has_stem(stem: str, queries: Queries) -> bool:
    return stem in queries.stems or (not stem.isascii() and stem in queries.folded)


def _constraint_check(found: _Compared, minimum: float, spans: tuple[str, ...]) -> Check | None:
    share = found.preservation
    if share is None:
        return None
    if share >= minimum:
        return Check.good("constraints", _kept_line("constraints", share), score=share, spans=spans)
    line = f"dropped {quoted_list(part for _, part in found.lost)}"
    return Check.bad("constraints", line, score=share, spans=spans)


def _entity_check(found: _Compared, minimum: float, spans: tuple[str, ...]) -> Check | None:
    share = found.recall
    if share is None or minimum == 0:
        return None
    if share >= minimum:
        return Check.good("entities", _kept_line("names", share), score=share, spans=spans)
    lost = quoted_list(name.span for name in found.lost_names)
    line = f"lost {lost} of {len(found.names)} names"
    return Check.bad("entities", line, score=share, spans=spans)


def _breadth_check(found: _Compared, minimum: float, spans: tuple[str, ...]) -> Check | None:
    share = found.breadth
    if share is None or minimum == 0:
        return None
    line = f"queries keep {len(found.kept)} of {len(found.content)} content words"
    if share >= minimum:
        return Check.good("breadth", line, score=share, spans=spans)
    return Check.bad("breadth", f"over-broad: {line}", score=share, spans=spans)


def _on_topic(asked: list[Search], found: _Compared, run: RunView) -> list[Check]:
    """One check per query of a split question: does it share anything with what is known?"""
    if len(asked) < 2 or not found.content:
        return []
    return [_topic_check(search, found, run) for search in asked[:_MAX_REPORTED]]


def _topic_check(search: Search, found: _Compared, run: RunView) -> Check:
    query = search.query or ""
    one = Queries([query], run.episode.as_of)
    held = sum(1 for stem in found.content if _has_stem(stem, one))
    subject, spans, said = shortened(query, 120), (search.span,), f"«{shortened(query, 80)}»"
    if held or any(entity_kept(name, one) for name in found.names):
        line = f"{said} keeps {held} of {len(found.content)} content words"
        score = max(held / len(found.content), 0.01)
        return Check.good("on-topic", line, score=score, subject=subject, spans=spans)
    if _found_earlier(one, search, run):
        line = f"{said} follows an earlier result"
        return Check.good("on-topic", line, subject=subject, spans=spans)
    line = f"{said} shares nothing with the question or earlier results"
    return Check.bad("on-topic", line, subject=subject, spans=spans)


def _found_earlier(query: Queries, search: Search, run: RunView) -> bool:
    """Tell whether the query takes up a word that an earlier search or page brought."""
    for source in run.sources.values():
        earlier = any(found.start < search.start for found, _ in source.results)
        text = fold(source.snippet or "") if earlier else ""
        if any(fetch.start < search.start for fetch in source.fetches) and source.text:
            text += fold(source.text)
        if text and any(stem in text for stem in query.stems):
            return True
    return False


def _kept_line(what: str, share: float) -> str:
    return f"all {what} kept" if share == 1 else f"{share:.0%} of the {what} kept"
