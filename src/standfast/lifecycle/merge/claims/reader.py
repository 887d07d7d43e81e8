"""The claim that a standalone statement makes."""

from __future__ import annotations

import re
from functools import lru_cache

from standfast.lifecycle.merge.claims.clauses import (
    Speaker,
    clause_in,
    expanded,
    without_opening,
)
from standfast.lifecycle.merge.claims.foreign import foreign_findings
from standfast.lifecycle.merge.claims.sentences import (
    SENTENCE_CHARACTERS_MAX,
    plain,
    sentences,
)
from standfast.lifecycle.merge.claims.slots import finding_in
from standfast.text.claim import Claim

# Records of earlier versions say "said", too.
_WHO = r"(?P<who>[^\n\":]{1,80}?)"
_ASKED = r"(?:, asked \"[^\"\n]*\",?)?"
FRAMED = re.compile(rf"{_WHO}{_ASKED}(?: said| asks| asked to remember)?: \"(?P<said>[^\"]+)\"")
_HELP = re.compile(r" ?\[[^\[\]]{1,120}\] ?")
_LOWER_I = re.compile(r"(?<![\w.])i(?='|\b)(?!\.)")
_CHAT = {
    "im": "I'm", "ive": "I've", "id": "I'd", "dont": "don't", "doesnt": "doesn't", "cant": "can't",
    "wont": "won't", "isnt": "isn't", "didnt": "didn't", "shes": "she's", "hes": "he's",
    "theyre": "they're", "thats": "that's", "bf": "boyfriend", "gf": "girlfriend", "mom's": "Mom's",
}  # fmt: skip
_CHAT_WORD = re.compile(rf"(?<![\w'])(?:{'|'.join(_CHAT)})(?![\w'])")


def claim_in(text: str, *, speaker: str = "") -> Claim | None:
    """The claim that a statement makes, said by ``speaker``; None if no rule reads it, or if the
    text says more than one sentence can. "The user" is the speaker without a name."""
    return _read_once(text, speaker) if len(text) <= SENTENCE_CHARACTERS_MAX else None


def words_said(found: re.Match[str]) -> str:
    """The words of a quotation, without the help that stands in brackets."""
    return _HELP.sub(" ", found["said"])


@lru_cache(maxsize=1000)
def spelled(text: str) -> str:
    """Chat spelling as it is read: "i", "im", "ive" as "I", "I am", "I have"."""
    text = _CHAT_WORD.sub(lambda found: _CHAT[found[0]], _LOWER_I.sub("I", text))
    return without_opening(expanded(text).strip(" ,;:-–—\"'*()"))


@lru_cache(maxsize=2000)
def _read_once(text: str, speaker: str) -> Claim | None:
    """A new text is compared with many known ones, again and again the same."""
    text = plain(text)
    if framed := FRAMED.match(text):
        who = framed["who"]
        speaker, text = ("" if who == "The user" else who), words_said(framed)
    found = sentences(text)
    if len(found) != 1 or found[0].question:
        return None
    return _claim(found[0].text, Speaker(speaker))


def _claim(words: str, speaker: Speaker) -> Claim | None:
    clause = clause_in(without_opening(expanded(words)), speaker, loose=True)
    finding = finding_in(clause) if clause is not None else None
    if finding is None:
        finding = next((finding for finding, _ in foreign_findings(words, speaker)), None)
    return None if finding is None else finding.claim
