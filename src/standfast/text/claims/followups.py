"""Answers to questions about what was just told.

"Labrador" to "What breed is he?" behind "My dog is called Rex" says "My dog's breed is Labrador";
"9" to "And your son?" behind "My daughter is 6" says "My son is 9". English only; what does not
surely give a sentence gives none.
"""

from __future__ import annotations

import re

from standfast.text.claims.places import placed

_THING = r"(?:my|our) (?:[a-z][\w'-]* ){0,2}[a-z][\w'-]*"
_BEFORE = r"(?:.{0,40}[,.] )?"
# Whose property is told, or what the speaker has.
_OF = re.compile(
    rf"{_BEFORE}(?P<of>{_THING}) (?P<rest>(?:is|are|was|were|has|have|lives?|works?|starts?|opens?"
    r"|costs?|goes|go|plays?|speaks?|studies|study|teaches|teach|drives?)\b.+)",
    re.IGNORECASE,
)
_HAS = re.compile(
    rf"{_BEFORE}(?:I|we)(?:'ve)? (?:just )?(?:have|had|got|have got|own|drive|ride|bought|adopted"
    r"|play|run|teach) (?:an?|the) (?P<what>(?:[a-z][\w'-]* )?[\w'-]+)(?P<more>.*)",
    re.IGNORECASE,
)
_LEAD = r"(?:(?:oh|ah|nice|cool|great|lovely|and|so|ok|okay)[,!]? )*"
_YOUR = r"your (?P<x>[a-z][a-z' -]{1,30}?)"
_ASIDE = re.compile(
    rf"{_LEAD}(?:and|what about|how about) (?:for )?(?:(?P<you>you(?:rself)?)|{_YOUR})\W*\Z",
    re.IGNORECASE,
)
_IT = rf"(?:he|she|it|they|that|this|{_YOUR})"
_ITS = rf"(?:his|her|its|their|{_YOUR}'s?)"
_PASSING = r"(?:problem|issue|trouble|point|plan|mood|temperature|status)\b"
# What is asked, and the statement that an answer makes: ``{of}`` is whom or what it is about.
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"{_LEAD}(?:{form})\W*\Z", re.IGNORECASE), statement)
    for form, statement in (
        (r"(?:what|which) (?P<what>breed|colou?r|size|model|brand|make|year|grade|genre|religion"
         rf"|nationality)(?: (?:is|are|was) {_IT})?", "{of}'s {what} is {value}"),
        (rf"what (?:kind|sort|type)(?: of(?: \w+){{1,2}})? (?:is|are) {_IT}", "{of} is {a_value}"),
        (rf"how old (?:is|are) {_IT}", "{of} is {age}"),
        (rf"where (?:does|do) {_IT} live", "{of} lives in {value}"),
        (rf"where (?:does|do) {_IT} work", "{of} works at {value}"),
        (rf"what (?:does|do) {_IT} study", "{of} studies {value}"),
        (rf"what (?:does|do) {_IT} teach", "{of} teaches {value}"),
        (rf"what (?:does|do) {_IT} do(?: for (?:a living|work))?", "{of} works as {a_value}"),
        (rf"what (?:is|are) {_IT} (?:called|named)", "{of}'s name is {value}"),
        (rf"when is {_IT}", "{of} is {when}"),
        (rf"(?:what|who) is {_ITS} (?!{_PASSING})(?P<what>[a-z][a-z ]{{1,24}})",
         "{of}'s {what} is {value}"),
    )
)  # fmt: skip
_AGE = re.compile(r"\d{1,3}\b")
_ONE, _MANY = ("is", "lives", "works", "has", "was"), ("are", "live", "work", "have", "were")


def followed_up(asked: str, value: str, told: str) -> str:
    """The statement that a short answer makes behind what was told; "" where there is none."""
    if aside := _ASIDE.match(asked):
        return _instead(aside, _PREPOSITION.sub("", value), told)
    about = _about(told)
    for form, statement in _FORMS:
        if found := form.match(asked):
            of = f"my {found['x']}" if found["x"] else about
            return _written(statement, of, found.groupdict().get("what") or "", value)
    return ""


# "in an hour" says when only to who hears it now.
_SOON = re.compile(r"\b(?:hours?|minutes?|now|soon|today|tonight|tomorrow|later)\b", re.IGNORECASE)
_PREPOSITION = re.compile(r"\A(?:in|at|on|from|to|with|as) ", re.IGNORECASE)


def _when(value: str) -> str:
    if _SOON.search(value):
        return ""
    return value if _PREPOSITION.match(value) else f"on {value}"


def _about(told: str) -> str:
    """What was told of: "my dog", or "my Skoda" of "I drive a Skoda"; "" of "my boss has a dog"."""
    if found := _OF.match(told):
        return "" if found["rest"].casefold().startswith(("has ", "have ")) else found["of"]
    found = _HAS.match(told)
    return f"my {found['what']}" if found and not found["more"].strip(" .!") else ""


def _written(statement: str, of: str, what: str, answer: str) -> str:
    when, value = _when(answer), _PREPOSITION.sub("", answer)
    aged = "{age}" not in statement or _AGE.match(value)
    if not of or not aged or ("{when}" in statement and not when):
        return ""
    value = value.removesuffix(" years old").removesuffix(" years")
    value = re.sub(r"\Aan? ", "", value) if what else value
    article = "" if re.match(r"(?:an?|the|my) ", value) else "an " if value[0] in "aeiou" else "a "
    many = of.endswith("s") and not of.endswith(("ss", "us"))
    made = statement.format(
        of=of, what=what, value=value, a_value=article + value, when=when, age=value
    )
    made = made.replace("s's ", "s' ", 1) if many else made
    return _agreeing(made[:1].upper() + made[1:], of, many=many)


def _instead(aside: re.Match[str], value: str, told: str) -> str:
    """The same of somebody else, with another value."""
    found = _OF.match(told)
    if found is None:
        return ""
    of = "I" if aside["you"] else f"My {aside['x']}"
    rest = found["rest"]
    again = f"{of} {rest}"
    said = placed(again, value, "", sure=True, name=False)
    if not said or said == again or not said.startswith(of):
        return ""
    return _agreeing(said, of, many=bool(aside["you"]) or of.endswith("s"))


def _agreeing(text: str, of: str, *, many: bool) -> str:
    """With the verb that goes with whom it is about."""
    head, rest = text[: len(of)], text[len(of) :]
    for one, more in zip(_ONE, _MANY, strict=True):
        new = ("am" if one == "is" and of == "I" else more) if many else one
        rest = re.sub(rf"\A (?:{one}|{more})\b", f" {new}", rest, count=1)
    return head + rest
