"""Webhooks: signed, in order, at least once, without text unless asked for, and in nobody's way."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from standfast.access import keys
from standfast.access.shares import COMPANY_RUNNING_MAX
from standfast.errors import Denied, Invalid, NotFound
from standfast.memory import AsyncMemory, webhooks
from standfast.memory import posts as sending
from standfast.settings import Settings

PATIENCE_SECONDS = 30


class Receiver:
    """Takes what is sent to it, or answers as it is told to."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.tries: list[str] = []
        self.heads: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.answers: list[int] = []  # of the next requests; then 200
        self.hold = threading.Event()
        self.hold.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                told = json.loads(body)
                outer.tries.append(told["id"])
                outer.hold.wait(PATIENCE_SECONDS)
                status = outer.answers.pop(0) if outer.answers else 200
                if status == 200:
                    outer.heads.append(dict(self.headers))
                    outer.bodies.append(body)
                    outer.taken.append(told)
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "http://169.254.169.254/latest")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}/hook?a=1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.hold.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(webhooks, "FIRST_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(webhooks, "SLICE_SECONDS", 0.2)


async def opened(store: str, receiver: Receiver) -> AsyncMemory:
    """With delivery, and without the rest of upkeep."""
    settings = Settings(webhook_hosts=receiver.host)
    memory = await AsyncMemory.open(store, embedder="none", background=False, settings=settings)
    memory._telling = asyncio.create_task(webhooks.run_webhooks(memory.engine))
    return memory


async def until(what: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.02)


def seqs(receiver: Receiver) -> list[int]:
    return [told["data"]["seq"] for told in receiver.taken]


def test_O8_changes_are_told_in_order_signed_and_without_text(
    tmp_path: Path, receiver: Receiver
) -> None:
    async def main() -> str:
        async with await opened(str(tmp_path / "m.db"), receiver) as memory:
            await memory.remember("said before the webhook", scope="user:ann")
            hook, secret = await webhooks.add_webhook(memory, receiver.url, scope="user:ann")
            for n in range(12):
                await memory.remember(f"The zebra number {n} is striped.", scope="user:ann")
                await memory.remember("Bob's own business.", scope="user:bob")
            await memory.remember("A shop's rule.", scope="user:ann:project:shop")
            await until(lambda: len(receiver.taken) >= 13)
            await asyncio.sleep(0.2)
            (shown,) = await webhooks.list_webhooks(memory)
            assert (shown.id, shown.delivered, shown.failing) == (hook.id, 13, 0)
            return secret

    secret = asyncio.run(main())
    assert len(receiver.taken) == 13
    assert seqs(receiver) == sorted(seqs(receiver))
    assert len({told["id"] for told in receiver.taken}) == 13
    whole = b"".join(receiver.bodies)
    assert b"zebra" not in whole
    assert b"before" not in whole.replace(b'"before"', b"")
    assert b"user:bob" not in whole
    for head, body in zip(receiver.heads, receiver.bodies, strict=True):
        parts = dict(part.split("=") for part in head["X-Standfast-Signature"].split(","))
        mine = hmac.new(secret.encode(), parts["t"].encode() + b"." + body, hashlib.sha256)
        assert parts["v1"] == mine.hexdigest()
        assert abs(int(parts["t"]) - time.time()) < 300
        assert json.loads(body)["id"] == head["X-Standfast-Event"]


def test_O8_text_comes_where_it_was_asked_for(tmp_path: Path, receiver: Receiver) -> None:
    async def main() -> None:
        async with await opened(str(tmp_path / "m.db"), receiver) as memory:
            await webhooks.add_webhook(memory, receiver.url, scope="user:ann", text=True)
            await memory.remember("The zebra is striped.", scope="user:ann")
            await until(lambda: receiver.taken)

    asyncio.run(main())
    assert b"The zebra is striped." in receiver.bodies[0]


def test_O8_what_is_not_taken_is_told_again_by_the_same_name_and_in_order(
    tmp_path: Path, receiver: Receiver
) -> None:
    async def main() -> None:
        async with await opened(str(tmp_path / "m.db"), receiver) as memory:
            receiver.answers = [500, 302, 429, 200, 503]
            await webhooks.add_webhook(memory, receiver.url, scope="user:ann")
            for n in range(4):
                await memory.remember(f"Statement {n} about whales.", scope="user:ann")
            await until(lambda: len(receiver.taken) == 4)

    asyncio.run(main())
    assert seqs(receiver) == sorted(seqs(receiver))
    assert len(receiver.tries) == 8
    assert len(set(receiver.tries)) == 4
    assert receiver.tries[:4] == [receiver.tries[0]] * 4


def test_O8_a_receiver_that_hangs_slows_no_write(tmp_path: Path, receiver: Receiver) -> None:
    async def main() -> tuple[float, float]:
        async with await opened(str(tmp_path / "m.db"), receiver) as memory:
            before = await _seconds(memory, "before")
            receiver.hold.clear()
            await webhooks.add_webhook(memory, receiver.url, scope="user:ann")
            await memory.remember("The first one hangs.", scope="user:ann")
            await until(lambda: receiver.tries)
            during = await _seconds(memory, "during")
            receiver.hold.set()
            return before, during

    before, during = asyncio.run(main())
    assert during < 5 * before + 0.5


@pytest.fixture
def drip() -> Iterator[str]:
    """An address that takes a request and answers byte by byte, without an end."""
    ending = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)

    def main() -> None:
        taken: list[socket.socket] = []
        while not ending.is_set():
            with suppress(TimeoutError):
                taken.append(listener.accept()[0])
            for one in taken:
                with suppress(OSError):
                    one.send(b"H")
        for one in taken:
            one.close()

    thread = threading.Thread(target=main)
    thread.start()
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    ending.set()
    thread.join()
    listener.close()


def _posting() -> int:
    return sum(thread.name == "standfast webhook" for thread in threading.enumerate())


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_O8_who_answers_byte_by_byte_is_left_in_time(
    monkeypatch: pytest.MonkeyPatch, drip: str, scheme: str
) -> None:
    """And nothing of it stays behind."""
    monkeypatch.setattr(sending, "SECONDS_MAX", 0.4)
    begun = time.monotonic()
    sent = asyncio.run(sending.post(f"{scheme}://{drip}/", b"{}", {}, drip))
    assert not sent.taken
    assert sent.trouble == "no answer within 0.4 seconds" or scheme == "https"
    assert time.monotonic() - begun < 5
    deadline = time.monotonic() + PATIENCE_SECONDS
    while _posting():
        assert time.monotonic() < deadline, "its thread goes on"
        time.sleep(0.02)


def test_O8_black_holes_of_one_root_hold_up_no_other_and_take_few_threads(
    tmp_path: Path, receiver: Receiver, drip: str
) -> None:
    """As many as a root may have, removed and made again."""

    async def main() -> int:
        settings = Settings(webhook_hosts=f"{drip} {receiver.host}")
        memory = await AsyncMemory.open(
            str(tmp_path / "m.db"), embedder="none", background=False, settings=settings
        )
        most = 0
        async with memory:
            memory._telling = asyncio.create_task(webhooks.run_webhooks(memory.engine))
            await webhooks.add_webhook(memory, receiver.url, scope="user:ann")
            await memory.remember("Ann has no cat", scope="user:ann")  # a receiver in use
            await until(lambda: len(receiver.taken) == 1)
            for turn in range(3):
                holes = [
                    await webhooks.add_webhook(memory, f"http://{drip}/", scope="user:bob")
                    for _ in range(webhooks.WEBHOOKS_MAX)
                ]
                await memory.remember(f"A new thing, {turn}", scope="user:bob")
                await asyncio.sleep(0.3)
                await memory.remember(f"Ann has {turn} cats", scope="user:ann")
                await until(lambda: len(receiver.taken) == turn + 2)  # noqa: B023
                most = max(most, _posting())
                for hole, _ in holes:
                    await webhooks.remove_webhook(memory, hole.id)
        return most

    most = asyncio.run(main())
    assert 1 <= most <= COMPANY_RUNNING_MAX + 1


async def _seconds(memory: AsyncMemory, name: str) -> float:
    begun = time.perf_counter()
    for n in range(20):
        await memory.remember(f"Number {n} {name} the flood.", scope="user:ann")
    return time.perf_counter() - begun


def test_O8_the_place_survives_a_restart_and_a_dead_receiver(
    tmp_path: Path, receiver: Receiver
) -> None:
    store = str(tmp_path / "m.db")

    async def first() -> None:
        async with await opened(store, receiver) as memory:
            receiver.answers = [500] * 1000
            await webhooks.add_webhook(memory, receiver.url, scope="user:ann")
            for n in range(3):
                await memory.remember(f"Whale {n} swims.", scope="user:ann")
            await until(lambda: receiver.tries)
            await asyncio.sleep(0.2)
            (shown,) = await webhooks.list_webhooks(memory)
            assert shown.failing >= 1
            assert "500" in shown.trouble

    async def second() -> None:
        receiver.answers = []
        async with await opened(store, receiver):
            await until(lambda: len(receiver.taken) == 3)

    asyncio.run(first())
    assert receiver.taken == []
    asyncio.run(second())
    assert seqs(receiver) == sorted(seqs(receiver))


def test_O8_two_processes_tell_each_event_once(tmp_path: Path, receiver: Receiver) -> None:
    async def main() -> None:
        store = str(tmp_path / "m.db")
        async with await opened(store, receiver) as one, await opened(store, receiver):
            await webhooks.add_webhook(one, receiver.url, scope="user:ann")
            for n in range(10):
                await one.remember(f"Otter {n} floats.", scope="user:ann")
            await until(lambda: len(receiver.taken) >= 10)
            await asyncio.sleep(0.5)

    asyncio.run(main())
    assert len(receiver.tries) == 10


def test_O8_a_removed_webhook_or_a_revoked_key_is_told_nothing_more(
    tmp_path: Path, receiver: Receiver
) -> None:
    async def main() -> None:
        async with await opened(str(tmp_path / "m.db"), receiver) as memory:
            key, secret = await keys.create_key(
                memory.engine, scopes=["user:ann"], rights=["read", "write", "admin"]
            )
            _, engine = await keys.with_key(memory.engine, secret)
            hook, _ = await webhooks.add_webhook(memory, receiver.url, scope="user:ann")
            await webhooks.add_webhook(AsyncMemory(engine), receiver.url, scope="user:ann")
            await memory.remember("Both are told.", scope="user:ann")
            await until(lambda: len(receiver.taken) == 2)
            await webhooks.remove_webhook(memory, hook.id)
            await keys.revoke_key(memory.engine, key.id)
            await memory.remember("Nobody is told.", scope="user:ann")
            await asyncio.sleep(1)
            with pytest.raises(NotFound):
                await webhooks.remove_webhook(memory, hook.id)

    asyncio.run(main())
    assert len(receiver.taken) == 2


BAD = ["", "x", "ftp://a.example/", "http://127.0.0.1:1/", "https://127.0.0.1/", "https://[::1]/",
       "https://10.0.0.1/", "https://169.254.169.254/latest", "https://u:p@a.example/",
       "https://a.example/#x", "https://a b/", "https://0.0.0.0/", "https://[::ffff:10.0.0.1]/",
       "https://localhost/", "http://a.example:99999/", "https://" + "a" * 3000, "https://224.0.0.1/",
       "https://100.64.0.1/", "https://2130706433/", "https://[::127.0.0.1]/", "https://[fec0::1]/",
       "https://[64:ff9b::169.254.169.254]/", "https://[2002:7f00:1::]/", "https://a..b/",
       f"https://{'a' * 64}.example/", "https://[64:ff9b:1::10.0.0.1]/"]  # fmt: skip


@pytest.mark.parametrize("url", BAD)
def test_O8_private_and_odd_addresses_are_refused_and_nothing_is_kept(
    receiver: Receiver, url: str
) -> None:
    async def main() -> None:
        async with await opened("dict:", receiver) as memory:
            with pytest.raises(Invalid):
                await webhooks.add_webhook(memory, url)
            assert await webhooks.list_webhooks(memory) == ()

    asyncio.run(main())


# One address at least of each range in IANA's special-purpose registries, and of multicast.
SPECIAL_IPV4 = (
    *("0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.127.255.254", "127.0.0.1"),
    *("169.254.169.254", "172.16.0.1", "172.31.255.254", "192.0.0.1", "192.0.0.8", "192.0.0.9"),
    *("192.0.0.10", "192.0.0.170", "192.0.0.171", "192.0.0.192", "192.0.0.255", "192.0.2.1"),
    *("192.31.196.1", "192.52.193.1", "192.88.99.1", "192.168.1.1", "192.175.48.1"),
    *("198.18.0.1", "198.19.255.254", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
    *("239.255.255.255", "240.0.0.1", "255.255.255.255"),
)
SPECIAL_IPV6 = (
    *("::", "::1", "64:ff9b:1::1", "64:ff9b:1::808:808", "100::1", "100:0:0:1::1", "2001::1"),
    *("2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1", "2001:1::2", "2001:1::3"),
    *("2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1"),
    *("2001:db8::1", "2002:808:808::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1", "5f00::1"),
    *("fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%1", "fec0::1", "ff02::1", "::808:808"),
    *("::ffff:0:808:808", "4000::1", "1::1"),
)
PUBLIC = ("8.8.8.8", "1.1.1.1", "99.255.255.255", "100.128.0.1", "172.32.0.1", "192.0.1.1",
          "198.20.0.1", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001::1",
          "2001:4860:4860::8888", "2001:200::1")  # fmt: skip
FORMS = ("{}", "::ffff:{}", "64:ff9b::{}")


def sent_to(address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Why nothing is sent to a name that leads there; "cannot be reached" where it was tried."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    monkeypatch.setattr(
        sending, "getaddrinfo", lambda *_, **__: [(family, 1, 6, "", (address, 443))]
    )
    monkeypatch.setattr(sending, "create_connection", _unreachable)
    return asyncio.run(sending.post("https://a.example/", b"{}", {}, "")).trouble


def _unreachable(*_: object, **__: object) -> None:
    raise OSError("not tried in a test")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("address", SPECIAL_IPV4)
def test_O8_no_special_ipv4_address_is_sent_to_in_any_form(
    monkeypatch: pytest.MonkeyPatch, address: str, form: str
) -> None:
    assert "network; name it" in sent_to(form.format(address), monkeypatch)


@pytest.mark.parametrize("address", SPECIAL_IPV6)
def test_O8_no_special_ipv6_address_is_sent_to(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    assert "network; name it" in sent_to(address, monkeypatch)


@pytest.mark.parametrize("address", PUBLIC)
def test_O8_public_addresses_are_sent_to(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    forms = FORMS if "." in address else FORMS[:1]
    for form in forms:
        assert "cannot be reached" in sent_to(form.format(address), monkeypatch)


def test_O8_a_name_that_turns_private_later_is_not_followed(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    """Who owns a name may point it elsewhere after it was looked at."""
    monkeypatch.setattr(
        sending, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", 443))]
    )
    sent = asyncio.run(sending.post("https://public.example/", b"{}", {}, ""))
    assert not sent.taken
    assert "private" in sent.trouble
    assert receiver.tries == []


def test_O8_a_webhook_is_made_by_whoever_may_and_for_their_own_scopes(tmp_path: Path) -> None:
    async def main() -> None:
        memory = await AsyncMemory.open(
            str(tmp_path / "m.db"), embedder="none", background=False,
            settings=Settings(webhook_hosts="127.0.0.1"),
        )  # fmt: skip
        async with memory:
            url = "http://127.0.0.1:1/"
            engine = memory.engine
            ann = AsyncMemory(engine.narrowed(("user:ann",), ("read", "write", "admin")))
            writer = AsyncMemory(engine.narrowed(("user:ann",), ("read", "write")))
            bobs, _ = await webhooks.add_webhook(memory, url, scope="user:bob")
            with pytest.raises(Denied):
                await webhooks.add_webhook(writer, url, scope="user:ann")
            with pytest.raises(Denied):
                await webhooks.add_webhook(ann, url, scope="user:bob")
            assert await webhooks.list_webhooks(ann) == ()
            with pytest.raises(NotFound):
                await webhooks.remove_webhook(ann, bobs.id)

    asyncio.run(main())


def test_O8_a_process_that_is_killed_leaves_no_gap(tmp_path: Path, receiver: Receiver) -> None:
    """A server dies while it delivers; the next one goes on, and only ids tell doubles."""
    store = str(tmp_path / "m.db")
    code = f"""
import asyncio
from standfast.memory import AsyncMemory, webhooks
from standfast.settings import Settings
webhooks.LOOK_SECONDS = 0.05
async def main():
    memory = await AsyncMemory.open({store!r}, embedder="none", background=False,
                                    settings=Settings(webhook_hosts={receiver.host!r}))
    asyncio.create_task(webhooks.run_webhooks(memory.engine))
    await webhooks.add_webhook(memory, {receiver.url!r}, scope="user:ann")
    for n in range(30):
        await memory.remember(f"Heron {{n}} stands.", scope="user:ann")
    print("written", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=dict(os.environ)
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE_SECONDS)
    process.stdout.close()

    async def rest() -> None:
        settings = Settings(webhook_hosts=receiver.host)
        memory = await AsyncMemory.open(store, embedder="none", background=False, settings=settings)
        from datetime import timedelta

        clock = memory.engine.clock  # the dead one's lease has run out
        memory.engine.clock = lambda: clock() + timedelta(seconds=2 * webhooks.LEASE_SECONDS)
        memory._telling = asyncio.create_task(webhooks.run_webhooks(memory.engine))
        async with memory:
            await until(lambda: len({told["id"] for told in receiver.taken}) >= 30)

    asyncio.run(rest())
    told = {one["id"]: one["data"]["seq"] for one in receiver.taken}
    assert len(told) == 30
    assert list(told.values()) == sorted(told.values())


def test_O8_a_name_that_cannot_be_looked_up_is_an_answer_and_no_silence() -> None:
    """Its thread died of it, and whoever waited for it waited for ever."""
    sent = asyncio.run(asyncio.wait_for(sending.post("https://a..b/", b"{}", {}, ""), 10))
    assert not sent.taken
    assert "no name of a host" in sent.trouble


async def undelivered() -> AsyncMemory:
    """A memory that may have webhooks and tells nobody."""
    settings = Settings(webhook_hosts="127.0.0.1")
    return await AsyncMemory.open("dict:", embedder="none", background=False, settings=settings)


def test_X12_one_tenants_webhooks_take_no_place_of_anothers() -> None:
    async def main() -> None:
        async with await undelivered() as memory:
            url = "http://127.0.0.1:1/"
            for _ in range(webhooks.WEBHOOKS_MAX):
                await webhooks.add_webhook(memory, url, scope="user:ann:app:one")
            with pytest.raises(Invalid, match="user:ann has"):
                await webhooks.add_webhook(memory, url, scope="user:ann")
            await webhooks.add_webhook(memory, url, scope="user:bob")
            assert len(await webhooks.list_webhooks(memory)) == webhooks.WEBHOOKS_MAX + 1

    asyncio.run(main())


def test_A10_who_came_with_a_token_leaves_no_webhook_behind() -> None:
    """Nobody can revoke a token, and it would have been told for ever."""

    async def main() -> None:
        async with await undelivered() as memory:
            guest = AsyncMemory(replace(memory.engine, key="token-0123456789ab"))
            with pytest.raises(Denied, match="use a key"):
                await webhooks.add_webhook(guest, "http://127.0.0.1:1/")

    asyncio.run(main())
