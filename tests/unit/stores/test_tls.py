"""Stores over TLS, in front of real servers: those of the tests were built without it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis as redis_client

from standfast.errors import Invalid, StandfastError, Unavailable
from standfast.ports import Store
from standfast.stores.postgres import PostgresStore
from standfast.stores.redis import RedisStore
from standfast.stores.redis import store as redis_store
from standfast.testing.values import make_batch, make_record, one_record
from tests import postgres
from tests.redis import Server
from tests.redis import own_server as own_redis
from tests.tls import Certificates, certificates, tls_in_front


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Of an authority that has not signed the server's, for another host."""
    return certificates(tmp_path_factory.mktemp("others"), "elsewhere.example")


async def works(store: Store) -> None:
    await store.commit(make_batch(make_record("over TLS")))
    assert (await one_record(store, "over TLS")).text
    await store.close()


def refusal(opened: type[PostgresStore] | type[RedisStore], address: str) -> StandfastError:
    with pytest.raises(StandfastError) as error:
        asyncio.run(opened.open(address))
    assert "\n" not in str(error.value)
    assert "hunter2" not in str(error.value)
    return error.value


# PostgreSQL


@pytest.fixture
def behind_tls(files: Certificates) -> Iterator[str]:
    """An address with a question mark at its end."""
    with postgres.database() as address:
        parts = urlsplit(address)
        assert parts.port
        with tls_in_front(parts.port, files) as port:
            login = f"{parts.username}:hunter2"
            yield f"postgresql://{login}@127.0.0.1:{port}{parts.path}?"


def test_X18_postgresql_over_tls(behind_tls: str, files: Certificates) -> None:
    for mode in ("sslmode=require", f"sslmode=verify-full&sslrootcert={files.authority}"):
        store = asyncio.run(PostgresStore.open(behind_tls + mode))
        asyncio.run(store.close())

    async def whole() -> None:
        await works(await PostgresStore.open(behind_tls + "sslmode=require"))

    asyncio.run(whole())


def test_X18_a_certificate_that_does_not_fit_is_told(
    behind_tls: str, others: Certificates, tmp_path: Path
) -> None:
    for option, said in (
        (f"sslrootcert={others.authority}", "of no authority that sslrootcert= names"),
        (f"sslrootcert={tmp_path / 'none.pem'}", "has to name the file"),
    ):
        error = refusal(PostgresStore, f"{behind_tls}sslmode=verify-full&{option}")
        assert isinstance(error, Unavailable)
        assert said in str(error)
        assert error.lasting


def test_X18_a_certificate_of_another_host_is_told(others: Certificates) -> None:
    with postgres.database() as address:
        parts = urlsplit(address)
        assert parts.port
        with tls_in_front(parts.port, others) as port:
            at = f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}"
            options = f"sslmode=verify-full&sslrootcert={others.authority}"
            error = refusal(PostgresStore, f"{at}?{options}")
    assert "write the name that is in its certificate" in str(error)


def test_X18_tls_that_a_server_does_not_have_is_told() -> None:
    with postgres.database() as address:
        with psycopg.connect(address) as db:
            [on] = db.execute("SHOW ssl").fetchone() or ("",)
        if on == "on":
            pytest.skip("this server speaks TLS")
        error = refusal(PostgresStore, f"{address}?sslmode=require")
    assert "switch TLS on there" in str(error)


# Redis


@pytest.fixture(scope="module")
def tls_redis(files: Certificates) -> Iterator[int]:
    """The port on which it wants TLS."""
    server = own_redis("--appendfsync", "no")
    with tls_in_front(server.port, files, asks=False) as port:
        yield port
    server.remove()


def test_X18_redis_over_tls(tls_redis: int, files: Certificates) -> None:
    async def whole() -> None:
        address = f"rediss://127.0.0.1:{tls_redis}?ssl_ca_certs={files.authority}"
        await works(await RedisStore.open(address))

    asyncio.run(whole())


def test_X18_a_redis_whose_certificate_does_not_fit_is_told(
    tls_redis: int, others: Certificates, tmp_path: Path
) -> None:
    at = f"rediss://:hunter2@127.0.0.1:{tls_redis}"
    for address in (at, f"{at}?ssl_ca_certs={others.authority}"):
        error = refusal(RedisStore, address)
        assert isinstance(error, Unavailable)
        assert "its certificate cannot be trusted" in str(error)
        assert "?ssl_ca_certs=FILE" in str(error)
    error = refusal(RedisStore, f"{at}?ssl_ca_certs={tmp_path / 'none.pem'}")
    assert isinstance(error, Invalid)
    assert "ssl_ca_certs= in the address names no file" in str(error)


def test_X18_a_redis_without_tls_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_store, "SECONDS", 1.0)  # it waits for what never comes
    server = own_redis("--appendfsync", "no")
    try:
        error = refusal(RedisStore, f"rediss://127.0.0.1:{server.port}")
        assert isinstance(error, Unavailable)
        assert "is that its port for TLS?" in str(error)
    finally:
        server.remove()


def test_X2_a_password_that_redis_changes_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """One line, nothing is refused to its users by mistake, and it is well again by itself."""
    server: Server = own_redis("--requirepass", "hunter2", "--appendfsync", "no")

    async def work() -> None:
        store = await RedisStore.open(f"redis://:hunter2@127.0.0.1:{server.port}")
        await store.commit(make_batch(make_record("before")))
        admin = redis_client.Redis(port=server.port, password="hunter2")
        admin.config_set("requirepass", "another")
        admin.client_kill_filter(_type="normal", skipme=True)
        said: list[Unavailable] = []
        while len(said) < 20 and not (said and said[-1].lasting):  # first, connections are lost
            with pytest.raises(Unavailable) as raised:
                await store.commit(make_batch(make_record(f"meanwhile {len(said)}")))
            said.append(raised.value)
        assert "refuses the user or the password" in str(said[-1])
        assert "hunter2" not in str(said)
        admin.config_set("requirepass", "hunter2")
        await store.commit(make_batch(make_record("after")))
        assert (await one_record(store, "before")).id
        await store.close()
        admin.close()

    try:
        asyncio.run(work())
    finally:
        server.remove()
    assert "hunter2" not in caplog.text
