"""Answers as they look, for the documentation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from recollect.interfaces.render import as_json
from recollect.types import (
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
    Touch,
    Usage,
    Why,
    Work,
)
from recollect.verbs.lists import Consent, Due, Page, Spent, Stats

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

RECEIPT: Any = as_json(
    Receipt(
        items=(ReceiptItem(id="0197a3c0-one", status="stored"),),
        change="0197a3c0-change",
        usage=Usage(texts_embedded=1),
    )
)
ANSWER: Any = as_json(Answer(hits=(_hit,), notes=("keyword and vector search",)))
PACKET: Any = as_json(_packet)
RECORD: Any = as_json(_record)
RECORDS: Any = {"records": [RECORD]}
ENTRIES: Any = {"entries": [as_json(_entry)]}
REVIEW: Any = {"items": [as_json(_review)]}
RECORD_PAGE: Any = as_json(Page(items=(_record,), next="bGF0ZXI"))
SESSION_PAGE: Any = as_json(
    Page(items=(Session(scope="user:ann", id="chat/42", last_seq=12, started_at=_AT, version=1),))
)
MESSAGE_PAGE: Any = as_json(Page(items=(_message,)))
MESSAGES: Any = {"messages": [as_json(_message)]}
ENTRY_PAGE: Any = as_json(Page(items=(_entry,), next="bGF0ZXI"))
RELATIONS: Any = {
    "relations": [
        as_json(
            Relation(
                scope="org:acme",
                source="0197a3c0-one",
                target="0197a3c0-two",
                kind="supports",
                learned_at=_AT,
                version=1,
            )
        )
    ]
}
USAGE_PAGE: Any = as_json(
    Page(
        items=(
            Spent(
                scope="org:acme",
                day="2026-05-03",
                operation="summarize",
                model="openai:gpt-4o-mini",
                calls=3,
                tokens_in=5200,
                tokens_out=410,
                cost=0.001026,
            ),
        )
    )
)
DUE: Any = as_json(
    Due(work=(Work(kind="embed", root="user:ann", scope="user:ann", id="0197a3c0-one"),), stuck=())
)
STATS: Any = as_json(
    Stats(
        records=2,
        sessions=1,
        kinds={"episodic": 1, "semantic": 1},
        types={"fact": 1, "turn": 1},
        statuses={"active": 2},
    )
)
POLICIES: Any = {"policies": [as_json(Consent(scope="user:ann", author="", persist=False))]}
JOB: Any = {
    "id": "0197a3c0-work",
    "operation": "maintain",
    "state": "done",
    "progress": 0,
    "begun_at": as_json(_AT),
    "ended_at": as_json(_AT),
    "receipt": RECEIPT,
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
