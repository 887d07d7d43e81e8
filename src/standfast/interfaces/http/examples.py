"""Answers as they look, for the documentation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from standfast.interfaces.render import as_json
from standfast.types import (
    Answer,
    Entry,
    Hit,
    Message,
    Packet,
    Receipt,
    ReceiptItem,
    Record,
    Relation,
    ReviewItem,
    Session,
    Summary,
    Touch,
    Usage,
    Why,
    Work,
)
from standfast.types.pages import Consent, Due, ScopeCount, Spent, Stats

_AT = datetime(2026, 5, 3, 8, 0, tzinfo=UTC)

_record = Record(
    id="0197a3c0-one",
    scope="org:acme",
    kind="semantic",
    type="fact",
    text="Deploys go out on Tuesdays",
    tags=("deploy",),
    learned_at=_AT,
    hash="5f0d1c",
    version=1,
)
_hit = Hit(
    record=_record,
    similarity=0.71,
    keyword=3.2,
    coverage=0.8,
    score=0.83,
    why=(Why(stage="similarity", value=0.71), Why(stage="tag", value=0.1, detail="deploy")),
)
_message = Message(
    id="m1",
    scope="user:ann",
    session="chat/42",
    role="user",
    text="I moved to Berlin",
    at=_AT,
    seq=1,
)
_packet = Packet(
    text="Ann lives in Berlin.",
    stable_text="",
    tokens=9,
    counter="estimate",
    hash="e3b0c442",
    hits=(_hit,),
    messages=({"role": "user", "content": "I moved to Berlin"},),
)
_entry = Entry(
    root="org:acme",
    seq=7,
    at=_AT,
    batch="0197a3c0-batch",
    change="0197a3c0-change",
    reason="remember",
    actor="key:3f9a",
    touched=(Touch(kind="record", id="0197a3c0-one", scope="org:acme", after={"version": 1}),),
)
_review = ReviewItem(
    id="0197a3c0-one",
    kind="quarantined",
    scope="org:acme",
    why="it names a tool to call (from web)",
    since=_AT,
    record=_record,
    actions=("approve", "reject"),
)

_relation = Relation(
    scope="org:acme",
    source="0197a3c0-one",
    target="0197a3c0-two",
    kind="supports",
    learned_at=_AT,
    version=1,
)
_spent = Spent(
    scope="org:acme",
    day="2026-05-03",
    operation="summarize",
    model="openai:gpt-4o-mini",
    calls=3,
    tokens_in=5200,
    tokens_out=410,
    cost=0.001026,
)
_work = Work(kind="embed", root="user:ann", scope="user:ann", id="0197a3c0-one")

# One of each kind of value that verbs answer with.
VALUES: dict[Any, Any] = {
    Receipt: Receipt(
        items=(ReceiptItem(id="0197a3c0-one", status="stored"),),
        change="0197a3c0-change",
        usage=Usage(texts_embedded=1),
    ),
    Answer: Answer(hits=(_hit,), notes=("keyword and vector search",)),
    Packet: _packet,
    Record: _record,
    Entry: _entry,
    ReviewItem: _review,
    Session: Session(scope="user:ann", id="chat/42", last_seq=12, started_at=_AT, version=1),
    Message: _message,
    Relation: _relation,
    Spent: _spent,
    Due: Due(work=(_work,), stuck=()),
    Stats: Stats(
        records=2,
        sessions=1,
        kinds={"episodic": 1, "semantic": 1},
        types={"fact": 1, "turn": 1},
        statuses={"active": 2},
    ),
    ScopeCount: ScopeCount(scope="org:acme", records=2, believed=2, below=14),
    Summary: Summary(
        id="0197a3c0-fold",
        scope="user:ann",
        session="chat/42",
        from_seq=1,
        to_seq=20,
        text="Ann moved to Berlin in May.",
        how="extract",
        learned_at=_AT,
    ),
    Consent: Consent(scope="user:ann", author="", persist=False),
}


def example_of(kind: Any) -> Any:
    """A value of this kind as JSON."""
    return as_json(VALUES[kind])


JOB: Any = {
    "id": "0197a3c0-work",
    "operation": "maintain",
    "state": "done",
    "progress": 0,
    "begun_at": as_json(_AT),
    "ended_at": as_json(_AT),
    "receipt": example_of(Receipt),
    "problem": None,
    "file": None,
}
KEY: Any = {
    "id": "3f9a51c07b12",
    "name": "kitchen",
    "scopes": ["user:ann"],
    "rights": ["read", "write"],
    "created_at": as_json(_AT),
    "expires_at": None,
    "revoked_at": None,
    "holder": "person",
    "parent": "",
    "succeeds": "",
    "addresses": [],
    "audience": "",
    "last_used_at": None,
}
WEBHOOK: Any = {
    "id": "9c2f4be07a31",
    "url": "https://hooks.example/standfast",
    "scope": "user:ann",
    "text": False,
    "created_at": as_json(_AT),
    "delivered": 12,
    "failing": 0,
    "trouble": "",
}
AUDIT_REPORT: Any = {
    "lines": 12,
    "seals": 3,
    "unsealed": 0,
    "lost": 0,
    "findings": [],
    "heads": {"user:ann/3f9a51c07b124d1e": "c0ffee"},
    "until": {"user:ann/3f9a51c07b124d1e": "2026-04-01T00:00:00+00:00"},
}
DEVICE: Any = {"id": "kitchen", "scope": "user:ann"}
EPISODES: Any = {
    "episodes": [
        {
            "id": "ep-abc123",
            "summary": "User asked about weather forecast for San Francisco",
            "keywords": ["weather", "forecast", "san francisco"],
            "topic": "weather",
            "timestamp": 1711612800000,
            "importance": 0.7,
            "type": "conversation",
        }
    ],
    "count": 1,
    "available": True,
}

# Requests as they look, by the name of their body.
REQUESTS: dict[str, Any] = {
    "Observe": {
        "session": "chat/42",
        "scope": "user:ann",
        "messages": [{"role": "user", "content": "I moved to Berlin in May", "id": "m1"}],
    },
    "Remember": {"text": "Deploys go out on Tuesdays", "scope": "org:acme", "tags": ["deploy"]},
    "Recall": {"query": "when do we deploy?", "scope": "org:acme:agent:cto", "limit": 6},
    "ContextBody": {"session": "chat/42", "query": "where does Ann live?", "scope": "user:ann"},
    "Confirm": {"pending": [{"id": "m7", "scope": "user:ann", "session": "~pending"}]},
    "SetState": {"session": "chat/42", "scope": "user:ann", "state": {"step": "testing"}},
    "End": {"session": "chat/42", "scope": "user:ann", "outcome": "the flat is booked"},
    "Note": {"session": "chat/42", "scope": "user:ann", "text": "waits for the landlord"},
    "Relate": {"source": "0197a3c0-one", "kind": "supports", "target": "0197a3c0-two"},
    "SaveProcedure": {
        "name": "deploy",
        "scope": "org:acme",
        "steps": ["run the tests", "tag the release", "watch the dashboard"],
        "triggers": ["deploy"],
    },
    "ProcedureUsed": {"id_or_name": "deploy", "scope": "org:acme", "success": True},
    "FindProcedures": {"query": "how do we deploy?", "scope": "org:acme"},
    "WhyNot": {"id": "0197a3c0-one", "query": "when do we deploy?", "scope": "org:acme"},
    "Edit": {"id": "0197a3c0-one", "text": "Deploys go out on Wednesdays"},
    "Pin": {"ids": ["0197a3c0-one"]},
    "Dispute": {"id": "0197a3c0-one", "text": "Deploys go out on Wednesdays"},
    "Login": {"code": "a code that `standfast console` made"},
    "Forget": {"ids": ["0197a3c0-one"], "dry_run": True},
    "Revoke": {"scope": "org:acme", "source": "web", "dry_run": True},
    "Archive": {"ids": ["0197a3c0-one"]},
    "Get": {"ids": ["0197a3c0-one", "0197a3c0-two"]},
    "Undo": {"change": "0197a3c0-change"},
    "Resolve": {"id": "0197a3c0-one", "action": "approve"},
    "SetPolicy": {"scope": "user:ann", "persist": False},
    "Maintain": {"dry_run": True, "scope": "user:ann"},
    "Export": {"scope": "user:ann"},
    "CreateKey": {"name": "kitchen", "scopes": ["user:ann"], "rights": ["read", "write"]},
    "RotateKey": {"overlap_hours": 24},
    "AddWebhook": {"url": "https://hooks.example/standfast", "scope": "user:ann"},
    "MapDevice": {"device": "kitchen", "scope": "user:ann"},
}
