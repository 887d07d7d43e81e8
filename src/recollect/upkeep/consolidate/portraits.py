"""Profiles: the most important facts of a scope in one short text.

Without a model a profile is an extract, word for word. A model may write it more smoothly; what
it writes is taken only if it says nothing that the facts do not say.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.text.analysis import is_stop_word, query_terms, terms, words
from recollect.text.claims.lessons import SPEAKER, claim_from_data
from recollect.text.compare.parts import read
from recollect.text.tokens import TokenCount
from recollect.types import Record

FACTS_MAX = 12
WORDS_KNOWN = 0.8  # of what a model writes, this share must be in the facts
FACTS_KEPT = 0.75  # of the facts that it was given, this share must be in what it writes
_JOINING = frozenset(
    "prefers prefer likes like lives live works work also named called name".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Portrait:
    """What a profile will be made of. ``subject`` is who most facts are about, "" if nobody."""

    scope: str
    subject: str
    facts: tuple[Record, ...]

    @property
    def fingerprint(self) -> str:
        """Equal as long as it is made of the same facts."""
        named = "\0".join(sorted(fact.id for fact in self.facts)).encode()
        return hashlib.blake2b(named, digest_size=8).hexdigest()

    @property
    def title(self) -> str:
        return f"Profile of {self.subject.title() if self.subject else self.scope}"


def portrait(scope: str, facts: Sequence[Record], facts_min: int) -> Portrait | None:
    """None while there is too little to say. Trusted facts only: a profile speaks for all of
    its facts at once."""
    usable = [fact for fact in facts if fact.trust > 0 and fact.status == "active"]
    if len(usable) < facts_min:
        return None
    subject = _subject(usable)
    about = [fact for fact in usable if _is_about(fact, subject)]
    chosen = about if len(about) >= facts_min // 2 else usable
    # Tenths, so that small moves of weight do not make a new profile every day.
    ranked = sorted(chosen, key=lambda f: (-round(f.importance, 1), f.learned_at, f.id))
    kept = sorted(ranked[:FACTS_MAX], key=lambda f: (f.learned_at, f.id))
    named = subject if chosen is about and subject != SPEAKER else ""
    return Portrait(scope=scope, subject=named, facts=tuple(kept))


def _subject(facts: Sequence[Record]) -> str:
    counts: Counter[str] = Counter()
    for fact in facts:
        if claim := claim_from_data(fact.data):
            counts[claim.subject] += 1
    found = counts.most_common(1)
    return found[0][0] if found and found[0][1] * 2 > len(facts) else ""


def _is_about(fact: Record, subject: str) -> bool:
    claim = claim_from_data(fact.data)
    return claim is not None and claim.subject == subject


def extract(portrait: Portrait, tokens: int, count: TokenCount) -> str:
    """The facts as they stand, as many as fit."""
    text = f"{portrait.title}:"
    for fact in portrait.facts:
        longer = f"{text} {_sentence(fact.text)}"
        if count(longer) <= tokens:
            text = longer
    return text


def _sentence(text: str) -> str:
    flat = " ".join(text.split())
    return flat if flat.endswith((".", "!", "?", "。", "！", "？")) else f"{flat}."


def grounded(text: str, portrait: Portrait) -> str:
    """Why a profile says more than its facts; "" if it does not."""
    source = "\n".join([portrait.title, *(fact.text for fact in portrait.facts)])
    said, known = read(text), read(source)
    if said.numbers - known.numbers or said.dates - known.dates:
        return "a number or a date that no fact has"
    if len(said.negated) > len(known.negated):
        return "a negation that no fact has"
    known_words = set(terms(source))
    fresh = [word for word in words(text) if not is_stop_word(word) and word not in _JOINING]
    unknown = [word for word in fresh if not known_words.issuperset(terms(word))]
    capital = {name for name in said.names if not known_words.issuperset(terms(name))}
    if capital:
        return f"a name that no fact has: {min(capital)}"
    if len(unknown) > (1 - WORDS_KNOWN) * max(len(fresh), 1):
        return "more new words than facts"
    return _left_out(text, portrait)


def _left_out(text: str, portrait: Portrait) -> str:
    said = set(terms(text))
    kept = sum(1 for fact in portrait.facts if _is_told(fact.text, said))
    if kept < FACTS_KEPT * len(portrait.facts):
        return f"{len(portrait.facts) - kept} of {len(portrait.facts)} facts are left out"
    return ""


def _is_told(text: str, said: set[str]) -> bool:
    known = query_terms(text)
    return 2 * len(said.intersection(known)) >= len(known)
