"""When are two answers the same, and what must not be in one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.tenancy.estates import ID, MARK, Estate
from tests.tenancy.surfaces import Call, Said

TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+00:00|Z)?")
KEY = re.compile(r"\bkey:[0-9a-f]{12}\b")
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
FRACTION = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
# The journal of a root is numbered for all who share it; tokens are those of new ids too.
NUMBER = re.compile(r'"(seq|tokens)": ?\d+')
CLOSE = 1e-3  # scores move a little while time goes by


def differences(crowded: Said, empty: Said, known: frozenset[str]) -> str:
    """What tells the two answers apart; "" if nothing does."""
    if crowded.ok != empty.ok:
        return _beside(crowded.text[:800], empty.text[:800])
    (one, numbers), (other, others) = _plain(crowded, known), _plain(empty, known)
    if one != other:
        pairs = enumerate(zip(one, other, strict=False))
        at = next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
        begin = max(0, at - 200)
        return _beside(one[begin : begin + 500], other[begin : begin + 500])
    far = [
        (a, b)
        for a, b in zip(numbers, others, strict=True)
        if not math.isclose(a, b, abs_tol=CLOSE)
    ]
    return f"numbers differ: {far[:5]}" if far else ""


def _beside(crowded: str, empty: str) -> str:
    return f"\n  beside others: {crowded}\n  alone:         {empty}"


def _plain(said: Said, known: frozenset[str]) -> tuple[str, list[float]]:
    """The text without what is new each time, and the fractions in it."""
    text = KEY.sub("KEY", TIME.sub("TIME", said.text))
    text = ID.sub(lambda found: found[0] if found[0] in known else "NEW", text)
    text = NUMBER.sub(r'"\1": N', DIGEST.sub("DIGEST", text))
    return FRACTION.sub("F", text), [float(number) for number in FRACTION.findall(text)]


def leaks(said: Said, asked: Call, others: Mapping[str, Estate]) -> list[str]:
    """What an answer says of others, other than what the attacker sent."""
    text = said.text
    all_sent = sorted(_texts(asked.arguments), key=len, reverse=True)
    for sent in all_sent:
        for echo in _echoes(sent):
            text = text.replace(echo, "SENT")
    found = [MARK] if MARK in text.lower() else []
    said_ids = frozenset(ID.findall(text))
    found += [id_ for estate in others.values() for id_ in estate.every_id & said_ids]
    return found + [
        scope
        for scope in others
        if scope in text
        and not any(sent.startswith(f"{scope}:") for sent in all_sent)
        and re.search(rf"(?<!\w){re.escape(scope)}(?![\w:%])", text)
    ]


def _echoes(sent: str) -> tuple[str, ...]:
    """How it may come back: as it was, quoted in an error, or that in JSON."""
    quoted = repr(sent)[1:-1]
    escaped = json.dumps(quoted)[1:-1], json.dumps(quoted, ensure_ascii=False)[1:-1]
    return sent, quoted, *escaped, json.dumps(sent)[1:-1]


def _texts(value: Any) -> Iterator[str]:
    """Every text that was sent, however deep."""
    if isinstance(value, str) and len(value) > 2:
        yield value
    elif isinstance(value, bytes):
        yield from re.findall(r'"([^"]{3,})"', value.decode())
    elif isinstance(value, Mapping):
        yield from _texts(list(value.values()))
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for one in value:
            yield from _texts(one)
