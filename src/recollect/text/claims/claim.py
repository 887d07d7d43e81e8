"""The claim of one standalone statement."""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.text.claims.clauses import Speaker, clause_in, expanded, without_opening
from recollect.text.claims.foreign import foreign_findings
from recollect.text.claims.lessons import Claim
from recollect.text.claims.sentences import SENTENCE_CHARACTERS_MAX, plain, sentences
from recollect.text.claims.slots import finding_in
from recollect.text.claims.statements import is_unreal

_FRAMED = re.compile(
    r"(?P<who>[^\n\":]{1,80}?) (?:said|asks|asked to remember): \"(?P<said>[^\"]+)\""
)


def claim_in(text: str, *, speaker: str = "") -> Claim | None:
    """The claim that a statement makes, said by ``speaker``; None if no rule reads it, or if the
    text says more than one sentence can. "The user" is the speaker without a name."""
    return _read_once(text, speaker) if len(text) <= SENTENCE_CHARACTERS_MAX else None


@lru_cache(maxsize=2000)
def _read_once(text: str, speaker: str) -> Claim | None:
    """A new text is compared with many known ones, again and again the same."""
    text = plain(text)
    if framed := _FRAMED.match(text):
        who = framed["who"]
        speaker, text = ("" if who == "The user" else who), framed["said"]
    found = sentences(text)
    if len(found) != 1 or found[0].question or is_unreal(found[0].text):
        return None
    return _claim(found[0].text, Speaker(speaker))


def _claim(words: str, speaker: Speaker) -> Claim | None:
    clause = clause_in(without_opening(expanded(words)), speaker, loose=True)
    finding = finding_in(clause) if clause is not None else None
    if finding is None:
        finding = next((finding for finding, _ in foreign_findings(words, speaker)), None)
    return None if finding is None else finding.claim
