"""What is said when a Redis cannot be used: one line, what to do, and no password."""

from __future__ import annotations

import asyncio

import pytest

from standfast import Memory
from standfast.errors import Denied, Incompatible, Invalid, StandfastError, Unavailable
from standfast.stores.redis import RedisStore
from standfast.stores.redis.store import check_server
from tests.redis import free_port, own_server

SECRET = "hunter2secret"


def refusal(address: str) -> StandfastError:
    async def work() -> None:
        store = await RedisStore.open(address)
        await store.close()

    with pytest.raises(StandfastError) as error:
        asyncio.run(work())
    said = str(error.value)
    assert "\n" not in said
    assert SECRET not in said
    return error.value


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("redis://", "no host"),
        (f"redis://:{SECRET}@host:sixthousand", "no port number"),
        (f"redis://:{SECRET}@host/memories", "no number of a Redis database"),
        (f"redis://:{SECRET}@host?prefx=a", "unknown option 'prefx'"),
        (f"redis://:{SECRET}@host?prefix=a:b", "letters and digits"),
        (f"redis://:{SECRET}@host?persistence=maybe", "one of aof, any"),
        (f"redis://:{SECRET}@host?search=quick", "one of exact, native, both"),
    ],
)
def test_an_address_with_a_mistake_is_refused(address: str, said: str) -> None:
    error = refusal(address)
    assert isinstance(error, Invalid)
    assert said in str(error)


@pytest.mark.parametrize("scheme", ["redis", "rediss", "redis+cluster", "rediss+cluster"])
def test_nobody_there(scheme: str) -> None:
    error = refusal(f"{scheme}://ann:{SECRET}@127.0.0.1:{free_port()}")
    assert isinstance(error, Unavailable)
    assert f"cannot reach {scheme}://127.0.0.1" in str(error)


def test_a_colon_is_missing() -> None:
    with pytest.raises(Invalid, match="write redis://") as error:
        Memory.open(f"redis//ann:{SECRET}@host")
    assert SECRET not in str(error.value)


def test_a_wrong_password() -> None:
    server = own_server("--requirepass", "another")
    try:
        for url in (f"redis://:{SECRET}@127.0.0.1:{server.port}", server.url):
            error = refusal(url)
            assert isinstance(error, Denied), error
            assert "correct them in the URL" in str(error)
    finally:
        server.remove()


def test_a_server_that_does_not_persist_is_refused_unless_that_is_accepted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = own_server("--appendonly", "no")
    try:
        error = refusal(server.url)
        assert isinstance(error, Incompatible)
        assert "set appendonly yes" in str(error)
        with Memory.open(f"{server.url}?persistence=any", embedder="none", background=False) as m:
            m.remember("Ann has a cat", scope="user:ann")
        assert "will be lost" in caplog.text
    finally:
        server.remove()


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"redis_version": "7.0.15", "aof_enabled": 1}, "needs Redis 8"),
        ({"redis_version": "8.2.3", "maxmemory_policy": "allkeys-lru"}, "noeviction"),
        ({"redis_version": "8.2.3", "aof_enabled": 0}, "appendonly yes"),
    ],
)
def test_a_server_that_would_lose_memories_is_refused(facts: dict[str, object], said: str) -> None:
    with pytest.raises(Incompatible, match=said):
        check_server(facts, "redis://host", accepts_loss=False)
