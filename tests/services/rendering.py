"""What a terminal would show of something that rich renders."""

from io import StringIO

from rich.console import Console, RenderableType


def rendered(what: RenderableType, width: int = 80) -> str:
    """Return what a terminal of that width would show, without colours."""
    console = Console(file=StringIO(), width=width, highlight=False)
    console.print(what)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()
