"""Who somebody is, told in fragments: bullets, fields, a list, "vegan here".

"About me: vegan, two kids" says nothing as a sentence. Written out ("I am vegan. I have two kids.")
it is read like any other statement. English only. What may be somebody else's portrait, a form or a
draft stays as it was said, and so does what is in no known form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from standfast.text.claims.clauses import reading
from standfast.text.claims.foreign import language_of
from standfast.text.claims.statements import is_unreal, with_subject
from standfast.text.words import cues, word_set

CHARACTERS_MAX = 1200
FRAGMENTS_MAX = 12
FRAGMENT_WORDS_MAX = 12
AGES = range(13, 100)

_GREETING = r"(?:(?:hi|hey|hello|heya|hiya)(?: there| all| everyone| again)?\s*[,.!:-]*\s*)?"
# After these whatever follows is of the speaker; after the others, what is surely of a person.
_OF_SELF = (
    r"about (?:me|myself|us|my family|our family)|who i am|facts about me|things about me"
    r"|my (?:profile|details|basics|situation|family|household|allergies|conditions|health"
    r"|medications?|meds|diet|hobbies|interests|languages|pets|kids|preferences|likes|dislikes"
    r"|setup|set-up|stack|tech stack|gear|kit|tools|equipment|machine|hardware|specs|routine"
    r"|skills)"
)
_BESIDE = (
    r"me|(?:my |some )?background|(?:for |some )?context|for reference|fyi|for info|(?:my )?intro"
    r"|introduction|just so you know|so you know|good to know|for the record"
)
_LEAD = re.compile(
    rf"\W*{_GREETING}(?:(?:some|a (?:bit|little)|quick|short|brief|just|ok|so)\b,? )*"
    rf"(?:(?P<self>{_OF_SELF})|(?P<beside>{_BESIDE}))[ \t]*(?::|[ \t][-–—][ \t]|\n)\s*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[ \t]*(?:[-*•+–]|\d{1,2}[.)])[ \t]+")
_SPLIT = re.compile(r"\s*[,;]\s+(?:and )?|\s+\|\s+|\s+[-–—/]\s+")
_STOP = re.compile(r"(?<![A-Z])[.!](?=\s|\Z)|\?|\n")
_SUBJECT = re.compile(r"(?:I|I'm|I've|we|my|our|im|ive|there|it|he|she|they)\b", re.IGNORECASE)
# Words about a person who is made up, or a text that is to be worked on.
_OF_ANOTHER = re.compile(
    r"\b(?:her|his|him|she|he|backstory|story|stories|persona|personas|character|bio|blurb|cv"
    r"|resume|profile|template|example|customer|client|patient|applicant|candidate"
    r"|diagnos\w+|dx|differential|presents)\b",
    re.IGNORECASE,
)

_AGE = re.compile(
    r"(?:aged? )?(?P<age>\d\d)(?: ?(?:yo|y/o|years? old|yrs?(?: old)?|years? young))?"
    r" ?(?P<gender>[mf]|male|female)?",
    re.IGNORECASE,
)
_TRAITS = (
    r"(?:strict |strictly |mostly |lifelong |long-?time )?(?:vegan|vegetarian|pescatarian|halal"
    r"|kosher|teetotal|sober|c(?:o)?eliac|(?:type (?:1|2|one|two) )?diabetic|asthmatic|epileptic"
    r"|autistic|dyslexic|dyspraxic|deaf|hard of hearing|visually impaired|blind"
    r"|colou?r[- ]?blind|disabled|short-?sighted|left-?handed"
    r"|right-?handed|(?:lactose|gluten)[- ]intolerant|gluten[- ]free|dairy[- ]free|lactose-free"
    r"|allergic to [\w ,]+|married|divorced|widowed|retired|unemployed|self-employed|pregnant"
    r"|bilingual|non-?binary|gay|lesbian|bi|trans|queer|muslim|jewish|hindu|sikh|buddhist|catholic"
    r"|christian|adhd|male|female)"
)
_TRAIT = re.compile(rf"{_TRAITS}\b", re.IGNORECASE)
_BARE_TRAIT = re.compile(rf"(?:{_TRAITS}|single)(?: \([^()]*\))?\W*\Z", re.IGNORECASE)
_PERSON = re.compile(
    r"(?!(?:weath|wint|summ|wat|dinn|numb|ord|pow|matt|lett|pap|comput|serv|print|rout|answ|tim|count"
    r"|contain|dock|lay|corn|cent|riv|butt|pepp|ging|be|de|fing|show|tow|flow|cov|fold|head|filt|buff"
    r"|point|paramet|charact|chapt|off|oth|anoth|rath|wheth|nev|ev|ov|und|aft|lat|bett|big|clust|mast"
    r"|met|lit|wrapp|help|pip|charg|newcom|octob|novemb|decemb|septemb)er\b)"
    r"(?!(?:err|do|flo|col|flav|min|transist|mot|mirr|sect|vect|fact|monit|or|f|n|indicat)or\b)"
    r"(?!(?:plant|restaurant|elephant|constant|variant|important|relevant|instant|want|grant|list"
    r"|exist|assist|gist|mist|wrist|human|woman-made)\b)"
    r"(?:[a-z]{2,}(?:er|or|ist|ian|ant|smith|woman|man)|nurse|chef|cook|devs?|sre|student|mum|mom|mother|dad"
    r"|father|parent|guy|girl|gal|nerd|geek|fan|addict|pro|pensioner|introvert|extrovert|expat"
    r"|immigrant|native|paramedic|medic|vet|admin|sysadmin|intern|apprentice|novice|undergrad"
    r"|postgrad|postdoc|grad|widow|vegan|vegetarian|diabetic|housewife|househusband|pilot|judge"
    r"|monk|priest|coach|host|clerk|guard|scientist|analyst|pharmacist|au pair|freelance|half"
    r"|person|couple|veteran|architect|surgeon|midwife|carpenter|mechanic|lefty|beginner)",
    re.IGNORECASE,
)
_COMPLEMENT = re.compile(
    r" (?:in|from|at|of|for|with|by|near|on|who|living|working|based|turned)\b.*"
)
_ARTICLE = re.compile(r"\A(?:an?|the|fellow|another) ", re.IGNORECASE)
_AMOUNT = re.compile(
    r"(?:no|an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3}) (?![a-z]+ing\b)[a-z]",
    re.IGNORECASE,
)
_KIN = re.compile(
    r"(?P<who>wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|son|daughter|brother|sister|mum"
    r"|mom|dad|mother|father|baby|dog|cat|puppy|kitten|horse|rabbit|hamster|boss|manager)"
    r"(?: is)?(?: called| named)? ?[:(-]? ?(?P<name>(?-i:[A-ZÀ-Ý][\w'-]+))\)?"
    r"(?:,? \(?(?:aged? )?(?P<age>\d{1,2})(?: years old)?\)?)?\W*\Z",
    re.IGNORECASE,
)
_BARE_NAME = re.compile(r"[A-ZÀ-Ý][a-zà-ÿ'-]+(?: [A-ZÀ-Ý][a-zà-ÿ'-]+)?")

# Fields of a portrait, and the sentence that each makes; ``{1}`` is the value with its article.
_FIELDS: Sequence[tuple[str, str]] = (
    (r"(?:full |first )?name", "My name is {0}"),
    (r"city|town|location|home|lives? in|living in|based in|country|place", "I live in {0}"),
    (r"age", "I am {0} years old"),
    (r"job|occupation|profession|work|role|job title", "I work as {1}"),
    (r"employer|works? (?:at|for)", "I work for {0}"),
    (r"hometown|from|origin", "I am from {0}"),
    (r"(?:food )?allerg(?:y|ies)|allergic to", "I am allergic to {0}"),
    (r"languages?|speaks", "I speak {0}"),
    (r"likes", "I like {0}"),
    (r"dislikes|hates", "I dislike {0}"),
    (r"hobby", "My hobby is {0}"),
    (r"diet", "My diet is {0}"),
    (r"hobbies|interests|pronouns|medications|meds|pets|kids|children", "My {key} are {0}"),
    (r"nickname|time ?zone|birthday|star sign|blood type|shoe size|height|medication|condition"
     r"|native language|mother tongue|dog|cat|husband|wife|partner|university|school|major",
     "My {key} is {0}"),
)  # fmt: skip
_FIELD = re.compile(r"\W*(?P<key>[A-Za-z][A-Za-z -]{1,20}?)[ \t]*[:=][ \t]*(?P<value>\S.*)")
_FIELD_OF = tuple((re.compile(rf"(?:{keys})\Z", re.IGNORECASE), said) for keys, said in _FIELDS)
_COUNT = re.compile(r"(?:\d+|no|none|one|two|three|four|five)\b", re.IGNORECASE)
_FIELD_VALUE_WORDS_MAX = 8
_BETWEEN_FIELDS = re.compile(r"\s*\n\s*|\s+[/|]\s+|;\s+")

_HERE = re.compile(
    rf"{_GREETING}(?P<who>(?:[\w'/-]+ ){{0,5}}[\w'/-]+),? (?P<mark>here|btw|by the way|fyi)"
    r"(?P<end>\s*(?:[,.!;:]+|[-–—]+|\Z)\s*(?:(?:so|and|but)\b\s*)?)",
    re.IGNORECASE,
)


@lru_cache(maxsize=200)  # a message is read when it is said and again before the ones after it
def written_out(text: str, name: str = "") -> str:
    """The message with what the speaker (who may have a ``name``) tells of themselves in fragments
    as sentences; the same text where there is nothing of that kind."""
    if not text or len(text) > CHARACTERS_MAX or language_of(text) or "```" in text:
        return text
    said = text.strip().replace("’", "'")
    return _fields(said, name) or _portrait(said) or _here(said) or _listed(said) or text


def _fields(text: str, name: str) -> str:
    """ "Name: Ann / City: Oslo": what people tell of themselves, and nothing else beside it."""
    lines = [line for line in _BETWEEN_FIELDS.split(text) if line.strip()]
    if len(lines) > FRAGMENTS_MAX:
        return ""
    found = [_field(line) for line in lines]
    if not all(found):
        return ""
    named = next((one for one in found if one.startswith("My name is ")), "")
    if name and named and not set(named.casefold().split()) & set(name.casefold().split()):
        return ""  # somebody else's form
    return _joined(found)


def _field(line: str) -> str:
    """The sentence of one field; "" if it is none of a person."""
    found = _FIELD.fullmatch(line)
    value = found["value"].strip(" .,") if found else ""
    if found is None or len(value.split()) > _FIELD_VALUE_WORDS_MAX or "?" in value:
        return ""
    if _SUBJECT.match(value) or '"' in value:
        return ""
    key = found["key"].strip()
    said = next((said for keys, said in _FIELD_OF if keys.match(key)), "")
    if said.startswith("I am {0} years") and not (value.isdigit() and int(value) in AGES):
        return ""
    if said.startswith("My {key} are") and _COUNT.match(value):
        value = "no" if value.lower() == "none" else value
        return f"I have {value if ' ' in value else f'{value} {key.lower()}'}"
    if said == "My diet is {0}" and _BARE_TRAIT.match(value):
        said = "I am {0}"
    return said.format(value, _with_article(value), key=key.lower())


def _portrait(text: str) -> str:
    """What follows "About me:" or the like."""
    lead = _LEAD.match(text)
    if lead is None or lead.end() == len(text):
        return ""
    rest = text[lead.end() :]
    fragments, after = _fragments(rest)
    if not fragments or _is_of_another(after):
        return ""
    if lead["self"]:
        about = _ABOUT_SELF.sub("me", lead["self"].lower().removeprefix("about "))
        return _joined([*_sentences(fragments, f"About {about}"), after])
    if not _is_personal(fragments[0]):
        return _listed(rest, introduced=True)
    return _joined([*_sentences(fragments, ""), after])


_ABOUT_SELF = re.compile(r"myself|who i am|(?:facts|things) about me|my (?:profile|details|basics)")


def _fragments(rest: str) -> tuple[list[str], str]:
    """The bullets, or the parts of the first sentence; and what comes behind them."""
    lines = rest.split("\n")
    if _BULLET.match(rest) or (len(lines) > 1 and all(map(_is_line, lines[:2]))):
        bulleted = bool(_BULLET.match(rest))
        count = 0
        for line in lines:
            if (
                not line.strip()
                or (bulleted and not _BULLET.match(line))
                or line.rstrip()[-1] == "?"
            ):
                break
            count += 1
        listed = [_BULLET.sub("", line).strip(" .,;") for line in lines[:count]]
        after = "\n".join(lines[count:]).strip()
    else:
        stop = _STOP.search(rest)
        end = stop.start() if stop else len(rest)
        if stop and stop[0] == "?":
            return [], ""
        listed = _SPLIT.split(rest[:end].strip())
        after = rest[stop.end() :].strip() if stop else ""
        if _SUBJECT.match(rest):
            return [], ""
    few = len(listed) <= FRAGMENTS_MAX
    short = all(len(one.split()) <= FRAGMENT_WORDS_MAX for one in listed)
    return ([one for one in listed if one], after) if few and short else ([], "")


def _is_line(line: str) -> bool:
    return bool(line.strip()) and not re.search(r"[.?!]\s*\Z", line)


def _sentences(fragments: Sequence[str], about: str) -> Iterator[str]:
    """Each as a sentence. What has no known form is kept under ``about``, or with the one before it
    where nothing says whom it is about."""
    said = ""
    unread: list[str] = []
    for one in fragments:
        sentence = _sentence(one)
        if sentence:
            if said:
                yield said
            said = sentence
        elif about:
            if one.split()[0].lower() not in word_set("lasting.moods"):
                unread.append(one)
        elif said and one.startswith("so "):
            yield said
            said = one.removeprefix("so ")
        elif said and not _SUBJECT.match(one):
            said = f"{said}, {one}"
        else:
            break
    if said:
        yield said
    if unread:
        yield f"{about}: {', '.join(unread)}"


def _sentence(fragment: str) -> str:
    """ "two kids" -> "I have two kids"; "" if it is in no known form."""
    fragment = fragment.strip(" .!")
    first = fragment.split(" ", 1)[0].lower()
    if _SUBJECT.match(fragment):
        return fragment
    if field := _field(fragment):
        return field
    if _is_age(fragment):
        return f"I am {re.findall(r'[0-9]+', fragment)[0]} years old"
    if found := _KIN.match(fragment):
        who, name = found["who"].lower(), found["name"]
        return (
            f"My {who} {name} is {found['age']} years old"
            if found["age"]
            else f"My {who} is called {name}"
        )
    if _BARE_TRAIT.match(fragment) or _TRAIT.fullmatch(fragment):
        return f"I am {_lowered(fragment)}"
    if (said := with_subject(fragment)) != fragment:
        return said
    if _is_person(fragment):
        return f"I am {_with_article(fragment)}"
    if _AMOUNT.match(fragment):
        return f"I have {_lowered(fragment)}"
    if re.match(
        r"(?:can't|cannot|don't|never|always|usually|mostly (?=[a-z]+ (?:from|at|in)\b))", first
    ):
        return f"I {_lowered(fragment)}"
    if " " in fragment and first.endswith("ing") and first in word_set("lasting.going_on"):
        return f"I am {_lowered(fragment)}"
    if re.match(r"(?:from|in|based) (?=[A-ZÀ-Ý])", fragment):
        return f"I am {_lowered(fragment)}"
    return _doing(fragment)


def _doing(fragment: str) -> str:
    """ "work nights", "loves dogs"."""
    first, _, rest = fragment.partition(" ")
    verb = reading(first.lower(), "base", "third")
    usual = verb in word_set("lasting.verbs") or verb in word_set("slots.tastes")
    return f"I {verb} {rest}" if rest and usual else ""


def _is_age(fragment: str) -> bool:
    found = _AGE.fullmatch(fragment.strip())
    return found is not None and int(found["age"]) in AGES


def _is_person(fragment: str) -> bool:
    """Whether its noun is of somebody: "backend dev", "mum of three", "nurse in Leeds"."""
    words = _COMPLEMENT.sub("", _ARTICLE.sub("", fragment)).strip(" .,").split()
    return 0 < len(words) <= 5 and _PERSON.fullmatch(words[-1]) is not None


def _is_personal(fragment: str) -> bool:
    """Whether it can be of nothing but a person."""
    known = _is_person(fragment) or bool(_TRAIT.match(fragment)) or _is_age(fragment)
    return known or (not _AMOUNT.match(fragment) and with_subject(fragment) != fragment)


def _here(text: str) -> str:
    """ "Vegan here, any recipes?" """
    found = _HERE.match(text)
    if found is None:
        return ""
    who, after = found["who"].strip(), text[found.end() :].strip()
    trait = bool(_BARE_TRAIT.match(who))
    person = found["mark"].lower() == "here" and _is_person(who) and not _VERBAL.search(who)
    named = found["mark"].lower() == "here" and _BARE_NAME.fullmatch(who) and _AM_A.match(after)
    if not (trait or person or named) or _is_of_another(after):
        return ""
    if named and not (trait or person):
        return _joined([f"My name is {who}", after])
    who = _ARTICLE.sub("", who)
    return _joined([f"I am {_lowered(who) if trait else _with_article(who)}", after])


_AM_A = re.compile(r"I(?:'m| am) (?:an? |from |based |\d\d\b)|i'?m an? ")
_VERBAL = re.compile(
    r"\b(?:is|are|was|were|am|the|this|that|these|my|our|your|no|not|any|every|some|all|i|we|you|he"
    r"|she|they|it|there|what|how|who|where|please|got|have|has|need|want)\b",
    re.IGNORECASE,
)


def _listed(text: str, *, introduced: bool = False) -> str:
    """ "37, nurse, Leeds": an age, and who else somebody is. A name or "guy" may be of anybody,
    unless somebody says hello with it."""
    body = _HELLO.sub("", text, count=1)
    if not (introduced or body != text) and _ANYBODY.match(body):
        return ""
    stop = _STOP.search(body)
    if stop and stop[0] == "?":
        return ""
    parts = _SPLIT.split(body[: stop.start()] if stop else body)
    after = body[stop.end() :].strip() if stop else ""
    if not 2 <= len(parts) <= 8 or _is_of_another(after) or is_unreal(body) or _SUBJECT.match(body):
        return ""
    ages = [one for one in parts if _is_age(one)]
    of_person = [one for one in parts if one not in ages and _is_personal(one)]
    if len(ages) != 1 or not of_person:
        return ""
    named = [one for one in parts if _BARE_NAME.fullmatch(one) and not _sentence(one)]
    if any(not _sentence(one) for one in parts if one not in named):
        return ""
    return _joined(
        [*_sentences([one for one in parts if one not in named], ""), *_called(parts, named), after]
    )


_HELLO = re.compile(rf"\A{_GREETING}", re.IGNORECASE)
_ANYBODY = re.compile(r"(?:an? )?(?:[A-ZÀ-Ý][\w'-]+,|(?:\w+ )?(?:guy|girl|man|woman|lady|gal)\b)")


def _called(parts: Sequence[str], named: Sequence[str]) -> Iterator[str]:
    """A name said first is the speaker's; any other may be of a town, a club or a sign."""
    for one in named:
        yield f"My name is {one}" if one == parts[0] else f"About me: {one}"


def _is_of_another(after: str) -> bool:
    return bool(_OF_ANOTHER.search(after) or cues("voice.task_about_this").search(after))


def _with_article(who: str) -> str:
    if _ARTICLE.match(who) or who.split(" ", 1)[0].lower() in ("self-employed", "retired"):
        return _lowered(who)
    return f"{'an' if who[:1].lower() in 'aeio' else 'a'} {_lowered(who)}"


def _lowered(words: str) -> str:
    """Without the capital of a first word, unless that is a name or short for one."""
    first = words.split(" ", 1)[0]
    if first[1:] != first[1:].lower():
        return words
    known = (
        "-" in first
        or first in ("Type", "No")
        or reading(first.lower(), "base", "ing")
        or _TRAIT.match(first)
        or _PERSON.fullmatch(first)
    )
    return f"{words[:1].lower()}{words[1:]}" if known or not words[:1].isupper() else words


def _joined(said: Sequence[str]) -> str:
    """As sentences of their own."""
    whole = [one.strip() for one in said if one.strip()]
    closed = [one if one[-1] in ".!?" else f"{one}." for one in whole]
    return " ".join(f"{one[:1].upper()}{one[1:]}" for one in closed)
