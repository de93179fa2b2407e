"""Tables of judges: rubrics, and how far each can be believed."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from seekwatch.evidence.judges.calibration import ENOUGH, Agreement, Calibration
from seekwatch.evidence.judges.rubrics import Rubric


def table(judges: Sequence[Calibration], labels: Path, number: int) -> RenderableType:
    """Return the judges' table, and what to label next."""
    shown = Table(title=None, title_justify="left")
    shown.add_column("rubric")
    shown.add_column("revision")
    shown.add_column("model")
    shown.add_column("judged", justify="right")
    shown.add_column("no verdict", justify="right")
    shown.add_column("agrees with people")
    shown.add_column("agrees with scorer")
    for judge in judges:
        shown.add_row(
            judge.rubric,
            judge.revision,
            judge.model,
            str(judge.judged),
            str(judge.unscorable),
            _agreement(judge.people),
            "" if judge.scorer is None else _agreement(judge.scorer),
        )
    return Group(shown, *_next_steps(judges, labels, number))


def _agreement(found: Agreement) -> str:
    if found.share is None or found.low is None or found.high is None:
        return "no pairs"
    kappa = "" if found.kappa is None else f", kappa {found.kappa:.2f}"
    interval = f"{found.low:.2f}–{found.high:.2f}"
    return f"{found.share:.2f} ({interval}) of {found.pairs}{kappa}"


def _next_steps(judges: Sequence[Calibration], labels: Path, number: int) -> list[Text]:
    lines = [Text(f"{number} labels in {labels}", style="dim")]
    for judge in judges:
        if judge.wanted:
            line = (
                f"{judge.rubric} {judge.revision}: {judge.wanted} more labels of this revision "
                f"until its figure is worth reading ({ENOUGH})"
            )
            lines.append(Text(line, style="yellow"))
            lines += [
                Text(
                    f"  seekwatch label {trace} {judge.rubric} good|bad --revision "
                    f"{judge.revision} --labels {labels}"
                )
                for trace in judge.unlabelled[:2]
            ]
    return lines


def rubric_table(rubrics: Sequence[Rubric]) -> Table:
    """Return the table of rubrics."""
    shown = Table()
    for name in ("rubric", "revision", "about", "answers with", "good"):
        shown.add_column(name)
    for rubric in rubrics:
        if rubric.scale is None:
            answers, good = ", ".join(rubric.labels), ", ".join(rubric.good)
        else:
            answers, good = f"{rubric.scale[0]} to {rubric.scale[1]}", "by policy (judges.minimum)"
        shown.add_row(
            rubric.name, f"{rubric.revision} ({rubric.digest})", rubric.about, answers, good
        )
    return shown
