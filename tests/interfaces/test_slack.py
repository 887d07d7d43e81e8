"""Slack: a channel's past and present, with the faults of a network and of people."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("slack_bolt", reason="the extra slack is not installed")

from slack_sdk.web.async_client import AsyncWebClient

from standfast.errors import Denied
from standfast.interfaces.cli import main
from standfast.interfaces.slack import bot as bots
from standfast.interfaces.slack import history
from standfast.interfaces.slack.channel import Channel, is_said, session_of
from standfast.memory import AsyncMemory
from tests.interfaces.slack_world import APP_TOKEN, BOT_TOKEN, CHANNEL, DAY, TEAM, Slack, said

PATIENCE_SECONDS = 30
SCOPE = f"slack:{TEAM}:project:{CHANNEL}"


@pytest.fixture
def slack() -> Iterator[Slack]:
    made = Slack()
    yield made
    made.close()


def past(days: int, a_day: int) -> list[dict[str, Any]]:
    every = DAY // a_day
    return [
        said(n, f"Lamp {n} of the lighthouse was cleaned on shift {n % 7}.", every=every)
        for n in range(days * a_day)
    ]


async def opened(store: Path) -> AsyncMemory:
    return await AsyncMemory.open(str(store), embedder="none", background=False)


def client_of(slack: Slack) -> AsyncWebClient:
    return AsyncWebClient(token=BOT_TOKEN, base_url=f"{slack.url}/api/")


async def until(what: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (await found if asyncio.iscoroutine(found := what()) else found):
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.02)


async def texts(memory: AsyncMemory) -> list[str]:
    """All that was said in the channel, session by session."""
    found: list[str] = []
    page = await memory.sessions(scope=SCOPE, limit=200)
    sessions = list(page.items)
    while page.next:
        page = await memory.sessions(scope=SCOPE, limit=200, cursor=page.next)
        sessions += page.items
    for session in sessions:
        cursor = ""
        while session.id != "0-slack":
            some = await memory.messages(session.id, scope=SCOPE, limit=200, cursor=cursor)
            found += [message.text for message in some.items]
            cursor = some.next
            if not cursor:
                break
    return found


@asynccontextmanager
async def listening(slack: Slack, store: Path) -> Any:
    async with await opened(store) as memory:
        bot = bots.Bot(memory, client_of(slack))
        await bot.start()
        task = asyncio.create_task(bot.listen(APP_TOKEN))
        channel = Channel(memory, TEAM, CHANNEL)

        async def ready() -> bool:
            progress = await channel.progress()
            return slack.connected and (not slack.member or bool(progress and progress.done))

        await until(ready)
        try:
            yield memory, bot
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def test_O7_a_channels_past_is_kept_once_with_threads_and_without_bots(
    tmp_path: Path, slack: Slack
) -> None:
    slack.messages = past(days=4, a_day=60)
    parent = slack.messages[100]
    parent.update(thread_ts=parent["ts"], reply_count=2)
    slack.replies[parent["ts"]] = [
        said(9000 + n, f"Reply {n} about the foghorn.", thread_ts=parent["ts"]) for n in range(2)
    ]
    slack.messages += [
        said(500, "joined", subtype="channel_join"),
        said(501, "deploy done", bot_id="B9"),
        said(502, "", user="UANN"),
    ]
    slack.limited = ["conversations.history", "conversations.history", "conversations.replies"]
    slack.retry_after = 0

    async def run() -> tuple[list[str], Any, Any]:
        async with await opened(tmp_path / "m.db") as memory:
            channel = Channel(memory, TEAM, CHANNEL)
            about = {"name": "lighthouse", "topic": "the lighthouse project"}
            done = await history.onboard(client_of(slack), channel, about)
            again = await history.onboard(client_of(slack), channel, about)
            assert again == done
            packet = await memory.context(scope=SCOPE, query="what is this channel about?")
            return await texts(memory), done, packet

    found, done, packet = asyncio.run(run())
    assert done.done
    assert done.kept == 242
    assert len(found) == len(set(found)) == 242
    assert sum("Reply" in text for text in found) == 2
    assert slack.calls["429"] == 3
    assert "the lighthouse project" in packet.text, "the summary is used as context"


def test_O7_429_is_waited_for(tmp_path: Path, slack: Slack) -> None:
    slack.messages = past(days=1, a_day=5)
    slack.limited = ["conversations.history"]
    slack.retry_after = 1

    async def run() -> float:
        async with await opened(tmp_path / "m.db") as memory:
            begun = time.monotonic()
            await history.onboard(client_of(slack), Channel(memory, TEAM, CHANNEL), {})
            return time.monotonic() - begun

    assert asyncio.run(run()) >= 1


KILLED = """
import asyncio, sys
from slack_sdk.web.async_client import AsyncWebClient
from standfast.interfaces.slack import history
from standfast.interfaces.slack.channel import Channel
from standfast.memory import AsyncMemory
async def main():
    async with await AsyncMemory.open(sys.argv[1], embedder="none", background=False) as memory:
        client = AsyncWebClient(token=sys.argv[3], base_url=sys.argv[2])
        await history.onboard(client, Channel(memory, sys.argv[4], sys.argv[5]), {"name": "x"})
asyncio.run(main())
"""


def onboard_killed(slack: Slack, store: Path, times: int) -> int:
    """Onboarding in a process that is killed so often, at ever later calls; how many it took."""
    killed = 0
    for round_ in range(times + 1):
        before = slack.calls["conversations.history"]
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                KILLED,
                str(store),
                f"{slack.url}/api/",
                BOT_TOKEN,
                TEAM,
                CHANNEL,
            ],
            env=dict(os.environ),
        )
        while round_ < times and process.poll() is None:
            if slack.calls["conversations.history"] - before >= 2:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.005)
        code = process.wait(300)
        killed += code == -signal.SIGKILL
    return killed


def check_whole(store: Path, expected: int) -> None:
    async def look() -> list[str]:
        async with await opened(store) as memory:
            progress = await Channel(memory, TEAM, CHANNEL).progress()
            assert progress is not None
            assert progress.done
            return await texts(memory)

    found = asyncio.run(look())
    assert len(found) == len(set(found)) == expected


def test_O7_killed_in_the_middle_it_goes_on_and_doubles_nothing(
    tmp_path: Path, slack: Slack
) -> None:
    slack.messages = past(days=10, a_day=30)
    slack.page = 40
    assert onboard_killed(slack, tmp_path / "m.db", 1) == 1
    check_whole(tmp_path / "m.db", 300)


def test_O7_what_is_said_edited_and_deleted_is_remembered_changed_and_forgotten(
    tmp_path: Path, slack: Slack
) -> None:
    first = said(1, "The keeper is <@UBEN> &amp; nobody else.")
    second = said(2, "The password is under the doormat.")
    edited = {**first, "text": "The keeper is Carla.", "edited": {"ts": "1750009999.0001"}}

    async def run() -> tuple[list[str], list[str]]:
        async with listening(slack, tmp_path / "m.db") as (memory, _):
            for n, message in enumerate((first, second, first)):  # the first one comes twice
                slack.event(message, f"e{n}")
            await until(lambda: len(slack.acks) == 3)
            before = sorted(await texts(memory))
            slack.event(
                {"subtype": "message_changed", "message": edited, "previous_message": first}, "e3"
            )
            slack.event({"subtype": "message_deleted", "previous_message": second}, "e4")
            await until(lambda: len(slack.acks) == 5)
            slack.event(first, "e5")  # late, after it was edited
            slack.event(second, "e6")  # late, after it was deleted
            await until(lambda: len(slack.acks) == 7)
            return before, await texts(memory)

    before, after = asyncio.run(run())
    assert before == ["The keeper is @Ben & nobody else.", "The password is under the doormat."]
    assert after == ["The keeper is Carla."]


def test_O7_an_edit_and_a_deletion_that_come_first_still_count(
    tmp_path: Path, slack: Slack
) -> None:
    first, second = said(1, "It opens at nine."), said(2, "Delete me, please.")
    edited = {**first, "text": "It opens at ten.", "edited": {"ts": "1750009999.0001"}}

    async def run() -> list[str]:
        async with listening(slack, tmp_path / "m.db") as (memory, _):
            changed = {"subtype": "message_changed", "message": edited, "previous_message": first}
            deleted = {"subtype": "message_deleted", "previous_message": second}
            for n, event in enumerate((changed, deleted, first, second)):
                slack.event(event, f"e{n}")
                await until(lambda n=n: len(slack.acks) == n + 1)  # type: ignore[misc]
            return await texts(memory)

    assert asyncio.run(run()) == ["It opens at ten."]


@pytest.mark.tracebacks("the connection is cut, which the library logs")
def test_O7_after_a_lost_connection_nothing_is_missing(tmp_path: Path, slack: Slack) -> None:
    slack.messages = [said(1, "Said before.")]

    async def run() -> list[str]:
        async with listening(slack, tmp_path / "m.db"):
            pass
        slack.messages.append(said(2, "Said while nobody listened."))
        async with listening(slack, tmp_path / "m.db") as (memory, _):

            async def caught_up() -> bool:
                return len(await texts(memory)) == 2

            await until(caught_up)
            slack.hang_up()
            await until(lambda: not slack.connected)
            await until(lambda: slack.connected)
            slack.event(said(3, "Said after the line was cut."), "e1")
            await until(lambda: slack.acks)
            return await texts(memory)

    assert asyncio.run(run()) == [
        "Said before.", "Said while nobody listened.", "Said after the line was cut.",
    ]  # fmt: skip


def test_O7_a_channel_that_nobody_added_us_to_is_left_alone(tmp_path: Path, slack: Slack) -> None:
    slack.member = False

    async def run() -> None:
        async with listening(slack, tmp_path / "m.db") as (memory, _):
            slack.event(said(1, "None of your business."), "e1")
            slack.command("ask business", "c1")
            await until(lambda: len(slack.acks) == 2 and slack.answered)
            assert (await memory.stats()).records == 0
            assert "Add me" in slack.answered[0]["text"]
            slack.event({"type": "member_joined_channel", "user": "UBOT"}, "e2")

            async def begun() -> bool:
                return await Channel(memory, TEAM, CHANNEL).progress() is not None

            await until(begun)

    asyncio.run(run())


def test_O7_commands_answer_and_nobody_forgets_for_others(tmp_path: Path, slack: Slack) -> None:
    async def run() -> list[str]:
        said_back: list[str] = []
        async with listening(slack, tmp_path / "m.db") as (memory, _):

            async def ask(text: str, user: str = "UANN") -> str:
                slack.command(text, f"c{len(said_back)}", user)
                await until(lambda: len(slack.answered) > len(said_back))
                said_back.append(slack.answered[-1]["text"])
                return said_back[-1]

            stored = await ask("remember The foghorn is tested on Fridays.")
            id_ = stored.split()[-1]
            assert "Fridays" in await ask("ask when is the foghorn tested?", "UBEN")
            assert "nothing of yours" in await ask(f"forget {id_}", "UBEN")
            assert "Forgotten" in await ask(f"forget {id_}")
            assert "nothing" in await ask("ask when is the foghorn tested?")
            assert "read to its beginning" in await ask("status")
            assert "/standfast ask" in await ask("nonsense")
            await ask("opt-out", "UBEN")
            slack.event(said(7, "Ben's secret recipe.", user="UBEN"), "e1")
            slack.event(said(8, "Ann's open recipe."), "e2")
            await until(lambda: {"e1", "e2"} <= set(slack.acks))
            return await texts(memory)

    assert asyncio.run(run()) == ["Ann's open recipe."]


def test_X10_nobody_forgets_what_others_said_in_a_channel(tmp_path: Path, slack: Slack) -> None:
    """The channel's profile is made of everybody's statements: forgetting one of them erased
    others' too, because the profile was followed back to its sources."""
    facts = [f"Vendor {n} in town {n} costs {n * 7 + 3} euros a year." for n in range(24)]

    async def run() -> tuple[list[str], list[str], str]:
        async with listening(slack, tmp_path / "m.db") as (memory, _):
            for n, fact in enumerate(facts):
                author = "UANN" if n == 3 else "UBEN"
                await memory.remember(fact, scope=SCOPE, author=author)
            await memory.maintain()

            async def held() -> dict[str, str]:
                page = await memory.records(scope=SCOPE, limit=200)
                return {one.id: one.text for one in page.items}

            before = await held()
            assert any(text.startswith("Profile of") for text in before.values())
            own = next(id_ for id_, text in before.items() if text == facts[3])
            slack.command(f"forget {own} preview", "c1")
            await until(lambda: len(slack.answered) == 1)
            shown = slack.answered[0]["text"]
            assert own in await held()
            slack.command(f"forget {own}", "c2")
            await until(lambda: len(slack.answered) == 2)
            await memory.maintain()
            after = await held()
            return list(before.values()), list(after.values()), shown

    before, after, shown = asyncio.run(run())
    assert f"{facts[3]} (by you)" in shown
    assert "by Ben" not in shown
    assert {text for text in before if text in facts} - set(after) == {facts[3]}
    assert any(text.startswith("Profile of") for text in after), "it is made again"
    assert not any(facts[3] in text for text in after)


def test_X10_what_was_made_of_others_words_goes_when_that_is_agreed_to(
    tmp_path: Path, slack: Slack
) -> None:
    async def run() -> None:
        async with listening(slack, tmp_path / "m.db") as (memory, _):

            async def ask(text: str, number: int) -> str:
                slack.command(text, f"c{number}")
                await until(lambda: len(slack.answered) == number)
                return str(slack.answered[-1]["text"])

            first = await memory.remember("The kiln is fired.", scope=SCOPE, author="UANN")
            second = await memory.remember(
                "The kiln is fired on Mondays at 1,200 degrees.", scope=SCOPE, author="UBEN"
            )
            own, theirs = first.items[0].id, second.items[0].id
            assert (await memory.get([theirs]))[0].derived_from == (own,)
            shown = await ask(f"forget {own}", 1)
            assert "The kiln is fired. (by you)" in shown
            assert "at 1,200 degrees. (by Ben)" in shown
            assert len(await memory.get([own, theirs])) == 2
            assert "Forgotten" in await ask(f"forget {own} with-others", 2)
            assert await memory.get([own, theirs]) == ()

    asyncio.run(run())


def test_O7_a_revoked_token_ends_it_with_one_clear_line(tmp_path: Path, slack: Slack) -> None:
    slack.messages = [said(1, "x")]

    async def run() -> None:
        async with await opened(tmp_path / "m.db") as memory:
            bot = bots.Bot(memory, client_of(slack))
            await bot.start()
            await bot.close()
            slack.revoked = True
            with pytest.raises(Denied, match="token_revoked"):
                await bots.Bot(memory, client_of(slack)).start()

    asyncio.run(run())


def test_O7_events_over_http_need_slacks_signature(tmp_path: Path, slack: Slack) -> None:
    import json

    from aiohttp.test_utils import TestClient, TestServer

    async def run() -> tuple[list[int], list[str]]:
        async with await opened(tmp_path / "m.db") as memory:
            bot = bots.Bot(memory, client_of(slack), signing_secret="s3cret")
            await bot.start()
            channel = Channel(memory, TEAM, CHANNEL)

            async def done() -> bool:
                progress = await channel.progress()
                return bool(progress and progress.done)

            await until(done)
            codes = []
            server = TestServer(bot.app.web_app(bots.EVENTS_PATH))
            async with TestClient(server) as web:
                for n, secret in enumerate(("wrong", "s3cret")):
                    event = {"channel": CHANNEL, **said(n, f"Signed with {secret}.")}
                    body = json.dumps(
                        {"type": "event_callback", "team_id": TEAM, "event_id": f"E{n}",
                         "event": event}
                    )  # fmt: skip
                    at = str(int(time.time()))
                    base = f"v0:{at}:{body}".encode()
                    mac = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
                    headers = {
                        "X-Slack-Signature": f"v0={mac}",
                        "X-Slack-Request-Timestamp": at,
                        "Content-Type": "application/json",
                    }
                    answer = await web.post(bots.EVENTS_PATH, data=body, headers=headers)
                    codes.append(answer.status)
            await bot.close()
            return codes, await texts(memory)

    codes, found = asyncio.run(run())
    assert codes == [401, 200]
    assert found == ["Signed with s3cret."]


@pytest.mark.parametrize("name", ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"])
def test_O7_tokens_come_from_the_environment_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-x")
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-x")
    monkeypatch.delenv(name)
    store = tmp_path / "m.db"
    assert main(["--store", str(store), "slack"]) == 2
    assert name in capsys.readouterr().err
    assert not store.exists()


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (said(1, "hello"), True),
        (said(1, "hello", subtype="thread_broadcast"), True),
        (said(1, "hello", subtype="channel_join"), False),
        (said(1, "hello", subtype="bot_message"), False),
        (said(1, "hello", bot_id="B1"), False),
        ({"ts": "1.1"}, False),
        ({}, False),
    ],
)
def test_O7_people_are_kept_and_machines_are_not(message: dict[str, Any], kept: bool) -> None:
    assert is_said(message) is kept


def test_O7_a_day_and_a_thread_are_sessions() -> None:
    assert session_of(said(0, "x")) == "day 2025-06-15"
    assert session_of(said(0, "x", thread_ts="1.5")) == "thread 1.5"


@pytest.mark.proof
def test_O7_20_000_messages_killed_five_times(tmp_path: Path, slack: Slack) -> None:
    """Every message once, 429s obeyed, in a process whose memory stays flat."""
    slack.messages = past(days=200, a_day=100)
    for message in slack.messages[::50]:
        message.update(thread_ts=message["ts"], reply_count=1)
        slack.replies[message["ts"]] = [
            {**message, "text": f"Reply to {message['ts']}.", "ts": f"{message['ts'][:-1]}9"}
        ]
    slack.page = 200
    slack.limited = ["conversations.history"] * 5 + ["conversations.replies"] * 5
    slack.retry_after = 1
    assert onboard_killed(slack, tmp_path / "m.db", 5) == 5
    check_whole(tmp_path / "m.db", 20_400)
    assert slack.calls["429"] == 10
