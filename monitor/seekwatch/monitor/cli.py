"""The command line: `seekwatch VERB`. Each verb lives in its own module under `commands`."""

import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from seekwatch.core.errors import ConfigurationError, SeekwatchError

from .commands import doctor, export, judge, label, receive, run, score, tail, up, worker


class _Command(TyperCommand):
    """A verb whose help shows nothing where an option takes no value."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        """Return the options and arguments."""
        return _plain_flags(super().get_params(ctx))


class _Group(TyperGroup):
    """The verbs together, with the same help."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        """Return the options."""
        return _plain_flags(super().get_params(ctx))


def _plain_flags(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""  # else it would be `<bool>`
    return params


app = typer.Typer(
    name="seekwatch",
    cls=_Group,
    help="Watch agents that search the web: score every run, page when citations go bad.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"seekwatch {version('seekwatch')}")
        raise typer.Exit


def _help(command: Callable[..., None]) -> str:
    """Return a docstring whose paragraphs wrap as the terminal wants, not as the source does."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _examples(lines: Sequence[str]) -> str:
    return "\n\n".join(("[bold]Examples[/bold]", *(f"  {line}" for line in lines)))


@app.callback(invoke_without_command=False)
def _root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    pass


for _verb in (up, receive, worker, export, score, tail, doctor, label):
    _name = _verb.__name__.rsplit(".", 1)[-1]
    app.command(_name, cls=_Command, help=_help(_verb.command), epilog=_examples(_verb.EXAMPLES))(
        _verb.command
    )
_judge = typer.Typer(
    cls=_Group, help=judge.HELP, no_args_is_help=True, epilog=_examples(judge.EXAMPLES)
)
for _part in (judge.calibrate, judge.rubrics):
    _judge.command(_part.__name__, cls=_Command, help=_help(_part))(_part)
app.add_typer(_judge, name="judge")
app.command("run", help=_help(run.command), context_settings=run.CONTEXT_SETTINGS)(run.command)


def main() -> None:
    """Run a command; wrong configuration is told in three lines and exit code 2."""
    try:
        app()
    except ConfigurationError as error:
        _explain(error)
        sys.exit(2)
    except SeekwatchError as error:
        _say(Text.assemble(("error  ", "bold red"), str(error)))
        sys.exit(1)


def _explain(error: ConfigurationError) -> None:
    given = " is not set" if error.value is None else f" = {error.value!r}"
    _say(Text.assemble(("error  ", "bold red"), (error.key, "bold"), given))
    _say(Text.assemble(("fix    ", "bold green"), error.fix))


def _say(text: Text) -> None:
    Console(stderr=True, highlight=False).print(text, soft_wrap=True)


if __name__ == "__main__":
    main()
