"""What an English clause claims: the slot and the value, by its verb.

Each rule knows one way in which people say one thing. A clause that no rule reads may still be
an event or a plan worth keeping; that is decided elsewhere (``events``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from recollect.text.claims.clauses import Clause, Predicate, Subject, folded
from recollect.text.claims.findings import Finding, finding
from recollect.text.claims.possessions import adopted_in, having_in
from recollect.text.claims.slot_values import bare, birthday_in, cut, is_nameable, place
from recollect.text.claims.states import being_in
from recollect.text.claims.words import FAMILY, LANGUAGES, PLAYED

Rule = Callable[[Subject, Predicate], Finding | None]
TASTES = frozenset("like love enjoy adore hate dislike detest loathe despise".split())


_IS_FAVOURITE = re.compile(
    r"(?P<what>[\w'\-][\w' \-]{1,40}?) (?:is|are) (?:definitely |still |probably )?my "
    r"(?:(?:all-time |absolute |current )?favou?rite (?P<thing>[a-z]+)|(?P<top>top pick"
    r"|favou?rite))\Z"
)


def favourite_in(text: str, subject: str) -> Finding | None:
    """ "Dune is my favourite book": the claim of "my favourite book is Dune"."""
    found = _IS_FAVOURITE.match(text)
    if found is None or not found["thing"] or not is_nameable(found["what"].lower()):
        return None
    return finding(subject, f"favourite:{found['thing']}", found["what"])


def finding_in(clause: Clause) -> Finding | None:
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


_ATTRIBUTES = {
    "name": "name", "full name": "name", "real name": "name", "first name": "first-name",
    "last name": "last-name", "surname": "last-name", "family name": "last-name",
    "nickname": "called", "birthday": "birthday", "date of birth": "birthday",
    "birth date": "birthday", "age": "age", "phone": "phone", "phone number": "phone",
    "mobile": "phone", "mobile number": "phone", "telephone number": "phone",
    "cell number": "phone", "email": "email", "e-mail": "email", "email address": "email",
    "mail address": "email", "address": "address", "home address": "address",
    "time zone": "timezone", "timezone": "timezone", "job": "job", "occupation": "job",
    "profession": "job", "job title": "job", "employer": "employer", "hometown": "hometown",
    "home town": "hometown", "native language": "native-language",
    "mother tongue": "native-language", "username": "username", "handle": "username",
    "height": "height", "weight": "weight", "blood type": "blood-type", "hobby": "interest",
    "hobbies": "interest", "goal": "goal", "dream": "goal", "nationality": "nationality",
    "shoe size": "shoe-size", "pronouns": "pronouns", "dream job": "goal", "passion": "interest",
}  # fmt: skip
_FAVOURITE = re.compile(r"(?:all-time |absolute |current )?favou?rite (?P<thing>[\w \-]+)\Z")
_FILLER = re.compile(r"\b(?:new|current|old|actual|full|work|personal|private) ")


def _attribute(subject: Subject, predicate: Predicate) -> Finding | None:
    if predicate.verb != "be" or predicate.tense not in ("present", "perfect"):
        return None
    attribute = _FILLER.sub("", subject.attribute)
    if attribute in FAMILY:
        return _relative_called(subject, attribute, predicate)
    if found := _FAVOURITE.match(attribute):
        slot = f"favourite:{folded(found['thing'])}"
        return finding(subject.key, slot, cut(predicate.tail), negated=predicate.negated)
    slot = _ATTRIBUTES.get(attribute, "")
    if not slot:
        return None
    value = cut(predicate.tail)
    if slot == "goal":
        value = re.sub(r"\Ato ", "", value)
        value = value if " " in value else ""
    if slot == "birthday":
        value = birthday_in(predicate.tail)
    if slot in ("phone", "age", "height", "weight") and not re.search(r"\d", value):
        return None
    return finding(subject.key, slot, value, negated=predicate.negated)


def _relative_called(subject: Subject, relation: str, predicate: Predicate) -> Finding | None:
    """ "My sister's husband is Tom": a name, or nothing."""
    name = re.match(r"(?:called |named )?([A-Z]\w+)", predicate.tail)
    return finding(subject.key, relation, name[1]) if name else None


_PORT = re.compile(r"on port (\d{2,5})\b")
_RUNS_ON = re.compile(r"(?:on|in|at) ([A-Z][\w.\- ]{1,30}|[a-z]+\.[\w.]+)")
_SHORT = re.compile(
    r"(?:called |named |on |in |at )?(?P<value>[\w.@:/\-+#']+(?: [\w.@:/\-+#]+){0,3})\Z"
)
_LATELY = re.compile(r" (?:now|currently|these days|at the moment|today|again|instead)\Z")
_VAGUE_STATES = frozenset(
    "good great bad nice fine amazing awesome cool done ready slow fast broken down up working"
    " red green yellow flaky stuck late locked queued pending blocked behind ahead already offline online"
    " unavailable failing important big small huge hard easy fun over here there running new old complete".split()
)


def _thing(subject: Subject, predicate: Predicate) -> Finding | None:
    """Facts about a project: what its parts are and where they run."""
    if predicate.tense != "present" or predicate.hedged:
        return None
    tail = _LATELY.sub("", predicate.tail.split(",")[0].strip(" .!"))
    if found := _PORT.search(tail):
        return finding(subject.key, "port", found[1], negated=predicate.negated)
    if predicate.verb == "run" and (found := _RUNS_ON.match(tail)):
        return finding(subject.key, "runs-on", found[1], negated=predicate.negated)
    if predicate.verb == "use":
        return finding(subject.key, "uses", tail, negated=predicate.negated)
    found = _SHORT.match(tail)
    if predicate.verb != "be" or not found or predicate.progressive:
        return None
    value = bare(found["value"])
    first = value.split(" ", 1)[0]
    if not value or first in _VAGUE_STATES or first in ("not", "so", "very", "a", "an", "what"):
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


_MOVED = re.compile(
    r"(?:back |over |away |out |here )?(?:from (?P<source>.+?) )?(?:back )?to (?P<where>[A-Z].*)"
)


def _move(subject: Subject, predicate: Predicate) -> Finding | None:
    found = _MOVED.match(predicate.tail)
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


_WORKS_AS = re.compile(r"as (?:an? |the )?(?P<job>[\w\- ]+?)(?: (?:at|for|in|with|on)\b.*)?\Z")
_WORKS_AT = re.compile(r"(?:full-time |part-time |remotely )?(?:at|for) (?P<where>.+)")
_NO_EMPLOYER = re.compile(
    r"(?:home|night|me|myself|the moment|the time|it|this|that|them|people|kids|children|a living"
    r"|\d|hours|years|weeks|days|all|a while|the same|some|now|him|her|free|an? (?:hour|week"
    r"|day))\b",
    re.IGNORECASE,
)


def _work(subject: Subject, predicate: Predicate) -> Finding | None:
    tail, who, negated = cut(predicate.tail), subject.key, predicate.negated
    past = predicate.tense in ("past", "former")
    if predicate.tense not in ("present", "perfect", "past", "former"):
        return None
    if found := _WORKS_AS.match(tail):
        return finding(who, "past-job" if past else "job", found["job"], negated=negated)
    if (found := _WORKS_AT.match(tail)) and not _NO_EMPLOYER.match(found["where"]):
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
    if re.match(
        r"(?:it|this|that|them|myself|something|some|weekends|the weekend|mondays)\b", what
    ):
        return None
    if re.match(r"(?:an?|the|my|our|some)? ?(?:\w+ )?(?:projects?|stuff|things?)\Z|for\b", what):
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
    named = [word for word in re.findall(r"\w+", words) if word in LANGUAGES]
    if predicate.tense not in ("present", "modal") or not named:
        return None
    listed = " and ".join(named)
    return finding(subject.key, "language", listed, negated=predicate.negated)


def _play(subject: Subject, predicate: Predicate) -> Finding | None:
    what = bare(cut(predicate.tail)).split(" ")
    known = [word for word in what[:3] if word.strip(",") in PLAYED]
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


_NEW_JOB = re.compile(
    r"(?:(?:a|an|my|the) )?(?:\w+ )?(?:job|position|role|internship|working|work)"
    r"(?: as an? [\w ]+?)? (?:at|for|with) (?P<where>[A-Z][\w&.\- ]*)"
)


def _start(subject: Subject, predicate: Predicate) -> Finding | None:
    found = _NEW_JOB.match(predicate.tail)
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
