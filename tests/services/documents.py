"""The project's pages as a reader meets them: their commands, code, links and names."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_FENCE: Final = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_INLINE: Final = re.compile(r"`([^`\n]+)`")
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
_HEADING: Final = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_SHELL: Final = frozenset({"sh", "bash", "shell", "console"})
_ASSIGNMENT: Final = re.compile(r"[A-Z_][A-Z0-9_]*=")


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path

    @property
    def name(self) -> str:
        """Its path from the root, for messages."""
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        """All of it."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def prose(self) -> str:
        """The page without its fenced blocks."""
        return _FENCE.sub("", self.text)

    def blocks(self, *languages: str) -> list[str]:
        """Return the fenced blocks of these languages."""
        return [body for language, body in _FENCE.findall(self.text) if language in languages]

    def spans(self) -> list[str]:
        """Return what stands between single backticks in the prose."""
        return _INLINE.findall(self.prose)

    def links(self) -> list[str]:
        """Return the targets of its links that stay inside the repository."""
        targets: list[str] = _LINK.findall(self.prose)
        return [target for target in targets if "://" not in target]

    def anchors(self) -> set[str]:
        """Return what its headings are linked by."""
        plain = (re.sub(r"[^\w\- ]", "", each.lower()) for each in _HEADING.findall(self.prose))
        return {heading.strip().replace(" ", "-") for heading in plain}

    def commands(self) -> Iterator[list[str]]:
        """Yield the words of each command, from shell blocks and from the prose."""
        for block in self.blocks(*_SHELL):
            for line in block.replace("\\\n", " ").splitlines():
                yield from _commands_of(line)
        for span in self.spans():
            yield from _commands_of(span)


def pages() -> list[Page]:
    """Return the README, what lies in docs/, and each folder's own README, results left out."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]
    found += [*ROOT.glob("rules/runbooks/*.md"), ROOT / "tests" / "services" / "README.md"]
    return [Page(path) for path in sorted(set(found)) if "results" not in path.parts]


def _commands_of(line: str) -> Iterator[list[str]]:
    try:
        lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="|&;")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return
    command: list[str] = []
    for word in [*words, ";"]:
        if word and set(word) <= set("|&;"):
            if command:
                yield command
            command = []
        elif command or not _ASSIGNMENT.match(word):
            command.append(word)
