"""Files of every released schema open in the program of today, with all that is in them."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from recollect import Memory
from recollect.stores.sqlite import doctor, migrate
from scripts.make_schema_fixture import TEXTS

FIXTURES = sorted((Path(__file__).parent / "data").glob("schema-*.db.gz"))


@pytest.fixture(params=FIXTURES, ids=lambda path: path.name)
def old_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with gzip.open(request.param) as packed, path.open("wb") as file:
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
