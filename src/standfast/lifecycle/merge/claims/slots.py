"""What an English clause claims: the slot and the value, by its verb.

Each rule knows one way in which people say one thing. A clause that no rule reads may still be
an event or a plan worth keeping; that is decided elsewhere (``events``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from standfast.lifecycle.merge.claims.clauses import ClaimClause, Predicate, Subject
from standfast.lifecycle.merge.claims.fields import style_of
from standfast.lifecycle.merge.claims.findings import (
    Finding,
    bare,
    birthday_in,
    cut,
    finding,
    is_nameable,
    place,
)
from standfast.lifecycle.merge.claims.states import adopted_in, being_in, having_in
from standfast.text.normal import caseless
from standfast.text.words import meanings, pattern, word_set

Rule = Callable[[Subject, Predicate], Finding | None]

DIGITS_MIN = 5  # of a telephone number


def finding_in(clause: ClaimClause) -> Finding | None:
    """The claim of a clause, if a rule reads it."""
    subject, predicate = clause.subject, clause.predicate
    if subject.attribute:
        return _attribute(subject, predicate)
    if subject.kind == "thing":
        return _thing(subject, predicate)
    if predicate.tense == "conditional":
        return None
    rule = _RULES.get(predicate.verb)
    return rule(subject, predicate) if rule else None


def _attribute(subject: Subject, predicate: Predicate) -> Finding | None:
    if predicate.verb != "be" or predicate.tense not in ("present", "perfect"):
        return None
    attribute = pattern("slots.filler").sub("", subject.attribute)
    if attribute in word_set("clauses.family"):
        return _relative_called(subject, attribute, predicate)
    if found := pattern("slots.favourite").match(attribute):
        slot = f"favourite:{caseless(found['thing'])}"
        return finding(subject.key, slot, cut(predicate.tail), negated=predicate.negated)
    slot = meanings("slots.attributes").get(attribute, "")
    if not slot:
        return None
    value = cut(predicate.tail)
    if slot == "home":
        value = place(re.sub(r"\A(?:in|at|near|on) ", "", predicate.tail))
    if slot == "goal":
        value = re.sub(r"\Ato ", "", value)
        value = value if " " in value else ""
    if slot == "birthday":
        value = birthday_in(predicate.tail)
    if slot in ("phone", "age", "height", "weight") and not re.search(r"\d", value):
        return None
    if slot == "phone" and len(re.findall(r"\d", value)) < DIGITS_MIN:
        return None  # "my phone is at 3 percent"
    return finding(subject.key, slot, value, negated=predicate.negated)


def _relative_called(subject: Subject, relation: str, predicate: Predicate) -> Finding | None:
    """ "My sister's husband is Tom": a name, or nothing."""
    name = re.match(r"(?:called |named )?([A-Z]\w+)", predicate.tail)
    return finding(subject.key, relation, name[1]) if name else None


_PORT = re.compile(r"on port (\d{2,5})\b")


def _thing(subject: Subject, predicate: Predicate) -> Finding | None:
    """Facts about a project: what its parts are and where they run."""
    if predicate.tense != "present" or predicate.hedged:
        return None
    tail = pattern("slots.lately").sub("", predicate.tail.split(",")[0].strip(" .!"))
    if found := _PORT.search(tail):
        return finding(subject.key, "port", found[1], negated=predicate.negated)
    if predicate.verb == "run" and (found := pattern("slots.runs_on").match(tail)):
        return finding(subject.key, "runs-on", found[1], negated=predicate.negated)
    if predicate.verb == "use":
        return finding(subject.key, "uses", tail, negated=predicate.negated)
    found = pattern("slots.short").match(tail)
    if predicate.verb != "be" or not found or predicate.progressive:
        return None
    value = bare(found["value"])
    first = value.split(" ", 1)[0]
    if not value or first in word_set("slots.vague_states"):
        return None
    return finding(subject.key, "is", value, negated=predicate.negated)


def _live(subject: Subject, predicate: Predicate) -> Finding | None:
    tail = predicate.tail
    if found := re.match(r"(?:in|at|near|outside|on) (?P<where>.+)", tail):
        where = place(found["where"])
        if not where:
            return None
        past = predicate.tense in ("past", "former")
        if predicate.tense == "future":
            return finding(subject.key, "plan", f"live in {where}")
        return finding(
            subject.key, "past-home" if past else "home", where, negated=predicate.negated
        )
    if tail.startswith("with ") and predicate.tense in ("present", "perfect"):
        return finding(subject.key, "lives-with", cut(tail[5:]), negated=predicate.negated)
    return None


def _move(subject: Subject, predicate: Predicate) -> Finding | None:
    found = pattern("slots.moved").match(predicate.tail)
    if found and predicate.tense in ("past", "perfect") and not predicate.negated:
        if predicate.progressive:
            return None
        return finding(subject.key, "home", place(found["where"]))
    if found and (predicate.tense == "future" or predicate.progressive) and not predicate.negated:
        return finding(subject.key, "plan", f"move to {place(found['where'])}")
    source = re.match(r"(?:here |away |over )?from (?P<where>[A-Z].*)", predicate.tail)
    if source and predicate.tense in ("past", "perfect"):
        return finding(subject.key, "moved-from", place(source["where"]))
    return None


def _work(subject: Subject, predicate: Predicate) -> Finding | None:
    tail, who, negated = cut(predicate.tail), subject.key, predicate.negated
    past = predicate.tense in ("past", "former")
    if predicate.tense not in ("present", "perfect", "past", "former"):
        return None
    if found := pattern("slots.works_as").match(tail):
        return finding(who, "past-job" if past else "job", found["job"], negated=negated)
    found = pattern("slots.works_at").match(tail)
    if found and not pattern("slots.no_employer").match(found["where"]):
        slot = "past-employer" if past else "employer"
        return finding(who, slot, _employer(found["where"]), negated=negated)
    if past:
        return None
    if re.match(r"(?:from home|remotely)\b", tail):
        return finding(who, "works-from", "home", negated=negated)
    if found := re.match(r"in (?P<field>[a-z][\w\- ]+|[A-Z]{2,4})\Z", tail):
        return finding(who, "field", found["field"], negated=negated)
    if found := re.match(r"on (?P<what>.+)", tail):
        return _on_something(who, found["what"], negated)
    return None


def _on_something(who: str, what: str, negated: bool) -> Finding | None:
    if pattern("slots.no_project").match(what):
        return None
    return finding(who, "works-on", what, negated=negated)


def _employer(where: str) -> str:
    return re.sub(r" (?:as|in|on|now|full-time|part-time)\b.*", "", where)


def _taste(liked: bool) -> Rule:
    def rule(subject: Subject, predicate: Predicate) -> Finding | None:
        if predicate.tense not in ("present", "perfect") or (not liked and predicate.negated):
            return None
        what = cut(predicate.tail)
        if not is_nameable(what):
            return None
        return finding(subject.key, "likes", what, negated=predicate.negated == liked, items=what)

    return rule


def _prefer(subject: Subject, predicate: Predicate) -> Finding | None:
    if predicate.tense != "present":
        return None
    what = re.split(r" (?:to|over|rather than|instead of|more than|than) ", cut(predicate.tail))[0]
    if predicate.tail.startswith("to "):
        what = re.split(r" (?:over|rather than|instead of) ", cut(predicate.tail))[0]
    if what.split(" ", 1)[0] in ("it", "this", "that", "not"):
        return None
    style = style_of(what) if pattern("slots.answers").search(what) else ""
    if style in ("length", "emoji", "units", "spelling") and subject.kind == "speaker":
        return finding(subject.key, f"style:{style}", what, negated=predicate.negated)
    return finding(subject.key, "prefers", what, negated=predicate.negated)


def _stand(subject: Subject, predicate: Predicate) -> Finding | None:
    """ "Can't stand", "can't bear"."""
    what = cut(predicate.tail)
    if predicate.tense != "modal" or not predicate.negated or not is_nameable(what):
        return None
    return finding(subject.key, "likes", what, negated=True, items=what)


def _own(subject: Subject, predicate: Predicate) -> Finding | None:
    what = cut(predicate.tail)
    if predicate.tense != "present" or not is_nameable(what):
        return None
    return finding(subject.key, "owns", what, negated=predicate.negated)


def _drive(subject: Subject, predicate: Predicate) -> Finding | None:
    if predicate.tense != "present" or not re.match(r"an? \w", predicate.tail):
        return None
    return finding(subject.key, "drives", cut(predicate.tail), negated=predicate.negated)


def _speak(subject: Subject, predicate: Predicate) -> Finding | None:
    words = bare(cut(predicate.tail))
    named = [word for word in re.findall(r"\w+", words) if word in word_set("slots.languages")]
    if predicate.tense not in ("present", "modal") or not named:
        return None
    listed = " and ".join(named)
    return finding(subject.key, "language", listed, negated=predicate.negated)


def _play(subject: Subject, predicate: Predicate) -> Finding | None:
    what = bare(cut(predicate.tail)).split(" ")
    known = [word for word in what[:3] if word.strip(",") in word_set("slots.played")]
    if predicate.tense not in ("present", "perfect") or not known:
        return None
    return finding(subject.key, "plays", known[0], negated=predicate.negated)


def _consume(slot: str) -> Rule:
    def rule(subject: Subject, predicate: Predicate) -> Finding | None:
        what = cut(predicate.tail)
        if predicate.tense != "present" or predicate.progressive or not what:
            return None
        if not (predicate.negated or {"only", "always"} & set(predicate.adverbs)):
            return None
        if not is_nameable(what):
            return None
        return finding(subject.key, slot, what, negated=predicate.negated)

    return rule


def _use(subject: Subject, predicate: Predicate) -> Finding | None:
    if predicate.tense != "present":
        return None
    what, _, purpose = cut(predicate.tail).partition(" for ")
    if not is_nameable(what) or len(what.split()) > 4:
        return None
    purpose = bare(purpose)
    slot = f"uses:{purpose}" if purpose and len(purpose.split()) <= 3 else "uses"
    return finding(subject.key, slot, what, negated=predicate.negated)


def _ongoing(slot: str) -> Rule:
    """Learning, studying: what somebody is at for a while."""

    def rule(subject: Subject, predicate: Predicate) -> Finding | None:
        what = re.split(r" (?:at|in|for|with|from|by|since) ", cut(predicate.tail))[0]
        what = re.sub(r"^(?:how )?to (?:speak|play) (?:the )?", "", what)
        going_on = predicate.progressive or slot == "studies"
        if not going_on or predicate.tense not in ("present", "perfect") or predicate.negated:
            return None
        if not is_nameable(what) or what.split()[0] in ("to", "so", "about", "that", "a"):
            return None
        return finding(subject.key, slot, what)

    return rule


def _marry(subject: Subject, predicate: Predicate) -> Finding | None:
    name = re.match(r"(?:my \w+ )?([A-Z]\w+)", predicate.tail)
    if predicate.tense not in ("past", "perfect") or not name:
        return None
    return finding(subject.key, "partner", name[1])


def _start(subject: Subject, predicate: Predicate) -> Finding | None:
    found = pattern("slots.new_job").match(predicate.tail)
    if not found or predicate.tense not in ("past", "perfect") or predicate.negated:
        return None
    return finding(subject.key, "employer", place(found["where"]))


def _leave(subject: Subject, predicate: Predicate) -> Finding | None:
    found = re.match(r"my (?:\w+ )?job (?:at|with) (?P<where>[A-Z][\w&.\- ]*)", predicate.tail)
    if not found or predicate.tense not in ("past", "perfect") or predicate.negated:
        return None
    return finding(subject.key, "employer", place(found["where"]), negated=True)


def _get(subject: Subject, predicate: Predicate) -> Finding | None:
    if predicate.tense not in ("past", "perfect") or predicate.negated:
        return None
    if found := re.match(r"(married|engaged|divorced)\b", predicate.tail):
        return finding(subject.key, "status", found[1])
    if found := re.match(r"promoted to (?P<job>[\w\- ]+)", predicate.tail):
        return finding(subject.key, "job", cut(found["job"]))
    return _start(subject, predicate) or adopted_in(subject, predicate)


def _go(subject: Subject, predicate: Predicate) -> Finding | None:
    if predicate.tense == "present" and (found := re.match(r"by ([A-Z]\w+)", predicate.tail)):
        return finding(subject.key, "called", found[1])
    return None


def _grow(subject: Subject, predicate: Predicate) -> Finding | None:
    if found := re.match(r"up in (?P<where>[A-Z].*)", predicate.tail):
        return finding(subject.key, "grew-up", place(found["where"]))
    return None


_RULES: Mapping[str, Rule] = {
    "be": being_in, "live": _live, "reside": _live, "move": _move, "relocate": _move, "work": _work,
    "like": _taste(True), "love": _taste(True), "enjoy": _taste(True), "adore": _taste(True),
    "hate": _taste(False), "dislike": _taste(False), "detest": _taste(False),
    "loathe": _taste(False), "despise": _taste(False), "prefer": _prefer, "stand": _stand,
    "have": having_in, "own": _own, "drive": _drive, "ride": _drive, "speak": _speak, "play": _play,
    "eat": _consume("eats"), "drink": _consume("drinks"), "use": _use,
    "learn": _ongoing("learning"), "study": _ongoing("studies"), "marry": _marry,
    "start": _start, "begin": _start, "quit": _leave, "leave": _leave, "get": _get,
    "adopt": adopted_in, "buy": adopted_in, "go": _go, "grow": _grow,
}  # fmt: skip
