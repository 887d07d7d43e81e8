"""The arguments that several tools share, with what a model is told about them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Project = Annotated[
    str | None,
    Field(description="Id of a project of yours, such as its repository's name. Only narrows."),
]
Scope = Annotated[
    str | None,
    Field(
        description='A scope below your own, such as "user:ann:project:web". Leave it out unless '
        "the user names one; nobody else's can be reached."
    ),
]
Scopes = Annotated[
    str | list[str] | None,
    Field(description="One or several scopes to look in; leave it out to look in all of yours."),
]
Time = Annotated[
    str | None, Field(description="ISO 8601, such as 2026-05-03 or 2026-05-03T10:00:00+02:00")
]
Tags = Annotated[list[str] | None, Field(description="Short words, such as deploy or database")]
