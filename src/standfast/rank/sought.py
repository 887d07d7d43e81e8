"""What kind of thing a question wants, and which statements hold none. Pure.

"Ann's phone number is ..." has the name that "When is Ann's birthday?" asks about, and is near to
it in every way. But whoever asks when wants a time, and there is none in it. So a statement is held
against the form of the question: one without any time, number, person or place of its own
answers nothing that asks for one. What it shares with the question is not its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, lru_cache

from standfast.rank.contrast import READ_MAX, Read, ReadQuestion, asked_about, looked_at
from standfast.text.analysis import ENGLISH, languages_of
from standfast.text.normal import fold
from standfast.text.words import languages, pairs, parts, word_set

DIGITS_OF_A_PHONE = 5
# Told in words that questions have too.
SHARED = frozenset(("place", "age", "code", "address", "name"))
TIME = "time"


def without_it(question: str, texts: Sequence[str]) -> list[str]:
    """For each statement the kind of thing that the question wants and the statement has not; ""
    where it has one, where nothing says what is wanted, or where the language is unknown."""
    kind = kind_of(question)
    if not kind:
        return [""] * len(texts)
    asked, has = asked_about(question), _TOLD.get(kind)
    return [
        kind if _is_read(told) and not (has or _has_form(kind))(asked, told) else ""
        for told in map(looked_at, texts)
    ]


@lru_cache(maxsize=64)
def kind_of(question: str) -> str:
    """Of what it asks for one; "" if nothing says so."""
    return next((kind for kind, form in _asked() if form.search(question)), "")


@cache
def _asked() -> Sequence[tuple[str, re.Pattern[str]]]:
    return [
        (kind, re.compile(form, re.IGNORECASE))
        for language in languages("answers.asked")
        for kind, form in pairs("answers.asked", language)
    ]


@cache
def _form(kind: str) -> re.Pattern[str]:
    told = [parts("answers.told", language) for language in languages("answers.told")]
    return re.compile("|".join(one[kind] for one in told if kind in one), re.IGNORECASE)


def _is_read(told: Read) -> bool:
    """Is it here as a whole, in a language whose words for such things are known?"""
    if not told.texts or len(told.text) == READ_MAX:
        return False
    spoken = languages_of(told.text, told.texts)
    supposed = (ENGLISH,) if told.text.isascii() else ()
    return any(code in languages("answers.told") for code in spoken or supposed)


def _has_form(kind: str) -> Callable[[ReadQuestion, Read], bool]:
    """Words of the kind; where they may be what the question is about, others than it has."""
    form, shared = _form(kind), kind in SHARED

    def has(asked: ReadQuestion, told: Read) -> bool:
        known = "" if shared else f" {' '.join(asked.texts)} "
        return any(f" {fold(one[0])} " not in known for one in form.finditer(told.text))

    return has


def _has_name(asked: ReadQuestion, told: Read, *, not_behind: Set[str] = frozenset()) -> bool:
    """A name that the question has not; where nobody writes capitals, anything may be one."""
    if told.text == told.text.lower():
        return True
    for place in told.named:
        if told.word(place).meant not in asked.meant and _before(told, place) not in not_behind:
            return True
    return _begins_with_name(asked, told)


def _before(told: Read, place: int) -> str:
    """The word before a name, "in" Chalk Rose; that at the beginning is none."""
    named = frozenset(told.named)
    return next((told.texts[one] for one in range(place - 1, 0, -1) if one not in named), "")


def _begins_with_name(asked: ReadQuestion, told: Read) -> bool:
    """ "Jonas plays", "Keycloak is": behind things of which there are many is another verb."""
    first, then = told.word(0), told.texts[1:2]
    if not first.content or first.meant in asked.meant:
        return False
    past = word_set("compare.irregular_pasts")
    return first.owns or any(one.endswith(("s", "ed")) or one in past for one in then)


def _has_person(asked: ReadQuestion, told: Read) -> bool:
    """What is in Kotlin or in Berlin is there by no person."""
    named = _has_name(asked, told, not_behind=word_set("search.before_places"))
    return named or _has_form("person")(asked, told)


def _has_called(asked: ReadQuestion, told: Read) -> bool:
    """Where something is called something, what follows needs no capital."""
    return _has_name(asked, told) or _has_form("name")(asked, told)


def _has_phone(asked: ReadQuestion, told: Read) -> bool:  # noqa: ARG001 - all alike
    return sum(letter.isdigit() for letter in told.text) >= DIGITS_OF_A_PHONE


_TOLD: Mapping[str, Callable[[ReadQuestion, Read], bool]] = {
    "person": _has_person,
    "name": _has_called,
    "phone": _has_phone,
}
