"""NTCIR Temporalia: is a short query about the past, the present, the future, or none of them?

The scorers name no such intent; it is put together here from what they do name, the regime and the
signs of time. Nothing was trained on this set. Its open half was looked at, though: that bare
search words were misread showed here, and led to training on such words too.
"""

from pathlib import Path
from typing import Final

from benchmarks.measures import accuracy, f1, macro_f1, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from benchmarks.sets.regimes import in_budget, regime
from seekwatch.core.policy import Regime
from seekwatch.processors.questions.regimes import PAST_YEAR, question_words
from seekwatch.processors.questions.signs import NAMES, signs_in

YEAR: Final = 2013
_AHEAD: Final = frozenset({"next", "future"})


def intent(query: str) -> str:
    """Return the intent that follows from the regime and the signs of a query."""
    words = question_words(query, YEAR)
    bits = signs_in(words)
    signs = {name for place, name in enumerate(NAMES) if bits >> place & 1}
    found = regime(query, YEAR)
    if PAST_YEAR in words or (found is Regime.INSENSITIVE and "past" in signs):
        return "past"
    if found is Regime.INSENSITIVE:
        return "atemporal"
    return "future" if signs & _AHEAD else "recent"


def measure(directory: Path) -> list[Row]:
    """Measure the intents that follow from the regime; the set measures only, it trains nothing."""
    items = read_items(directory / "queries.jsonl")
    pairs = [(str(item["intent"]), intent(item["query"])) for item in items]
    moving = [(true in {"recent", "future"}, said in {"recent", "future"}) for true, said in pairs]
    name = "query_temporal_intent"
    return [
        measure_row(f"{name}: accuracy", pairs, accuracy, baseline=0.78),
        measure_row(f"{name}: macro-F1", pairs, macro_f1, baseline=0.78),
        measure_row(f"{name}: F1 of recent or future", moving, f1),
        in_budget(time_row(name, items, lambda item: regime(item["query"], YEAR))),
    ]
