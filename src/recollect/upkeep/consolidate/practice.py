"""Practice: which tool sequences a session followed, and what they have in common. Pure.

A run is what an agent did for one request: the tools it called, in order. Runs with the same
signature (tools and the names of their arguments, repeats collapsed) are the same practice; a
practice that worked several times can be written down as a procedure.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.text.analysis import is_stop_word, stem, words
from recollect.text.trust import suspicion
from recollect.types import Message, ToolCall

CALLS_MIN = 2
CALLS_MAX = 50
TRIGGER_WORDS_MAX = 4
VALUE_CHARACTERS_MAX = 80
NAME_CHARACTERS_MAX = 80

_ERROR = re.compile(
    r"\s*(?:\W*\b(?:error|exception|traceback|failed|failure|fatal|denied|refused|timed? ?out|"
    r"not found|no such|command not found|cannot|could not|unable to|fehler|erreur|ошибка)\b"
    r"|错误|失败|エラー|오류)",
    re.IGNORECASE,
)
_EXIT_CODE = re.compile(r"\bexit(?:ed)?(?: with)?(?: code| status)?:? ?([1-9]\d*)\b", re.IGNORECASE)
_COMPLAINT = re.compile(
    r"^\W*(?:no\b(?! (?:problem|worries))|nope|wrong|stop|undo|revert|not (?:that|what|like)|"
    r"that(?:'s| is| was)? (?:wrong|not)|this (?:is|was) (?:wrong|not)|it (?:didn'?t|does ?n[o']t|"
    r"failed|broke)|actually\b|why did you|you (?:broke|forgot|should(?:n'?t| not) have)|"
    r"doesn'?t work|try again|again,|nein\b|falsch|stopp|non\b|faux|mal\b|нет\b)"
    r"|\b(?:i meant|you misunderstood|didn'?t work|does not work|still (?:broken|failing|fails))\b"
    r"|^\W*(?:不对|不是|错了|違う|違います)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One tool call: its name and its arguments."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def shape(self) -> tuple[str, tuple[str, ...]]:
        return self.name, tuple(sorted(self.arguments))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """What was done for one request. ``worked``: every call was answered, no answer was an
    error, and nobody complained right after. ``closed``: no later message can change that."""

    request: Message
    messages: tuple[Message, ...]  # the request among them
    uses: tuple[Use, ...]
    worked: bool
    closed: bool

    @property
    def signature(self) -> str:
        shapes = json.dumps([use.shape for use in self.uses], ensure_ascii=False)
        return hashlib.blake2b(shapes.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lore:
    """What several runs of one practice have in common."""

    name: str
    steps: tuple[str, ...]
    triggers: tuple[str, ...]


def runs(messages: Sequence[Message], *, ended: bool) -> list[ToolRun]:
    """The runs in a piece of a log that begins anywhere and ends where the log ends now."""
    starts = [index for index, message in enumerate(messages) if _is_request(message)]
    found: list[ToolRun] = []
    for place, start in enumerate(starts):
        last = place + 1 == len(starts)
        end = len(messages) if last else starts[place + 1]
        follow_up = None if last else messages[end]
        run = _run(messages[start:end], follow_up, closed=not last or ended)
        if run is not None:
            found.append(run)
    return found


def last_request(messages: Sequence[Message]) -> int:
    """The position of the newest request; the end of the list if there is none."""
    for index in range(len(messages) - 1, -1, -1):
        if _is_request(messages[index]):
            return index
    return len(messages)


def _is_request(message: Message) -> bool:
    """Tool results may come in a user's name; they are no request."""
    return message.role == "user" and not message.answers and bool(message.text.strip())


def _run(part: Sequence[Message], follow_up: Message | None, *, closed: bool) -> ToolRun | None:
    calls = [call for message in part for call in message.calls if call.name]
    uses = _collapsed(map(_use, calls))
    if not CALLS_MIN <= len(uses) <= CALLS_MAX:
        return None
    answered = {id_ for message in part for id_ in message.answers}
    worked = (
        all(call.id in answered for call in calls)
        and not any(is_error(message) for message in part if _is_answer(message))
        and not (follow_up is not None and complains(follow_up.text))
    )
    return ToolRun(request=part[0], messages=tuple(part), uses=uses, worked=worked, closed=closed)


def _is_answer(message: Message) -> bool:
    return bool(message.answers) or message.role in ("tool", "function")


def is_error(message: Message) -> bool:
    """Does a tool's answer say that the call failed?"""
    said = _parsed(message.text)
    plain = said is None and (
        _EXIT_CODE.search(message.text[:2000]) or _ERROR.match(message.text[:200])
    )
    return bool(plain) or any(map(_marks_error, (said, _parsed(message.original))))


def _marks_error(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_marks_error, value))
    if not isinstance(value, Mapping):
        return False
    if value.get("is_error") or value.get("error") or value.get("status") in ("error", "failed"):
        return True
    return value.get("ok") is False or value.get("success") is False or _in_content(value)


def _in_content(value: Mapping[str, Any]) -> bool:
    content = value.get("content")
    return isinstance(content, list) and any(map(_marks_error, content))


def _parsed(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def complains(text: str) -> bool:
    """Does a user say that what was just done is wrong?"""
    return _COMPLAINT.search(text[:500]) is not None


def _use(call: ToolCall) -> Use:
    parsed = _parsed(call.arguments)
    return Use(name=call.name, arguments=parsed if isinstance(parsed, Mapping) else {})


def _collapsed(uses: Iterable[Use]) -> tuple[Use, ...]:
    """Reading five files one after the other is one step."""
    kept: list[Use] = []
    for use in uses:
        if not kept or kept[-1].shape != use.shape:
            kept.append(use)
    return tuple(kept)


def lore(found: Sequence[ToolRun]) -> Lore:
    """What these runs of one signature have in common, in words."""
    common = _common_words([run.request.text for run in found])
    trigger = " ".join(common)
    tools = list(dict.fromkeys(use.name for use in found[0].uses))
    name = trigger or " then ".join(tools)
    return Lore(
        name=name[:NAME_CHARACTERS_MAX],
        steps=tuple(_step(together) for together in zip(*(run.uses for run in found), strict=True)),
        triggers=(trigger,) if trigger else (),
    )


def _common_words(texts: Sequence[str]) -> list[str]:
    """Words of the shortest request that all of them have, in its order."""
    stems = [{stem(word) for word in words(text)} for text in texts]
    shortest = min(texts, key=len)
    common = [
        word
        for word in dict.fromkeys(words(shortest))
        if not is_stop_word(word) and all(stem(word) in known for known in stems)
    ]
    return common[:TRIGGER_WORDS_MAX]


def _step(together: Sequence[Use]) -> str:
    """One step: a tool, with those argument values that were the same each time, short and
    harmless."""
    first = together[0]
    arguments = [
        f"{name}={_constant([use.arguments.get(name) for use in together])}"
        for name in sorted(first.arguments)
    ]
    return f"{first.name}({', '.join(arguments)})"


def _constant(values: Sequence[Any]) -> str:
    written = {json.dumps(value, ensure_ascii=False, sort_keys=True) for value in values}
    only = written.pop()
    if written or len(only) > VALUE_CHARACTERS_MAX or suspicion(only):
        return "..."
    return only
