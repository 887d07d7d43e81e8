"""A memory block of LlamaIndex."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip(
    "llama_index.core.memory",
    reason="llama-index-core cannot be installed beside our pins: test_own_environment.py runs it",
)

from standfast import Memory
from tests.adapters.killed import killed_writer

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as opened:
        opened.remember("Ann likes green tea", scope="user:ann")
        opened.remember("Bob likes coffee", scope="user:bob")
        yield opened


def test_X14_llama_index_a_block_remembers(memory: Memory) -> None:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import Memory as LlamaMemory

    from standfast.adapters.llama_index import StandfastMemoryBlock

    def said(role: MessageRole, text: str) -> ChatMessage:
        return ChatMessage(role=role, content=text)

    async def scene() -> None:
        block = StandfastMemoryBlock(store=memory, scope="user:ann")
        chat = LlamaMemory.from_defaults(
            session_id="chat",
            token_limit=120,
            token_flush_size=30,
            chat_history_token_ratio=0.5,
            memory_blocks=[block],
        )
        for number in range(12):
            await chat.aput(said(MessageRole.USER, f"The bicycle number {number} is red"))
            await chat.aput(said(MessageRole.ASSISTANT, "Noted, and kept in mind."))
        await chat.aput(said(MessageRole.USER, "What tea do I like?"))
        given = str(await chat.aget())
        assert "green tea" in given
        assert "coffee" not in given

    asyncio.run(scene())
    assert any(one.id == "chat" for one in memory.sessions(scope="user:ann").items)


def test_X14_llama_index_many_at_once_and_two_users(memory: Memory) -> None:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole

    from standfast.adapters.llama_index import StandfastMemoryBlock

    def said(text: str) -> list[ChatMessage]:
        return [ChatMessage(role=MessageRole.USER, content=text)]

    async def scene() -> tuple[str, str]:
        ann, bob = (
            StandfastMemoryBlock(store=memory, scope=f"user:{name}", session="s")
            for name in ("ann", "bob")
        )
        told = [(ann if n % 2 else bob).aput(said(f"bicycle number {n} is red")) for n in range(20)]
        await asyncio.gather(*told)
        return await ann.aget(said("which bicycle?")), await bob.aget(said("which bicycle?"))

    ann, bob = asyncio.run(scene())
    for name, odd in (("ann", 1), ("bob", 0)):
        kept = [one.text for one in memory.messages("s", scope=f"user:{name}").items]
        assert sorted(kept) == sorted(f"bicycle number {n} is red" for n in range(odd, 20, 2))
    assert "bicycle" in ann
    assert "bicycle" in bob
    assert not [n for n in range(0, 20, 2) if f"number {n} " in ann]


def test_X14_llama_index_what_is_forgotten_comes_back_in_no_block(memory: Memory) -> None:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole

    from standfast.adapters.llama_index import StandfastMemoryBlock

    asked = [ChatMessage(role=MessageRole.USER, content="What tea do I like?")]
    block = StandfastMemoryBlock(store=memory, scope="user:ann", session="s")
    assert "green tea" in asyncio.run(block.aget(asked))
    memory.forget(scope="user:ann")
    assert "green tea" not in asyncio.run(block.aget(asked))


WRITER = """
from llama_index.core.base.llms.types import ChatMessage
from standfast.adapters.llama_index import StandfastMemoryBlock
async def write():
    block = StandfastMemoryBlock(store=memory, scope="user:ann", session="s")
    for number in range(10_000):
        await block.aput([ChatMessage(role="user", content=f"message {number}")])
        print(number, flush=True)
asyncio.run(write())
"""


def test_X14_llama_index_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    store = str(tmp_path / "killed.db")
    answered = killed_writer(WRITER, store)
    with Memory.open(store, background=False, embedder="none") as memory:
        kept = memory.messages("s", scope="user:ann", limit=1000).items
    assert [one.text for one in kept][:answered] == [f"message {n}" for n in range(answered)]
