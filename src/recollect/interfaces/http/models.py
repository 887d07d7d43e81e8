"""What requests may say. The names are those of the verbs; what they mean is checked there."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from recollect.text.inputs import LIMIT_MAX, TAGS_MAX
from recollect.types import (
    Durability,
    Kind,
    RelationKind,
    ReviewAction,
    Right,
    Shape,
    Source,
    Status,
    Type,
)

IDS_MAX = 1000
MESSAGES_MAX = 1000
SCOPES_MAX = 100
STEPS_MAX = 200
QUERY_MAX = 100_000

When = str | int | float
Name = Annotated[str, Field(min_length=1, max_length=512)]
Scope = Annotated[str, Field(max_length=4096)]
Scopes = Scope | Annotated[list[Scope], Field(min_length=1, max_length=SCOPES_MAX)]
Limit = Annotated[int, Field(ge=1, le=LIMIT_MAX)]
Share = Annotated[float, Field(ge=0, le=1)]
Ids = Annotated[list[Name], Field(max_length=IDS_MAX)]
Tags = Annotated[list[Name], Field(max_length=TAGS_MAX)]
Actor = Annotated[str, Field(max_length=200)]
Question = Annotated[str, Field(max_length=QUERY_MAX)]  # in an address


def _is_text(value: Any) -> str:
    """Any text: half a surrogate pair in it is repaired where it is stored, not refused."""
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


Text = Annotated[str, PlainValidator(_is_text), WithJsonSchema({"type": "string"})]
OneMessage = Annotated[Text | dict[str, Any], Field(description="text, or role and content")]


def example(**said: Any) -> ConfigDict:
    """Unknown names are refused, "5" is no number, and the documentation shows this."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [said]})


class RecallBody(BaseModel):
    model_config = example()

    def given(self) -> dict[str, Any]:
        """What was said; the rest is the verb's own default."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Write(RecallBody):
    actor: Actor = ""


class Observe(Write):
    model_config = example(
        session="chat/42",
        scope="user:ann",
        messages=[{"role": "user", "content": "I moved to Berlin in May", "id": "m1"}],
    )
    session: Name
    messages: OneMessage | Annotated[list[OneMessage], Field(max_length=MESSAGES_MAX)]
    scope: Scope | None = None
    channel: Annotated[str, Field(max_length=512)] = ""
    author: Annotated[str, Field(max_length=512)] = ""
    source: Source | None = None
    pending: bool = False
    expires_at: When | None = None


class Remember(Write):
    model_config = example(text="Deploys go out on Tuesdays", scope="org:acme", tags=["deploy"])
    text: Text
    scope: Scope | None = None
    kind: Kind | None = None
    type: Type | None = None
    tags: Tags = []
    importance: Share | None = None
    confidence: Share = 1.0
    durability: Durability | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    expires_at: When | None = None
    source: Source = "user"
    author: Annotated[str, Field(max_length=512)] = ""
    data: dict[str, Any] | None = None
    supersedes: Name | None = None


class Recall(RecallBody):
    model_config = example(query="when do we deploy?", scope="org:acme:agent:cto", limit=6)
    query: Text
    scope: Scopes | None = None
    limit: Limit | None = None
    kinds: list[Kind] = []
    types: list[Type] = []
    tags: Tags = []
    statuses: list[Status] | None = None
    since: When | None = None
    until: When | None = None
    as_of: When | None = None
    known_at: When | None = None
    threshold: Share | None = None
    descend: bool = False
    explain: bool = False
    fast: bool | None = None
    now: When | None = None


class ContextBody(RecallBody):
    model_config = example(session="chat/42", query="where does Ann live?", scope="user:ann")
    session: Name | None = None
    query: Text | None = None
    scope: Scopes | None = None
    tokens: int | None = None
    shape: Shape = "openai"
    now: When | None = None


class PendingMessage(BaseModel):
    """A message as the packet had it; the rest of it may be left out."""

    model_config = ConfigDict(extra="ignore", strict=True)
    id: Name
    scope: Scope
    session: Name = "~pending"


class Confirm(RecallBody):
    model_config = example(pending=[{"id": "m7", "scope": "user:ann", "session": "~pending"}])
    pending: Annotated[list[PendingMessage], Field(max_length=MESSAGES_MAX)]


class SetState(Write):
    model_config = example(session="chat/42", scope="user:ann", state={"step": "testing"})
    session: Name
    state: dict[str, Any]
    scope: Scope | None = None


class End(Write):
    model_config = example(session="chat/42", scope="user:ann", outcome="the flat is booked")
    session: Name
    scope: Scope | None = None
    outcome: Text | None = None


class Note(Write):
    model_config = example(session="chat/42", scope="user:ann", text="waits for the landlord")
    session: Name
    text: Text
    role: Name = "agent"
    scope: Scope | None = None


class Relate(Write):
    model_config = example(source="0197a3c0-one", kind="supports", target="0197a3c0-two")
    source: Name
    kind: RelationKind
    target: Name


class SaveProcedure(Write):
    model_config = example(
        name="deploy",
        scope="org:acme",
        steps=["run the tests", "tag the release", "watch the dashboard"],
        triggers=["deploy"],
    )
    name: Name
    steps: Annotated[list[Text], Field(max_length=STEPS_MAX)]
    triggers: Tags = []
    text: Text = ""
    scope: Scope | None = None
    tags: Tags = []


class ProcedureUsed(Write):
    model_config = example(id_or_name="deploy", scope="org:acme", success=True)
    id_or_name: Name
    success: bool
    scope: Scope | None = None
    note: Text = ""


class FindProcedures(RecallBody):
    model_config = example(query="how do we deploy?", scope="org:acme")
    query: Text
    scope: Scopes | None = None
    limit: Limit = 5


class Select(Write):
    ids: Ids = []
    session: Name | None = None
    scope: Scope | None = None
    descend: bool = False
    author: Name | None = None
    source: Source | None = None
    since: When | None = None
    until: When | None = None
    dry_run: bool = False


class Forget(Select):
    model_config = example(ids=["0197a3c0-one"], dry_run=True)
    sources: bool = False


class Revoke(Select):
    model_config = example(scope="org:acme", source="web", dry_run=True)


class Archive(Write):
    model_config = example(ids=["0197a3c0-one"])
    ids: Ids


class Get(RecallBody):
    model_config = example(ids=["0197a3c0-one", "0197a3c0-two"])
    ids: Ids


class Undo(Write):
    model_config = example(change="0197a3c0-change")
    change: Name
    scope: Scope | None = None


class Resolve(Write):
    model_config = example(id="0197a3c0-one", action="approve")
    id: Name
    action: ReviewAction
    text: Text | None = None
    into: Name | None = None


class SetPolicy(Write):
    model_config = example(scope="user:ann", persist=False)
    scope: Scope
    persist: bool
    author: Annotated[str, Field(max_length=512)] = ""


class Maintain(RecallBody):
    model_config = example(dry_run=True, scope="user:ann")
    dry_run: bool = False
    scope: Scope | None = None
    force: bool = False
    retry: bool = False


class Export(RecallBody):
    model_config = example(scope="user:ann")
    scope: Scopes | None = None
    descend: bool = True


class CreateKey(RecallBody):
    model_config = example(name="kitchen", scopes=["user:ann"], rights=["read", "write"])
    name: Annotated[str, Field(max_length=200)] = ""
    scopes: Annotated[list[Scope], Field(max_length=SCOPES_MAX)] = []
    rights: list[Right] = ["read", "write"]
    expires_at: When | None = None


class MapDevice(RecallBody):
    model_config = example(device="kitchen", scope="user:ann")
    device: Name
    scope: Scope
