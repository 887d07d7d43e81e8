"""A channel's talk as sessions of a project: a day of it is one, a thread is one.

Slack names each message by its time; with the time of its last edit that is the message's id here,
so that whatever comes twice, late or after a crash is kept once. An edit forgets what was said
before, a deletion forgets it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from standfast import make_scope
from standfast.errors import NotFound
from standfast.memory import AsyncMemory
from standfast.types.frozen import frozen

SlackMessage = Mapping[str, Any]

PROGRESS = "0-slack"  # sorts before the sessions of days
SUMMARY_TAG = "project-summary"
EPISODES_IN_SUMMARY = 12
SUMMARY_LENGTH_MAX = 1_500
PART = 200
# What people say; all other kinds are the platform's own words.
SAID = (None, "", "thread_broadcast", "file_share", "me_message")


@frozen(kw_only=False)
class ChannelProgress:
    """How far a channel's history is kept: everything from ``oldest`` to ``newest``, and all of
    it when ``done``."""

    oldest: str = ""
    newest: str = ""
    done: bool = False
    kept: int = 0
    summary: str = ""


def is_said(message: SlackMessage) -> bool:
    """By a person, in words."""
    return bool(
        message.get("subtype") in SAID
        and not message.get("bot_id")
        and message.get("user")
        and message.get("text")
        and message.get("ts")
    )


def version_of(message: SlackMessage) -> str:
    edited = message.get("edited") or {}
    return f"{message['ts']}/{edited['ts']}" if edited.get("ts") else str(message["ts"])


def session_of(message: SlackMessage) -> str:
    thread = message.get("thread_ts")
    if thread:
        return f"thread {thread}"
    return f"day {_at(message['ts']):%Y-%m-%d}"


def _at(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), UTC)


class Channel:
    """One channel in the store. ``names`` turns a user's id into what people call them."""

    def __init__(
        self, memory: AsyncMemory, team: str, id_: str, names: Mapping[str, str] | None = None
    ) -> None:
        self._memory = memory
        self.id = id_
        self.root = make_scope(("slack", team))
        self.scope = make_scope(("slack", team), ("project", id_))
        self._names = names or {}

    async def progress(self) -> ChannelProgress | None:
        """None: nobody added us to this channel."""
        cursor = ""
        while True:
            page = await self._memory.sessions(scope=self.scope, cursor=cursor)
            for session in page.items:
                if session.id == PROGRESS and session.scope == self.scope:
                    return ChannelProgress(**session.state) if session.state else ChannelProgress()
            if not page.next:
                return None
            cursor = page.next

    async def begin(self) -> ChannelProgress:
        """What is known of it, or the first word about it."""
        known = await self.progress()
        if known is not None:
            return known
        first = {"id": "begun", "role": "system", "content": "This channel is remembered."}
        await self._memory.observe(PROGRESS, [first], scope=self.scope, channel="slack")
        await self.note(ChannelProgress())
        return ChannelProgress()

    async def note(self, progress: ChannelProgress) -> None:
        await self._memory.set_state(PROGRESS, asdict(progress), scope=self.scope, actor="slack")

    async def keep(self, messages: Iterable[SlackMessage], skip: Sequence[str] = ()) -> int:
        """In the order of their times; how many are new. ``skip``: who wants not to be kept."""
        sessions: dict[str, list[SlackMessage]] = {}
        for message in sorted(messages, key=lambda one: float(one["ts"])):
            if is_said(message) and message["user"] not in skip:
                sessions.setdefault(session_of(message), []).append(message)
        new = 0
        for session, said in sessions.items():
            for start in range(0, len(said), PART):
                part = [self._shaped(message) for message in said[start : start + PART]]
                receipt = await self._memory.observe(
                    session, part, scope=self.scope, channel="slack", actor="slack"
                )
                new += sum(item.status != "skipped" for item in receipt.items)
        return new

    def _shaped(self, message: SlackMessage) -> dict[str, Any]:
        text = str(message["text"])
        for user in {part.partition(">")[0] for part in text.split("<@")[1:]}:
            name = self._names.get(user.partition("|")[0])
            text = text.replace(f"<@{user}>", f"@{name}") if name else text
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        return {
            "id": version_of(message),
            "role": "user",
            "content": text,
            "author": message["user"],
            "at": _at(message["ts"]).isoformat(),
        }

    async def drop(self, message: SlackMessage) -> None:
        """Forget this version of a message, and what was learned from it together with the answers
        of others. One that has not come yet is taken in first: whoever was forgotten is known when
        they come late."""
        await self.keep([message])
        with suppress(NotFound):
            await self._memory.forget(
                session=session_of(message),
                scope=self.scope,
                ids=[version_of(message)],
                several_authors=True,
                actor="slack",
            )

    async def change(
        self, before: SlackMessage | None, after: SlackMessage, skip: Sequence[str] = ()
    ) -> None:
        """What was said before is forgotten. A message that only got replies or a preview says
        the same."""
        if before is not None and is_said(before) and version_of(before) != version_of(after):
            await self.drop(before)
        await self.keep([after], skip)

    async def close_day(self, session: str) -> None:
        """A day that is over becomes an episode, unless it was trivial."""
        with suppress(NotFound):
            await self._memory.end(session, scope=self.scope, actor="slack")

    async def days(self) -> list[str]:
        """The sessions of this channel that are not over."""
        found: list[str] = []
        cursor = ""
        while True:
            page = await self._memory.sessions(scope=self.scope, cursor=cursor, limit=200)
            found += [
                one.id
                for one in page.items
                if one.scope == self.scope and one.ended_at is None and one.id != PROGRESS
            ]
            if not page.next:
                return found
            cursor = page.next

    async def summarize(
        self, about: Mapping[str, str], progress: ChannelProgress
    ) -> ChannelProgress:
        """What the channel is about, as a memory that every task in it is shown: its own words
        about itself, and the newest of what was talked about, as the model or the extract has
        told it."""
        answer = await self._memory.recall(
            "", scope=self.scope, types=("episode",), limit=EPISODES_IN_SUMMARY
        )
        lines = [f"The channel #{about.get('name') or self.id}."]
        lines += [f"{name}: {text}" for name in ("topic", "purpose") if (text := about.get(name))]
        lines += [hit.record.text.strip() for hit in answer.hits]
        text = "\n".join(lines)[:SUMMARY_LENGTH_MAX]
        receipt = await self._memory.remember(
            text,
            scope=self.scope,
            type="fact",
            durability="core",
            tags=[SUMMARY_TAG],
            source="file",
            supersedes=progress.summary or None,
            actor="slack",
        )
        return replace(progress, summary=receipt.items[0].id or progress.summary)
