"""Files of every released schema open in the program of today, with all that is in them."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from scripts.make_schema_fixture import TEXTS
from standfast import Memory
from standfast.stores.sqlite import doctor, migrate
from standfast.wiring.files import migrate_store
from tests import postgres, redis

FIXTURES = sorted((Path(__file__).parent / "data").glob("schema-*.db.gz"))


@pytest.fixture(params=FIXTURES, ids=lambda path: path.name)
def old_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpacked(request.param, tmp_path / "memory.db")


def unpacked(fixture: Path, path: Path) -> Path:
    with gzip.open(fixture) as packed, path.open("wb") as file:
        shutil.copyfileobj(packed, file)
    path.chmod(0o600)
    return path


def test_there_is_a_file_of_every_schema() -> None:
    assert [path.name for path in FIXTURES] == [
        f"schema-{migration.number}.db.gz" for migration in migrate.migrations()
    ], "run `make fixture` and commit the file"
    assert all(path.stat().st_size < 100_000 for path in FIXTURES)


def test_its_rows_are_as_they_were_written(old_file: Path) -> None:
    report = doctor.check(old_file)
    assert report.is_sound, report.findings
    assert (report.records, report.messages) == (60, 12)


@pytest.mark.parametrize("scope", TEXTS)
def test_its_memories_are_found_by_words_and_meaning(old_file: Path, scope: str) -> None:
    texts = TEXTS[scope]
    with Memory.open(str(old_file), embedder="hashing", background=False) as memory:
        (first, *_) = memory.recall(texts[1], scope=scope).hits
        assert first.record.text == texts[1]
        assert first.similarity == pytest.approx(1, abs=1e-3)
        assert first.keyword > 0
        listed = memory.recall("", scope=scope, limit=100, statuses=["active", "superseded"])
        known = {hit.record.text for hit in listed.hits}
        assert known == {*texts[:7], f"{texts[0]} (2)"}
        assert [m["content"] for m in memory.context(session="chat/1", scope=scope).messages] == [
            texts[3],
            texts[4],
        ]
        again = memory.observe(
            "chat/1", [{"role": "user", "content": "?", "id": "m3"}], scope=scope
        )
        assert again.items[0].reason == "forgotten before"
        assert memory.remember("a new thing", scope=f"{scope}:topic:diary").items[0].status == (
            "volatile"
        )


@contextmanager
def surreal() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"surrealkv://{folder}/memory"


@pytest.mark.parametrize("engine", [postgres.database, redis.database, surreal])
def test_X18_the_first_releases_store_moves_to_every_engine(
    engine: Callable[[], AbstractContextManager[str]], tmp_path: Path
) -> None:
    old = unpacked(FIXTURES[0], tmp_path / "memory.db")
    scope = "user:王芳"
    with engine() as target:
        receipt = asyncio.run(migrate_store(str(old), target, None, embedder="hashing"))
        assert [item.id for item in receipt.items] == sorted(TEXTS)
        assert all("the same there" in item.reason for item in receipt.items)
        with Memory.open(target, embedder="hashing", background=False) as memory:
            assert (
                memory.recall(TEXTS[scope][1], scope=scope).hits[0].record.text == TEXTS[scope][1]
            )
            again = memory.observe(
                "chat/1", [{"role": "user", "content": "?", "id": "m3"}], scope=scope
            )
            assert again.items[0].reason == "forgotten before"
            diary = memory.remember("a new thing", scope=f"{scope}:topic:diary")
            assert diary.items[0].status == "volatile"
