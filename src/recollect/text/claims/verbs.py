"""English verbs and their forms: enough of them to read what people say about themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

Form = Literal["base", "third", "past", "participle", "ing"]

_REGULAR = """
accept achieve add adopt agree aim allow answer apply appreciate argue arrange arrive ask attend
avoid bake believe belong book borrow call camp cancel care carry celebrate change check choose
clean climb close collect commute complete compete complain connect consider continue convert cook
count cover crave create cross cycle damage dance date decide decorate delay deliver deploy design
detest develop dislike discover discuss divorce donate download drop earn embrace encourage end
enjoy enroll enrol enter escape establish exercise expand expect experience explore face fail
fancy film finish fish fix focus follow gain garden graduate grill guess handle happen hate
help hike hire hope host improve inherit injure inspire install interview introduce invent invest
invite jog join jump keep kick kiss knit land last launch learn like list listen live locate look
love maintain manage marry master mention merge migrate miss move name need notice object offer
open order organize organise own pack paint park participate pass perform photograph pick plan
plant play practice practise prefer prepare present produce promote propose prove publish purchase
quit race raise reach realize receive recommend record recover register relax release relocate
remember remodel remove renovate rent repair replace report represent request require rescue
research reside respect rest retire return revert review roll sail save schedule score search seem
serve share ship shop sign skate ski sleep smoke solve start stay stop stream stretch struggle study
suffer support suppose surf switch talk tend test thank tour train transfer translate travel treat
try turn twist upgrade use value visit volunteer vote wait walk want warn wash watch wish witness
wonder work worry yoga bike camp coach collaborate commit consult contribute detect enlist exhibit
hug intend lead mentor meditate mind plead sculpt sketch stretch tutor typically upload dine
despise adore loathe crash break-up contact brew bond sponsor kayak snowboard swap trip unlock
specialize specialise major babysit backpack diagnose admit award rob reject approve select
postpone submit
""".split()

_IRREGULAR = """
be was been|become became become|begin began begun|bite bit bitten|blow blew blown
break broke broken|bring brought brought|build built built|burn burnt burnt|buy bought bought
catch caught caught|choose chose chosen|come came come|cost cost cost|cut cut cut|deal dealt dealt
dig dug dug|do did done|draw drew drawn|dream dreamt dreamt|drink drank drunk|drive drove driven
eat ate eaten|fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found
fly flew flown|forget forgot forgotten|get got gotten|give gave given|go went gone|grow grew grown
hang hung hung|have had had|hear heard heard|hide hid hidden|hit hit hit|hold held held
hurt hurt hurt|keep kept kept|know knew known|lead led led|leave left left|lend lent lent
let let let|lie lay lain|lose lost lost|make made made|mean meant meant|meet met met|pay paid paid
put put put|quit quit quit|read read read|ride rode ridden|ring rang rung|rise rose risen
run ran run|say said said|see saw seen|sell sold sold|send sent sent|set set set|show showed shown
sing sang sung|sit sat sat|sleep slept slept|speak spoke spoken|spend spent spent
stand stood stood|steal stole stolen|stick stuck stuck|swim swam swum|take took taken
teach taught taught|tell told told|think thought thought|throw threw thrown
understand understood understood|wake woke woken|wear wore worn|win won won|write wrote written
rewrite rewrote rewritten|overcome overcame overcome|babysit babysat babysat
""".replace("\n", "|").split("|")

_DOUBLED = frozenset(
    "begin commit cut drop dig get hit jog knit let plan put quit rob run set shop sit ship stop"
    " swap swim win hug babysit prefer refer transfer trip".split()
)


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
    return f"{verb}{verb[-1] if verb in _DOUBLED else ''}ed"


def _ing(verb: str) -> str:
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith("ee") and verb != "be":
        return f"{verb[:-1]}ing"
    return f"{verb}{verb[-1] if verb in _DOUBLED else ''}ing"


def _table() -> Iterator[tuple[str, VerbReading]]:
    irregular = {}
    for line in _IRREGULAR:
        if line.strip():
            verb, past, participle = line.split()
            irregular[verb] = (past, participle)
    for verb in dict.fromkeys([*irregular, *_REGULAR]):
        past, participle = irregular.get(verb, (_past(verb), _past(verb)))
        yield verb, VerbReading(verb, "base")
        yield third_person(verb), VerbReading(verb, "third")
        yield past, VerbReading(verb, "past")
        yield participle, VerbReading(verb, "participle")
        yield _ing(verb), VerbReading(verb, "ing")
    for word, verb in (
        ("got", "get"),
        ("dreamed", "dream"),
        ("burned", "burn"),
        ("learnt", "learn"),
    ):
        yield word, VerbReading(verb, "past")
        yield word, VerbReading(verb, "participle")


def _readings() -> Mapping[str, tuple[VerbReading, ...]]:
    table: dict[str, list[VerbReading]] = {}
    for word, reading in _table():
        table.setdefault(word, []).append(reading)
    return {word: tuple(readings) for word, readings in table.items()}


READINGS: Mapping[str, tuple[VerbReading, ...]] = _readings()


def reading(word: str, *forms: Form) -> str:
    """The verb that a word is in one of these forms; empty if it is none."""
    for verb, form in READINGS.get(word, ()):
        if form in forms:
            return verb
    return ""
