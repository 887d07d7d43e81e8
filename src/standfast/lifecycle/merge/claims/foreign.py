"""Languages that are read by patterns: a few sure ones each, in their data files.

The sentences are not rewritten. A lesson keeps the speaker's own words; only its claim is put
into the slots that English uses, so that what was said in one language can replace what was
said in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from standfast.lifecycle.merge.claims.clauses import Speaker
from standfast.lifecycle.merge.claims.findings import Finding, birthday_in, finding
from standfast.text.normal import caseless
from standfast.text.words import (
    alternatives,
    counted,
    languages,
    meanings,
    pairs,
    parts,
    pattern,
    word_set,
    words,
)

_WORD = re.compile(r"[^\W\d_]+")
_CAP = r"[A-ZÄÖÜÉÈÁÍÓÚÑÇ][\w\-&.]*"
# What ``<NAME>`` stands for in a pattern; a language may have parts of its own.
_PARTS = {
    "CAP": rf"(?P<v>{_CAP}(?: {_CAP}){{0,2}})",
    "V": r"(?P<v>[^,;:!?]{2,60})",
    "MID": r"(?P<mid>(?: [\w.]+){0,4}?)",
    "MAIL": r"(?P<v>[\w.+\-]+@[\w.\-]+)",
    "TEL": r"(?P<v>\+?[\d][\d \-/]{4,20})",
}


@lru_cache(maxsize=1000)  # a statement is asked about several times
def language_of(text: str) -> str:
    """The code of a language that is read by patterns, if a sentence is surely in it, else ""."""
    for language in () if text.isascii() else languages("recognise.letters"):
        if len(pattern("recognise.letters", language).findall(text[:200])) >= 2:
            return "" if pattern("recognise.other_letters", language).search(text) else language
    said = set(_WORD.findall(text[:300].casefold()))
    best, most = "", 1 if len(said) < 8 else 2
    for language in languages("claims.patterns"):
        score = len(said & word_set("recognise.words", language)) - len(said & _others(language))
        if score >= most:
            best, most = language, score + 1
    return best


@cache
def _others(language: str) -> frozenset[str]:
    """Words that speak against a language."""
    return word_set("recognise.words", "en") | word_set("recognise.against", language)


@cache
def _patterns(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Slots and what they are read by, in the order in which they are tried."""
    found = []
    for slot, form in pairs("claims.patterns", language):
        for name, part in {**_PARTS, **parts("claims.parts", language)}.items():
            form = form.replace(f"<{name}>", part)
        found.append((slot, re.compile(form)))
    return tuple(found)


def _is_real(text: str, language: str) -> bool:
    return bool(language) and not pattern("claims.unreal", language).search(text)


def foreign_findings(text: str, speaker: Speaker) -> Iterator[tuple[Finding, str]]:
    """The claims of a sentence in another language, each with the words that make it."""
    language = language_of(text)
    if not _is_real(text, language):
        return
    for part in pattern("claims.split", language).split(text):
        found = _first(part.strip(" ,;，、"), language, speaker)
        if found is not None:
            yield found, part.strip(" ,;，、")


def _first(part: str, language: str, speaker: Speaker) -> Finding | None:
    for slot, form in _patterns(language):
        found = form.search(part)
        if found is not None:
            result = _finding(slot, found, language, speaker)
            if result is not None:
                return result
    return None


def _finding(slot: str, found: re.Match[str], language: str, speaker: Speaker) -> Finding | None:
    groups = found.groupdict()
    subject = _subject(groups, language, speaker)
    value = _trimmed(groups.get("v") or "", language)
    denied = pattern("claims.negated_before", language).search(found.string[: found.start()])
    negated = slot == "dislikes" or bool(groups.get("neg") or groups.get("neg2") or denied)
    if slot == "dislikes":
        slot = "likes"
    if thing := groups.get("thing"):
        slot = f"favourite:{caseless(thing)}"
    if slot == "birthday":
        value = birthday_in(value)
    elif slot == "age":
        value = _number(value)
    elif slot == "diet":
        value = meanings("claims.diets").get(caseless(value), "")
    elif slot == "status":
        value = meanings("claims.statuses", language).get(caseless(value), "")
    elif slot == "pet":
        kind = meanings("claims.pets", language).get(caseless(groups.get("kind") or ""), "")
        value = f"{kind} {value}".strip() if kind else ""
    return finding(subject, slot, value, negated=negated) if value else None


def _subject(groups: dict[str, str | None], language: str, speaker: Speaker) -> str:
    relation = groups.get("relation")
    if not relation:
        return speaker.key
    called = groups.get("called")
    known = meanings("claims.relations", language).get(caseless(relation), "")
    return f"{speaker.key}'s {known}" + (f" {caseless(called)}" if called else "") if known else ""


def _trimmed(value: str, language: str) -> str:
    value = re.sub(rf"\A\s*(?:{alternatives('claims.now')})\s*", "", value)
    found = pattern("claims.end", language).search(value)
    return value[: found.start()] if found else value


def _number(said: str) -> str:
    """ "三十二" -> "32"."""
    if said.isdigit():
        return str(int(said))
    digits = counted("claims.digits")
    ten_sign = next(iter(words("claims.ten")), "")
    if not said or any(digit not in digits and digit != ten_sign for digit in said):
        return ""
    tens, ten, ones = said.partition(ten_sign)
    if not ten:
        return "".join(str(digits[digit]) for digit in said)
    if len(tens) > 1 or len(ones) > 1 or ten_sign in ones:
        return ""
    return str((digits[tens] if tens else 1) * 10 + (digits[ones] if ones else 0))
