"""What a request may change on the other side, where nobody said."""

from seekwatch.core.model import Action, Adapter


def action_of(method: str | None, adapter: Adapter) -> Action:
    """Judge a request by its method (RFC 9110, section 9.2.1).

    A POST to a search API reads; DELETE is the one method that is destructive by definition.
    """
    word = (method or "GET").upper()
    if word == "DELETE":
        return Action.DESTRUCTIVE
    if word in ("GET", "HEAD", "OPTIONS", "TRACE") or adapter is Adapter.SEARCH:
        return Action.READ
    return Action.WRITE
