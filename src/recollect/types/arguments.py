"""What verbs take: a name for each type of argument, with what must hold of it.

The signatures of the verbs are written in these names, and every interface is made from the
signatures: what the server refuses, what the command line offers and what a tool's schema says is
read here. The verbs themselves check what they need, whoever calls them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import IO, Annotated, Any

from recollect.types.frozen import frozen

NAME_LENGTH_MAX = 512
LIMIT_MAX = 1000
TAGS_MAX = 64
# In one request to a server.
IDS_MAX = 1000
MESSAGES_MAX = 1000
SCOPES_MAX = 100
STEPS_MAX = 200
STATEMENTS_MAX = 1000


@frozen(kw_only=False)
class Between:
    """How large a number may be, or how long a text or a list."""

    least: float
    most: float


@frozen(kw_only=False)
class Like:
    """How a text is written."""

    pattern: str


When = datetime | str | int | float
Name = Annotated[str, Between(1, NAME_LENGTH_MAX)]
Label = Annotated[str, Between(0, NAME_LENGTH_MAX)]
Actor = Annotated[str, Between(0, 200)]
Scope = Annotated[str, Between(0, 4096)]
Scopes = Scope | Annotated[Iterable[Scope], Between(1, SCOPES_MAX)]
Limit = Annotated[int, Between(1, LIMIT_MAX)]
Share = Annotated[float, Between(0, 1)]
Ids = Annotated[Sequence[Name], Between(0, IDS_MAX)]
Tags = Annotated[Iterable[Name], Between(0, TAGS_MAX)]
Names = Annotated[Iterable[Name], Between(0, TAGS_MAX)]
Steps = Annotated[Iterable[str], Between(0, STEPS_MAX)]
Cursor = Annotated[str, Between(0, 4000)]
Day = Annotated[str, Like(r"^\d{4}-\d{2}-\d{2}$")]
Json = Mapping[str, Any]
Filter = Mapping[str, Any] | str  # see ``recollect.index.conditions``; as text, it is JSON
MessageInput = str | Mapping[str, Any]
MessageInputs = Annotated[Iterable[MessageInput], Between(0, MESSAGES_MAX)]
StatementInput = str | Mapping[str, Any]
StatementInputs = Annotated[Iterable[StatementInput], Between(0, STATEMENTS_MAX)]
StorePath = str | os.PathLike[str]
FileTarget = str | os.PathLike[str] | IO[bytes]  # where an export goes
FileSource = str | os.PathLike[str] | IO[bytes]  # where an import comes from
