"""The past of a channel, read backwards day by day and resumable at any moment.

Where to go on is a message's time, kept in the store with what was read: a process that is killed
reads at most one day again, whose messages are known by their ids. Slack says how often it may be
asked, and is obeyed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from standfast.errors import Denied, Unavailable
from standfast.interfaces.slack.channel import Channel, ChannelProgress, SlackMessage, session_of

log = logging.getLogger(__name__)

PAGE = 200
TRIES_MAX = 8
WAIT_SECONDS_MAX = 300.0
OUT = ("account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked")


async def ask(client: AsyncWebClient, method: str, **arguments: Any) -> Mapping[str, Any]:
    """One answer of Slack. 429 is waited for as long as it says; Denied: the token works no
    more; Unavailable: it cannot be had now."""
    for attempt in range(TRIES_MAX):
        try:
            answer = await client.api_call(method, params=arguments)
            return dict(answer.data) if isinstance(answer.data, dict) else {}
        except SlackApiError as error:
            code = str(error.response.get("error", "")) if error.response else ""
            status = getattr(error.response, "status_code", 0)
            if code in OUT:
                raise Denied(
                    f"Slack says {code}: install the app again, and set its token"
                ) from None
            if status != 429 and status < 500:
                raise Unavailable(f"Slack refuses {method}: {code}") from None
            wait = _wait(error.response.headers, attempt)
        except (TimeoutError, OSError):
            wait = _wait({}, attempt)
        await asyncio.sleep(wait)
    raise Unavailable(f"Slack does not answer {method}; it is tried again later")


def _wait(headers: Mapping[str, Any], attempt: int) -> float:
    told = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    text = str(told[0] if isinstance(told, list) and told else told)
    if text.isascii() and text.isdigit():
        return min(float(text), WAIT_SECONDS_MAX)
    return min(0.5 * (1 << attempt), 60.0)


async def names_of(client: AsyncWebClient) -> dict[str, str]:
    """What people call each other, by their ids; {} where the app may not know."""
    names: dict[str, str] = {}
    cursor = ""
    try:
        while True:
            page = await ask(client, "users.list", limit=PAGE, cursor=cursor)
            for user in page.get("members", ()):
                profile = user.get("profile") or {}
                names[user["id"]] = profile.get("display_name") or user.get("name") or user["id"]
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return names
    except Unavailable as error:
        log.warning("users keep their ids: %s", error)
        return names


async def onboard(
    client: AsyncWebClient, channel: Channel, about: Mapping[str, str], skip: Sequence[str] = ()
) -> ChannelProgress:
    """All of the past, from where it was left; then days become episodes, and the channel gets
    its summary. Done again it only adds what is new."""
    progress = await channel.begin()
    if progress.done:
        return await catch_up(client, channel, progress, skip)
    async for day in _days(client, channel.id, latest=progress.oldest):
        kept = await channel.keep(await _with_threads(client, channel.id, day), skip)
        times = [message["ts"] for message in day]
        progress = replace(
            progress,
            oldest=min(times, key=float),
            newest=max((progress.newest or "0", *times), key=float),
            kept=progress.kept + kept,
        )
        await channel.note(progress)
    today = session_of({"ts": progress.newest}) if progress.newest else ""
    for session in await channel.days():
        if session.startswith("day ") and session < today:
            await channel.close_day(session)
    progress = await channel.summarize(about, replace(progress, done=True))
    await channel.note(progress)
    return progress


async def catch_up(
    client: AsyncWebClient, channel: Channel, progress: ChannelProgress, skip: Sequence[str] = ()
) -> ChannelProgress:
    """What was said while nobody listened."""
    newest, kept = progress.newest, 0
    async for day in _days(client, channel.id, oldest=progress.newest):
        kept += await channel.keep(await _with_threads(client, channel.id, day), skip)
        newest = max((newest or "0", *(message["ts"] for message in day)), key=float)
    if newest != progress.newest:
        progress = replace(progress, newest=newest, kept=progress.kept + kept)
        await channel.note(progress)
    return progress


async def _days(
    client: AsyncWebClient, channel: str, *, latest: str = "", oldest: str = ""
) -> AsyncIterator[list[SlackMessage]]:
    """Whole days, the newest first; only one is held at a time."""
    day: list[SlackMessage] = []
    async for message in _messages(client, channel, latest=latest, oldest=oldest):
        if day and session_of({"ts": message["ts"]}) != session_of({"ts": day[0]["ts"]}):
            yield day
            day = []
        day.append(message)
    if day:
        yield day


async def _messages(
    client: AsyncWebClient, channel: str, *, latest: str, oldest: str
) -> AsyncIterator[SlackMessage]:
    cursor = ""
    while True:
        given = {"latest": latest, "oldest": oldest, "cursor": cursor}
        page = await ask(
            client,
            "conversations.history",
            channel=channel,
            limit=PAGE,
            **{name: value for name, value in given.items() if value},
        )
        for message in page.get("messages", ()):
            yield message
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            return


async def _with_threads(
    client: AsyncWebClient, channel: str, day: Sequence[SlackMessage]
) -> list[SlackMessage]:
    """A thread comes whole, its first message included."""
    found: dict[str, SlackMessage] = {message["ts"]: message for message in day}
    for message in day:
        if not message.get("reply_count"):
            continue
        cursor = ""
        while True:
            more = {"cursor": cursor} if cursor else {}
            page = await ask(
                client,
                "conversations.replies",
                channel=channel,
                ts=message["ts"],
                limit=PAGE,
                **more,
            )
            found.update({reply["ts"]: reply for reply in page.get("messages", ())})
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
    return list(found.values())
