"""`seekwatch label`: keep what a person says of a verdict."""

import getpass
import time
from typing import Annotated, Final

import typer
from rich.console import Console

from seekwatch.core.scorecard import Axis
from seekwatch.core.verdicts import Verdict
from seekwatch.monitor import options

EXAMPLES: Final = (
    "seekwatch label 4bf92f3577b34da6a3ce929d0e0e4736 citation_validity good --note 'page is fine'",
    "seekwatch label 4bf92f3577b34da6a3ce929d0e0e4736 claim-support bad --revision 3f2a…",
)


def command(
    trace: Annotated[str, typer.Argument(metavar="TRACE", help="Id of the run's trace.")],
    about: Annotated[
        str,
        typer.Argument(
            metavar="ABOUT",
            help=f"Axis ({', '.join(Axis)}) or rubric of the verdict.",
        ),
    ],
    verdict: Annotated[Verdict, typer.Argument(help="What is right.")],
    note: Annotated[str, typer.Option("--note", help="Why, in your words.")] = "",
    subject: Annotated[
        str, typer.Option("--subject", help="The claim or URL, where the run has several.")
    ] = "",
    revision: Annotated[
        str, typer.Option("--revision", help="Of the judge or scorer that gave the verdict.")
    ] = "",
    by: Annotated[
        str, typer.Option("--by", help="Who says it; you by default.", show_default=False)
    ] = "",
    labels: options.LabelsFile = options.LABELS,
) -> None:
    """Say which verdict is right: labels are what judges and scorers are compared with.

    They change no score. Read them with `seekwatch judge calibrate`.
    """
    from seekwatch.core.errors import ConfigurationError
    from seekwatch.evidence.judges.rubrics import built_in_names
    from seekwatch.evidence.labels import Label, append_label

    known = [*Axis, *built_in_names()]
    if about not in known and not revision:
        fix = f"name one of {', '.join(known)}; for a rubric of your own give its --revision too"
        raise ConfigurationError("ABOUT", about, fix)
    if len(trace) != 32 or set(trace.lower()) - set("0123456789abcdef"):
        raise ConfigurationError("TRACE", trace, "give the trace's id, 32 hex characters")
    label = Label(
        trace=trace.lower(),
        about=about,
        verdict=verdict,
        subject=subject,
        revision=revision,
        by=by or _user(),
        at=time.time_ns(),
        note=note,
    )
    append_label(labels, label)
    Console(highlight=False).print(f"kept in {labels}: {about} of {trace} is {verdict}")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        # A container may have no name for its user.
        return "unknown"
