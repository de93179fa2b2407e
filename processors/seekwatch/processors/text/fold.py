"""One spelling for text that reads the same, so that comparing is a plain substring test.

Scorers compare what people, models and pages wrote; they differ in quotation marks, dashes, width,
case and accents far more often than in content.
"""

import re
import unicodedata
from typing import Final

_PLAIN: Final[dict[str, str]] = {
    **dict.fromkeys("‘’‚‛ʼʹ′`´＇", "'"),
    **dict.fromkeys("“”„‟«»″＂〝〞", '"'),
    **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000", " "),
}
# `str.translate` asks a dict for every character of a text; this stops at the few that change.
_TYPOGRAPHY: Final = re.compile(f"[{''.join(_PLAIN)}]")

_ACCENTS: Final = re.compile("[\u0300-\u036f]+")

_UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

CJK: Final = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Han characters, for use inside a character class."""

KANA: Final = "\u3041-\u309f\u30a0-\u30ff\u31f0-\u31ff"
HIRAGANA: Final = "\u3041-\u309f"
KATAKANA: Final = "\u30a1-\u30ff"

HAS_CJK: Final = re.compile(f"[{CJK}{KANA}]")


def typographic(text: str) -> str:
    """Give quotation marks, dashes, spaces and invisible characters their plain forms."""
    if text.isascii():
        return text
    return _TYPOGRAPHY.sub(lambda match: _PLAIN[match[0]], text)


def fold(text: str) -> str:
    """Fold case, width, accents and typography; the result may differ in length from `text`.

    Latin accents go (São → sao); marks that make another letter in their script (Japanese voicing,
    Hangul) stay.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", typographic(text))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed)).casefold()


def single_spaced(text: str) -> str:
    """Turn every run of white space into one space."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """Take out what a terminal or a page obeys instead of showing it, and what no UTF-8 can hold.

    Control characters (a terminal's escape sequences begin with one), marks that turn the direction
    of what follows, and halves of surrogate pairs (from broken JSON) become U+FFFD; line breaks and
    tabs stay.
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def shortened(text: str, limit: int) -> str:
    """Cut `text` to one line of `limit` characters, an ellipsis where something was left out."""
    line = single_spaced(printable(text[: 4 * limit + 200]))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
