"""What a statement of a change or an end is to what is known.

Where both statements make a claim about the same slot, the slot decides. Everything else people say
has no slot: what it is about is told by its words, its names and the field of life it belongs to.
A change replaces what it surely concerns; an enrichment is no change, and what is about somebody
else is left alone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from standfast.lifecycle.merge.aside import (
    is_brief,
    is_done_by_it,
    is_instance,
    is_one_less,
    is_only_there,
    is_owner,
    is_part,
    is_return,
    is_subject,
    plain,
)
from standfast.lifecycle.merge.bare import fits_bare, is_bare, measured
from standfast.lifecycle.merge.claims.changes import STATEMENT_MAX, ChangeCue, change_in
from standfast.lifecycle.merge.claims.clauses import expanded, reading
from standfast.lifecycle.merge.claims.fields import fields_of, slots_of
from standfast.lifecycle.merge.claims.foreign import language_of
from standfast.lifecycle.merge.claims.topics import (
    is_single,
    kinds_of_things,
    people_words,
    states_of,
)
from standfast.lifecycle.merge.claims.values import new_values_in
from standfast.lifecycle.merge.focus import (
    are_parallel,
    gives_its_own_thing,
    has_its_own_thing,
    is_another,
    is_of_a_part,
    of_two_things,
    restates,
    subject_fields,
    subject_of,
    touches,
)
from standfast.lifecycle.merge.odds import LIKELY, UNLIKELY, features, is_meant, weighed
from standfast.lifecycle.merge.topic import (
    DONE,
    Topic,
    said_by,
    shared_dense,
    shared_words,
    told,
    topic_of,
)
from standfast.text.analysis import stem
from standfast.text.claim import CHANGE, KEPT
from standfast.text.normal import fold
from standfast.text.words import pattern, word_set
from standfast.types import Record
from standfast.understanding.reading.statements import CATEGORIES


def replaces(text: str, speaker: str, known: str, known_speaker: str, cue: str = "") -> str:
    """Why a statement takes the place of a known one of the same speaker; "" if it does not.
    ``cue``: words of a change that were said, and are not in the text."""
    new = _changing(text, speaker, cue)
    if new is None:  # most statements tell no change: the known one is not read for those
        return ""
    old = topic_of(known, known_speaker)
    return "" if new.pronoun else _replaces(new, old)


def _replaces(new: Topic, old: Topic) -> str:
    if is_planned(new) and not old.pending:  # what is known is a plan itself: plans change too
        return ""
    if new.begins and new.begins == old.begins and not fields_of(new.begins):
        new, old = _without_subject(new), _without_subject(old)
    if _is_from_another(new, old) or happens_beside(new, old):
        return ""
    shared = shared_words(new, old) - _verbs_of(new)
    if is_over(old) or not same_people(new, old, shared) or is_told_of_it(new, old, shared):
        return ""
    if new.dense and old.dense and not shared:
        shared = shared_dense(new.dense, old.dense)
    now = f"it says that this has changed ({new.change.cue})"
    if _of_same_type(new, old, _LABELLED) or _elsewhere(new, old):
        return now
    if _is_parted(new, old):
        return now
    if old.pending and _FINISHED.search(new.said) and _about(new, old, shared):
        return "" if is_part(new, old, shared) else now
    if weighed(features(new, old)) < UNLIKELY:
        return ""
    if _turned(new, old, shared):
        return now
    check = _CHECKS.get(new.change.kind)
    return now if check and check(new, old, shared) else ""


def _is_parted(new: Topic, old: Topic) -> bool:
    """ "We split up", "I'm single again": from whoever the partner was."""
    return (
        "partner" in old.fields
        and not new.kin
        and not new.names - old.names
        and bool(_PARTED.search(new.said))
    )


_PARTED = re.compile(
    r"\b(?:we|and I)(?: have| are| got| just| finally| recently)* (?:split|broke up|broken up"
    r"|divorced|separated|parted)\b|\bI (?:am|is) (?:\w+ )?(?:single|divorced|separated|widowed)\b",
    re.IGNORECASE,
)
_SCALED = re.compile(r"(?:doubled|tripled|halved|quadrupled) ", re.IGNORECASE)


def _changing(text: str, speaker: str, cue: str) -> Topic | None:
    """What a text is about that tells a change, or plans one; None if it tells none."""
    return _changing_once(text[:STATEMENT_MAX], speaker, cue)


@lru_cache(maxsize=100)  # one statement is compared with each that is known
def _changing_once(text: str, speaker: str, cue: str) -> Topic | None:
    if not cue and not _tells(text, speaker):  # the words of a change are looked for first
        return None
    new = told(text, speaker, cue)
    if not new.change.kind:
        return None
    if new.change.kind != "ends" and pattern("changes.too").search(new.said):
        return None
    if NOT_ONLY.search(new.said) or is_brief(new):
        return None
    return None if _LOST.search(new.change.cue) and _ANOTHER.search(new.said) else new


def _tells(text: str, speaker: str) -> bool:
    said = said_by(text, speaker)
    if change_in(said).kind or new_values_in(said):
        return True
    return bool(pattern("changes.done").search(said))


def is_planned(new: Topic) -> bool:
    """ "We called it off, the wedding will be in May" tells what has happened."""
    return _is_planned(new.said, new.change)


@lru_cache(maxsize=500)  # asked of one statement beside each that is known
def _is_planned(said: str, change: ChangeCue) -> bool:
    found = pattern("changes.planned").search(said)
    at = expanded(said).find(change.cue)
    done = change.kind in ("ends", "changes") and at >= 0
    return found is not None and not (done and at + len(change.cue) <= found.start())


_FINISHED = re.compile(r"\b(?:finished|completed|wrapped up|got through)\b", re.IGNORECASE)
NOT_ONLY = re.compile(r"\bnot (?:only|just)\b", re.IGNORECASE)
_LOST = re.compile(r"lost|broke|misplaced|worn? out|ran out|stolen|expired")
_ANOTHER = re.compile(
    r"\bnew (?:ones?|pair)\b|\breplacement\b|\b(?:order|pick|buy|bought|got)\w* (?:a )?new\b"
)


def concern(text: str, speaker: str, known: str, known_speaker: str, cue: str = "") -> float:
    """How likely a statement tells a change of a known one that it does not surely replace,
    between 0 and 1."""
    new = _changing(text, speaker, cue)
    if new is not None and (new.pronoun or is_bare(new)):
        old = topic_of(known, known_speaker)
        fits = _replaces(new, old) if new.pronoun else not is_over(old) and fits_bare(new, old)
        if fits:
            return LIKELY
    found = evidence(text, speaker, known, known_speaker, cue)
    return weighed(found) if found else 0.0


def evidence(
    text: str, speaker: str, known: str, known_speaker: str, cue: str = ""
) -> dict[str, float]:
    """What speaks for and against it; empty where no change is told, or of two people."""
    new = _changing(text, speaker, cue)
    if new is None or is_planned(new):
        return {}
    old = topic_of(known, known_speaker)
    if is_over(old) or _is_from_another(new, old) or happens_beside(new, old):
        return {}
    shared = shared_words(new, old)
    if new.kin and old.kin and not same_people(new, old, shared):
        return {}
    if are_parallel(new, old) or of_two_things(new, old):
        return {}
    if new.change.kind == "turns" and not shared and not new.events & old.fields:
        return {}  # a turn in another field of a life
    if not _of_same_type(new, old) and is_another(new, old, shared):
        return {}
    if "tool" in new.fields & old.fields and not shared and not _same_kind_of_thing(new, old):
        return {}
    alone = not _fields(new, old) and not _about(new, old, shared)
    against = {
        "kin alone": bool(new.kin) and new.kin == old.kin and alone,
        "told of it": is_told_of_it(new, old, shared),
        "done": new.change.cue == DONE,
    }
    return features(new, old) | {name: 1.0 for name, holds in against.items() if holds}


def _verbs_of(new: Topic) -> frozenset[str]:
    """That two things were raised says nothing of what was."""
    said = (plain(word) for word in new.change.cue.split())
    return frozenset(stem(word) for word in said if word.endswith("ed"))


_OWN_WORDS = re.compile(
    r"\b(?:I|me|my|we|us|our|mine|ours|it|he|she|they|him|her|them)\b", re.IGNORECASE
)
_IS_NAMED = re.compile(
    r"\b(?:is|are|called|named) (?:(?:an?|the) )?(?:[A-ZÀ-Ý][\w'.-]* ?){1,3}\W*\Z"
)
_ROOM = r"(?:room|hall|floor|ward|building)\b"
_INDOORS = re.compile(rf"\b(?:in|into|on|to) (?:the )?(?:\w+ )?{_ROOM}", re.IGNORECASE)
_PLACE = re.compile(
    r"\b(?:at|by|from|in|into|near|on|to|with) (?:the |a |my |me\b|us\b)?"
    rf"(?:(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-ZÀ-Ý]|{_ROOM})"
)
_OTHER = re.compile(r"\W*(?:the|my|our) other \w", re.IGNORECASE)  # of those that are alike
_TITLES = frozenset(("dr", "mr", "mrs", "ms", "miss", "prof", "sir"))


def happens_beside(new: Topic, old: Topic) -> bool:
    """Whether something happened to somebody or something else, or something else to whom both
    are about."""
    if language_of(new.said) or new.dense or new.pronoun:
        return False
    if is_only_elsewhere(new, old) or _OTHER.match(new.said):
        return True
    if _of_same_type(new, old):
        return False
    shared = shared_words(new, old) - _verbs_of(new)
    told = new.events & old.fields
    if not shared and is_of_hours(new, old):
        return True
    if not shared and told <= {"name"} and has_its_own_thing(new, old):
        return True
    if told or old.pending:
        return False
    if not shared:
        stranger = is_of_a_stranger(new)
        where = {"home"} if _is_of_a_thing(new) else set()  # nor where a thing moved to
        if is_single(_fields(new, old) - where) and not stranger:
            return False
        return stranger or _of_other_things(new, old)
    if gives_its_own_thing(new, old):
        return True
    if is_of_a_part(new, shared) and not new.fields & old.fields:
        return True
    gone = not _MOVED_TO.match(new.change.cue) and pattern("changes.gone").search(new.change.cue)
    if shared - _people_of(new, old) or gone:
        return False
    if _IS_NAMED.search(old.said) and new.names - old.names:
        return False  # who somebody is, and somebody else's name
    if _fields(new, old) - {"doctor", "lead", "name", "meeting", "price"}:
        return False
    return has_its_own_thing(new, old) or (new.change.kind == "changes" and bool(new.fields))


def _is_successor(new: Topic, old: Topic) -> bool:
    """Whether both say who somebody's boss or the like is, by two names."""
    named = _IS_NAMED.search(new.said) and _IS_NAMED.search(old.said)
    differ = new.names - old.names and old.names - new.names
    return bool(new.kin and new.kin == old.kin and named and differ)


def is_only_elsewhere(new: Topic, old: Topic) -> bool:
    """ "Mum moved to Worthing" to when she comes, "the class moved to room 12" to how many are in
    it: where somebody or something is now, where nothing is known of a place."""
    thing = _INDOORS.search(new.said) and _is_of_a_thing(new)
    moved = _MOVED_TO.match(new.change.cue) and (new.kin or thing)
    if not moved or "home" in old.fields or old.pending or not _PLACE.search(new.said):
        return False
    return not _PLACE.search(old.said) and not ({"day", "time"} & dict(new.values).keys())


def is_of_hours(new: Topic, old: Topic) -> bool:
    """When somebody works now says nothing of what they are; whether they work at all, it does."""
    work = _fields(new, old)
    return (
        "hours" in new.fields - old.fields
        and work <= {"work"}
        and not states_of("work") & old.words
        and bool(work)
        and not new.names - old.names
    )


def _people_of(new: Topic, old: Topic) -> frozenset[str]:
    names = {new.begins, new.subject, old.subject, old.begins}
    if new.begins in _TITLES:
        names |= set(subject_of(new.said))
    return new.kin | names | {stem(one) for one in names} | new.mentions | old.mentions | _TITLES


def _of_other_things(new: Topic, old: Topic) -> bool:
    """Whether nothing is named in both, and one of them has a subject of its own."""
    if subject_fields(new) & old.fields:
        return False
    named = old.begins and not old.kin and not new.names & {old.begins}
    return _is_of_a_thing(new) or bool(named and new.change.kind == "may change")


def is_of_a_stranger(new: Topic) -> bool:
    """ "Jack moved up a group": somebody with a name did something."""
    if not new.begins or new.kin or fields_of(new.begins) or _OWN_WORDS.search(new.said):
        return False
    found = _NAME_AND_VERB.match(new.said)
    return found is not None and bool(
        found[1] in ("is", "has", "was") or reading(found[1], "third", "past")
    )


_NAME_AND_VERB = re.compile(r"\W*(?:[A-ZÀ-Ý][\w'-]+ ){1,3}([a-z]+)")


def _is_of_a_thing(new: Topic) -> bool:
    """ "The server moved": neither the speaker nor anybody of theirs."""
    thing = not new.kin and _THE.match(new.said) and not _OWN_WORDS.search(new.said)
    return bool(thing and subject_of(new.said))


_THE = re.compile(r"(?:The|the) [a-z]")
_MOVED_TO = re.compile(r"(?:has |have )?moved(?! (?:out|away))", re.IGNORECASE)


_CHANGED_FROM = re.compile(
    r"\b(?:switch|swap|chang|migrat|convert|upgrad|mov)\w* (?:over )?from (?:the |my |our )?"
    r"([A-ZÀ-Ý][\w.'-]*)"
)


def _is_from_another(new: Topic, old: Topic) -> bool:
    """ "Switched from Spotify to Tidal" ends Spotify, and nothing that does not name it."""
    found = _CHANGED_FROM.search(new.said)
    if found is None or not old.names:
        return False
    was = fold(found[1]).strip(".'-")
    return was not in old.names and stem(was) not in old.words


_OWN = re.compile(r"(?:I|We|My|Our)\b")


def is_touched(text: str, speaker: str, known: str, known_speaker: str, cue: str = "") -> bool:
    """Whether what a statement says has changed is what a known one is about: more than that
    both may be about one field of a life."""
    new = _changing(text, speaker, cue)
    if new is None:
        return False
    old = topic_of(known, known_speaker)
    if touches(new, old, shared_words(new, old)) or _is_successor(new, old):
        return True
    return (
        bool(new.fields & old.fields & word_set("topics.switched"))
        and _kinds_in_common(new, old)
        and _OWN.match(new.said) is not None
        and _OWN.match(old.said) is not None
    )


def is_restated(text: str, speaker: str, known: str, known_speaker: str) -> bool:
    """Whether a statement says the same of the same with another value, in no words of change."""
    new, old = topic_of(text, speaker), topic_of(known, known_speaker)
    shared = shared_words(new, old)
    if is_over(old) or not same_people(new, old, shared):
        return False
    return restates(new, old, shared)


def _without_subject(topic: Topic) -> Topic:
    """Whom both are about says nothing about what they say of them."""
    gone = frozenset({topic.begins, stem(topic.begins)})
    return replace(topic, words=topic.words - gone, names=topic.names - gone, begins="")


def is_over(old: Topic) -> bool:
    """Whether the known statement tells an end itself, and not a state such as "divorced"."""
    states = any(states_of(name) & old.words for name in old.fields)
    return old.change.kind == "ends" and not states and "not" not in old.change.cue


_ALONE = re.compile(r"\b(?:alone|by myself|on my own)\b")
_IN_WITH = re.compile(r"\bmoved in\b|\bliving with (?:me|us)\b|\bstaying for good\b")


def same_people(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    if new.pronoun:
        return is_meant(new.pronoun, old)
    if new.kin and old.kin:
        family = "expecting" in new.fields & old.fields and "born" not in old.words
        return (
            new.kin == old.kin
            or family
            or bool(
                new.kin <= word_set("topics.partners") and old.kin <= word_set("topics.partners")
            )
        )
    if new.kin and not new.kin <= word_set("topics.neutral"):
        if _ALONE.search(old.said) and _IN_WITH.search(new.said):
            return True
        named = bool(new.kin & old.mentions) or bool(new.subject and new.subject in old.names)
        named = named or (
            new.kin <= word_set("topics.partners") and "partner" in new.fields & old.fields
        )
        return (
            named
            or bool(new.fields & old.fields & {"expecting", "children", "pet"})
            or (
                "home" in new.fields & old.fields
                and "with" in new.change.cue + " in with"
                and new.kin <= word_set("topics.partners")
            )
        )
    if old.kin and not old.kin <= word_set("topics.neutral"):
        if new.begins and new.begins in old.names:
            return True
        owned = bool(old.kin & new.mentions) or bool(new.names & old.names)
        return owned or (
            old.kin <= word_set("topics.partners") and bool({"partner", "expecting"} & new.fields)
        )
    if new.begins and new.begins not in old.names and new.begins not in old.words:
        return len(shared) >= 1 or "expecting" in new.fields & old.fields
    return True


def is_told_of_it(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    """ "The food bank moved" to who volunteers there, "upgraded the Postgres server's disks" to
    who uses Postgres, "the neighbours sold their Skoda": something happened to what both name, or
    to what belongs to it, and nothing to what was said."""
    if language_of(new.said):
        return False
    if are_parallel(new, old) or of_two_things(new, old):
        return True
    if not _of_same_type(new, old) and is_another(new, old, shared):
        return True
    said = expanded(new.said).split()
    if is_instance(new) or (shared and is_owner(said, shared)) or _BACK.search(new.said):
        return True
    if shared and is_return(new, shared):
        return True
    if _SOME.match(new.said) and not _LESS.search(new.said):
        return not (shared and is_one_less(new, old))
    if not shared or _of_same_type(new, old):
        return False
    if any(
        stem(plain(word)) in shared or plain(word) in shared
        for before, word in pairwise(said)
        if new.kin and before.casefold() in ("their", "his", "her")
    ):
        return True
    if new.change.kind == "ends" and new.change.cue != DONE:
        beside = is_done_by_it(new, shared) or is_only_there(new, shared)
        return beside or is_part(new, old, shared)
    if new.change.kind == "changes" and is_only_there(new, shared, _AT):
        return True
    if new.change.kind == "changes" and not _fields(new, old):
        by_it = not _BECAME.match(new.change.cue) and is_done_by_it(new, shared)
        if by_it or _is_version(new, old):
            return True
    own = old.said.startswith(("I ", "We "))
    renamed = bool(new.names - old.names) and bool(old.names - new.names)
    theirs = (
        is_subject(said, shared)
        and not renamed
        and not pattern("lasting.first_person").search(new.said)
    )
    return own and (theirs or (_is_done(new) and is_part(new, old, shared)))


_BECAME = re.compile(r"bec[ao]me|turn|is now|are now|now ", re.IGNORECASE)
_UPGRADED = re.compile(r"upgraded|updated|bumped|patched")
_BACK = re.compile(r"\bbut \w+(?: \w+)? (?:\w+ )?back\b|\bturned up again\b")
_SOME = re.compile(r"\W*(?:one|two|some|half|a few|most) of (?:my|our|the)\b", re.IGNORECASE)
_LESS = re.compile(r"\bdown to\b|\bleft\b|\bonly\b|\bjust\b")
_AT = re.compile(r"\bat\b")  # "moved the notes from Evernote" changes where they are


def _is_version(new: Topic, old: Topic) -> bool:
    """ "Upgraded Django to 5.2" to who uses Django."""
    return (
        bool(_UPGRADED.match(new.change.cue.casefold()))
        and bool(new.names & old.names)
        and bool(measured(new))
        and not measured(old)
    )


def _is_done(new: Topic) -> bool:
    return new.change.kind == "changes" or new.change.cue == DONE


def _turned(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    """Whether a turn in a field of a life is told to what was so in it."""
    fields = new.events & (old.fields - old.events)  # what was a turn itself is no state
    return is_single(fields & _fields(new, old)) or bool(fields and _about(new, old, shared))


def _new_values(new: Topic, old: Topic) -> bool:
    return bool(new.values - old.values) or bool(new.names - old.names)


def _of_same_type(new: Topic, old: Topic, kinds: frozenset[str] | None = None) -> bool:
    """Whether the new statement has another day, number or time where the known one has one."""
    ours, theirs = dict(new.values - old.values), dict(old.values - new.values)
    both = ours.keys() & theirs.keys()
    return bool(both if kinds is None else both & kinds)


def _says_when(topic: Topic) -> bool:
    return not {"date", "day"}.isdisjoint(dict(topic.values))


_ADDRESS = re.compile(r"\b(?:at|to|is|on) (\d+[a-z]?,? [A-ZÀ-Ý][\w'-]+)")
_LABELLED = frozenset(("grade", "floor", "size"))  # numbers that say what they count
_PLACED = re.compile(
    r"\b(?:am|is|are|lives?|based|moved|living)(?: back)? (?:in|to|near) (?:the )?([A-ZÀ-Ý][\w-]+)"
)


def _elsewhere(new: Topic, old: Topic) -> bool:
    """Whether the same people are in another place: "Mum and Dad are in Spain these days"."""
    here, there = _PLACED.search(new.said), _PLACED.search(old.said)
    if new.kin != old.kin and not new.pronoun:
        return False
    if here and there and here[1] != there[1]:
        return True
    address, known = _ADDRESS.search(new.said), _ADDRESS.search(old.said)
    return bool(address and known and address[1] != known[1])


def _about(new: Topic, old: Topic, shared: frozenset[str]) -> frozenset[str]:
    """What both name, beside whom they are about."""
    people = new.kin | {new.begins, old.subject, stem(new.begins), stem(old.subject)}
    if new.kin and new.kin == old.kin:  # "mum" is the mother of whom both tell
        shared -= people_words()
    return (
        shared - people
        if old.subject and old.subject in (new.begins, new.subject)
        else shared - new.kin
    )


def _ends(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    about = _about(new, old, shared)
    if about or (shared and pattern("changes.gone").search(new.change.cue)):
        return True
    if new.change.cue.casefold() == "used to":
        return False
    fields = _fields(new, old)
    return is_single(fields) or "study" in fields or ("sport" in fields and _new_values(new, old))


_PARTING = re.compile(
    r"divorc|split|broke|separat|left|ended|died|passed|dead|gone|over|off|dumped|ex|moved"
)


def _fields(new: Topic, old: Topic) -> frozenset[str]:
    """What both are about; that both are about a wife says nothing of what they say of her."""
    fields = new.fields & old.fields
    if new.kin and new.kin == old.kin and not _PARTING.search(new.change.cue):
        return fields - {"partner", "children"}
    return fields


def _changes(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    fields = _fields(new, old)
    about = _about(new, old, shared)
    if is_single(fields) or len(about) > 1:
        return True
    if about and measured(old) and _SCALED.match(new.change.cue):
        return True
    if about and (_new_values(new, old) or _of_same_type(new, old) or old.negated or old.pending):
        return True
    if _of_same_type(new, old) and (
        fields - {"tool", "language"} or (new.kin and new.kin == old.kin)
    ):
        return True
    if shared and new.names & old.names and fields:
        return True
    return bool(fields & word_set("topics.switched")) and _same_kind_of_thing(new, old)


def _same_kind_of_thing(new: Topic, old: Topic) -> bool:
    ours, theirs = _kinds_of(new), _kinds_of(old)
    return bool(ours & theirs) or not (ours and theirs)


def _kinds_in_common(new: Topic, old: Topic) -> bool:
    return bool(_kinds_of(new) & _kinds_of(old))


def _kinds_of(topic: Topic) -> frozenset[str]:
    said = topic.words | topic.names
    return frozenset(kind for kind, known in kinds_of_things().items() if known & said)


def _may_change(new: Topic, old: Topic, shared: frozenset[str]) -> bool:
    """A weak cue needs more: another state of the field, another value where the known one has
    one, or the opposite of what is known."""
    fields = new.fields & old.fields
    about = _about(new, old, shared)
    if new.change.cue == DONE:
        return bool(about) and old.pending
    for name in fields:
        ours, theirs = states_of(name) & new.words, states_of(name) & old.words
        if ours and theirs and ours != theirs:
            return True
    now = bool(pattern("changes.now").match(new.change.cue))
    if now and (fields & word_set("topics.now_fields") or _same_frame(new.said, old.said)):
        return True
    if now and _is_successor(new, old):
        return True
    if now and "study" in fields and (new.kin & old.mentions or old.kin & new.mentions):
        return True
    if "children" in fields and _of_same_type(new, old):
        return True
    if not about:
        return False
    if _of_same_type(new, old) or new.negated != old.negated:
        return True
    if not now:
        return False
    if _says_when(new) and _says_when(old):
        return True  # "is on Tuesday now", written as a date, to "was moved to Thursday"
    if fields & word_set("topics.one_of") or (new.begins and new.begins in old.names and fields):
        return True
    named = bool(new.names - old.names) and bool(old.names - new.names or fields)
    return named or (len(about) > 1 and bool(fields))


_CHECKS = {"ends": _ends, "changes": _changes, "may change": _may_change}

_SAME_WORDS = 3


def _same_frame(said: str, known: str) -> bool:
    """Whether both begin with the same words: "My son wants to be a ..."."""
    ours, theirs = said.casefold().split(), known.casefold().split()
    common = 0
    for one, other in zip(ours, theirs, strict=False):
        if one.strip(".,!") != other.strip(".,!"):
            break
        common += 1
    verbs = set(ours[:common])
    return common >= _SAME_WORDS and not verbs & word_set("changes.many") and common < len(theirs)


def denies(text: str) -> bool:
    """Whether a text says that something is not so."""
    return bool(pattern("changes.denied").search(text))


# Finding what may be concerned


def tells_bare_value(record: Record) -> bool:
    """Whether it changes a value without a word of what it is a value of."""
    new = _changing(record.text, record.author, "")
    return new is not None and is_bare(new)


def tells_change(record: Record) -> bool:
    """Whether a record tells a change of anything."""
    return bool(record.data.get(CHANGE)) or _tells(record.text, record.author)


def tags_of_change(record: Record) -> tuple[str, ...]:
    """The tags of learned records, by which those of any field are found."""
    fields = topic_of(record.text, record.author).fields
    return (KEPT, *CATEGORIES, *slots_of(fields))
