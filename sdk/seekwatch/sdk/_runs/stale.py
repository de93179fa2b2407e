"""Runs that are over and could not be taken out of a context: nothing there belongs to them.

So it goes with a `with` block in a generator that another task or thread closes: what it made
current stays so where it was entered, for good.
"""

from typing import Any, Final

from opentelemetry.context import Context, create_key

RUN_KEY: Final = create_key("seekwatch-run")
"""Where a context has the run that the agent's code has said."""


def without_stale(context: Context) -> Context:
    """Return the context, or an empty one where its span is that of such a run."""
    run: Any = context.get(RUN_KEY)
    return Context() if run is not None and run.is_stale_in(context) else context
