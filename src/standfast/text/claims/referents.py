"""Whom "he" and "she" are, where the words before say it: "My son starts school, he's six"."""

from __future__ import annotations

import re
from functools import cache

from standfast.text.claims.clauses import expanded
from standfast.text.words import any_of, pattern, word_set, words


def referent_in(text: str, pronoun: str = "") -> str:
    """The one person or pet of the speaker's that a text names ("my sister Eva") and that a pronoun
    may mean; empty if there is none, or more than one."""
    named = [found for found in _somebody().finditer(text) if _fits(found["kin"], pronoun)]
    if not named or len({found["kin"] for found in named}) > 1:
        return ""
    told = max(named, key=lambda found: len(found[0]))
    return f"{told['whose'].lower()} {told['who']}"


def resolved(text: str, before: str) -> str:
    """A part of a sentence with who is meant in place of "he", "her" or "they"; empty if the words
    before it do not say who that is."""
    text = expanded(text)
    found = pattern("referents.pronoun").search(text)
    who = referent_in(before, found[0].lower()) if found else ""
    if not found or not who:
        return ""
    rest = text[found.end() :]
    whose = found[0].lower() in word_set("referents.possessive") and not (
        pattern("referents.object").match(rest)
    )
    written = f"{text[: found.start()]}{who}{chr(39) + 's' if whose else ''}{rest}"
    if pattern("referents.pronoun").search(written):
        return ""
    return f"{written[:1].upper()}{written[1:]}"


@cache
def _somebody() -> re.Pattern[str]:
    kin = any_of({*words("topics.people"), *words("referents.others")})
    return re.compile(
        rf"\b(?P<whose>[Mm]y|[Oo]ur) (?P<who>(?:[a-z-]+ ){{0,2}}?(?P<kin>{kin})"
        r"(?:,? (?-i:[A-ZÀ-Ý][\w-]+))?)(?!['\w-])"
    )


def _fits(kin: str, pronoun: str) -> bool:
    """A mother is no "he", and a son is not "they"."""
    if pronoun in ("it", "its"):
        return kin in word_set("referents.others")
    if pronoun in ("they", "their", "them"):
        return kin in word_set("referents.several")
    if kin in word_set("referents.several"):
        return not pronoun
    other = "referents.women" if pronoun in ("he", "his", "him") else "referents.men"
    return not pronoun or kin not in word_set(other)
