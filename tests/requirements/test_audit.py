"""The audit log: every act leaves a line, no line tells a memory, and nobody changes one unseen."""

from __future__ import annotations

import asyncio
import io
import shutil
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from standfast import AsyncMemory, Denied, Memory
from standfast.access import audit, keys
from standfast.changes import Change
from standfast.interfaces.cli.output import UNSOUND
from standfast.settings import Settings
from standfast.types import AUDIT, Erase, Item
from standfast.verbs.export import PASSING
from tests import postgres, redis
from tests.commands import run_here
from tests.requirements.asking import stored
from tests.requirements.exports import header, sealed

ANN = "user:ann"
SECRETIVE = "Ann hides the silver behind the clock"


class Clock:
    now = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def play(scenario: Callable[[AsyncMemory, Clock], Awaitable[None]], **settings: Any) -> None:
    async def whole() -> None:
        clock = Clock()
        chosen = Settings(audit="on", **settings)
        async with await AsyncMemory.open(
            "dict:", embedder="none", background=False, clock=clock, settings=chosen
        ) as memory:
            await scenario(memory, clock)

    asyncio.run(whole())


async def lines_of(memory: AsyncMemory) -> list[tuple[str, str, dict[str, Any]]]:
    await memory.engine.audit.flush()
    return [one async for one in audit.audit_lines(memory.engine)]


async def acts(memory: AsyncMemory) -> list[tuple[str, str]]:
    return [(line["act"], line["verb"]) for _, _, line in await lines_of(memory) if "verb" in line]


def test_X12_writes_reads_exports_refusals_and_keys_leave_lines_without_a_memory() -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        await memory.remember(SECRETIVE, scope=ANN, author="ann")
        await memory.observe("silver", "Where is it?", scope=ANN)
        await memory.recall("silver", scope=ANN)
        await memory.export_to(io.BytesIO(), scope=ANN)
        key, secret = await keys.create_key(memory.engine, scopes=[ANN], rights=["read"])
        _, engine = await keys.with_key(memory.engine, secret)
        with pytest.raises(Denied):
            await AsyncMemory(engine).remember("Ann has gold", scope=ANN)
        await keys.revoke_key(memory.engine, key.id)
        found = await acts(memory)
        assert {
            ("write", "remember"), ("write", "observe"), ("read", "recall"),
            ("export", "export_to"), ("refused", "remember"), ("admin", "create_key"),
            ("admin", "revoke_key"),
        } <= set(found)  # fmt: skip
        told = repr([(name, line) for _, name, line in await lines_of(memory)])
        for word in ("silver", "Ann", "ann", key.id):
            assert word not in told
        assert (await audit.verify_audit(memory.engine)).is_sound

    play(scenario)


def test_X12_a_write_and_its_line_are_one_commit() -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        committed: list[Any] = []
        store = memory.engine.store
        commit = store.commit

        async def counted(batch: Any) -> int:
            committed.append(batch)
            return await commit(batch)

        store.commit = counted  # type: ignore[method-assign]
        await memory.remember(SECRETIVE, scope=ANN)
        [batch] = [one for one in committed if one.records]
        assert [item.namespace for item in batch.items] == [AUDIT]
        assert len(await store.journal(ANN)) == 1  # and the journal does not speak of it

    play(scenario)


@pytest.mark.parametrize("how", ["changed", "removed", "added", "seal removed", "seal changed"])
def test_X12_tampering_shows(how: str) -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        store, now = memory.engine.store, memory.engine.now
        for number in range(3):
            await memory.remember(f"{SECRETIVE} {number}", scope=ANN)
            await memory.recall("silver", scope=ANN)
            await memory.engine.audit.flush()
        assert (await audit.verify_audit(memory.engine)).is_sound
        items = await store.items(ANN, AUDIT, now=now(), limit=100)
        seals = [item for item in items if item.value["act"] == "seal"]
        plain = [item for item in items if item.value["act"] != "seal"]
        change = Change(replace(memory.engine, audit=None), ANN, AUDIT)
        if how == "changed":
            change.items.append(replace(plain[0], value={**plain[0].value, "who": "eve"}))
        elif how == "added":
            beside = replace(plain[0], key=plain[0].key[:-1] + "0", version=0)
            change.items.append(beside)
        elif how == "seal changed":
            change.items.append(replace(seals[1], value={**seals[1].value, "lines": []}))
        else:
            gone = plain[0] if how == "removed" else seals[1]
            change.erasures.append(
                Erase(kind="item", scope=gone.scope, namespace=AUDIT, id=gone.key)
            )
        await change.commit()
        assert (await audit.verify_audit(memory.engine)).findings

    play(scenario)


ENGINES: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "sqlite": lambda folder: nullcontext(str(folder / "memory.db")),
    "postgresql": lambda _: postgres.database(),
    "redis": lambda _: redis.database(),
}
# What is cut out of the lines of three processes, the first of which has eight and four seals.
CUTS: dict[str, Callable[[list[list[Item]]], list[Item]]] = {
    "the last seal": lambda processes: processes[0][-1:],
    "the end": lambda processes: processes[0][-5:],
    "the middle": lambda processes: processes[0][4:7],
    "the beginning": lambda processes: processes[0][:3],
    "a process": lambda processes: processes[1],
    "all": lambda processes: [item for lines in processes for item in lines],
    "all seals": lambda processes: [
        item for lines in processes for item in lines if item.value["act"] == "seal"
    ],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_X12_who_kept_the_last_seals_sees_whatever_was_cut_off(tmp_path: Path, engine: str) -> None:
    """Without them the end of a log can be cut off, or a whole process's, and the rest is sound."""

    async def work(address: str, said: str) -> None:
        async with await opened(address) as memory:
            for number in range(4):
                await memory.remember(f"{SECRETIVE} {said} {number}", scope=ANN)
                await memory.recall("silver", scope=ANN)
                await memory.engine.audit.flush()

    async def cut(address: str, which: str) -> None:
        async with await opened(address, audit="off") as memory:
            engine, erased = memory.engine, Change(memory.engine, ANN, AUDIT)
            by_process: dict[str, list[Item]] = {}
            for item in await engine.store.items(ANN, AUDIT, now=engine.now(), limit=1000):
                by_process.setdefault(item.key.partition("/")[0], []).append(item)
            lines = sorted(by_process.values(), key=lambda items: items[0].value["at"])
            erased.erasures += [
                Erase(kind="item", scope=gone.scope, namespace=AUDIT, id=gone.key)
                for gone in CUTS[which](lines)
            ]
            await erased.commit()

    async def verified(address: str, kept: audit.AuditReport | None) -> audit.AuditReport:
        async with await opened(address, audit="off") as memory:
            return await audit.verify_audit(memory.engine, kept=kept)

    async def main(which: str, address: str) -> None:
        for number in range(3):
            await work(address, f"{which} {number}")
        kept = await verified(address, None)
        assert len(kept.heads) == 3
        await work(address, f"{which} later")
        assert (await verified(address, kept)).is_sound, "what came since is no finding"
        await cut(address, which)
        assert not (await verified(address, kept)).is_sound

    for which in CUTS:
        folder = tmp_path / which
        folder.mkdir()
        with ENGINES[engine](folder) as address:
            asyncio.run(main(which, address))


def opened(address: str, audit: Any = "on") -> Awaitable[AsyncMemory]:
    settings = Settings(audit=audit)
    return AsyncMemory.open(address, embedder="none", background=False, settings=settings)


def test_X12_an_older_copy_of_the_file_shows_beside_kept_seals(tmp_path: Path) -> None:
    store, older, seals = tmp_path / "memory.db", tmp_path / "older.db", tmp_path / "seals.json"

    def keep(text: str) -> None:
        async def main() -> None:
            async with await opened(str(store)) as memory:
                await memory.remember(text, scope=ANN)

        asyncio.run(main())

    verify = ["--store", str(store), "--embedder", "none", "audit", "verify"]
    keep(f"{SECRETIVE} one")
    shutil.copy(store, older)
    keep(f"{SECRETIVE} two")
    seals.write_text(run_here([*verify, "--json"]).stdout)
    assert run_here([*verify, "--kept", str(seals)]).returncode == 0
    shutil.copy(older, store)
    assert run_here(verify).returncode == 0, "nothing in the file itself tells"
    done = run_here([*verify, "--kept", str(seals)])
    assert done.returncode == UNSOUND
    assert "the end was cut off, or an older log is in its place" in done.stdout
    for content in ("", "[]", '{"heads": []}', '{"heads": {}, "until": {"a": "2026-01-01"}}'):
        seals.write_text(content)
        refused = run_here([*verify, "--kept", str(seals)])
        assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)


def test_X12_kept_seals_that_have_expired_are_no_finding() -> None:
    async def scenario(memory: AsyncMemory, clock: Clock) -> None:
        await memory.remember(SECRETIVE, scope=ANN)
        await memory.engine.audit.flush()
        kept = await audit.verify_audit(memory.engine)
        clock.now += timedelta(days=4)
        assert (await audit.verify_audit(memory.engine, kept=kept)).is_sound

    play(scenario, audit_days=2)


def test_X12_lines_go_when_their_time_is_up_and_the_rest_stays_sound() -> None:
    async def scenario(memory: AsyncMemory, clock: Clock) -> None:
        for _ in range(6):
            await memory.remember(f"{SECRETIVE} {clock.now.day}", scope=ANN)
            await memory.engine.audit.flush()
            clock.now += timedelta(days=1)
        report = await audit.verify_audit(memory.engine)
        assert report.is_sound
        assert report.seals == 2

    play(scenario, audit_days=2)


def test_X12_the_names_in_the_log_die_with_their_root() -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        id_ = (await memory.remember(SECRETIVE, scope=ANN)).items[0].id
        before = [line["what"] for _, _, line in await lines_of(memory) if line["act"] == "write"]
        assert before
        await memory.forget(scope=ANN, descend=True)
        await memory.remember("Ann is back", scope=ANN)
        after = [line for _, _, line in await lines_of(memory) if line["act"] == "write"]
        key = await audit._key_of(memory.engine, ANN)
        assert audit._hashed(key, id_) not in before[0]
        assert after[0]["what"] == before[0]

    play(scenario)


def test_X12_asking_about_nobody_makes_nobody() -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        await memory.recall("tea", scope="user:nobody")
        await memory.engine.audit.flush()
        assert await memory.engine.store.roots() == []
        assert ("read", "recall") in await acts(memory)

    play(scenario)


def test_X12_the_log_needs_its_right_and_is_not_exported() -> None:
    async def scenario(memory: AsyncMemory, _: Clock) -> None:
        await memory.remember(SECRETIVE, scope=ANN)
        await memory.engine.audit.flush()
        others = replace(memory.engine, rights=memory.engine.rights - {"audit"})
        with pytest.raises(Denied, match="audit"):
            await audit.verify_audit(others)
        assert AUDIT in PASSING

    play(scenario)


def test_X12_everything_about_one_person_in_a_readable_form(memory: Memory) -> None:
    said = [{"role": "user", "content": "I like green tea.", "author": "ann", "id": "m1"}]
    memory.observe("chat", said, scope="org:acme")
    memory.observe("chat", {"role": "user", "content": "I like rum.", "author": "bob"},
                   scope="org:acme")  # fmt: skip
    stored(memory, "Ann speaks Welsh", scope="org:acme", author="ann")
    stored(memory, "Bob speaks Danish", scope="org:acme", author="bob")
    file = io.BytesIO()
    memory.export_to(file, scope="org:acme", author="ann")
    text = file.getvalue().decode()
    assert text.startswith("# What is kept about ann\n")
    assert "Welsh" in text
    assert text.count("green tea") == 2  # the message, and its turn
    assert "rum" not in text
    assert "Danish" not in text


def test_X12_what_sums_up_a_persons_words_is_about_them_too(memory: Memory) -> None:
    at, here = "2026-01-02T03:04:05Z", {"scope": "org:acme", "session": "chat"}
    summary = {**here, "from_seq": 1, "to_seq": 1, "how": "extract", "learned_at": at}
    said = {**here, "role": "user", "at": at}
    lines = [
        header("org:acme"),
        {"type": "session", "value": {"scope": "org:acme", "id": "chat", "last_seq": 2}},
        {"type": "message", "value": {**said, "id": "a", "text": "tea", "author": "ann", "seq": 1}},
        {"type": "message", "value": {**said, "id": "b", "text": "rum", "author": "bob", "seq": 2}},
        {"type": "summary", "value": {**summary, "id": "1", "text": "of tea", "lineage": ["a"]}},
        {"type": "summary", "value": {**summary, "id": "2", "text": "of rum", "lineage": ["b"]}},
    ]
    memory.import_from(sealed(lines))
    file = io.BytesIO()
    memory.export_to(file, scope="org:acme", author="ann")
    text = file.getvalue().decode()
    assert 'summed up: "of tea"' in text
    assert "rum" not in text
