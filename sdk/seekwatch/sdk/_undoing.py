"""Takes apart what is installed: exports what there is time for, and says what is lost."""

import logging
import time
from collections.abc import Callable

from ._counts import lost_by
from ._guard import guard, guarded, say
from ._installing import Installation
from ._runtime import Runtime


@guarded("giving up answers that did not come")
def give_up_background(runtime: Runtime, seconds: float) -> None:
    """End the spans whose answers are still out, after what is noted is told."""
    runtime.finisher.drain(seconds)
    runtime.background.give_up()


@guarded("uninstrument")
def take_apart(installation: Installation, seconds: float) -> None:
    """Export what is there and undo every step within so many seconds; say what was lost."""
    deadline = time.monotonic() + seconds
    # Half the time for bodies: a span without its body is worth more than none.
    give_up_background(installation.runtime, seconds / 2)
    undo_all(installation.undo, deadline)
    lost = {name: count for name, count in lost_by(installation.runtime).items() if count}
    if lost:
        _say_lost(installation.runtime, lost)


def _say_lost(runtime: Runtime, lost: dict[str, int]) -> None:
    places = (processor.nobody_at for processor in runtime.processors)
    nobody_at = next((place for place in places if place is not None), None)
    if nobody_at is None:
        say(logging.WARNING, "not everything reached the collector: %s", lost)
        return
    say(
        logging.WARNING,
        "not everything reached the collector: nobody listens at %s, so %d spans are lost; start "
        "the monitor there (seekwatch up), or set its endpoint in instrument() or "
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        nobody_at,
        sum(count for name, count in lost.items() if name.startswith("spans_")),
    )


def undo_all(undo: list[Callable[[float], None]], deadline: float) -> None:
    """Undo the steps, last first; one that fails keeps none of the others from it."""
    for step in reversed(undo):
        with guard("uninstrument"):
            step(max(0.1, deadline - time.monotonic()))
