"""Passwords in running text: "the password for the router is ...", "... ist mein Passwort", "the
password? It's ...", and passphrases of several plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from standfast.text.redact.assignments import Span, is_password
from standfast.text.words import alternatives, pattern, word_set

_OF = (
    "for|of|to|on|at|from|für|fürs|zum|zur|vom|von|des|der|im|am|beim|bei"
    "|pour|de|du|del|para|per|da"
)
_IS = "is|was|are|ist|war|lautet|est|es|è|é|now|jetzt|changed to|set to|reset to"
_MINE = "the|my|our|your|his|her|their|das|mein|meine|unser|dein|sein|ihr|le|mon|la|mi|il|mio|a|o"
_VALUE = r"[\"'“„‘«`(]{0,2}([^\s\"'“”„‘’«»`,;<>()\u3000-\u9fff\uac00-\ud7ff\uff00-\uffef]{6,120})"
_STRONG = re.compile(r"(?=.*[A-Za-zÀ-ÿ])(?=.*[\d!@#$%^&*+=~?])")
_DATE = re.compile(r"v?\d[\d.:/-]*\w{0,2}\Z|\w+\.\w{2,4}\Z")


def find_spoken_passwords(text: str) -> Iterator[Span]:
    for form in _patterns():
        for match in form.finditer(text):
            start, end = match.span(1)
            while end > start and text[end - 1] in ".:?)]}":
                end -= 1
            value = text[start:end]
            if _STRONG.match(value.rstrip("!")) and is_password(value) and not _DATE.match(value):
                yield start, end
    for match in _plain_word().finditer(text):
        if _is_word(match[1]):
            yield match.span(1)
    for match in _phrases().finditer(text):
        if _is_phrase(match["words"].lower().split(), least=3 if match["phrase"] else 4):
            yield match.span("words")


def _is_word(value: str) -> bool:
    """A plain word that ends the sentence and says nothing of the password itself."""
    said = value.lower()
    known = any(
        said in word_set(section)
        for section in (
            "secrets.no_secrets",
            "secrets.said_of",
            "secrets.not_in_phrases",
            "search.stop_words",
        )
    )
    return not known and not said.endswith(("ed", "ing", "able", "ible", "ly", "ful", "less"))


@cache
def _plain_word() -> re.Pattern[str]:
    names = alternatives("secrets.passwords", "en")
    return re.compile(
        rf"(?<![A-Za-z])(?:{alternatives('secrets.whose', 'en')})[ ]"
        rf"(?:[\w'’-]{{1,20}}[ ]){{0,2}}?(?:{names})[ ]is"
        r"[ ]([A-Za-z]{4,20})(?=[.!]?(?:\s*\Z|\n|[.!][ ]))",
        re.IGNORECASE,
    )


def _is_phrase(said: list[str], *, least: int) -> bool:
    """Words that make no sentence: "correct horse battery", not "on the fridge since May"."""
    if len(said) < least or said[0] in word_set("secrets.no_secrets"):
        return False
    return word_set("search.stop_words").isdisjoint(said) and word_set(
        "secrets.not_in_phrases"
    ).isdisjoint(said)


@cache
def _phrases() -> re.Pattern[str]:
    """A passphrase up to the end of its sentence, behind "is", a colon or "use the"."""
    names = alternatives("secrets.passwords")
    return re.compile(
        rf"(?:(?P<phrase>pass[ ]?phrase)|(?:{names}))(?:[ ](?:{_OF})[ ][^\n.:;!?]{{1,40}}?)?"
        rf"(?:[ ](?:{_IS})[ ]|[ ]?[:=][ ]?|(?<=phrase)[ ])"
        r"(?P<words>(?:[a-zà-ÿ]{2,14}[ -]){2,8}[a-zà-ÿ]{2,14})(?=[\"'”’]?(?:[.,;!?)\n]|\s*\Z))",
        re.IGNORECASE,
    )


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    names = alternatives("secrets.passwords")
    made = (
        rf"(?:{names})\w{{0,2}}[ ](?:{_OF})[ ][^\n.:;!?]{{1,60}}?"
        rf"(?:[ ](?:{_IS})|:)[ ]{{1,2}}{_VALUE}",
        rf"(?:{names})[ ](?:has[ ]been|was|wurde|is)?[ ]?(?:changed|reset|set|geändert)"
        rf"[^\n.:;!?]{{0,30}}?[ ](?:to|in|zu|auf)[ ]{{1,2}}{_VALUE}",
        rf"(?<![^\s\"'“„`(]){_VALUE}[\"'”“’»`)]{{0,2}}[ ](?:is|was|ist|war)[ ](?:{_MINE})[ ]"
        rf"(?:[\w-]{{1,20}}[ ]){{0,2}}(?:[\w]{{1,12}}-)?(?:{names})",
        rf"(?:{names})\w{{0,2}}[^\n.:;!?]{{0,40}}[?.!:–—-]{{1,2}}[ \n]{{1,3}}"
        rf"(?:it['’]?s|it[ ]is|that['’]?s|that[ ]is|it[ ]was|es[ ]ist|c['’]est)[ ]{{1,2}}{_VALUE}",
        rf"(?<![^\s\"'“„`(]){_VALUE}[\"'”“’»`)]{{0,2}}[ ]?[,–—-]{{1,2}}[ ]"
        rf"(?:that['’]?s|that[ ]is|which[ ]is|das[ ]ist|c['’]est)[ ](?:{_MINE})[ ]"
        rf"(?:[\w-]{{1,20}}[ ]){{0,2}}(?:[\w]{{1,12}}-)?(?:{names})",
        rf"(?<![A-Za-z])(?:use|with|type|enter|try|mit|nimm|nutze|gib)[ ]{_VALUE}[\"'”’»`)]{{0,2}}"
        rf"[ ](?:as|als)[ ](?:(?:{_MINE})[ ])?(?:[\w-]{{1,20}}[ ])?(?:{names})",
        rf"(?<![A-Za-z])(?:log[ -]?in|sign[ -]?in|logge?[ ]dich|melde?[ ]dich|anmelden|einloggen)"
        rf"[^\n.;!?]{{0,40}}?[ ](?:with|mit|as|als)[ ][^\s,;]{{1,64}}[ ]?(?:/|and|und)[ ]?{_VALUE}",
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in made)


def asks_for_secret(question: str) -> bool:
    """Whether the answer to a question is nothing to keep."""
    return pattern("secrets.asked_for").search(question) is not None
