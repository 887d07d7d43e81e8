"""``standfast migrate``: a whole store copied into another engine, and compared."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from standfast import Memory
from standfast.access import keys
from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Unavailable
from standfast.interfaces.cli import main
from standfast.types import Receipt, SessionKey
from standfast.verbs import migrate
from standfast.wiring import open_engine
from standfast.wiring.files import migrate_store
from tests import postgres


def filled(address: str) -> str:
    """A store with something of everything; the secret of a key that works."""
    with Memory.open(address, embedder="hashing", background=False) as memory:
        for name in ("ann", "bob", "eve"):
            scope = f"user:{name}"
            said = [
                {"role": "user", "content": f"{name} lives in Berlin"},
                {"role": "assistant", "content": "Good to know"},
            ]
            memory.observe("chat", said, scope=scope)
            memory.remember(f"{name} plays chess", scope=scope, tags=["games"])
            memory.remember(f"{name} was wrong", scope=scope)
            [gone] = [r.id for r in memory.records(scope=scope).items if "wrong" in r.text]
            memory.forget(ids=[gone], scope=scope)
            memory.save_procedure("deploy", ["build", "push"], scope=scope)
            memory.maintain()
        return memory._loop.run(keys.create_key(memory._memory.engine, scopes=("user:ann",)))[1]


def texts(address: str, scope: str) -> list[str]:
    with Memory.open(address, embedder="hashing", background=False) as memory:
        return sorted(record.text for record in memory.records(scope=scope).items)


def test_X2_there_and_back_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, last = str(tmp_path / "first.db"), str(tmp_path / "last.db")
    secret = filled(first)
    with postgres.database() as middle:
        assert main(["--json", "--embedder", "hashing", "migrate", first, middle]) == 0
        receipt = json.loads(capsys.readouterr().out)
        assert [item["id"] for item in receipt["items"]] == ["user:ann", "user:bob", "user:eve"]
        assert all("the same there" in item["reason"] for item in receipt["items"])
        assert texts(middle, "user:bob") == texts(first, "user:bob")
        with Memory.open(middle, embedder="hashing", background=False) as memory:
            hits = memory.recall("Berlin", scope="user:ann").hits
            assert "ann lives in Berlin" in hits[0].record.text
            assert hits[0].similarity is not None
            key, _ = memory._loop.run(keys.with_key(memory._memory.engine, secret))
            assert key.scopes == ("user:ann",)
        assert main(["--embedder", "hashing", "migrate", middle, last]) == 0
    for scope in ("user:ann", "user:eve"):
        assert texts(last, scope) == texts(first, scope)


def test_X2_what_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = str(tmp_path / "first.db")
    filled(first)
    moved_roots: list[str] = []
    move_root = migrate._move_root

    async def stumbling(source: object, target: object, root: str) -> object:
        if root == "user:bob" and moved_roots.count(root) == 0:
            moved_roots.append(root)
            raise Unavailable("the line was cut")
        moved_roots.append(root)
        return await move_root(source, target, root)  # type: ignore[arg-type]

    monkeypatch.setattr(migrate, "_move_root", stumbling)
    with postgres.database() as target:
        with pytest.raises(Unavailable, match="cut"):
            asyncio.run(migrate_store(first, target, None, embedder="hashing"))
        receipt = asyncio.run(migrate_store(first, target, None, embedder="hashing"))
        assert [item.status for item in receipt.items] == ["skipped", "stored", "stored"]
        assert moved_roots == ["user:ann", "user:bob", "user:bob", "user:eve"]
        assert texts(target, "user:eve") == texts(first, "user:eve")


def test_X2_what_differs_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = str(tmp_path / "first.db")
    filled(first)
    import_from = migrate.import_from

    async def losing(engine: Engine, file: Any, **options: Any) -> Receipt:
        receipt = await import_from(engine, file, **options)
        # Through the store, so that the row is sealed: only the comparison can tell.
        key = SessionKey("user:ann", "chat")
        [session] = await engine.store.sessions(key.scope, (key,))
        change = Change(engine, key.scope, "state", store=engine.store, id=engine.new_id())
        change.sessions.append(replace(session, channel="other"))
        await change.commit()
        return receipt

    monkeypatch.setattr(migrate, "import_from", losing)
    with postgres.database() as target, pytest.raises(Unavailable, match="some sessions differ"):
        asyncio.run(migrate_store(first, target, None, embedder="none"))


def test_bad_input_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = str(tmp_path / "here.db")
    assert main(["migrate", here, here]) == 2
    assert main(["migrate", str(tmp_path / "nobody.db"), here]) == 3
    assert main(["migrate", "postgresq://ann:secret@h/db", here]) == 2
    said = capsys.readouterr().err
    assert "did you mean postgresql" in said
    assert "secret" not in said


def test_an_engine_is_left_closed(tmp_path: Path) -> None:
    """Also if the other cannot be opened."""
    first = str(tmp_path / "first.db")
    filled(first)
    with pytest.raises(Unavailable):
        asyncio.run(migrate_store(first, "postgresql://ann@127.0.0.1:1/none", None))

    async def still_there() -> None:
        engine = await open_engine(first, embedder="none")
        assert await engine.store.roots()
        await engine.store.close()

    asyncio.run(still_there())


def test_X13_a_migrated_store_goes_on_with_its_embedder(tmp_path: Path) -> None:
    source, target = str(tmp_path / "source.db"), str(tmp_path / "target.db")
    with Memory.open(source, embedder="hashing/64", background=False) as memory:
        memory.remember("Ann lives in Bonn", scope="user:ann")
    receipt = asyncio.run(migrate_store(source, target, None))
    assert any("hashing/64 (were: hashing/64)" in note for note in receipt.notes)
    with Memory.open(target, background=False) as memory:
        assert memory._memory.engine.embedder
        assert memory._memory.engine.embedder.space == "hashing/64"
        assert memory.recall("Bonn", scope="user:ann").hits[0].similarity is not None
    named = str(tmp_path / "named.db")
    receipt = asyncio.run(migrate_store(source, named, None, embedder="hashing/32"))
    assert any("hashing/32 (were: hashing/64)" in note for note in receipt.notes)
