"""How findings look: what is wrong stands out, and the next step is below it."""

import json
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from seekwatch.monitor.terminal.plain_text import plain

from .findings import Finding, Status, ok

_MARKS: Final = {
    Status.OK: ("✓", "green"),
    Status.NOTE: ("!", "yellow"),
    Status.WRONG: ("✗", "bold red"),
}


def show(findings: Sequence[Finding], console: Console) -> None:
    """Print findings and a closing line: first what needs somebody, one line for what is well."""
    wrong = [finding for finding in findings if finding.status is Status.WRONG]
    notes = [finding for finding in findings if finding.status is Status.NOTE]
    for finding in (*wrong, *notes, *_well(findings)):
        mark, style = _MARKS[finding.status]
        head = Text.assemble(
            (f"{mark} ", style), (f"{plain(finding.subject)}: ", "bold"), plain(finding.what)
        )
        console.print(head)
        if finding.next_step:
            console.print(_indented(Text(f"→ {plain(finding.next_step)}", style="cyan")))
    console.print()
    if wrong:
        needs = "1 finding needs" if len(wrong) == 1 else f"{len(wrong)} findings need"
        console.print(Text(f"{needs} somebody, of {len(findings)}.", "bold red"))
    else:
        console.print(Text("Nothing is wrong.", "bold green"))


def _well(findings: Sequence[Finding]) -> list[Finding]:
    """Return what is well, each subject once."""
    said: dict[str, list[str]] = {}
    for finding in findings:
        if finding.status is Status.OK:
            said.setdefault(finding.subject, []).append(finding.what)
    return [ok(subject, "; ".join(what)) for subject, what in said.items()]


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
