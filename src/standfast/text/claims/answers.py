"""Short answers to what an assistant asked: "Leeds" to "Where do you live?" says "I live in Leeds".

An answer in a few words says nothing by itself. With its question it is a statement, which is read
like any other. English only; what answers no question about the speaker stays as it was said.
"""

from __future__ import annotations

import re

from standfast.text.claims.followups import followed_up
from standfast.text.claims.places import placed

WORDS_MAX = 8
QUESTION_MAX = 160  # characters

_DIET = (
    r"(?:vegan|vegetarian|pescatarian|halal|kosher|gluten[- ]free|dairy[- ]free|lactose intolerant"
    r"|keto|coeliac|celiac)\W*\Z"
)
# What is asked about the speaker, the statement that an answer makes (``{0}`` is the answer,
# ``{1}`` the same with its article), and what an answer to that must look like.
_OPEN: tuple[tuple[re.Pattern[str], str, re.Pattern[str]], ...] = tuple(
    (
        re.compile(rf"(?:and |so |by the way,? |may i ask,? )?(?:{form})\W*\Z", re.IGNORECASE),
        statement,
        re.compile(must, re.IGNORECASE),
    )
    for form, statement, must in (
        (r"where (?:do|are) you (?:currently )?(?:live|living|based)( now)?", "I live in {0}", ""),
        (r"where (?:are|do) you (?:originally )?(?:come )?from", "I am from {0}", ""),
        (r"(?:what is|may i have|can i have) your (?:first |full )?name", "My name is {0}", ""),
        (r"(?:what|how) (?:should|can|may) i call you", "My name is {0}", ""),
        (r"what do you do(?: for (?:a living|work))?|what is your (?:job|occupation|profession)",
         "I work as {1}", ""),
        (r"how old are you|what is your age", "I am {0} years old", r"\d{1,3}\b"),
        (r"(?:do you have |have you got )?any (?:food )?allergies(?: .{1,40})?|are you allergic to"
         r" anything|what are you allergic to", "I am allergic to {0}", ""),
        (r"(?:do you have |have you got )(?:any )?(?P<x>kids|children|pets|siblings)(?: .{1,20})?",
         "I have {0} {x}", r"(?:\d+|one|two|three|four|five|six|seven|eight)\Z"),
        (r"(?:do you have |have you got )(?:any )?(?:kids|children|pets|siblings"
         r"|brothers or sisters)(?: .{1,20})?", "I have {0}", ""),
        (r"(?:do you have |have you got |are there )?any dietary (?:restrictions|requirements|needs"
         r"|preferences)(?: .{1,40})?", "I am {0}", _DIET),
        (r"when is your (?P<x>[a-z' -]{2,40})", "My {x} is on {0}", ""),
        (r"(?:what|who) (?:is|are) your (?P<x>[a-z' -]{2,40})", "My {x} is {0}", ""),
        (r"(?:what|which) (?P<x>[a-z' -]{2,40}) do you (?P<verb>use|speak|drive|play|prefer|own"
         r"|like|study|teach)", "I {verb} {0}", ""),
        (r"what do you (?P<verb>drive|play|study|teach|collect)", "I {verb} {0}", ""),
        (r"who do you (?P<verb>live|work) with", "I {verb} with {0}", ""),
        (r"where do you (?P<verb>work|study)", "I {verb} at {0}", ""),
    )
)  # fmt: skip
_CLOSED = re.compile(
    r"(?:and |so )?(?:are you (?P<is>(?:an? )?(?:vegan|vegetarian|pescatarian|married|single"
    r"|engaged|divorced|retired|self-employed|left-handed|right-handed|diabetic|pregnant|religious"
    r"|student|parent|smoker|teacher|nurse|doctor|beginner|colou?r ?blind|allergic to [a-z ]{3,30}"
    r"|lactose intolerant))"
    r"|do you (?P<does>(?:smoke|drink|drive|eat|speak|play|own|live|work)(?: [\w ]{1,40})?"
    r"|have (?:an? |any )?(?:kids|children|pets?|siblings|car|dog|cat|garden|allergies|diabetes"
    r"|asthma)))\W*\Z",
    re.IGNORECASE,
)
_YES = re.compile(
    r"(?:yes|yeah|yep|yup|i do|i am|sure do|correct|indeed)(?:,? i (?:do|am))?\W*\Z", re.IGNORECASE
)
_NO = re.compile(
    r"(?:no|nope|nah|never|not at all)(?:,? (?:never|i (?:do not|don't|am not|'m not)))?\W*\Z",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\A\W*(?:(?:yes|yeah|yep|yup|well|um+|uh+|hm+|oh|sure|actually|just|it's|it is|that's|i'm|i am"
    r"|mostly|mainly|probably)\b[,:]? ?)*",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"\A(?:in|at|on|from|to|with|as) ", re.IGNORECASE)
# Nobody's own things, or nothing to keep.
_NOT_ASKED = re.compile(
    r"\b(?:ones?|options?|versions?|question|problem|issue|error|code|opinion|view|thoughts?|take"
    r"|choice|answer|guess|message|request|prompt|query|point|step|of (?:these|those|them)|password"
    r"|passcode|pin|card|cvv|otp|token|key|order|name|age)\b"
)
_NO_ANSWER = re.compile(
    r"\?|\b(?:no|not|none|nothing|never|nope|why|idk|dunno|skip|maybe|depends|whatever|guess|secret"
    r"|private|later|ok|okay|thanks|sorry|please|what|who|how|any|anything|everything|all|this|that"
    r"|these|those|first|second|third|last|both|either|neither|same)\b|n't\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:I|my|we|our|me|he|she|it|they)\b|\b(?:is|are|was|have|has|do|does|can|will)\b",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(what|who|when|where)'s\b", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:an?|the) ", re.IGNORECASE)
_ANY_QUESTION = re.compile(r"[^.!?\n。！？]{1,160}[?？]")
_LAST_QUESTION = re.compile(r"[^.!?\n]{3,160}\?\W*\Z")
_NO_MORE_WORDS = re.compile(r"\W*\Z")


def question_in(text: str) -> str:
    """What an assistant's message asks at its end; "" if it asks nothing."""
    end = text[-QUESTION_MAX * 2 :]
    mark = end.rfind("?")
    # The pattern starts anew at every letter: only where a mark can be the last thing said.
    if mark < 0 or not _NO_MORE_WORDS.match(end, mark + 1):
        return ""
    found = _LAST_QUESTION.search(end)
    return found[0].strip(" \"'*_") if found else ""


def any_question_in(text: str) -> str:
    """The last thing that a message asks; "" if it asks nothing."""
    found = _ANY_QUESTION.findall(up_to_last_mark(text[-QUESTION_MAX * 4 :]))
    return found[-1].strip(" \"'*_") if found else ""


def up_to_last_mark(text: str) -> str:
    """Up to its last question mark, "" if it has none. Nothing behind that asks, and a pattern that
    looks for a mark would start anew at every letter of it."""
    return text[: max(text.rfind("?"), text.rfind("？")) + 1]


def is_fragment(answer: str) -> bool:
    """Whether an answer has no subject and no verb of its own: only its question says what it
    means."""
    return len(answer.split()) <= WORDS_MAX and not _STATES.search(answer)


def answered(question: str, answer: str, told: str = "") -> str:
    """The statement that an answer makes; "" where it is no short answer to that question.
    ``told`` is what the speaker said before."""
    answer = answer.strip(" .!")
    if not question or not answer or len(answer.split()) > WORDS_MAX or "\n" in answer:
        return ""
    asked = _IS.sub(r"\1 is", question).strip()
    if closed := _CLOSED.match(asked):
        yes, no = _YES.match(answer), _NO.match(answer)
        if yes or no:
            return _told(closed, holds=bool(yes))
    if guess := _GUESS.match(asked):
        own = _as_own(guess["what"])
        wrong = _NO_BUT.match(answer)
        if _YES.match(answer) or wrong is None:
            return own if _YES.match(answer) else ""
        value = wrong["value"]
        is_value = not (_NO_ANSWER.search(value) or _STATES.search(value))
        said = placed(own, value, "", sure=True, name=False) if is_value else ""
        return f"No, {said}" if said and said != own else ""
    value = _OPENING.sub("", answer).strip()
    if not value or _NO_ANSWER.search(value) or _STATES.search(value):
        return ""
    for form, statement, must in _OPEN:
        found = form.match(asked)
        if found and must.match(value):
            return _written(statement, found, value)
    return followed_up(asked, value, told)


# "So you live in Leeds?" What is only so now, or only meant politely, is no guess about somebody.
_GUESS = re.compile(
    r"(?:(?:ok|okay|so|then|and|ah|oh|right|got it)[,:]? )*(?P<what>(?:you(?: live| work| have| own"
    r"| prefer| use| drive| speak| study| teach| play| run| don't| do not)\b"
    r"|you(?:'re| are)(?! (?:at|in|on|by|with|back|here|there|still|now)\b)"
    r"|your [a-z][\w' -]{1,30} (?:is|are|lives?|works?)\b)(?! (?:saying|asking|looking|trying|sure"
    r"|ready|done|getting|seeing|okay|ok|right|talking|thinking|welcome|mean|kidding|joking)\b)"
    r"[^,;:]{2,80}?)(?:, (?:right|correct|yes|is that right|is that correct))?\W*\Z",
    re.IGNORECASE,
)
_NO_BUT = re.compile(
    r"(?:no|nope|nah),? (?:actually |it's )?(?P<value>[\w'-]+(?: [\w'-]+){0,3})\Z", re.IGNORECASE
)
_OWN = {"you're": "I'm", "you are": "I am", "your": "my", "yours": "mine", "yourself": "myself"}
_YOU = re.compile(r"\b(?:you're|you are|yours|yourself|your|you)\b", re.IGNORECASE)


def _as_own(text: str) -> str:
    """What was said to somebody, as they would say it."""
    said = _YOU.sub(lambda found: _OWN.get(found[0].casefold(), "I"), text)
    return said[:1].upper() + said[1:]


def _told(closed: re.Match[str], *, holds: bool) -> str:
    if closed["is"]:
        return f"I am {'' if holds else 'not '}{closed['is']}"
    does = re.sub(r"\bany ", "", closed["does"])
    return f"I {does}" if holds else f"I do not {does}"


def _written(statement: str, found: re.Match[str], value: str) -> str:
    asked = found.groupdict()
    if _NOT_ASKED.search(asked.get("x") or ""):
        return ""
    value = _PREPOSITION.sub("", value)
    article = "" if _ARTICLE.match(value) else "an " if value[:1] in "aeiou" else "a "
    return statement.format(value, article + value, **asked)
