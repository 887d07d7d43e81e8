"""A memory with a scripted model that learns, and short ways to look at what it did."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from standfast import Memory, Receipt, Record
from standfast.engine import Engine
from standfast.scopes import root_of
from standfast.testing.scripted import ScriptedAnswer, ScriptedQuestion, ScriptedServer, says_json
from standfast.types import Listing, Session, SessionKey, Where
from standfast.upkeep.loop import one_round
from standfast.verbs.recall import Question, recall

ANN, BOB = "user:ann", "user:bob"
EVERY_STATUS = ["active", "superseded", "archived", "disputed", "quarantined"]


def fact(text: str, *, by: str = "t1", **fields: Any) -> dict[str, Any]:
    return {"text": text, "from": by, **fields}


def learns(*facts: Mapping[str, Any], skip: str = "", **more: Any) -> ScriptedAnswer:
    """A fitting answer to the question what can be learned."""
    return says_json({"facts": list(facts), "skip": skip, **more}, usage=(400, 60))


def nothing() -> ScriptedAnswer:
    return learns()


def by_text(**answers: ScriptedAnswer) -> Callable[[ScriptedQuestion], ScriptedAnswer]:
    """The answer whose name occurs in the messages that were asked about."""

    def rule(asked: ScriptedQuestion) -> ScriptedAnswer:
        said = asked.user.partition("<messages>")[2]
        return next((answer for name, answer in answers.items() if name in said), nothing())

    return rule


@contextmanager
def model_at(server: ScriptedServer, **settings: str) -> Iterator[None]:
    """The environment of a memory that asks the scripted model."""
    given = {
        "STANDFAST_MODEL": "openai-compatible:test",
        "STANDFAST_MODEL_URL": server.url,
        "STANDFAST_MODEL_TIMEOUT_SECONDS": "30",  # a busy machine needs some
        **settings,
    }
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def engine_of(memory: Memory) -> Engine:
    return memory._memory._engine


def impatient(memory: Memory, seconds: float = 30.0) -> Memory:
    """One try, no pause: the tests are about what happens afterwards."""
    models = engine_of(memory).models
    assert models is not None

    async def no_pause(_: float) -> None: ...

    models._sleep = no_pause
    models._patience = replace(models._patience, tries=1, seconds=seconds)
    return memory


def background_round(memory: Memory) -> Receipt:
    """What upkeep does by itself, without anybody asking for all of it."""
    return memory._loop.run(one_round(engine_of(memory)))


def facts(memory: Memory, scope: str = ANN, **narrow: Any) -> list[Record]:
    """What is known in this very scope of the semantic kind, oldest first."""
    engine = engine_of(memory)
    asked = {"statuses": ("active", "disputed"), **narrow}
    where = Where(scopes=(scope,), now=engine.now(), exact=True, kinds=("semantic",), **asked)
    found: list[Record] = []
    for store in engine.stores_of(root_of(scope)):
        found += memory._loop.run(store.listing(Listing(where=where, limit=1000)))
    return sorted(found, key=lambda record: (record.learned_at, record.id))


def texts(memory: Memory, scope: str = ANN, **options: Any) -> list[str]:
    return [record.text for record in facts(memory, scope, **options)]


def session(memory: Memory, id_: str = "chat", scope: str = ANN) -> Session:
    engine = engine_of(memory)
    root = root_of(scope)
    store = engine.volatile if root in engine.volatile_roots else engine.store
    (found,) = memory._loop.run(store.sessions(root, (SessionKey(scope, id_),)))
    return found


def place(memory: Memory, id_: str = "chat", scope: str = ANN) -> int:
    """Where the learner stands."""
    return session(memory, id_, scope).cursors["extract"]


def log(memory: Memory, id_: str = "chat", scope: str = ANN) -> list[str]:
    engine = engine_of(memory)
    key = SessionKey(scope, id_)
    found = memory._loop.run(engine.store.messages(key, now=engine.now(), limit=1000))
    return [message.text for message in found]


def everything_in(memory: Memory, scope: str = ANN) -> dict[str, tuple[str, str]]:
    """Every record of a scope, whatever its status: id -> (status, text)."""
    asked = Question(text="", scope=scope, statuses=EVERY_STATUS, limit=500)
    # Not through the memory: its recall would learn first.
    found = memory._loop.run(recall(engine_of(memory), asked)).hits
    return {hit.record.id: (hit.record.status, hit.record.text) for hit in found}


def learning_items(receipt: Receipt) -> list[Any]:
    return [item for item in receipt.items if item.reason != "vector added"]
