"""Axis 3: does the answer rest on enough independent sources, and on the right kind?

Domains are registrable ones (Public Suffix List), organisations may own several, copies of one text
count once, and a question about one site may rest on that site.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Check, Reason, Verdict, conjunction
from seekwatch.processors.axes.joining import joined, unscorable_axis
from seekwatch.processors.questions.classes import QuestionClass, class_of_question
from seekwatch.processors.sources.duplicates import copies
from seekwatch.processors.sources.run_view import RunView, Source
from seekwatch.processors.sources.source_kinds import is_primary_domain, is_regulatory, names_site
from seekwatch.processors.text.fold import shortened

CHECK_NAMES: Final = frozenset({"floor", "cap", "syndication", "primary"})
"""`floor`, `cap` and `primary` (regulatory questions only) decide; `syndication` is reported: a
copy already counts once for the floor."""


def judge(run: RunView) -> AxisVerdict:
    """Count the organisations behind the cited sources (the read pages where none is cited).

    The score is distinct organisations over the floor, at most 1; over the cap it is at most
    cap / most citations of one; 0 for a regulatory question without a primary source.
    """
    if run.unanswered is not None:
        return unscorable_axis(Axis.SOURCE_DIVERSITY, *run.unanswered)
    basis, sources = run.basis
    if not sources:
        return unscorable_axis(
            Axis.SOURCE_DIVERSITY, Reason.NO_SOURCES, "no source was cited or read"
        )
    if not run.episode.question:
        return unscorable_axis(
            Axis.SOURCE_DIVERSITY,
            Reason.NO_QUESTION,
            "the question is not known, and with it how many sources it asks for",
        )
    return _judged(run, run.episode.question, sources, basis)


def _judged(run: RunView, question: str, sources: Sequence[Source], basis: str) -> AxisVerdict:
    notes = {"sources": basis, "class": class_of_question(question).value}
    copied = copies([source.text for source in sources], run.policy.diversity.near_duplicate)
    counts = _organisation_counts(run, sources, basis)
    originals = {run.organisation(s) for i, s in enumerate(sources) if i not in copied}
    about = _about_one(question, originals)
    if about:
        notes["about"] = about
    floor = _floor_check(run, notes["class"], originals, sources, copied, about)
    cap = _cap_check(run, counts, about, basis)
    primary = _primary_check(run, question, sources)
    syndication = _syndication_check(sources, copied)
    deciding = [check for check in (primary, floor, cap) if check is not None]
    every = [check for check in (floor, cap, syndication, primary) if check is not None]
    tagged = (
        (floor, FailureTag.MONOCULTURE),
        (cap, FailureTag.DOMAIN_CAP),
        (syndication, FailureTag.SYNDICATED),
        (primary, FailureTag.NO_PRIMARY),
    )
    scores = [check.score for check in deciding if check.score is not None]
    return joined(
        Axis.SOURCE_DIVERSITY,
        deciding,
        every,
        conjunction(check.verdict for check in deciding),
        score=min(scores),
        tags=[tag for check, tag in tagged if check and check.verdict is Verdict.BAD],
        spans=[*run.answer_spans, *(span for source in sources for span in source.spans)],
        measures=_measures(run, sources, counts, originals, copied),
        notes=notes,
        nothing=(Reason.NO_SOURCES, "no source was cited or read"),
    )


def _organisation_counts(run: RunView, sources: Sequence[Source], basis: str) -> "Counter[str]":
    """Citations of each organisation, repeated ones included."""
    if basis == "cited":
        cited = [run.source_of(citation.url) for citation in run.citations]
        return Counter(run.organisation(source) for source in cited)
    return Counter(run.organisation(source) for source in sources)


def _about_one(question: str, organisations: set[str]) -> str:
    """The organisation that the question is about, or empty."""
    return next((name for name in sorted(organisations) if names_site(question, name)), "")


def _floor_check(
    run: RunView,
    question_class: str,
    originals: set[str],
    sources: Sequence[Source],
    copied: dict[int, int],
    about: str,
) -> Check:
    policy = run.policy.diversity
    synthesis = question_class == QuestionClass.SYNTHESIS
    floor = policy.floor_synthesis if synthesis else policy.floor_factual
    spans = [span for source in sources for span in source.spans]
    distinct = len(originals)
    line = f"{distinct} independent of {len(sources)} sources, floor {floor} ({question_class})"
    if copied:
        line += f", {len(copied)} copies counted once"
    score = min(1.0, distinct / floor)
    if distinct >= floor:
        return Check.good("floor", line, score=score, spans=spans)
    if about:
        return Check.good("floor", f"the question is about {about}; {line}", spans=spans)
    names = ", ".join(sorted(originals)[:3])
    return Check.bad("floor", f"{line}: {shortened(names, 90)}", score=score, spans=spans)


def _cap_check(run: RunView, counts: "Counter[str]", about: str, basis: str) -> Check | None:
    cap = run.policy.diversity.domain_cap
    if cap == 0 or basis != "cited":
        return None
    over = sorted((-count, name) for name, count in counts.items() if count > cap and name != about)
    if not over:
        return Check.good(
            "cap", f"no domain is cited more than {cap} times", spans=run.answer_spans
        )
    count, name = -over[0][0], over[0][1]
    line = f"{name} is cited {count} times, cap {cap}"
    return Check.bad("cap", line, score=cap / count, subject=name, spans=run.answer_spans)


def _syndication_check(sources: Sequence[Source], copied: dict[int, int]) -> Check | None:
    if sum(1 for source in sources if source.text) < 2:
        return None
    if not copied:
        return Check.good("syndication", "no two sources carry the same text")
    copy, origin = next(iter(copied.items()))
    line = (
        f"{shortened(sources[copy].url, 85)} carries the text of "
        f"{shortened(sources[origin].url, 85)}"
    )
    spans = [*sources[copy].spans, *sources[origin].spans]
    return Check.bad("syndication", line, subject=sources[copy].url, spans=spans)


def is_primary(run: RunView, source: Source) -> bool:
    """Tell whether a source speaks for itself on this question."""
    site, host = source.site or "", source.host or ""
    return (
        site in run.policy.diversity.primary_domains
        or host in run.policy.diversity.primary_domains
        or is_primary_domain(host)
        or (bool(site) and names_site(run.episode.question or "", site))
    )


def _primary_check(run: RunView, question: str, sources: Sequence[Source]) -> Check | None:
    if not is_regulatory(question):
        return None
    primary = [source for source in sources if is_primary(run, source)]
    if primary:
        line = f"primary source: {shortened(primary[0].url, 120)}"
        return Check.good("primary", line, spans=primary[0].spans)
    line = f"regulatory question, none of {len(sources)} sources is primary"
    return Check.bad("primary", line, spans=run.answer_spans)


def _measures(
    run: RunView,
    sources: Sequence[Source],
    counts: "Counter[str]",
    originals: set[str],
    copied: dict[int, int],
) -> dict[str, float]:
    total = sum(counts.values())
    return {
        "sources": float(len(sources)),
        "citations": float(len(run.citations)),
        "domains": float(len({source.site or source.key for source in sources})),
        "independent": float(len(originals)),
        "copies": float(len(copied)),
        "top_share": max(counts.values()) / total,
        "concentration": sum((count / total) ** 2 for count in counts.values()),
        "primary_share": sum(is_primary(run, source) for source in sources) / len(sources),
    }
