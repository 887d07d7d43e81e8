"""The app in Slack: it listens where it was added, and answers who asks."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from standfast.errors import Denied, Invalid, StandfastError
from standfast.interfaces.slack.channel import Channel, is_said
from standfast.interfaces.slack.history import ask, names_of, onboard
from standfast.memory import AsyncMemory
from standfast.types import Receipt, Record, origin_mark
from standfast.types.invisible import shown
from standfast.wiring.configuration import variable

log = logging.getLogger(__name__)

BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"
EVENTS_PATH = "/slack/events"
HITS_MAX = 5
SHOWN_MAX = 500  # characters of a memory
AGAIN_SECONDS = 60.0
KEEP_UP_SECONDS = 600.0
HELP = (
    "`/standfast ask QUESTION`, `remember TEXT`, `forget ID` (what you said), `forget me`, "
    "`forget ID preview`, `forget me preview` (only list it), `status`, `opt-out`, `opt-in`"
)
PREVIEW, WITH_OTHERS = "preview", "with-others"
PLAN_CHARACTERS = 30_000  # Slack cuts a message at 40,000
SURVIVING = (
    "The message that it was learned from still holds it: delete that in Slack, or forget its id."
)

Respond = Callable[[str], Awaitable[Any]]


def escaped(text: str) -> str:
    """Text in which no mention and no link of Slack's can stand."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def secret_of(name: str) -> str:
    """Tokens come from the environment and from nowhere else."""
    value = variable(name)
    if not value:
        raise Invalid(f"{name} is not set; the app's page at Slack shows it")
    return value


class Bot:
    """One workspace. ``client`` is Slack's web API with the bot's token."""

    def __init__(
        self, memory: AsyncMemory, client: AsyncWebClient, *, signing_secret: str = ""
    ) -> None:
        self._memory = memory
        self._client = client
        self._team = ""
        self._me = ""
        self._names: dict[str, str] = {}
        self._skip: set[str] = set()
        self._work: dict[str, asyncio.Task[None]] = {}
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._out: asyncio.Future[StandfastError] = asyncio.get_running_loop().create_future()
        self.app = AsyncApp(
            client=client,
            signing_secret=signing_secret or None,
            request_verification_enabled=bool(signing_secret),
            ignoring_self_events_enabled=True,
            # An event is told as taken when it is kept: what fails comes again.
            process_before_response=True,
        )
        self.app.event("message")(self._on_message)
        self.app.event("member_joined_channel")(self._on_joined)
        self.app.command("/standfast")(self._on_command)

    async def start(self) -> None:
        """Who we are, who wants not to be kept, and what was missed while nobody listened."""
        who = await ask(self._client, "auth.test")
        self._team, self._me = str(who["team_id"]), str(who.get("user_id", ""))
        self._names = await names_of(self._client)
        for policy in await self._memory.policies(scope=self._channel("").root):
            if policy.author and not policy.persist:
                self._skip.add(policy.author)
        cursor = ""
        while True:
            page = await ask(self._client, "users.conversations", limit=200, cursor=cursor)
            for channel in page.get("channels", ()):
                self._begin(channel["id"])
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return

    def greeting(self) -> str:
        return f"standfast is in workspace {self._team}, in {len(self._work)} channels."

    async def listen(self, app_token: str) -> None:
        """Socket Mode, until the token works no more."""
        handler: Any = AsyncSocketModeHandler(self.app, app_token, web_client=self._client)
        await handler.connect_async()
        try:
            await self.until_out()
        finally:
            with suppress(Exception):
                await handler.close_async()
            await self.close()

    async def until_out(self) -> None:
        """Raises when the token works no more. Now and then it reads on: what was said while a
        connection was down need not come by itself."""
        while True:
            done, _ = await asyncio.wait({self._out}, timeout=KEEP_UP_SECONDS)
            if done:
                raise self._out.result()
            for id_ in list(self._work):
                self._begin(id_)

    async def close(self) -> None:
        for task in self._work.values():
            task.cancel()
        await asyncio.gather(*self._work.values(), return_exceptions=True)

    def _channel(self, id_: str) -> Channel:
        return Channel(self._memory, self._team, id_ or "none", self._names)

    # The past, in the background

    def _begin(self, id_: str) -> None:
        """Of a channel that is read already nobody begins a second time."""
        running = self._work.get(id_)
        if running is None or running.done():
            self._work[id_] = asyncio.create_task(self._onboard(id_))

    async def _onboard(self, id_: str) -> None:
        while True:
            try:
                info = await ask(self._client, "conversations.info", channel=id_)
                about = _about(info.get("channel") or {})
                done = await onboard(self._client, self._channel(id_), about, tuple(self._skip))
                log.info("channel %s: %d messages kept", id_, done.kept)
                return
            except Denied as error:
                if not self._out.done():
                    self._out.set_result(error)
                return
            except StandfastError as error:
                log.warning("channel %s: %s; tried again later", id_, error)
                await asyncio.sleep(AGAIN_SECONDS)

    # What happens now

    async def _on_joined(self, event: Mapping[str, Any]) -> None:
        if event.get("user") == self._me:
            self._begin(event["channel"])

    async def _on_message(self, event: Mapping[str, Any]) -> None:
        channel = self._channel(event["channel"])
        # One after the other: an edit that overtakes its message must find it, or be found.
        async with self._turns[channel.id]:
            await self._take(channel, event)

    async def _take(self, channel: Channel, event: Mapping[str, Any]) -> None:
        if await channel.progress() is None:
            return  # nobody added us there
        skip = tuple(self._skip)
        kind = event.get("subtype")
        if kind == "message_changed":
            await channel.change(event.get("previous_message"), event["message"], skip)
        elif kind == "message_deleted":
            before = event.get("previous_message") or {}
            if is_said(before):
                await channel.drop(before)
        else:
            await channel.keep([event], skip)

    # What people ask for

    async def _on_command(
        self, ack: Callable[[], Awaitable[Any]], command: Mapping[str, Any], respond: Respond
    ) -> None:
        await ack()
        verb, _, rest = str(command.get("text", "")).strip().partition(" ")
        try:
            said = await self._obeyed(
                verb.lower(), rest.strip(), command["channel_id"], command["user_id"]
            )
        except StandfastError as error:
            said = f"That did not work: {as_plain(str(error))}"
        await respond(said)

    async def _obeyed(self, verb: str, rest: str, id_: str, user: str) -> str:
        channel = self._channel(id_)
        if verb in ("opt-out", "opt-in"):
            return await self._opt(channel, user, out=verb == "opt-out")
        if await channel.progress() is None:
            return "I do not remember this channel. Add me to it first: `/invite @standfast`"
        if verb == "status":
            return await self._status(channel)
        if verb == "ask" and rest:
            return await self._asked(channel, rest)
        if verb == "remember" and rest:
            receipt = await self._memory.remember(
                rest, scope=channel.scope, author=user, actor=f"slack {user}"
            )
            return "; ".join(f"{item.status} {item.id}" for item in receipt.items)
        if verb == "forget" and rest:
            return await self._forget(channel, rest, user)
        return HELP

    async def _asked(self, channel: Channel, question: str) -> str:
        answer = await self._memory.recall(question, scope=channel.scope, limit=HITS_MAX)
        lines = [_line(hit.record) for hit in answer.hits]
        return "\n".join(lines) or "I know nothing about that."

    async def _forget(self, channel: Channel, rest: str, user: str) -> str:
        """Everybody may take back their own words, and nobody else's. What was also made of others'
        words is listed, and goes when that is agreed to."""
        what, _, how = rest.partition(" ")
        if how.strip() not in ("", PREVIEW, WITH_OTHERS):
            return HELP
        chosen: dict[str, Any] = {"ids": [what], "scope": channel.scope}
        if what == "me":
            chosen = {"author": user, "scope": channel.root, "descend": True}
        else:
            found = await self._memory.get([what])
            if not found or found[0].scope != channel.scope or found[0].author != user:
                return "There is nothing of yours by that id in this channel."
        actor = f"slack {user}"
        agreed = how.strip() == WITH_OTHERS
        planned = await self._memory.forget(**chosen, dry_run=True, actor=actor)
        others = any(item.author not in ("", user) for item in planned.items)
        if how.strip() == PREVIEW or (others and not agreed):
            again = f"{what} {WITH_OTHERS}" if others else what
            return f"{self._plan(planned, user)}\n`/standfast forget {again}` erases it for good."
        receipt = await self._memory.forget(**chosen, several_authors=agreed, actor=actor)
        kept = f" {SURVIVING}" if receipt.survivors else ""
        return f"Forgotten: {len(receipt.items)} things.{kept}"

    def _plan(self, planned: Receipt, user: str) -> str:
        """The texts that would go, and whose they are, as far as one message can hold them."""
        lines = ["Nothing is erased yet. This would go:"]
        for number, item in enumerate(planned.items):
            whose = "you" if item.author == user else self._names.get(item.author, item.author)
            line = f"• {escaped(item.text)} (by {whose or 'nobody named'})"
            if sum(map(len, lines)) + len(line) > PLAN_CHARACTERS:
                lines.append(f"… and {len(planned.items) - number:,} more.")
                break
            lines.append(line)
        return "\n".join(lines) if planned.items else "There is nothing to erase."

    async def _opt(self, channel: Channel, user: str, *, out: bool) -> str:
        await self._memory.set_policy(
            channel.root, persist=not out, author=user, actor=f"slack {user}"
        )
        if not out:
            self._skip.discard(user)
            return "What you say from now on is remembered."
        self._skip.add(user)
        return "What you say is remembered no more. `/standfast forget me` takes back the rest."

    async def _status(self, channel: Channel) -> str:
        progress = await channel.progress()
        assert progress is not None
        state = "read to its beginning" if progress.done else "still being read"
        return f"This channel is {state}; {progress.kept:,} messages of its past are kept."


def _line(record: Record) -> str:
    mark = origin_mark(record.source, record.trust)
    said_by = f" ({mark})" if mark else ""
    return f"• {as_plain(record.text)}{said_by}  `{record.id}`"


def as_plain(text: str) -> str:
    """As Slack shows it: nothing invisible, and no mention or link that only looks like text."""
    cut = shown(text)[:SHOWN_MAX]
    return cut.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _about(channel: Mapping[str, Any]) -> dict[str, str]:
    return {
        "name": str(channel.get("name") or ""),
        "topic": str((channel.get("topic") or {}).get("value") or ""),
        "purpose": str((channel.get("purpose") or {}).get("value") or ""),
    }


async def serve_socket(memory: AsyncMemory) -> None:
    client = AsyncWebClient(token=secret_of(BOT_TOKEN))
    token = secret_of(APP_TOKEN)
    bot = Bot(memory, client)
    await bot.start()
    print(bot.greeting(), flush=True)
    await bot.listen(token)


async def serve_events(memory: AsyncMemory, port: int) -> None:
    """Signed requests from Slack, on this machine only: whoever wants them from elsewhere puts a
    server with a certificate before it."""
    from aiohttp import web

    secret = secret_of(SIGNING_SECRET)
    bot = Bot(memory, AsyncWebClient(token=secret_of(BOT_TOKEN)), signing_secret=secret)
    await bot.start()
    runner = web.AppRunner(bot.app.web_app(EVENTS_PATH))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    print(f"{bot.greeting()} Events: http://127.0.0.1:{port}{EVENTS_PATH}", flush=True)
    try:
        await bot.until_out()
    finally:
        await runner.cleanup()
        await bot.close()
