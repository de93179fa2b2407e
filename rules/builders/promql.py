"""PromQL fragments that are right about resets, gaps, replicas and absent series.

The order of operations is the whole trick: `increase` per series first (a reset is seen there),
then the sum that takes `instance` away (a replica more or less changes nothing), then the division.
"""

import json
import re
import textwrap
from collections.abc import Iterable, Mapping

from rules.quantities import Duration

# Other lanes (tests, canaries, replays) must never wake anyone.
LIVE = 'lane="live"'


def selector(metric: str, *matchers: str) -> str:
    """The vector selector `metric{matchers}`, without those that are empty."""
    present = [matcher for matcher in matchers if matcher]
    return f"{metric}{{{','.join(present)}}}" if present else metric


def increase(
    series: str, window: Duration, by: Iterable[str] = (), *, offset: Duration | None = None
) -> str:
    """How much `series` grew within `window`, summed over everything but the labels `by`.

    `>= 0` leaves out a series that holds a NaN: one bad sample would otherwise make the whole sum
    NaN, which no comparison ever exceeds.
    """
    labels = ", ".join(by)
    grouping = f"sum by ({labels}) " if labels else "sum"
    back = f" offset {offset}" if offset else ""
    return f"{grouping}(increase({series}[{window}]{back}) >= 0)"


def any_of(*expressions: str) -> str:
    """The union; where two have a series of the same labels, the first one's value."""
    return "\nor\n".join(expressions)


def block(expression: str) -> str:
    """`expression` in parentheses, on lines of its own."""
    return f"(\n{textwrap.indent(expression, '  ')}\n)"


def anyone_but(agents: Iterable[str]) -> str:
    """The matcher for every agent that is not in `agents`; empty when there are none."""
    names = sorted(agents)
    return f"agent!~{quoted('|'.join(re.escape(name) for name in names))}" if names else ""


def just(agent: str) -> str:
    """The matcher for one agent."""
    return f"agent={quoted(agent)}"


def quoted(text: str) -> str:
    """`text` as a string literal, for PromQL and for alert templates alike."""
    return json.dumps(text, ensure_ascii=False)


def number(value: float) -> str:
    """A number as short as it can be written."""
    return f"{value:.6g}"


def percent(share: float) -> str:
    """A share as people read it, `0.5` as `50%`."""
    return f"{share * 100:.4g}%"


def template_choice(default: str, by_agent: Mapping[str, str]) -> str:
    """Template text that is `default`, except for the agents that have a text of their own."""
    differing = {agent: text for agent, text in sorted(by_agent.items()) if text != default}
    if not differing:
        return default
    branches = [f"eq $labels.agent {quoted(agent)} }}}}{text}" for agent, text in differing.items()]
    return "{{ if " + "{{ else if ".join(branches) + "{{ else }}" + default + "{{ end }}"
