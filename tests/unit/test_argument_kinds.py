"""Whatever is given to a verb: what is of another kind than its argument takes is refused in one
line, and what holds many may be of any kind that can be gone through."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from standfast import AsyncMemory
from standfast.errors import Invalid, StandfastError
from standfast.types.arguments import misfit

ANN = "user:ann"
ODD: tuple[Callable[[], Any], ...] = (
    lambda: ["x"], lambda: {"x"}, lambda: {"a": 1}, lambda: 5, lambda: None, lambda: b"x",
    object, lambda: [None], lambda: [["x"]], lambda: iter(["x"]), lambda: float("nan"),
)  # fmt: skip
NO_VERBS = ("open", "close", "export_to", "import_from", "maintain", "reembed", "doctor")


def verbs() -> list[str]:
    return [
        name
        for name, method in inspect.getmembers(AsyncMemory, inspect.iscoroutinefunction)
        if not name.startswith("_") and name not in NO_VERBS
    ]


async def known(memory: AsyncMemory) -> dict[str, Any]:
    """Something right for every argument that a verb has to be given."""
    first = await memory.remember("Ann lives in Rome", scope=ANN)
    second = await memory.remember("Ann likes tea", scope=ANN)
    await memory.observe("s", "hello", scope=ANN)
    one, other = first.items[0].id, second.items[0].id
    return {
        "session": "s", "messages": "hello", "text": "Ann likes tea", "id": one, "ids": [one],
        "query": "tea", "source": one, "target": other, "kind": "supports", "name": "n",
        "steps": ["a"], "change": first.change, "state": {}, "record": one,
    }  # fmt: skip


@pytest.mark.parametrize("store", ["dict:", "memory.db"])
def test_X10_what_is_of_another_kind_is_refused_in_one_line(tmp_path: Path, store: str) -> None:
    address = store if store == "dict:" else str(tmp_path / store)
    tried = 0

    async def main() -> dict[str, str]:
        nonlocal tried
        broken: dict[str, str] = {}
        async with await AsyncMemory.open(address, embedder="none", background=False) as memory:
            right = await known(memory)
            for verb in verbs():
                method = getattr(memory, verb)
                taken = inspect.signature(method).parameters
                needed = {
                    name: right.get(name, "x")
                    for name, one in taken.items()
                    if one.default is inspect.Parameter.empty
                }
                given = {**needed, **({"scope": ANN} if "scope" in taken else {})}
                for name in taken:
                    for odd in ODD:
                        tried += 1
                        try:
                            await method(**{**given, name: odd()})
                        except StandfastError as error:
                            if "\n" in str(error):
                                broken[f"{verb}({name}={odd()!r})"] = str(error)
                        except Exception as error:
                            broken[f"{verb}({name}={odd()!r})"] = repr(error)
        return broken

    assert asyncio.run(main()) == {}
    assert tried > 1000, "nothing was tried"


@pytest.mark.parametrize("many", [list, tuple, set, frozenset, iter, dict.fromkeys])
def test_X10_many_may_be_of_any_kind(many: Callable[..., Any]) -> None:
    async def main() -> None:
        async with await AsyncMemory.open("dict:", embedder="none", background=False) as memory:
            kept = await memory.remember("Ann likes tea", scope=ANN, tags=many(["drink"]))
            [one] = kept.items
            for found in (
                await memory.recall("tea", scope=ANN, tags=many(["drink"])),
                await memory.recall("tea", scope=many([ANN]), kinds=many(["semantic"])),
                await memory.recall("tea", scope=ANN, types=many(["fact"])),
                await memory.recall("tea", scope=ANN, statuses=many(["active"])),
            ):
                assert [hit.record.id for hit in found.hits] == [one.id]
            listed = await memory.records(
                scope=ANN, kinds=many(["semantic"]), tags=many(["drink"]), sources=many(["user"])
            )
            assert [record.id for record in listed.items] == [one.id]
            assert [record.id for record in await memory.get(many([one.id]))] == [one.id]
            assert len((await memory.pin(many([one.id]))).items) == 1
            saved = await memory.save_procedure(
                "ship", many(["build"]), scope=ANN, triggers=many(["a release"])
            )
            assert saved.items
            assert len((await memory.forget(ids=many([one.id]), dry_run=True)).items) == 1
            assert len((await memory.revoke(ids=many([one.id]))).items) == 1

    asyncio.run(main())


def test_X10_what_replaces_names_one_record() -> None:
    async def main() -> None:
        async with await AsyncMemory.open("dict:", embedder="none", background=False) as memory:
            [one] = (await memory.remember("Ann lives in Rome", scope=ANN)).items
            several: Any = [one.id]
            with pytest.raises(Invalid, match=r"^supersedes takes text, not a list$"):
                await memory.remember("Ann lives in Oslo", scope=ANN, supersedes=several)
            assert [hit.record.id for hit in (await memory.recall("Ann")).hits] == [one.id]

    asyncio.run(main())


def test_X10_a_mistake_of_ours_is_not_called_theirs() -> None:
    hints = {"text": str | None, "ids": list[str], "share": float, "any": Any}
    assert misfit(hints, {"text": None, "ids": ["a"], "share": 1, "any": object(), "more": 5}) == ""
    assert misfit(hints, {"ids": [1]}) == "ids takes a list, not a list of such"
    assert misfit(hints, {"text": b""}) == "text takes text, not bytes"
