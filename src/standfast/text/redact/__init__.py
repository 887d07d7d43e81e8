"""Secrets never land: they are replaced before the first write.

Every secret becomes ``[redacted:<kind>]``; everything else stays as it was, character for
character. Secrets are looked for in a plain copy of the text, in which invisible characters
are gone and full-width letters are ordinary ones, and cut out of the text itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from standfast.errors import Invalid
from standfast.text.normal import plain_copy
from standfast.text.redact.assignments import Span, secret_kind_of_field
from standfast.text.redact.breaks import continued, find_broken
from standfast.text.redact.kinds import KIND_NAMES, KINDS, Kind, by_pattern
from standfast.types.frozen import frozen

# A replaced secret may bring two halves of another one together; more rounds than this
# never happened, and each one costs only when there was a finding.
_ROUNDS_MAX = 8
_LONG = 20_000  # characters
_USUAL_LETTERS = "zqxjkvbpygfwmuclhdrnioaset "  # the rarest first; any other is rarer
# A number of fewer digits is no card number.
_SMALLEST_SECRET_NUMBER = 10**11

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")

# A letter, the anchors that have it, and the kinds that each is for.
Anchors = tuple[tuple[str, tuple[tuple[str, Sequence[int]], ...]], ...]


@frozen(kw_only=False)
class Secret:
    """How often a kind of secret was found; never the secret itself."""

    kind: str
    count: int


@frozen(kw_only=False)
class Redacted:
    text: str
    found: tuple[Secret, ...] = ()


@dataclass(frozen=True)
class Redactor:
    """Which secrets to look for. ``kinds`` None means all of ``KIND_NAMES``; ``extra`` maps
    names to regular expressions of your own (the first group, if any, is the secret). They
    are run as they are: write them so that they need no more than linear time.

    Invalid: an unknown kind, or a pattern that is none; nothing is ever let through because
    of a mistake in the settings.
    """

    kinds: frozenset[str] | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    _active: tuple[Kind, ...] = field(init=False, repr=False, compare=False)
    _anchors: Anchors = field(init=False, repr=False, compare=False)
    _wide_anchors: Anchors = field(init=False, repr=False, compare=False)
    _marks: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        wanted = frozenset(KIND_NAMES) if self.kinds is None else frozenset(self.kinds)
        unknown = sorted(wanted - set(KIND_NAMES))
        if unknown:
            raise Invalid(f"unknown kinds of secrets: {', '.join(unknown)}; see KIND_NAMES")
        own = [_own_kind(name, pattern) for name, pattern in self.extra.items()]
        active = (*own, *(kind for kind in KINDS if kind.name in wanted))
        names = "|".join(sorted({*KIND_NAMES, *self.extra}))
        anchors: dict[str, list[int]] = {}
        for number, kind in enumerate(active):
            for anchor in kind.all_anchors():
                anchors.setdefault(anchor, []).append(number)
        wide = [anchor for anchor in anchors if not anchor.isascii()]
        object.__setattr__(self, "_active", active)
        object.__setattr__(self, "_anchors", _by_letter(anchors, anchors.keys() - set(wide)))
        object.__setattr__(self, "_wide_anchors", _by_letter(anchors, wide))
        object.__setattr__(self, "_marks", re.compile(rf"\[redacted:(?:{names})\]"))

    def redact(self, text: str) -> Redacted:
        """The text without its secrets; the same object if there were none."""
        found: Counter[str] = Counter()
        for _ in range(_ROUNDS_MAX):
            plain, places = plain_copy(text)
            spans = self._spans(plain)
            if not spans:
                break
            text = _cut(text, places, spans, found)
        return Redacted(text, _findings(found))

    def redact_value(self, value: Any) -> tuple[Any, tuple[Secret, ...]]:
        """The same for JSON-like values: texts, numbers, lists, and the keys and values of
        dicts. A text below a key such as "password" is taken for what the key says."""
        found: Counter[str] = Counter()
        try:
            return self._walk(value, found), _findings(found)
        except RecursionError as error:
            raise Invalid("the value is nested too deeply; flatten it") from error

    def _walk(self, value: Any, found: Counter[str]) -> Any:
        if isinstance(value, str):
            return self._counted(value, found)
        if isinstance(value, Mapping):
            return self._walk_mapping(value, found)
        if isinstance(value, list | tuple):
            walked = [self._walk(below, found) for below in value]
            return walked if isinstance(value, list) else tuple(walked)
        if isinstance(value, int) and abs(value) >= _SMALLEST_SECRET_NUMBER:
            text = _digits(value)
            safe = self._counted(text, found)
            return value if safe is text else safe
        return value

    def _walk_mapping(self, value: Mapping[Any, Any], found: Counter[str]) -> dict[Any, Any]:
        walked: dict[Any, Any] = {}
        for key, below in value.items():
            safe = self._counted(key, found) if isinstance(key, str) else key
            if safe is not key:
                same = sum(1 for other in walked if str(other).startswith(safe))
                safe = f"{safe} {same + 1}" if same else safe
            walked[safe] = self._field(key, below, found)
        return walked

    def _field(self, key: Any, value: Any, found: Counter[str]) -> Any:
        is_text = isinstance(value, str | int) and not isinstance(value, bool)
        if isinstance(key, str) and is_text:
            text = value if isinstance(value, str) else _digits(value)
            kind = secret_kind_of_field(plain_copy(key)[0], plain_copy(text)[0])
            if kind and any(active.name == kind for active in self._active):
                found[kind] += 1
                return f"[redacted:{kind}]"
        return self._walk(value, found)

    def _counted(self, text: str, found: Counter[str]) -> str:
        redacted = self.redact(text)
        for finding in redacted.found:
            found[finding.kind] += finding.count
        return redacted.text

    def _spans(self, plain: str) -> list[tuple[int, int, str]]:
        """Where secrets are, in order and without overlaps."""
        candidates: list[tuple[int, int, str]] = []
        asked = self._asked_about(plain)
        for kind in asked:
            for span in _found(kind, plain):
                start, end = continued(plain, span) if kind.begins else span
                candidates.append((start, end, kind.name))
        breakable = [kind for kind in asked if kind.begins]
        candidates += find_broken(plain, breakable, {start for start, _, _ in candidates})
        if not candidates:
            return []
        marks = [match.span() for match in self._marks.finditer(plain)]
        return _merged(_outside(candidates, marks))

    def _asked_about(self, plain: str) -> list[Kind]:
        """The kinds of which an anchor is there. Ordinary text spends its time here, so an
        anchor is looked for where its rarest letter is there, and other scripts where they are."""
        lowered = plain.lower()
        numbers: set[int] = set()
        for anchors in (self._anchors, () if lowered.isascii() else self._wide_anchors):
            for letter, listed in anchors:
                if letter in lowered:
                    for anchor, kinds in listed:
                        if anchor in lowered:
                            numbers.update(kinds)
        return [self._active[number] for number in sorted(numbers)]


def _found(kind: Kind, plain: str) -> Iterator[tuple[int, int]]:
    """All that is of a kind. In a long text only the neighbourhoods of its anchors are looked at:
    most of a document is far from any."""
    lowered = plain.lower() if kind.reach and len(plain) > _LONG else ""
    if len(lowered) != len(plain):  # short, or with letters that are two in lower case
        yield from kind.find(plain)
        return
    for start, end in _neighbourhoods(lowered, kind.all_anchors(), kind.reach):
        for first, last in kind.find(plain[start:end]):
            yield start + first, start + last


def _neighbourhoods(lowered: str, anchors: Iterable[str], reach: int) -> Iterator[tuple[int, int]]:
    """Stretches around anchors, block by block; those that touch are one."""
    wanted = tuple(anchors)
    beside = max(map(len, wanted))  # an anchor may stand across the border of two blocks
    begun = ended = -1
    for block in range(0, len(lowered), reach):
        part = lowered[max(0, block - beside) : block + reach + beside]
        if not any(anchor in part for anchor in wanted):
            continue
        start, end = max(0, block - reach - beside), block + 2 * reach + beside
        if begun < 0:
            begun = start
        elif start > ended:
            yield begun, ended
            begun = start
        ended = end
    if begun >= 0:
        yield begun, ended


def _by_letter(kinds: Mapping[str, Sequence[int]], anchors: Iterable[str]) -> Anchors:
    """The anchors by the letter of theirs that is the rarest in ordinary text."""
    found: dict[str, list[tuple[str, Sequence[int]]]] = {}
    for anchor in sorted(anchors):
        letter = min(anchor, key=f"{_USUAL_LETTERS}.".find, default="")
        found.setdefault(letter, []).append((anchor, tuple(kinds[anchor])))
    return tuple((letter, tuple(listed)) for letter, listed in found.items())


def redactor_from(off: str, own: str) -> Redactor:
    """A redactor from settings: the kinds to leave alone, with commas between them, and patterns
    of one's own as a JSON object of names and regular expressions."""
    unwanted = frozenset(name.strip() for name in off.split(",") if name.strip())
    unknown = sorted(unwanted - set(KIND_NAMES))
    if unknown:
        raise Invalid(f"unknown kinds of secrets: {', '.join(unknown)}; see KIND_NAMES")
    try:
        extra = json.loads(own) if own.strip() else {}
    except (ValueError, RecursionError):
        extra = None
    if not isinstance(extra, dict) or not all(isinstance(value, str) for value in extra.values()):
        raise Invalid('own kinds of secrets are JSON such as {"badge": "B-[0-9]{6}"}')
    return Redactor(kinds=frozenset(KIND_NAMES) - unwanted if unwanted else None, extra=extra)


def redact(text: str) -> Redacted:
    """Replace every known kind of secret."""
    return _default().redact(text)


def redact_value(value: Any) -> tuple[Any, tuple[Secret, ...]]:
    """Replace every known kind of secret inside a JSON-like value."""
    return _default().redact_value(value)


@lru_cache(maxsize=1)
def _default() -> Redactor:
    return Redactor()


def _own_kind(name: str, pattern: str) -> Kind:
    if not _NAME.match(name) or name in KIND_NAMES:
        raise Invalid(
            f"{name!r} is no name for a kind of secret; use lower-case letters, digits and _, "
            "and none of the built-in names"
        )
    try:
        re.compile(pattern)
        return Kind(name, ("",), by_pattern(pattern))  # the empty anchor is everywhere
    except (re.error, TypeError, RecursionError, OverflowError) as error:
        raise Invalid(f"the pattern of the secret {name!r} is wrong: {error}") from error


def _digits(number: int) -> str:
    # Python refuses to print numbers of many thousand digits; such a number is no secret.
    return str(number) if abs(number) < 10**40 else ""


def _findings(found: Counter[str]) -> tuple[Secret, ...]:
    return tuple(Secret(kind, count) for kind, count in sorted(found.items()))


def _outside(
    candidates: Iterable[tuple[int, int, str]], marks: Sequence[Span]
) -> list[tuple[int, int, str]]:
    """What is already redacted is not redacted again."""
    if not marks:
        return sorted(candidates, key=lambda found: found[:2])
    kept: list[tuple[int, int, str]] = []
    next_mark = 0
    for start, end, kind in sorted(candidates, key=lambda found: found[:2]):
        while next_mark < len(marks) and marks[next_mark][1] <= start:
            next_mark += 1
        inside = next_mark < len(marks) and marks[next_mark][0] <= start
        if not (inside and end <= marks[next_mark][1]):
            kept.append((start, end, kind))
    return kept


def _merged(spans: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Overlapping finds become one, named after the first; of two that begin together, after
    the shorter, which is the more precise."""
    merged: list[tuple[int, int, str]] = []
    for start, end, kind in spans:
        if merged and start < merged[-1][1]:
            first = merged[-1]
            merged[-1] = (first[0], max(end, first[1]), first[2])
        else:
            merged.append((start, end, kind))
    return merged


def _cut(
    text: str,
    places: Sequence[int] | None,
    spans: Iterable[tuple[int, int, str]],
    found: Counter[str],
) -> str:
    parts: list[str] = []
    position = 0
    for start, end, kind in spans:
        first = start if places is None else places[start]
        last = end if places is None else places[end - 1] + 1
        parts.extend((text[position:first], f"[redacted:{kind}]"))
        position = max(position, last)
        found[kind] += 1
    parts.append(text[position:])
    return "".join(parts)
