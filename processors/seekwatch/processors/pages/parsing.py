"""An HTML page taken apart once: title, visible text, metadata, and the tree for closer looks.

Passages are searched in the text later, so its order is the page's, words that stand in one
paragraph stay together, and neighbouring blocks are parted by a space.
"""

import re
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from seekwatch.processors.spans.cleaning import MARGIN

MAX_TEXT: Final = 40_000
"""Characters of visible text that are kept, once masked."""
MAX_TITLE: Final = 500

_BLOCK: Final = re.compile(
    r"<(?=/?(?:[pP](?:re|RE)?|[dD](?:iv|IV|[ldtLDT]|etails)|[lL](?:[iI]|egend|abel)|[uUoO][lL]|"
    r"[tT](?:[dhrDHR]|able|ABLE|itle|ITLE)|[hH](?:[1-6rR]|eader)|[bB](?:[rR]|lockquote|LOCKQUOTE|"
    r"ody|ODY|utton)|s(?:ection|elect|ummary)|a(?:rticle|side|ddress)|nav|main|f(?:ooter|igure|"
    r"igcaption|orm|ieldset)|option|[iI](?:nput|NPUT))[\s/>])"
)
"""Where a block begins or ends. Letter by letter: as fast as a plain scan for `<`."""
_PIECES: Final = 64
_MAX_UNCLOSED: Final = 8_000
_MAX_NOSCRIPTS: Final = 100
_MAX_NOSCRIPT: Final = 4_000
_INVISIBLE: Final = ["script", "style", "template", "svg", "noscript", "head", "iframe", "object"]
_HIDDEN: Final = '[hidden], [style*="display:none"], [style*="display: none"]'


@dataclass(slots=True)
class ParsedPage:
    """One page.

    Attributes:
        source: the HTML as it came.
        tree: for `css` look-ups; scripts are still in it.
        metas: content of each `meta` by its lower-case name, property, itemprop or http-equiv.
        noscript: what readers without scripts see, as HTML; the tree has none of it.
        text: visible text, white space folded; empty when there is none.
        canonical: as written, maybe relative.
    """

    source: str
    tree: LexborHTMLParser
    title: str | None
    metas: dict[str, str]
    language: str | None
    canonical: str | None
    noscript: str = ""
    text: str = ""


def bounded(source: str) -> tuple[str, bool]:
    """Cut HTML where it opens far more elements than it closes; say whether it was cut.

    A parser's work grows with the square of the nesting: 100,000 open `div`s keep it busy for half
    a minute. Counting marks per piece is enough to see that coming, and costs next to nothing.
    """
    size = max(1, len(source) // _PIECES + 1)
    unclosed = 0
    for start in range(0, len(source), size):
        end = start + size
        closing = source.count("</", start, end)
        unclosed += source.count("<", start, end) - 2 * closing
        if unclosed > _MAX_UNCLOSED:
            return source[:start] or source[: _MAX_UNCLOSED * 8], True
    return source, False


def parse_page(source: str) -> ParsedPage:
    """Parse HTML that is `bounded`; anything is HTML to a browser, so this never fails."""
    source, noscript = _without_noscript(source)
    tree = LexborHTMLParser(_BLOCK.sub(" <", source))
    title = tree.css_first("head > title") or tree.css_first("title")
    html = tree.css_first("html")
    canonical = tree.css_first('link[rel="canonical"]')
    metas = _metas(tree)
    return ParsedPage(
        source=source,
        tree=tree,
        title=None if title is None else fold(title.text())[: MAX_TITLE + MARGIN] or None,
        metas=metas,
        language=_language(html.attributes.get("lang") if html is not None else None, metas),
        canonical=canonical.attributes.get("href") if canonical is not None else None,
        noscript=noscript,
    )


def _without_noscript(source: str) -> tuple[str, str]:
    """Take `noscript` parts out: a parser without scripting shows them, a browser does not."""
    if "<noscript" not in source:
        return source, ""
    kept: list[str] = []
    taken: list[str] = []
    position = 0
    for _ in range(_MAX_NOSCRIPTS):
        start = source.find("<noscript", position)
        end = source.find("</noscript", start)
        if start < 0 or end < 0:
            break
        kept.append(source[position:start])
        taken.append(source[start:end])
        position = end
    kept.append(source[position:])
    return "".join(kept), " ".join(taken)[:_MAX_NOSCRIPT]


def read_visible_text(page: ParsedPage) -> None:
    """Fill in `text`; what is not shown leaves the tree, so look into scripts before."""
    page.tree.strip_tags(_INVISIBLE)
    for node in page.tree.css(_HIDDEN):
        if node.tag not in ("html", "body"):
            node.decompose()
    body = page.tree.body
    page.text = "" if body is None else fold(body.text(deep=True))[: MAX_TEXT + MARGIN]


def fold(text: str | None) -> str:
    """Fold every run of white space to one space."""
    return " ".join(text.split()) if text else ""


def _metas(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.css("meta"):
        attributes = node.attributes
        content = attributes.get("content")
        if not content:
            continue
        for key in ("property", "name", "itemprop", "http-equiv"):
            name = attributes.get(key)
            if name:
                found.setdefault(name.strip().lower(), content.strip())
    return found


def _language(declared: str | None, metas: dict[str, str]) -> str | None:
    value = declared or metas.get("content-language") or metas.get("og:locale") or ""
    tag = value.split(",")[0].strip().replace("_", "-")
    return tag if re.fullmatch(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}", tag) else None
