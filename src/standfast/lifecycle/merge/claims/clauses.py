"""English clauses: who it is about, and what is said.

Nothing here knows about slots. A clause is cut into its subject ("I", "my sister Eva",
"Bob's birthday") and its predicate (a verb with tense and negation, and the words after it).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal, NamedTuple, cast

from standfast.text.claim import SPEAKER
from standfast.text.normal import caseless
from standfast.text.words import alternatives, groups, meanings, pattern, word_set, words
from standfast.types.frozen import frozen

Form = Literal["base", "third", "past", "participle", "ing"]
SubjectKind = Literal["speaker", "related", "named", "thing"]
Tense = Literal["present", "past", "perfect", "future", "former", "conditional", "modal"]


@frozen(kw_only=False)
class Speaker:
    """Who says a text. Without a name they are "the user"."""

    name: str = ""

    @property
    def written(self) -> str:
        return self.name or "The user"

    @property
    def key(self) -> str:
        return caseless(self.name) or SPEAKER


@frozen(kw_only=False)
class Subject:
    """``written`` as a sentence begins with it, ``key`` as claims name it. ``attribute``: it is
    not about the person but about something they have: "birthday", "favourite colour"."""

    kind: SubjectKind
    written: str
    key: str
    attribute: str = ""
    relation: str = ""
    name: str = ""
    plural: bool = False


@frozen(kw_only=False)
class Predicate:
    """``words`` is the verb group in the third person, ``tail`` what follows it."""

    verb: str
    tense: Tense
    words: str
    tail: str
    negated: bool = False
    hedged: bool = False
    progressive: bool = False
    passive: bool = False
    adverbs: tuple[str, ...] = ()


@frozen(kw_only=False)
class ClaimClause:
    subject: Subject
    predicate: Predicate


_LOOSE_NAME = r"[\w.@\-]+(?: [\w.@()\-]+){0,2}?"
_LOOSE = re.compile(rf"(?P<name>{_LOOSE_NAME})(?= )")


@lru_cache(maxsize=2000)
def expanded(text: str) -> str:
    """Contractions written out: "I'm" as "I am"."""
    if "'" not in text and "nn" not in text and "ont" not in text and " im" not in text.lower():
        return text
    written_out = meanings("clauses.contractions")
    # What is not in the table is there only as long as nobody minds case: "İ'm".
    text = _contraction().sub(lambda found: written_out.get(found[0].lower(), found[0]), text)
    text = pattern("clauses.had").sub(r"\1 had ", text)
    text = pattern("clauses.have_got").sub(r"\1 ", text)
    return pattern("clauses.is_or_has").sub(
        lambda found: " has " if found["been"] else " is ", text
    )


@cache
def _contraction() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives('clauses.contractions')})\b", re.IGNORECASE)


def without_opening(text: str) -> str:
    """The statement without "yeah, well, " before it."""
    for _ in range(4):
        found = pattern("clauses.opening").match(text)
        if not found or found.end() >= len(text):
            break
        text = text[found.end() :].lstrip()
    return text


def clause_in(text: str, speaker: Speaker, *, loose: bool = False) -> ClaimClause | None:
    """The clause that a text begins with. ``loose``: also subjects in lower case, for texts
    that are known to be statements."""
    for subject, end in _subjects(text, speaker, loose):
        predicate = predicate_in(text[end:], subject)
        if predicate is not None:
            return ClaimClause(subject, predicate)
    return None


def _subjects(text: str, speaker: Speaker, loose: bool) -> list[tuple[Subject, int]]:
    """The ways to read the beginning of a text as a subject, the most telling first."""
    if found := together_in(text):
        return [(_together(found, speaker), found.end())]
    if pattern("clauses.as_one").match(text):
        return []
    if found := pattern("clauses.first_person").match(text):
        return [(Subject("speaker", speaker.written, speaker.key), found.end())]
    if (found := pattern("clauses.thing").match(text)) and found["det"].lower() == "our":
        return [_thing(found)]
    if found := pattern("clauses.own_relation").match(text):
        return [(_related(found, speaker.written, speaker.key), found.end())]
    if found := pattern("clauses.own_attribute").match(text):
        return [(_attribute(found["attr"], speaker.written, speaker.key), found.end())]
    if found := pattern("clauses.the_user").match(text):
        return [(Subject("speaker", "The user", SPEAKER), found.end())]
    ways: list[tuple[Subject, int]] = []
    for whose in ("their_relation", "their_attribute"):
        found = pattern(f"clauses.{whose}").match(text)
        if found and not _is_plain_word(found["owner"], user=True):
            owner = found["owner"]
            key = SPEAKER if owner.lower() == "the user" else caseless(owner)
            owner = "The user" if key == SPEAKER else owner
            if whose == "their_relation":
                ways.append((_related(found, owner, key), found.end()))
            else:
                ways.append((_attribute(found["attr"], owner, key), found.end()))
    if found := pattern("clauses.thing").match(text):
        ways.append(_thing(found))
    elif found := (_LOOSE if loose else pattern("clauses.named")).match(text):
        ways.extend(_named(text, found, loose))
    return ways


def together_in(text: str, start: int = 0) -> re.Match[str] | None:
    """ "My mom and I" at this place of a text; not "my mom called and I"."""
    found = pattern("clauses.together").match(text, start)
    if found is None:
        return None
    being = meanings("clauses.be")
    told = any(word in being or reading(word, "past") for word in found["others"].split())
    return None if told else found


def _together(found: re.Match[str], speaker: Speaker) -> Subject:
    """ "My mom and I": the speaker, with somebody."""
    others = re.sub(r"\A(?:[Mm]y|[Oo]ur)\b", "their", found["others"])
    if others.split(" ")[0] in word_set("clauses.quantities"):
        others = others[:1].lower() + others[1:]
    return Subject("speaker", f"{speaker.written} and {others}", speaker.key, plural=True)


def _is_plain_word(name: str, *, user: bool = False) -> bool:
    if user and name.lower() == "the user":
        return False
    return name.split(" ", 1)[0].lower() in word_set("clauses.not_names")


def _thing(found: re.Match[str]) -> tuple[Subject, int]:
    noun = found["noun"]
    return Subject("thing", f"The {noun}", caseless(noun)), found.end()


def _named(text: str, found: re.Match[str], loose: bool) -> list[tuple[Subject, int]]:
    """Names of one to three words; the shortest that leaves a verb is the one."""
    if not loose:
        name = found["name"]
        if (
            _is_plain_word(name)
            or " I" in name
            or name.lower().endswith("ing")
            or name.lower() in _readings()
        ):
            return []
        return [(Subject("named", name, caseless(name)), found.end())]
    ways = []
    words = text.split(" ", 4)[:3]
    for count in range(1, len(words) + 1):
        name = " ".join(words[:count])
        if not _is_plain_word(name):
            ways.append((Subject("named", name, caseless(name)), len(name)))
    return ways


def _related(found: re.Match[str], owner: str, owner_key: str) -> Subject:
    relation = found["relation"]
    telling = [word for word in found["adjectives"].split() if word in word_set("clauses.telling")]
    name = found["called"] or ""
    if found["comma"] and not (name and found["comma2"]):
        name = ""
    key = " ".join([f"{owner_key}'s", *telling, relation, *([caseless(name)] if name else [])])
    written = f"{owner}'s {found['adjectives']}{relation}" + (f" {name}" if name else "")
    plural = (relation.endswith("s") and relation != "boss") or relation == "children"
    return Subject(
        "related", written, key, attribute=found["attr"] or "", relation=relation, name=name,
        plural=plural,
    )  # fmt: skip


def _attribute(attribute: str, owner: str, owner_key: str) -> Subject:
    return Subject("related", owner, owner_key, attribute=attribute)


_AUX_WORDS_MAX = 9


class _Group:
    """The verb group while it is being read, word by word."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.tense: Tense | None = None
        self.words: list[str] = []
        self.adverbs: list[str] = []
        self.negated = self.hedged = self.be = self.perfect = self.did = False

    def add(self, word: str, tense: Tense | None = None) -> None:
        if tense is not None and self.tense is None:
            self.tense = tense
            if self.subject.kind == "speaker" and not self.subject.plural:
                word = meanings("clauses.singular").get(word.lower(), word)
        self.words.append(word)

    def said(self) -> str:
        """The words of the group without those that only fill."""
        fillers = word_set("clauses.fillers")
        return " ".join(word for word in self.words if word not in fillers)


def predicate_in(text: str, subject: Subject) -> Predicate | None:
    """What a text says about the subject before it; None if its verb is unknown."""
    words = text.split()
    group = _Group(subject)
    index = 0
    while index < len(words) and index < _AUX_WORDS_MAX:
        step = _auxiliary(words, index, group)
        if step == 0:
            break
        index += step
    if index >= len(words):
        return None
    return _main(words, index, group)


def _auxiliary(words: list[str], index: int, group: _Group) -> int:
    """How many words from here on belong to the verb group before its main verb."""
    word = words[index].lower().strip(",")
    following = words[index + 1].lower().strip(",") if index + 1 < len(words) else ""
    if word in ("not", "never") or (word == "no" and following == "longer"):
        group.negated = True
        group.words.append("no longer" if word == "no" else word)
        return 2 if word == "no" else 1
    if word in word_set("clauses.hedges") and word not in meanings("clauses.modals"):
        group.hedged = True
        return 1
    if word in ("kind", "sort") and following == "of":
        return 2
    last = group.be and following == "" and word in ("so", "very")
    if word in word_set("clauses.adverbs") and not last:
        if group.be and word in word_set("clauses.degrees"):
            return 0
        group.adverbs.append(word)
        group.words.append(word)
        return 1
    return _verb_part(word, following, group)


def _verb_part(word: str, following: str, group: _Group) -> int:
    if group.be and word == "going" and following == "to":
        group.tense = "future" if group.tense == "present" else "conditional"
        group.words += ["going", "to"]
        group.be = False
        group.did = True
        return 2
    if group.tense is None and word == "used" and following == "to":
        group.tense, group.did = "former", True
        group.words += ["used", "to"]
        return 2
    if group.tense is None and (tense := meanings("clauses.be").get(word)):
        group.add(word, cast(Tense, tense))
        group.be = True
        return 1
    if group.tense is None and (tense := meanings("clauses.modals").get(word)):
        group.add(word, cast(Tense, tense))
        group.did = True
        return 1
    if group.tense is None and word in ("do", "does", "did") and _leads_to(following, "base"):
        group.add(word, "past" if word == "did" else "present")
        group.did = True
        return 1
    if word in ("have", "has", "had") and _leads_to(following, "participle", "past"):
        group.add(word, "past" if word == "had" else "perfect")
        group.perfect = True
        return 1
    if word in ("been", "being", "be") and (group.perfect or group.did or group.be):
        group.add(word)
        group.be = True
        return 1
    return 0


def _leads_to(word: str, *forms: Form) -> bool:
    return (
        word in word_set("clauses.adverbs")
        or word in ("not", "never")
        or bool(reading(word, *forms))
    )


def _main(words: list[str], index: int, group: _Group) -> Predicate | None:
    word = words[index].lower().rstrip(",!.")
    tail = " ".join(words[index + 1 :]) if not words[index].endswith(",") else ""
    if group.be:
        if verb := reading(word, "ing"):
            group.add(word)
            return _finished(group, verb, tail, progressive=True)
        verb = reading(word, "participle", "past")
        if verb and word in word_set("clauses.passives"):
            group.add(word)
            return _finished(group, verb, tail, passive=True)
        return _finished(group, "be", " ".join(words[index:]))
    if group.did or group.perfect:
        verb = reading(word, "base") if group.did else reading(word, "participle", "past")
        if not verb:
            return None
        group.add(word)
        return _finished(group, verb, tail)
    return _finite(word, tail, group)


def _finite(word: str, tail: str, group: _Group) -> Predicate | None:
    plural = group.subject.kind == "speaker" or group.subject.plural
    if group.subject.kind == "speaker" and (verb := reading(word, "third")) and not tail:
        return None
    if verb := reading(word, "third"):
        if group.subject.kind == "speaker" and group.subject.written != "The user":
            return None
        group.add(word, "present")
        return _finished(group, verb, tail)
    if plural and (verb := reading(word, "base")):
        past = reading(word, "past")
        group.tense = "past" if past and past != "read" else "present"
        keep = past or group.subject.kind != "speaker" or group.subject.plural
        group.words.append(word if keep else third_person(verb))
        return _finished(group, verb, tail)
    if verb := reading(word, "past"):
        group.add(word, "past")
        return _finished(group, verb, tail)
    return None


def _finished(group: _Group, verb: str, tail: str, **more: bool) -> Predicate:
    return Predicate(
        verb=verb,
        tense=group.tense or "present",
        words=group.said(),
        tail=tail,
        negated=group.negated,
        hedged=group.hedged,
        adverbs=tuple(group.adverbs),
        progressive=more.get("progressive", False),
        passive=more.get("passive", False),
    )


# Verbs and their forms.


class VerbReading(NamedTuple):
    """One way to read a word as a verb."""

    verb: str
    form: Form


def third_person(verb: str) -> str:
    """ "live" -> "lives", "have" -> "has"."""
    if verb in ("be", "have"):
        return {"be": "is", "have": "has"}[verb]
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1] if verb in word_set('verbs.doubled') else ''}ed"


def _ing(verb: str) -> str:
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith("ee") and verb != "be":
        return f"{verb[:-1]}ing"
    return f"{verb}{verb[-1] if verb in word_set('verbs.doubled') else ''}ing"


@cache
def _readings() -> Mapping[str, tuple[VerbReading, ...]]:
    """Every word that is a form of a verb, with the ways to read it."""
    irregular = {verb: (past, participle) for verb, past, participle in groups("verbs.irregular")}
    table: dict[str, list[VerbReading]] = {}
    for verb in dict.fromkeys([*irregular, *words("verbs.regular")]):
        past, participle = irregular.get(verb, (_past(verb), _past(verb)))
        forms: dict[Form, str] = {
            "base": verb, "third": third_person(verb), "past": past, "participle": participle,
            "ing": _ing(verb),
        }  # fmt: skip
        for form, word in forms.items():
            table.setdefault(word, []).append(VerbReading(verb, form))
    for verb, word in groups("verbs.other_pasts"):
        table.setdefault(word, []).extend(
            (VerbReading(verb, "past"), VerbReading(verb, "participle"))
        )
    return {word: tuple(readings) for word, readings in table.items()}


def reading(word: str, *forms: Form) -> str:
    """The verb that a word is in one of these forms; empty if it is none."""
    for verb, form in _readings().get(word, ()):
        if form in forms:
            return verb
    return ""
