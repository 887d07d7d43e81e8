"""Signs that a text wants to steer a model: what they are called and how to see them.

A sign is one group of words, or several that must meet in one sentence; the groups hold the words
of many languages. A *strong* sign does not occur in what tools and pages ordinarily
say; the others are only reason enough to doubt a statement that somebody wants remembered.
Everything is matched against folded text: lower case, plain letters, single blanks. Every gap is
bounded, so that no text takes more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from standfast.text.words import alternatives
from standfast.types.frozen import frozen

SENTENCE_CHARACTERS_MAX = 160  # how far apart the words of one sign may stand


@frozen
class Sign:
    reason: str
    groups: tuple[str, ...]
    strong: bool = False


ORDERS = "gives orders to the model"
POSES = "poses as a system message"
ADDRESSES = "speaks to the model instead of stating something"
TOOLS = "names tools or commands to run"
LEAKS = "asks to give away secrets"
PLANTS = "wants to be remembered or repeated by the model"
TRIGGERS = "tells the model what to do on a later occasion"
GRANTS = "hands out permissions"
CONCEALS = "wants to be kept from the user"

# What is typed into machines is of no language.
COMMANDS = r"""\b(?:curl|wget|iwr|invoke-webrequest)\b[^|\n]{0,200}\|\s?(?:sudo\s)?(?:ba|z|da
|k)?sh\b|\b(?:ba|z)?sh\s(?:-c\s)?["'<$(\s]{1,4}(?:curl|wget)\b
|\bpowershell\b.{0,80}\s-e(?:nc|ncodedcommand)?\s|\bbase64\s(?:-d
|--decode)\b.{0,60}\|\s?(?:ba)?sh\b|\bcertutil\b.{0,30}-urlcache|/dev/tcp/
|\bnc\s-[a-z]*e\b
|\brm\s-[a-z]*r[a-z]*\s(?:--no-preserve-root\s)?["']?[~/*.$]|\bchmod\s(?:\+x
|777)\b.{0,80}(?:;|&&)|\bmkfs\.|\bdd\sif=.{0,40}\sof=/dev/
|\b(?:os\.system|subprocess\.\w+|__import__|child_process\.exec\w*|runtime\.getruntime
|eval|exec)\(|\bdrop\s(?:table|database)\b|\bdelete\sfrom\s\w+\s?(?:;|where\s1)
|\bjavascript:[a-z]|\bdata:text/html"""

# Groups are named by their section of the language files, below ``trust``.
SIGNS: tuple[Sign, ...] = (
    Sign(reason=ORDERS, strong=True, groups=("ignore", "prior", "instructions")),
    Sign(reason=ORDERS, strong=True, groups=("override",)),
    Sign(reason=POSES, strong=True, groups=("poses",)),
    Sign(reason=LEAKS, strong=True, groups=("asks_for_prompt",)),
    Sign(reason=LEAKS, strong=True, groups=("send", "secrets", "somewhere")),
    Sign(reason=ADDRESSES, strong=True, groups=("to_machines",)),
    Sign(reason=CONCEALS, strong=True, groups=("do_not_tell", "the_user")),
    Sign(reason=PLANTS, strong=True, groups=("plants",)),
    # From here on: enough to doubt a statement, not to doubt what a tool printed.
    Sign(reason=ORDERS, groups=("new_role",)),
    Sign(reason=ORDERS, groups=("from_now_on", "you_always")),
    Sign(reason=ADDRESSES, groups=("spoken_to",)),
    Sign(reason=ADDRESSES, groups=("the_model", "has_to", "always_do")),
    Sign(reason=CONCEALS, groups=("without_telling", "the_user")),
    Sign(reason=TRIGGERS, groups=("when_user", "do_this")),
    Sign(reason=PLANTS, groups=("every_time",)),
    Sign(reason=ORDERS, groups=("standing_order",)),
    Sign(reason=GRANTS, groups=("grants",)),
    Sign(reason=TOOLS, groups=("tools",)),
    Sign(reason=TOOLS, groups=(COMMANDS,)),
    Sign(reason=LEAKS, groups=("carries_out",)),
)


@frozen(kw_only=False)
class Group:
    """The alternatives of a group, arranged so that a search is quick: those that begin a word
    are tried at the beginnings of words only, those with foreign letters in foreign text only."""

    ascii: tuple[re.Pattern[str], ...]
    wide: tuple[re.Pattern[str], ...]

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        for pattern in self.ascii if text.isascii() else (*self.ascii, *self.wide):
            yield from pattern.finditer(text)

    def found_in(self, text: str) -> bool:
        return any(True for _ in self.finditer(text))


@cache
def _words_of(group: str) -> Group:
    return compiled(group if group is COMMANDS else alternatives(f"trust.{group}"))


def compiled(group: str) -> Group:
    """Line breaks in a group are for the reader only; a blank may be a line break in the text."""
    written = re.sub(r"\n\s*", "", group).replace(" ", r"\s")
    alternatives = _alternatives(written)
    wide = [one for one in alternatives if _needs_foreign_letters(one)]
    return Group(
        ascii=_arranged([one for one in alternatives if one not in wide]), wide=_arranged(wide)
    )


def _needs_foreign_letters(alternative: str) -> bool:
    if alternative.isascii():
        return False
    choice = re.search(r"[|?\[]", alternative) is not None
    return not (choice and re.search("[A-Za-z]", re.sub(r"\\.", "", alternative)))


def _alternatives(pattern: str) -> list[str]:
    """What stands between the bars that are in no parenthesis or class."""
    parts = [""]
    depth = 0
    for piece in re.findall(r"\\.|\[(?:\\.|[^\]\\])*\]|.", pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _arranged(alternatives: list[str]) -> tuple[re.Pattern[str], ...]:
    words = [one.removeprefix(r"\b") for one in alternatives if one.startswith(r"\b")]
    others = [one for one in alternatives if not one.startswith(r"\b")]
    patterns = [rf"\b(?:{'|'.join(words)})"] if words else []
    patterns += ["|".join(others)] if others else []
    return tuple(map(re.compile, patterns))


def sign_in(folded: str, *, strong: bool) -> Sign | None:
    """The first sign that a folded text shows."""
    for sign in SIGNS:
        if (sign.strong or not strong) and _shows(folded, sign.groups):
            return sign
    return None


_STOP = re.compile(r"[.!?\n](?=\s|$)|[。！？]")


def _shows(text: str, groups: tuple[str, ...]) -> bool:
    first, *others = groups
    if not others:
        return _words_of(first).found_in(text)
    for match in _words_of(first).finditer(text):
        sentence = _sentence_around(text, match.start(), match.end())
        if all(_words_of(group).found_in(sentence) for group in others):
            return True
    return False


def _sentence_around(text: str, start: int, end: int) -> str:
    low = max(0, start - SENTENCE_CHARACTERS_MAX)
    high = min(len(text), end + SENTENCE_CHARACTERS_MAX)
    for stop in _STOP.finditer(text, low, start):
        low = stop.end()
    stop_after = _STOP.search(text, end, high)
    return text[low : stop_after.start() if stop_after else high]
