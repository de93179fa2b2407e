"""Text from outside, made harmless for a terminal: it may not move the cursor or change colours."""


def plain(text: str, width: int | None = None) -> str:
    """Replace what is not printable by a space, and shorten to `width` with an ellipsis."""
    safe = "".join(char if char.isprintable() else " " for char in text)
    return safe if width is None or len(safe) <= width else safe[: width - 1] + "…"
