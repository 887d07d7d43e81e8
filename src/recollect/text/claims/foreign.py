"""German, French, Spanish and Chinese: a few sure patterns each.

The sentences are not rewritten. A lesson keeps the speaker's own words; only its claim is put
into the slots that English uses, so that what was said in one language can replace what was
said in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.text.claims.clauses import Speaker, folded
from recollect.text.claims.findings import Finding, finding
from recollect.text.claims.patterns import LANGUAGES, Language
from recollect.text.claims.slot_values import birthday_in
from recollect.text.claims.words import DIETS

_CHINESE = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")}


def language_of(text: str) -> str:
    """ "zh", "de", "fr" or "es" if a sentence is surely in that language, else ""."""
    if len(_CHINESE.findall(text[:200])) >= 2:
        return "" if re.search("[\u3040-\u30ff]", text) else "zh"
    words = set(_WORD.findall(text[:300].casefold()))
    best, most = "", 1 if len(words) < 8 else 2
    for language in LANGUAGES.values():
        score = len(words & language.words) - len(words & language.others)
        if score >= most:
            best, most = language.name, score + 1
    return best


def foreign_findings(text: str, speaker: Speaker) -> Iterator[tuple[Finding, str]]:
    """The claims of a sentence in another language, each with the words that make it."""
    language = LANGUAGES.get(language_of(text))
    if language is None or language.unreal.search(text):
        return
    for part in language.split.split(text):
        found = _first(part.strip(" ,;，、"), language, speaker)
        if found is not None:
            yield found, part.strip(" ,;，、")


def _first(part: str, language: Language, speaker: Speaker) -> Finding | None:
    for slot, pattern in language.patterns:
        found = pattern.search(part)
        if found is not None:
            result = _finding(slot, found, language, speaker)
            if result is not None:
                return result
    return None


def _finding(
    slot: str, found: re.Match[str], language: Language, speaker: Speaker
) -> Finding | None:
    groups = found.groupdict()
    subject = _subject(groups, language, speaker)
    value = _trimmed(groups.get("v") or "", language)
    negated = slot == "dislikes" or bool(groups.get("neg")) or bool(groups.get("neg2"))
    if slot == "dislikes":
        slot = "likes"
    if thing := groups.get("thing"):
        slot = f"favourite:{folded(thing)}"
    if slot == "birthday":
        value = birthday_in(value)
    elif slot == "age":
        value = _number(value)
    elif slot == "diet":
        value = DIETS.get(folded(value), "")
    elif slot == "status":
        value = language.statuses.get(folded(value), "")
    elif slot == "pet":
        kind = language.pets.get(folded(groups.get("kind") or ""), "")
        value = f"{kind} {value}".strip() if kind else ""
    return finding(subject, slot, value, negated=negated) if value else None


def _subject(groups: dict[str, str | None], language: Language, speaker: Speaker) -> str:
    relation = groups.get("relation")
    if not relation:
        return speaker.key
    called = groups.get("called")
    known = language.relations.get(folded(relation), "")
    return f"{speaker.key}'s {known}" + (f" {folded(called)}" if called else "") if known else ""


_NOW = re.compile(r"\A\s*(?:jetzt|nun|inzwischen|maintenant|ahora|désormais|现在)\s*")


def tells_of_past(text: str) -> bool:
    """Whether the speaker tells what they did, in a language known here."""
    language = LANGUAGES.get(language_of(text))
    return bool(language and language.past.search(text) and not language.unreal.search(text))


def _trimmed(value: str, language: Language) -> str:
    value = _NOW.sub("", value)
    found = language.end.search(value)
    return value[: found.start()] if found else value


def _number(said: str) -> str:
    """ "三十二" -> "32"."""
    if said.isdigit():
        return str(int(said))
    if not said or any(digit not in _DIGITS and digit != "十" for digit in said):
        return ""
    tens, ten, ones = said.partition("十")
    if not ten:
        return "".join(str(_DIGITS[digit]) for digit in said)
    if len(tens) > 1 or len(ones) > 1 or "十" in ones:
        return ""
    return str((_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0))
