"""Is a clause without a slot worth keeping? Events, plans, habits, decisions, outcomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.text.claims.clauses import Clause, Predicate
from recollect.text.claims.verbs import reading
from recollect.text.claims.words import EMPTY, EMPTY_WISHES, MEETINGS, POINTERS
from recollect.text.dates.expressions import Span


class Worth(NamedTuple):
    """What kind of thing a clause tells, and how much that matters."""

    topic: str
    importance: float
    confidence: float


# Things that happen rarely enough to be told without a date.
_STRONG = frozenset(
    "adopt buy purchase sell graduate marry divorce join quit launch publish win lose retire enroll"
    " enrol inherit rescue renovate complete finish apply sign volunteer visit attend book"
    " travel relocate plant paint write build open start begin organize organise host run coach"
    " teach design perform record compete break injure hurt donate switch upgrade replace hike camp"
    " participate climb stop fly bake".split()
)
# Things that are worth it with their date.
_DATED = _STRONG | frozenset(
    "go take meet see watch read cook make get have celebrate receive pass fail move leave return"
    " come drive ride play swim learn lead present speak give call interview hire spend stay"
    " explore discover find dance ski surf sail create cancel submit repair fix lend borrow rent"
    " pay order deploy release migrate merge test train practice catch propose introduce fall crash"
    " photograph film shop walk serve help collaborate turn become adopt exercise"
    " contribute".split()
)
_ONGOING = frozenset(
    "train volunteer renovate build write develop organize organise prepare plan save look apply"
    " research design launch teach coach date collaborate study learn start open raise".split()
)
_OUTCOMES = frozenset(
    "fail pass succeed crash break finish complete merge deploy release launch fix migrate cancel"
    " reject approve roll deliver ship schedule move".split()
)
_FREQUENCY = re.compile(
    r"\b(?:every|each) (?:single )?(?:other )?(?:day|morning|evening|night|week|weekend|month|year"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|summer|winter|spring|fall|autumn)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b(?:once|twice|\w+ times) (?:a|per"
    r"|every) \w+|\bon weekends\b|\bdaily\b|\bweekly\b",
    re.IGNORECASE,
)
_NOW = ("present", "perfect")
_WISHES = frozenset("want hope plan aim intend dream wish".split())
# What people want from life, other than to know, see or say something now.
_LIFE_WISHES = frozenset(
    "learn visit travel buy start become move open run write publish join study adopt go build own"
    " retire finish complete apply quit lose save attend launch volunteer teach work live climb"
    " hike"
    " ride play master improve train win compete record perform paint sell expand host organize"
    " organise plant renovate graduate marry switch".split()
)
_DREAMS = frozenset(
    "visit travel learn own live move study adopt publish open become retire buy sell build quit"
    " marry".split()
)
_INFINITIVE = re.compile(
    r"(?:on |of |about |to (?:one day |eventually |someday )?)(?P<verb>[a-z]+)"
)
_DECISIVE = re.compile(r"(?:to|on|against|that|for)\b")


def worth_of(clause: Clause, tail: str, spans: Sequence[Span]) -> Worth | None:
    """What a clause is worth whose tail was trimmed; None: not kept."""
    predicate = clause.predicate
    if clause.subject.kind == "thing":
        return _outcome(predicate)
    if clause.subject.attribute or clause.subject.kind == "named":
        return None
    if predicate.tense == "conditional":
        return _would(predicate, tail)
    for span in spans:
        tail = tail.replace(span.phrase, " ").strip()
    if _UNSURE.search(tail):
        return None
    if not has_substance(tail) and not (clause.subject.relation and spans):
        return None
    for judge in (_decision, _event, _plan, _habit, _ongoing, _lasting, _visited):
        worth = judge(predicate, tail, spans)
        if worth is not None:
            return worth
    return None


_UNSURE = re.compile(r"\b(?:i think|i guess|maybe|probably|i suppose|not sure)\b", re.IGNORECASE)


def has_substance(tail: str) -> bool:
    """Whether the words name something that is not empty ("a great time") or pointed at."""
    words = [word for word in re.findall(r"[\w']+", tail.lower()) if word not in _SMALL]
    telling = [word for word in words if word not in EMPTY and word not in POINTERS]
    return bool(telling) and len(words) <= 34 and (len(telling) >= 2 or len(telling[0]) > 2)


_SMALL = frozenset(
    "a an the of to in on at for with and or from by my our me us i we some any very really so too"
    " just as was is are be been about into out up down off over than then not no all more much"
    " many times time once twice three two last next this week month year yesterday today tomorrow"
    " ago days weekend night morning"
    " soon again topic new old big little own few couple first still when together".split()
)


def _decision(predicate: Predicate, tail: str, _: Sequence[Span]) -> Worth | None:
    if predicate.verb not in ("decide", "choose", "agree", "opt", "settle"):
        return None
    if predicate.tense not in ("past", "perfect") or not _DECISIVE.match(tail):
        return None
    if predicate.negated:
        return None
    found = _INFINITIVE.match(tail)
    if found and found["verb"] in ("go", "be", "do", "see") and len(tail.split()) < 4:
        return None
    return Worth("decision", 0.65, 0.75) if len(tail.split()) > 2 else None


def _event(predicate: Predicate, tail: str, spans: Sequence[Span]) -> Worth | None:
    if predicate.tense not in ("past", "perfect") or predicate.negated or predicate.hedged:
        return None
    if predicate.progressive or (predicate.passive and predicate.verb in ("tell", "ask")):
        return None
    when = [span for span in spans if span.relation in ("", "since", "after")]
    verbs = _DATED if when else _STRONG
    turning = _TURNING.get(predicate.verb)
    if (
        predicate.verb not in verbs
        and not predicate.passive
        and not (turning and turning.match(tail))
    ):
        return None
    if _is_empty_object(predicate, tail):
        return None
    return Worth("event", 0.55 if when else 0.45, 0.8 if when else 0.65)


# Common verbs tell something even without a date when this follows them.
_TURNING = {
    "go": re.compile(
        r"(?:to|on) (?:an?|the|my|our) (?:[\w\-']+ ){1,4}?(?:convention|conference|concert|festival"
        r"|trip|tour|show|workshop|wedding|funeral|museum|parade|game|match|race|camp|class|fair"
        r"|gala"
        r"|retreat|reunion|cruise|vacation|hike|safari|meeting|interview|exam|ceremony|performance"
        r"|exhibition|exhibit|tournament|fundraiser)\b|to [A-Z]\w+"
        r"|(?:hiking|camping|skiing|snorkeling|surfing|kayaking|backpacking|diving) (?:in|at|with"
        r"|on) "
    ),
    "meet": re.compile(r"(?:my \w+ )?[A-Z]\w+"),
    "get": re.compile(
        r"(?:accepted|promoted|hired|fired|diagnosed|robbed|injured|rejected|selected|laid off"
        r"|into) |(?:an?|the|my|our) (?:\w+ ){0,3}(?:job|promotion|degree|award|offer|endorsement"
        r"|scholarship"
        r"|internship|letter|tattoo|car|bike|house|apartment|certificate|certification|contract"
        r"|grant|visa|license|raise)\b"
    ),
}


def _is_empty_object(predicate: Predicate, tail: str) -> bool:
    """ "Took a break", "had a great time", "made it": something happened, but what?"""
    words = re.findall(r"[\w'\-]+", tail.lower())
    while words and words[0] in _BEFORE_OBJECT:
        words.pop(0)
    end = next((i for i, word in enumerate(words) if word in _PREPOSITIONS), len(words))
    heads = words[max(0, end - 2) : end]
    if not heads:
        return True
    if heads[-1] in EMPTY or (heads[0] in EMPTY and heads[-1] in ("out", "off", "together")):
        return predicate.verb in _LIGHT or len(words) < 4
    if predicate.verb in ("start", "begin", "stop", "continue") and words[0] in _INNER:
        return True
    return predicate.verb in _LIGHT and len(words) < 2 and predicate.verb != "go"


_LIGHT = frozenset(
    "get have make take give see find come start go do spend try face experience write feel".split()
)
_INNER = frozenset(
    "thinking feeling realizing seeing getting being caring believing appreciating think feel"
    " realize noticing wondering looking talking understanding".split()
)
_BEFORE_OBJECT = frozenset(
    "a an the some my our to on in at with into for of out up over by and about another such his"
    " her this that these really so very much been".split()
)
_PREPOSITIONS = frozenset(
    "at in on with for about to of from during by near around last next this yesterday today since"
    " when while where that which who after before over".split()
)


def _would(predicate: Predicate, tail: str) -> Worth | None:
    """ "I would love to visit Japan" is a wish; every other "would" is a guess."""
    if predicate.verb not in ("love", "like") or predicate.negated or not has_substance(tail):
        return None
    found = re.match(r"to (?P<verb>[a-z]+)", tail)
    if not found or found["verb"] not in _DREAMS or len(tail.split()) < 3:
        return None
    return Worth("goal", 0.45, 0.6)


def _plan(predicate: Predicate, tail: str, spans: Sequence[Span]) -> Worth | None:
    if predicate.negated or predicate.hedged:
        return None
    ahead = bool(spans)
    if predicate.verb in _WISHES and predicate.tense in ("present", "perfect"):
        found = _INFINITIVE.match(tail)
        if not found or len(tail.split()) < 3:
            return None
        verb = reading(found["verb"], "base", "ing")
        if _THIS_TALK.match(tail):
            return None
        if verb == "start" and re.match(r"\S+ \S+ (?:with|by|off|from|out)\b", tail):
            return None
        if verb not in _LIFE_WISHES and not (predicate.verb == "plan" and ahead):
            return None
        return Worth("goal", 0.55, 0.7)
    if predicate.verb == "think" and predicate.progressive and predicate.tense in _NOW:
        found = _INFINITIVE.match(tail)
        considered = reading(found["verb"], "ing") if found else ""
        sure = considered in _DREAMS or (ahead and considered in _DATED - {"try", "make", "get"})
        return Worth("plan", 0.45, 0.65) if sure else None
    firm = predicate.verb in _STRONG and not predicate.words.startswith("will")
    if predicate.tense == "future" and (ahead or firm):
        if _is_empty_object(predicate, tail) or predicate.verb in EMPTY_WISHES - _STRONG:
            return None
        return Worth("plan", 0.55, 0.75)
    if predicate.progressive and predicate.tense == "present" and ahead:
        return Worth("plan", 0.55, 0.75) if predicate.verb in _DATED else None
    if predicate.verb in ("have", "need") and predicate.tense == "present" and ahead:
        named = set(re.findall(r"[a-z\-]+", tail.lower()))
        if named & MEETINGS or tail.startswith("to "):
            return Worth("plan", 0.6, 0.8)
    return None


def _habit(predicate: Predicate, tail: str, _: Sequence[Span]) -> Worth | None:
    if predicate.tense != "present" or predicate.progressive or predicate.verb == "be":
        return None
    if predicate.negated or predicate.verb in _INNER_LIFE or not _FREQUENCY.search(tail):
        return None
    return Worth("habit", 0.5, 0.75)


_INNER_LIFE = frozenset("feel think hope want need remember tend try struggle wish know".split())


_THIS_TALK = re.compile(r"to (?:learn (?:more|about)|improve for|travel soon|finish the rest)\b")
# What somebody looks for in life; everything else is what they want from this talk.
_SEARCH = re.compile(
    r"(?:for|into|at) (?:an? |the |my |our |some )?(?:[\w\-']+ ){0,2}(?:jobs?|apartments?|house"
    r"|home|flat|condos?"
    r"|place to live|roommate|position|internship|career|adoption|investors?|new (?:car|team"
    r"|school))\b|into (?:\w+ ){1,3}as a career"
)


def _ongoing(predicate: Predicate, tail: str, _: Sequence[Span]) -> Worth | None:
    if not predicate.progressive or predicate.tense not in ("present", "perfect"):
        return None
    if predicate.negated or predicate.verb not in _ONGOING or _is_empty_object(predicate, tail):
        return None
    if predicate.verb == "look" and not _SEARCH.match(tail):
        return None
    if predicate.verb in ("plan", "prepare", "start", "research") and tail.startswith("to "):
        return None
    return Worth("activity", 0.45, 0.65)


_USUAL = frozenset("usually often always regularly typically sometimes normally rarely".split())
_INWARD = frozenset(
    "be feel think hope want need know believe wonder guess mean say tell remember seem wish have"
    " get try love like enjoy look make find see keep appreciate come do tend struggle forget end"
    " use".split()
)
_CALLINGS = frozenset(
    "run teach coach manage lead volunteer mentor practice practise collect compete host organize"
    " organise perform train specialize specialise commute bake paint knit design".split()
)


def _lasting(predicate: Predicate, tail: str, _: Sequence[Span]) -> Worth | None:
    """What somebody does for a living or for long, what they usually do, and used to do."""
    if predicate.negated or predicate.progressive or predicate.hedged or len(tail.split()) < 2:
        return None
    if predicate.tense == "former" and not _is_empty_object(predicate, tail):
        return Worth("past", 0.45, 0.7)
    if predicate.tense != "present":
        return None
    if predicate.verb in _CALLINGS and not _is_empty_object(predicate, tail):
        return Worth("activity", 0.5, 0.7)
    if _USUAL & set(predicate.adverbs) and predicate.verb not in _INWARD:
        return Worth("habit", 0.45, 0.65)
    return None


def _visited(predicate: Predicate, tail: str, spans: Sequence[Span]) -> Worth | None:
    """ "I have been to Paris"."""
    named = predicate.verb == "be" and predicate.tense == "perfect" and _TO_PLACE.match(tail)
    return (
        Worth("event", 0.45, 0.75 if spans else 0.65) if named and not predicate.negated else None
    )


_TO_PLACE = re.compile(r"to (?:the )?[A-Z][a-z]+")


def _outcome(predicate: Predicate) -> Worth | None:
    if predicate.verb not in _OUTCOMES or predicate.tense not in ("past", "perfect", "present"):
        return None
    if predicate.tense == "present" and not predicate.passive:
        return None
    return Worth("outcome", 0.6, 0.7)
