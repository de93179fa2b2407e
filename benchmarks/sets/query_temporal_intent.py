"""NTCIR Temporalia: is a short query about the past, the present, the future, or none of them?

The scorers name no such intent. What they do name, the regime, says whether the present is asked
for; this set tells how well that carries over from questions to bare search terms.
"""

from pathlib import Path
from typing import Final

from benchmarks.measures import accuracy, f1, macro_f1, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from benchmarks.sets.regimes import in_budget, regime
from seekwatch.core.policy import Regime

YEAR: Final = 2013
_INTENT: Final = {
    Regime.REAL_TIME: "recent",
    Regime.FAST: "recent",
    Regime.SLOW: "atemporal",
    Regime.INSENSITIVE: "atemporal",
}


def measure(directory: Path) -> list[Row]:
    """Measure the intents that follow from the regime; the set measures only, it trains nothing."""
    items = read_items(directory / "queries.jsonl")
    pairs = [(str(item["intent"]), _INTENT[regime(item["query"], YEAR)]) for item in items]
    moving = [(true in {"recent", "future"}, said == "recent") for true, said in pairs]
    name = "query_temporal_intent"
    return [
        measure_row(f"{name}: accuracy", pairs, accuracy, baseline=0.78),
        measure_row(f"{name}: macro-F1", pairs, macro_f1, baseline=0.78),
        measure_row(f"{name}: F1 of recent or future", moving, f1),
        in_budget(time_row(name, items, lambda item: regime(item["query"], YEAR))),
    ]
