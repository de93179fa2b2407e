"""What is asked of a citation's content: does the page hold the quotation and support the claim?

Per quotation and per claim, never per answer, so that the line names the sentence that fails.
"""

from collections.abc import Sequence
from typing import Final

from seekwatch.core.model import Claim
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Check, Reason, Verdict
from seekwatch.processors.axes.link_checks import Finding
from seekwatch.processors.sources.page_kinds import USABLE, PageKind
from seekwatch.processors.sources.run_view import RunView, Source, is_success
from seekwatch.processors.text.fold import shortened
from seekwatch.processors.text.passages import quotations, searchable, stands_on
from seekwatch.processors.text.statements import own_words, states_something
from seekwatch.processors.text.support import Support, support_of

MAX_CLAIMS: Final = 100
"""Claims of one answer that are compared with pages."""
_MAX_QUOTES: Final = 8
"""Quotations of one source that are looked up."""
_MAX_LOOKED_UP: Final = 64
"""Of one answer, about: looking for one that is nowhere costs milliseconds."""
_QUOTE_LENGTH: Final = 600
"""Characters of a quotation that are compared: who quotes so much right does not go on wrong."""


def passage_checks(run: RunView, source: Source) -> list[Finding]:
    """One check per passage that the answer quotes from this source."""
    most = min(_MAX_QUOTES, max(1, _MAX_LOOKED_UP // len(run.cited)))
    return [
        _passage_check(run, source, quote[:_QUOTE_LENGTH]) for quote in _quotes(run, source)[:most]
    ]


def _quotes(run: RunView, source: Source) -> list[str]:
    """Passages named in citations of this source, and quotations in claims that cite it alone."""
    answer = run.episode.answer
    if answer is None:
        return []
    mine = {
        index
        for index, citation in enumerate(run.citations)
        if run.source_of(citation.url).key == source.key
    }
    quotes = [run.citations[index].quote or "" for index in sorted(mine)]
    for claim in answer.claims[:MAX_CLAIMS]:
        if claim.citations and set(claim.citations) <= mine:
            quotes += quotations(claim.text)
    return [quote for quote in dict.fromkeys(quotes) if quote.strip()]


def _passage_check(run: RunView, source: Source, quote: str) -> Finding:
    name, similarity = "passage", run.policy.citation.passage_similarity
    said = f"«{shortened(quote, 90)}»"
    url, subject, spans = shortened(source.url, 80), source.url, source.spans
    readable = source.kind in USABLE and bool(source.searchable)
    if readable and stands_on(quote, source.searchable, similarity):
        return Check.good(name, f"{said} is on {url}", subject=subject, spans=spans), None
    if source.snippet and stands_on(quote, searchable(source.snippet), similarity):
        line = f"{said} is in the search result of {url}"
        return Check.good(name, line, subject=subject, spans=spans), None
    if readable and source.partial:
        line = f"{said} is not in the part of {url} that the trace holds"
        return Check.unscorable(name, Reason.TRUNCATED, line, subject=subject, spans=spans), None
    if readable:
        return _missing(run, source, quote)
    if source.fetch is not None and _denied(source):
        line = f"{said} is quoted from {url}, which denied the agent access"
        return Check.bad(name, line, subject=subject, spans=spans), FailureTag.PASSAGE_MISSING
    line = f"{said}: no page of {url} in the trace to look it up in"
    return Check.unscorable(name, Reason.NOT_FETCHED, line, subject=subject, spans=spans), None


def _denied(source: Source) -> bool:
    fetch = source.fetch
    denied = source.kind in (PageKind.BLOCKED, PageKind.LOGIN, PageKind.CHALLENGE)
    return fetch is not None and denied and not is_success(fetch)


def _missing(run: RunView, source: Source, quote: str) -> Finding:
    said, url = f"«{shortened(quote, 80)}»", shortened(source.url, 60)
    for other in run.used[:40]:
        if other.key != source.key and stands_on(quote, other.searchable):
            line = f"{said} is not on {url} but on {shortened(other.url, 50)}"
            spans = [*source.spans, *other.spans]
            bad = Check.bad("passage", line, subject=source.url, spans=spans)
            return bad, FailureTag.CITATION_MISMATCH
    bad = Check.bad("passage", f"{said} is not on {url}", subject=source.url, spans=source.spans)
    return bad, FailureTag.PASSAGE_MISSING


def support_checks(run: RunView) -> list[Check]:
    """One check per claim that has citations (all of them, where their places are not known)."""
    answer = run.episode.answer
    if answer is None:
        return []
    placed = any(claim.citations for claim in answer.claims)
    checks: list[Check] = []
    for claim in answer.claims[:MAX_CLAIMS]:
        indices = claim.citations if placed else tuple(range(len(run.citations)))
        sources = {
            (source := run.source_of(run.citations[index].url)).key: source
            for index in indices
            if 0 <= index < len(run.citations)
        }
        if sources and states_something(claim.text):
            checks.append(_support_check(run, claim, list(sources.values())))
    return checks


def _support_check(run: RunView, claim: Claim, sources: Sequence[Source]) -> Check:
    words = own_words(claim.text)
    said, subject = f"«{shortened(words, 90)}»", claim.text
    spans = [*run.answer_spans, *(span for source in sources for span in source.spans)]
    usable = [s for s in sources if s.folded and (not s.text or s.kind in USABLE)]
    support = support_of(
        words, [source.folded for source in usable], run.policy.citation.support_overlap
    )
    url = shortened((usable or list(sources))[0].url, 70)
    if len(usable) > 1:
        url = f"{url} and {len(usable) - 1} more"
    if usable and _supports(run, support):
        line, score = f"{said} is supported by {url}", support.overlap
        return Check.good("support", line, score=score, subject=subject, spans=spans)
    if not usable or any(source.partial for source in sources):
        line, reason = f"{said}: a cited page was not read whole", Reason.NOT_FETCHED
        return Check.unscorable("support", reason, line, subject=subject, spans=spans)
    missing = ", ".join(support.missing_numbers[:3])
    why = f"lacks {missing}" if missing else f"holds {support.overlap:.0%} of its words"
    score = min(support.overlap, 0.5)
    return Check.bad("support", f"{said}: {url} {why}", score=score, subject=subject, spans=spans)


def _supports(run: RunView, support: Support) -> bool:
    return support.overlap >= run.policy.citation.support_overlap and not support.missing_numbers


def cited_check(run: RunView, judged: int) -> Finding | None:
    """How many claims have a citation; None where that cannot be told or does not matter.

    Args:
        run: with an answer.
        judged: how many citations the answer has.
    """
    answer = run.episode.answer
    if answer is None:
        return None
    stating = [claim for claim in answer.claims if states_something(claim.text)]
    minimum = run.policy.citation.minimum_cited
    if not judged or not stating or minimum == 0:
        return None
    cited = sum(1 for claim in stating if claim.citations)
    if not cited:
        line = "citations are not placed in the text; every claim is checked against all of them"
        return Check.good("claims-cited", line, spans=run.answer_spans), None
    share = cited / len(stating)
    line = f"{cited} of {len(stating)} claims have a citation"
    if share >= minimum:
        return Check.good("claims-cited", line, score=share, spans=run.answer_spans), None
    first = next(claim for claim in stating if not claim.citations)
    line += f"; without: «{shortened(own_words(first.text), 90)}»"
    bad = Check.bad("claims-cited", line, score=share, spans=run.answer_spans)
    return bad, FailureTag.UNCITED_CLAIM


def support_share(checks: Sequence[Check]) -> float | None:
    """Share of the judged claims that are supported; None when none was judged."""
    judged = [check for check in checks if check.verdict is not Verdict.UNSCORABLE]
    if not judged:
        return None
    return sum(1 for check in judged if check.verdict is Verdict.GOOD) / len(judged)
