"""Write tests/unit/stores/data/schema-<number>.db.gz: a small store made by the schema of today.

Run it once when a schema is released, and commit the file: from then on every later program must
open it. Clock, ids and texts are fixed; only the keys of the tombstones are new each time.
"""

from __future__ import annotations

import asyncio
import gzip
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from standfast import AsyncMemory
from standfast.stores.sqlite.backup import backup
from standfast.stores.sqlite.migrate import migrations

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "unit" / "stores" / "data"

# Eight statements in each of six languages.
TEXTS = {
    "user:ann": (
        "Ann moved to Zurich in May", "Ann likes green tea without sugar",
        "Ann works as a structural engineer", "Ann is allergic to hazelnuts",
        "Ann rides her bicycle to work", "Ann plays the cello on Thursdays",
        "Ann prefers short answers", "Ann's sister is called Clara",
    ),
    "user:jürgen": (
        "Jürgen wohnt seit 2019 in Köln", "Jürgen trinkt am liebsten Kaffee",
        "Jürgen arbeitet als Schreiner", "Jürgen hat zwei Töchter",
        "Jürgen fährt jeden Sommer an die Nordsee", "Jürgen spielt Schach im Verein",
        "Jürgen mag keine Pilze", "Jürgens Hund heißt Bello",
    ),
    "user:lucía": (
        "Lucía vive en Sevilla con su abuela", "Lucía estudia medicina",
        "A Lucía le gusta el café con leche", "Lucía baila flamenco los viernes",
        "Lucía tiene miedo a volar", "Lucía cocina paella los domingos",
        "Lucía aprende japonés", "El hermano de Lucía se llama Pablo",
    ),
    "user:ольга": (
        "Ольга живёт в Казани", "Ольга любит зелёный чай", "Ольга работает учительницей",
        "Ольга играет на скрипке", "Ольга не ест мясо", "Ольга ездит на работу на трамвае",
        "Ольга учит китайский язык", "Кота Ольги зовут Барсик",
    ),
    "user:王芳": (
        "王芳住在北京市朝阳区", "王芳喜欢喝乌龙茶", "王芳是一名软件工程师", "王芳每天跑步五公里",
        "王芳对花生过敏", "王芳周末学习钢琴", "王芳计划明年去冰岛旅行", "王芳的猫叫小白",
    ),
    "user:yael": (
        "יעל גרה בתל אביב ליד הים", "יעל אוהבת קפה שחור", "יעל עובדת כעיתונאית",
        "יעל רצה מרתון כל שנה", "יעל צמחונית", "יעל מנגנת בגיטרה", "יעל לומדת ערבית",
        "לכלבה של יעל קוראים לונה",
    ),
}  # fmt: skip


class Ticking:
    """A clock that goes on by a minute with every look."""

    def __init__(self) -> None:
        self._now = datetime(2026, 5, 3, 10, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self._now += timedelta(minutes=1)
        return self._now


def counting() -> Callable[[], str]:
    numbers = iter(range(1, 10**6))
    return lambda: f"id-{next(numbers):06d}"


async def fill(path: Path) -> None:
    memory = await AsyncMemory.open(
        str(path), clock=Ticking(), new_id=counting(), embedder="hashing", background=False
    )
    async with memory:
        for scope, texts in TEXTS.items():
            ids: list[str] = []
            for number, text in enumerate(texts):
                receipt = await memory.remember(
                    text, scope=scope, tags=[f"tag{number % 3}"], importance=number / 8
                )
                ids.append(receipt.items[0].id)
            await memory.relate(ids[1], "supports", ids[0])
            replaced = await memory.remember(f"{texts[0]} (2)", scope=scope, supersedes=ids[0])
            await memory.relate(replaced.items[0].id, "caused_by", ids[2])
            said = [
                {"role": "user", "content": texts[3], "id": "m1", "at": "2026-05-01T09:00+02:00"},
                {"role": "assistant", "content": texts[4], "id": "m2"},
                {"role": "user", "content": texts[5], "id": "m3"},
            ]
            await memory.observe("chat/1", said, scope=scope, channel="web")
            await memory.forget(ids=[ids[7]])
            await memory.forget(ids=["m3"], session="chat/1", scope=scope)
            await memory.set_policy(f"{scope}:topic:diary", persist=False)


def main() -> int:
    target = FOLDER / f"schema-{len(migrations())}.db.gz"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made, copy = Path(folder) / "made.db", Path(folder) / "copy.db"
        asyncio.run(fill(made))
        backup(made, copy)
        target.write_bytes(gzip.compress(copy.read_bytes(), 9, mtime=0))
    print(f"{target.relative_to(FOLDER.parents[3])}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
