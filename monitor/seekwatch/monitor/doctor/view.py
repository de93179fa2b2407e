"""How findings look: what is wrong stands out, and the next step is below it."""

import json
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from seekwatch.monitor.terminal.plain_text import plain

from .findings import Finding, Status

_MARKS: Final = {
    Status.OK: ("✓", "green"),
    Status.NOTE: ("!", "yellow"),
    Status.WRONG: ("✗", "bold red"),
}


def show(findings: Sequence[Finding], console: Console) -> None:
    """Print findings and a closing line."""
    for finding in findings:
        mark, style = _MARKS[finding.status]
        head = Text.assemble(
            (f"{mark} ", style), (f"{plain(finding.subject)}: ", "bold"), plain(finding.what)
        )
        console.print(head)
        if finding.next_step:
            console.print(_indented(Text(f"→ {plain(finding.next_step)}", style="cyan")))
    number = sum(finding.is_wrong for finding in findings)
    console.print()
    if number:
        console.print(Text(f"{number} of {len(findings)} findings need somebody.", "bold red"))
    else:
        console.print(Text("Nothing is wrong.", "bold green"))


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 4), expand=False)


def to_json(finding: Finding) -> str:
    """Return a finding as one line."""
    line = {
        "status": str(finding.status),
        "subject": finding.subject,
        "what": finding.what,
        "next_step": finding.next_step,
    }
    return json.dumps(line, ensure_ascii=False)
