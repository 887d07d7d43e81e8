"""The claim of a fact that a model wrote. Where the rules can read it, they win. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recollect.text.analysis import is_stop_word, words
from recollect.text.claims import Extraction, claim_in
from recollect.text.claims.findings import EXCLUSIVE
from recollect.text.claims.lessons import SPEAKER, Claim
from recollect.text.normal import fold
from recollect.types import Message

ENTITIES_MAX = 8

_ARTICLE = re.compile(r"^(?:the|a|an)\s+")
_DENIAL = re.compile(r"^(?:not|no)\s+")
_NAME = re.compile(r"[^\W\d_](?:[\w'’.-]*\w)?(?:\s+[^\W\d_a-z](?:[\w'’-]*\w)?)*")


def speaker_of(messages: Sequence[Message]) -> str:
    """Whose words these are: a person's before an assistant's."""
    said = [message for message in messages if message.role == "user"] or list(messages)
    return next((message.author for message in said if message.author), "")


def claim_of_fact(text: str, told: str, messages: Sequence[Message]) -> Claim | None:
    """By the rules, or else as the model tells it ("ann / home / hamburg"), if its words are
    those of the text."""
    speaker = speaker_of(messages)
    return claim_in(text, speaker=speaker) or _told(told, text, speaker)


def _told(told: str, text: str, speaker: str) -> Claim | None:
    parts = [_ARTICLE.sub("", " ".join(fold(part).split())) for part in told.split("/", 2)]
    if len(parts) != 3 or not all(parts):
        return None
    subject, slot, value = parts
    negated = bool(_DENIAL.match(value))
    value = _DENIAL.sub("", value)
    if subject in (SPEAKER, "i", fold(speaker)):
        subject = speaker.casefold() or SPEAKER
    elif not _is_in(subject, text):
        return None
    if not value or not _is_in(value, text):
        return None
    return Claim(
        subject=subject, slot=slot, value=value, negated=negated, exclusive=slot in EXCLUSIVE
    )


def _is_in(part: str, text: str) -> bool:
    known = fold(text)
    return all(word in known for word in words(part))


def misread(text: str, messages: Sequence[Message], rules: Extraction) -> str:
    """Why a fact turns round what the rules read in its messages, or says it of somebody else;
    "" if it does not."""
    claim = claim_in(text, speaker=speaker_of(messages))
    ids = {message.id for message in messages}
    read = [one.claim for one in rules.lessons if one.claim is not None and ids & set(one.messages)]
    if claim is None or claim in read:
        return ""
    for other in read:
        if (other.slot, other.value) != (claim.slot, claim.value):
            continue
        return (
            "its message says the opposite"
            if other.negated != claim.negated
            else "its message says that of somebody else"
        )
    return ""


def names_in(text: str) -> tuple[str, ...]:
    """Names in a sentence, in their order: words with a capital, without a leading article."""
    return tuple(list(dict.fromkeys(_names(text)))[:ENTITIES_MAX])


def _names(text: str) -> Iterator[str]:
    for found in _NAME.findall(text):
        parts = [part for part in found.split() if part[:1].isupper()]
        while parts and (is_stop_word(fold(parts[0])) or fold(parts[0]) == "user"):
            parts.pop(0)
        name = " ".join(parts).removesuffix("'s").removesuffix("’s")
        if len(name) > 1:
            yield name
