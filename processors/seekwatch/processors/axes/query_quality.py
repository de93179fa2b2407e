"""Axis 1: do the queries, taken together, still ask what the user asked?

A question may be split over several queries, so constraints, names and content words are looked
for in all of them; single queries are reported, and fail only for having nothing to do with it.
"""

from collections.abc import Sequence
from typing import Final

from seekwatch.core.model import Search
from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Check, Reason, conjunction, ratio
from seekwatch.processors.axes.joining import joined, quoted_list, unscorable_axis
from seekwatch.processors.run_view import RunView
from seekwatch.processors.text.constraints import Constraint, constraints
from seekwatch.processors.text.entities import Entity, entities
from seekwatch.processors.text.fold import fold, shortened
from seekwatch.processors.text.preservation import Queries, lost_part
from seekwatch.processors.text.words import content_words

CHECK_NAMES: Final = frozenset({"constraints", "entities", "breadth", "on-topic"})
"""`constraints`, `entities` and `breadth` decide; `on-topic` (one per query) is reported."""

_DECIDING: Final = ("constraints", "entities", "breadth")
_MAX_REPORTED: Final = 16
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


def _judged(run: RunView, question: str, asked: list[Search]) -> AxisVerdict:
    policy = run.policy.query
    spans = tuple(search.span for search in asked)
    queries = Queries([search.query or "" for search in asked], run.episode.as_of)
    wanted = constraints(question)
    lost = [(item, part) for item in wanted if (part := lost_part(item, queries)) is not None]
    names = free_entities(question, wanted)
    lost_names = [name for name in names if not entity_kept(name, queries)]
    content = content_words(question)
    kept_content = [stem for stem in content if _has_stem(stem, queries)]

    preservation = ratio(len(wanted) - len(lost), len(wanted))
    recall = ratio(len(names) - len(lost_names), len(names))
    breadth = ratio(len(kept_content), len(content))
    checks = [
        _constraint_check(preservation, lost, policy.minimum_constraints, spans),
        _entity_check(recall, names, lost_names, policy.minimum_entities, spans),
        _breadth_check(breadth, content, kept_content, policy.minimum_content, spans),
    ]
    shares = [share for share in (preservation, recall) if share is not None]
    score = _mean(min(shares, default=None), breadth)
    deciding = [check for check in checks if check is not None]
    tags = [
        tag
        for check, tag in zip(
            checks,
            (FailureTag.CONSTRAINT_DROP, FailureTag.ENTITY_LOSS, FailureTag.OVER_BROAD),
            strict=True,
        )
        if check is not None and check.verdict == "bad"
    ]
    measures = {"queries": float(len(asked)), "constraints": float(len(wanted))}
    found = {
        "constraint_preservation": preservation,
        "entity_recall": recall,
        "content_recall": breadth,
    }
    measures |= {name: share for name, share in found.items() if share is not None}
    return joined(
        Axis.QUERY_QUALITY,
        deciding,
        [*deciding, *_on_topic(asked, content, names, run)],
        conjunction(check.verdict for check in deciding),
        score=score,
        tags=tags,
        spans=spans,
        measures=measures,
        summary=f"kept {len(wanted) - len(lost)} of {len(wanted)} constraints, "
        f"{len(names) - len(lost_names)} of {len(names)} names",
        nothing=(Reason.NOT_APPLICABLE, "the question has nothing that a query could lose"),
    )


def _mean(*shares: float | None) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None


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


def _constraint_check(
    share: float | None,
    lost: list[tuple[Constraint, str]],
    minimum: float,
    spans: tuple[str, ...],
) -> Check | None:
    if share is None:
        return None
    if share >= minimum:
        return Check.good("constraints", _kept_line("constraints", share), score=share, spans=spans)
    dropped = quoted_list(part for _, part in lost)
    return Check.bad("constraints", f"dropped {dropped}", score=share, spans=spans)


def _entity_check(
    share: float | None,
    names: list[Entity],
    lost: list[Entity],
    minimum: float,
    spans: tuple[str, ...],
) -> Check | None:
    if share is None or minimum == 0:
        return None
    if share >= minimum:
        return Check.good("entities", _kept_line("names", share), score=share, spans=spans)
    line = f"lost {quoted_list(name.span for name in lost)} of {len(names)} names"
    return Check.bad("entities", line, score=share, spans=spans)


def _breadth_check(
    share: float | None,
    content: Sequence[str],
    kept: Sequence[str],
    minimum: float,
    spans: tuple[str, ...],
) -> Check | None:
    if share is None or minimum == 0:
        return None
    line = f"queries keep {len(kept)} of {len(content)} content words"
    if share >= minimum:
        return Check.good("breadth", line, score=share, spans=spans)
    return Check.bad("breadth", f"over-broad: {line}", score=share, spans=spans)


def _on_topic(
    asked: list[Search], content: Sequence[str], names: list[Entity], run: RunView
) -> list[Check]:
    """One check per query of a split question: does it share anything with what is known?"""
    if len(asked) < 2 or not content:
        return []
    checks: list[Check] = []
    for search in asked[:_MAX_REPORTED]:
        query = search.query or ""
        one = Queries([query], run.episode.as_of)
        held = sum(1 for stem in content if _has_stem(stem, one))
        subject = shortened(query, 120)
        if held or any(entity_kept(name, one) for name in names):
            line = f"«{shortened(query, 80)}» keeps {held} of {len(content)} content words"
            checks.append(
                Check.good(
                    "on-topic",
                    line,
                    score=max(held / len(content), 0.01),
                    subject=subject,
                    spans=(search.span,),
                )
            )
        elif _found_earlier(one, search, run):
            line = f"«{shortened(query, 80)}» follows an earlier result"
            checks.append(Check.good("on-topic", line, subject=subject, spans=(search.span,)))
        else:
            line = f"«{shortened(query, 80)}» shares nothing with the question or earlier results"
            checks.append(Check.bad("on-topic", line, subject=subject, spans=(search.span,)))
    return checks


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
