"""How verbs are asked and answered over the wire, as the server and its client agree."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from standfast.types.pages import Page

# Verbs that only read, but with arguments that are too long for an address.
QUESTIONS = frozenset(("recall", "context", "find_procedures", "get", "why_not"))
# A bare tuple is sent under a name, so that something can be put beside it one day.
LIST_NAMES = {
    "get": "records",
    "history": "entries",
    "review": "items",
    "relations": "relations",
    "pending": "messages",
    "summaries": "summaries",
    "policies": "policies",
}


def kind_of(answers: Any) -> tuple[str, Any]:
    """How a verb with this return type answers ("list", "page" or "one"), and with what."""
    if get_origin(answers) is tuple:
        return "list", get_args(answers)[0]
    if get_origin(answers) is Page:
        return "page", get_args(answers)[0]
    return "one", answers
