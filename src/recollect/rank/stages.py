"""Ranking: a tuple of stages from raw scores to one score, each saying what it did.

A profile names its stages. ``fuse`` is ours; ``cosine`` is Otto's, ``bre`` OpenMotoko's. A
stage changes the scores of candidates or drops some; it looks at nothing but its arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.index.vectors import is_name
from recollect.profiles import Cuts, Profile
from recollect.rank.contrast import misses, second_hops
from recollect.rank.fusion import fused
from recollect.rank.nearness import held_nearly, is_english, uncertain_words
from recollect.rank.question import (
    asks_for_help,
    asks_for_several,
    asks_for_the_assistant,
    is_wish,
    names,
    periods,
)
from recollect.scopes import root_of
from recollect.text.analysis import asks, query_terms, terms
from recollect.text.normal import fold
from recollect.types import Hit, Record, Why

SECONDS_PER_DAY = 86_400.0
ENGLISH_ONLY = frozenset(("minilm", "recall-1"))  # embedders
OUTDATED_SHARE = 0.2  # what a turn loses whose statement was replaced since
FOUND_BY_NAME = 0.8  # the score of what is asked for by nothing but its name
FOUND_NEARLY = 0.7
READ_SHARE = 0.5  # of a query's letters that the embedder can read
ALL_HELD = 0.99  # the share of the query's words that leaves no word to look for
SPREAD_BEHIND = 5  # the first hits stay; of more, each of a session already there counts less
SPREAD_SHARE = 0.03  # of the best score, for each better hit of the session
SPREAD_AMONG = 60
WISHES = frozenset(("preference", "user_request"))  # types
WISH_LIFT = 2.0  # standard deviations of similarity from which a wish counts whole
HOPS_FROM = 3  # of more first hits nobody needs to go on
CONTRAST_AMONG = 20  # the first hits; hardly anybody asks for more
LIFT_LEAST = 1.0  # standard deviations of similarity below which a few words in common say little
COVERAGE_MOST = 0.5  # the share of the words that is more than a few
NOTHING = 0.0005  # a change of score that nobody would see


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The question and the moment of asking."""

    text: str
    now: datetime
    profile: Profile
    embedder: str = ""  # family of the vectors compared, such as "hashing"; "" = none
    threshold: float | None = None
    prefer_facts: bool = False  # of a turn and a fact learned from it; else the turn stays


# In words, or how to put it: of a hundred candidates a few are told.
Detail = str | Callable[[Hit], str]


@dataclass(slots=True)
class Candidate:
    """A hit on its way through the stages."""

    hit: Hit
    score: float = 0.0
    why: list[tuple[str, float, Detail]] = field(default_factory=list)
    nearly: float = 0.0  # the share of the query's words that it holds, some of them only nearly
    lent: float | None = None  # how similar that is which it came along with
    record: Record = field(init=False)
    among_equals: tuple[float, str] = field(init=False)  # its place: the more recent first

    def __post_init__(self) -> None:
        self.record = record = self.hit.record
        self.among_equals = (-record.at.timestamp(), record.id)

    def add(self, stage: str, value: float, detail: Detail = "") -> None:
        self.score += value
        self.why.append((stage, value, detail))

    def as_hit(self) -> Hit:
        reasons = tuple(
            Why(stage=stage, value=value, detail=told if isinstance(told, str) else told(self.hit))
            for stage, value, told in self.why
        )
        return replace(self.hit, score=self.score, why=reasons)


Candidates = list[Candidate]
Stage = Callable[[Candidates, Asked], Candidates]


def rank(hits: Iterable[Hit], asked: Asked) -> Candidates:
    """All stages of the profile, best first."""
    ranked = [Candidate(hit) for hit in hits]
    if "spelling" in asked.profile.stages:
        _spell(ranked, asked)
    ranked = _without_noise(ranked, asked)
    for name in asked.profile.stages:
        ranked = STAGES[name](ranked, asked)
    return sorted(ranked, key=order)


def dropped_by(hits: Iterable[Hit], asked: Asked, id_: str) -> str:
    """The stage that takes this record out of the ranking ("noise" before the first); "" if it
    stays in it."""
    ranked = _without_noise([Candidate(hit) for hit in hits], asked)
    stages = ["noise", *asked.profile.stages]
    for done, name in enumerate(stages):
        if done:
            ranked = STAGES[name](ranked, asked)
        if not any(candidate.record.id == id_ for candidate in ranked):
            return name
    return ""


def of_equal_say(rankings: Sequence[Candidates]) -> Candidates:
    """Several questions in one: the best hits of each count the same."""
    if len(rankings) == 1:
        return rankings[0]
    tops = [max((candidate.score for candidate in ranked), default=0.0) for ranked in rankings]
    usual = sum(tops) / len(tops) if tops else 0.0
    for ranked, top in zip(rankings, tops, strict=True):
        for candidate in ranked if top > 0 else ():
            change = candidate.score * (usual / top - 1)
            candidate.add("question", change, "one of several, of equal say")
    return sorted((candidate for ranked in rankings for candidate in ranked), key=order)


def order(candidate: Candidate) -> tuple[float, tuple[float, str]]:
    """Best first; of equals the more recent."""
    return -candidate.score, candidate.among_equals


def above_threshold(candidates: Candidates, asked: Asked) -> Candidates:
    least = asked.profile.threshold if asked.threshold is None else asked.threshold
    if not asked.text.strip():
        return candidates
    return [one for one in candidates if strength(one, least, asked.profile) >= least]


def strength(candidate: Candidate, least: float, profile: Profile) -> float:
    """What a threshold is held against: the score, or what the profile's document calls
    similarity. That everything is good enough says nothing about either."""
    by_score = profile.threshold_on == "score" or least <= 0
    return candidate.score if by_score else _likeness(candidate)


def _likeness(candidate: Candidate) -> float:
    return _meaning(candidate.hit) if candidate.lent is None else candidate.lent


def _without_noise(candidates: Candidates, asked: Asked) -> Candidates:
    """A hit has a word or a tag in common with the query, or means something like it."""
    if not asked.text.strip():
        return candidates
    floors = asked.profile.similarity_floor
    floor = floors.get(asked.embedder, floors[""])
    asked_terms = _terms_of_query(asked)
    return [
        candidate
        for candidate in candidates
        if candidate.hit.keyword > 0
        or candidate.hit.keyword_around > 0
        or (candidate.hit.similarity is not None and candidate.hit.similarity >= floor)
        or candidate.nearly > 0
        or _tag_asked_for(candidate.record, asked_terms)
    ]


def _spell(candidates: Candidates, asked: Asked) -> None:
    """A short query may hold a word that is misspelled or only begun."""
    if max((candidate.hit.coverage for candidate in candidates), default=1.0) > ALL_HELD:
        return
    query = uncertain_words(asked.text)
    records = [one.record for one in candidates] if query else []
    texts = [" ".join((one.author, one.text, *one.tags)) for one in records]
    shares = held_nearly(query, texts, forms=not is_english(asked.text))
    for candidate, share in zip(candidates, shares, strict=False):
        candidate.nearly = share


def standing_out(candidates: Candidates, asked: Asked) -> Candidates:
    """What answers, best first: up to where the scores fall off. Whoever sets a threshold has
    said where; and where only words decide, because the embedder cannot read the script, scores
    fall off among what answers."""
    cuts = asked.profile.cuts.get(asked.embedder)
    if not cuts or asked.threshold is not None or not asked.text.strip() or not candidates:
        return candidates
    if asked.embedder in ENGLISH_ONLY and _latin_share(asked.text) < READ_SHARE:
        return candidates
    best = max(candidate.score for candidate in candidates)
    several = asks_for_several(asked.text)
    clear = [one for one in candidates if one.score >= _least(one, best, cuts, several)]
    return _with_second_hops(_of_what_is_asked(clear, asked), candidates, asked)


def _with_second_hops(kept: Candidates, candidates: Candidates, asked: Asked) -> Candidates:
    """And what goes on where the first hits end, by a name that only they have."""
    first = [one for one in kept if one.record.type != "turn"]
    if not 0 < len(first) <= HOPS_FROM:
        return kept
    there = {one.record.id for one in kept}
    others = [
        one
        for one in candidates[:CONTRAST_AMONG]
        if one.record.type != "turn" and one.hit.coverage > 0 and one.record.id not in there
    ]
    if not others:
        return kept
    named = second_hops(asked.text, list(map(_told, first)), list(map(_told, others)))
    further = [(one, name) for one, name in zip(others, named, strict=True) if name]
    for one, name in further:
        one.add("hop", 0.0, name)
    return sorted([*kept, *(one for one, _ in further)], key=order)


def _told(candidate: Candidate) -> str:
    return " ".join((candidate.record.text, *candidate.record.tags))


def _of_what_is_asked(candidates: Candidates, asked: Asked) -> Candidates:
    """Without statements of another thing. In talk a turn answers with what stands around it."""
    told = [one for one in candidates[:CONTRAST_AMONG] if one.record.type != "turn"]
    if not told:
        return candidates
    texts = list(map(_told, told))
    apart: set[str] = set()
    single = len(query_terms(asked.text)) == 1
    for one, why in zip(told, misses(asked.text, texts), strict=True):
        if why or not (single or _says_it(one)):
            one.add("contrast", 0.0, why or "a word in common, and nothing else")
            apart.add(one.record.id)
    return [one for one in candidates if one.record.id not in apart]


def _says_it(candidate: Candidate) -> bool:
    """Or has it a word in common, perhaps the name, and says something else?"""
    hit = candidate.hit
    raised = any(
        stage in ("alias", "spelling", "related", "replaces") for stage, _, _ in candidate.why
    )
    return raised or hit.lift is None or hit.lift >= LIFT_LEAST or hit.coverage > COVERAGE_MOST


def _least(candidate: Candidate, best: float, cuts: Cuts, several: bool) -> float:
    if candidate.record.type != "turn":
        far = candidate.score < cuts["statement"].clear and not several
        share = cuts["statement"].share_of_far if far else cuts["statement"].share
        return max(share * best, cuts["statement"].least)
    # Of talk in which nothing stands out, the nearest is all there is.
    return cuts["turn"].share * best if best >= cuts["turn"].least else 0.0


def fuse(candidates: Candidates, asked: Asked) -> Candidates:
    """Words and meaning as one number, root by root; see ``fusing``."""
    weight = _similarity_weight(asked)
    scopes = dict.fromkeys(candidate.record.scope for candidate in candidates)
    roots = {scope: root_of(scope) for scope in scopes}
    by_root: dict[str, Candidates] = {root: [] for root in roots.values()}
    for candidate in candidates:
        by_root[roots[candidate.record.scope]].append(candidate)
    for group in by_root.values():
        for candidate, parts in zip(group, fused([c.hit for c in group], weight), strict=True):
            candidate.add("similarity", parts.meaning, _cosine_text)
            candidate.add("keyword", parts.words, _bm25_text)
    return candidates


def _similarity_weight(asked: Asked) -> float:
    """Less where the embedder cannot read the script."""
    weights = asked.profile.similarity_weight
    weight = weights.get(asked.embedder, weights[""])
    return weight * _latin_share(asked.text) if asked.embedder in ENGLISH_ONLY else weight


def _latin_share(text: str) -> float:
    letters = [letter for letter in fold(text) if letter.isalpha()]
    return sum(letter.isascii() for letter in letters) / len(letters) if letters else 1.0


def voice(candidates: Candidates, asked: Asked) -> Candidates:
    """Who said it, and to whom: somebody the question names counts more, and so does the answer
    to a question; a turn that only asks, among people, less; what an assistant answered less,
    unless the question is about just that."""
    best = max((candidate.score for candidate in candidates), default=0.0)
    of_assistant = asks_for_the_assistant(asked.text)
    for candidate in candidates:
        record = candidate.record
        if record.type != "turn":
            continue
        if record.source == "assistant" and not of_assistant:
            candidate.add("voice", -best * asked.profile.assistant_discount, "the assistant's")
        elif record.source == "user":
            _weigh_what_a_person_said(candidate, best, asked)
    return candidates


def _weigh_what_a_person_said(candidate: Candidate, best: float, asked: Asked) -> None:
    record = candidate.record
    named = bool(record.author) and is_name(record.author)
    if named and names(asked.text, record.author):
        candidate.add("voice", best * asked.profile.named_boost, record.author)
    if not asks(record.text):
        if candidate.hit.after_question:
            value = candidate.score * asked.profile.answer_boost
            candidate.add("voice", value, "answers a question")
    elif named:
        candidate.add("voice", -best * asked.profile.question_discount, "only asks")


def time(candidates: Candidates, asked: Asked) -> Candidates:
    """What was said in a time that the question names, or soon after it."""
    named = periods(asked.text, asked.now) if asked.text else ()
    if not named:
        return candidates
    best = max((candidate.score for candidate in candidates), default=0.0)
    for candidate in candidates:
        at = candidate.record.at
        phrase = next((one.phrase for one in named if one.start <= at < one.end), "")
        if phrase:
            candidate.add("time", best * asked.profile.time_boost, phrase)
    return candidates


def standing(candidates: Candidates, asked: Asked) -> Candidates:
    """A request is answered as the person wants such things in general: what they said about
    that counts more, the nearer in meaning the more."""
    if not asks_for_help(asked.text):
        return candidates
    best = max((candidate.score for candidate in candidates), default=0.0)
    for candidate in candidates:
        if _is_wish(candidate.record):
            near = min(max((candidate.hit.lift or 0.0) / WISH_LIFT, 0.0), 1.0)
            candidate.add("standing", best * near * asked.profile.standing_boost, "a wish")
    return candidates


def _is_wish(record: Record) -> bool:
    """By its kind, or by how a person put it."""
    told = record.type == "turn" and record.source == "user"
    return record.type in WISHES or (told and is_wish(record.text))


def spread(candidates: Candidates, asked: Asked) -> Candidates:
    """Where all of something is asked for, or its order: best first, but behind the first hits
    those of other sessions before more of the same ones. Takes and gives what is in order."""
    if "spread" not in asked.profile.stages or not asks_for_several(asked.text):
        return candidates
    step = SPREAD_SHARE * candidates[0].score if candidates else 0.0
    there = Counter(_conversation(one) for one in candidates[:SPREAD_BEHIND])
    # Of each session the best stands first: the next one is among those.
    behind: dict[tuple[str, ...], Candidates] = {}
    for one in sorted(candidates[SPREAD_BEHIND:SPREAD_AMONG], key=order, reverse=True):
        behind.setdefault(_conversation(one), []).append(one)
    chosen: Candidates = []
    while behind:
        _, _, session = min(
            (step * there[session] - listed[-1].score, order(listed[-1]), session)
            for session, listed in behind.items()
        )
        best = behind[session].pop()
        if not behind[session]:
            del behind[session]
        if less := step * there[session]:
            best.add("spread", -less, "others of its session stand before it")
        there[session] += 1
        chosen.append(best)
    rest = candidates[SPREAD_AMONG:]
    return [*candidates[:SPREAD_BEHIND], *sorted([*chosen, *rest], key=order)]


def _conversation(candidate: Candidate) -> tuple[str, ...]:
    """A record of no session is one by itself."""
    record = candidate.record
    return _session_of(record) if record.session else (record.id,)


def _session_of(record: Record) -> tuple[str, str]:
    """Its ``session_key``, without a name for the parts: this is asked a thousand times."""
    return record.session_scope or record.scope, record.session


def cosine(candidates: Candidates, asked: Asked) -> Candidates:  # noqa: ARG001 - all stages alike
    """Otto: the similarity itself; without vectors the share of the query's words found."""
    for candidate in candidates:
        candidate.add("cosine", _meaning(candidate.hit), _arm(candidate.hit))
    return candidates


def bre(candidates: Candidates, asked: Asked) -> Candidates:
    """OpenMotoko: dot product minus a share of the magnitude. Stored vectors have length 1,
    so the penalty is the same for all and only lowers the score."""
    for candidate in candidates:
        candidate.add("dot", _meaning(candidate.hit), _arm(candidate.hit))
        candidate.add("magnitude", -asked.profile.magnitude_penalty)
    return candidates


def tag_boost(candidates: Candidates, asked: Asked) -> Candidates:
    """A record one of whose tags appears in the query."""
    asked_terms = _terms_of_query(asked)
    for candidate in candidates:
        tag = _tag_asked_for(candidate.record, asked_terms)
        if tag:
            candidate.add("tag", asked.profile.tag_boost, tag)
    return candidates


def alias(candidates: Candidates, asked: Asked) -> Candidates:
    """Tags are further names: what is asked for by one of them is found, not merely near."""
    query = frozenset(query_terms(asked.text))
    for candidate in candidates if query else ():
        tags = candidate.record.tags
        named = {term for tag in tags for term in terms(tag)} & query if tags else ()
        _raise(candidate, "alias", FOUND_BY_NAME * len(named) / len(query), " ".join(named))
    return candidates


def spelling(candidates: Candidates, asked: Asked) -> Candidates:  # noqa: ARG001
    """What holds the words of the query nearly: misspelled, or only begun."""
    for candidate in candidates:
        _raise(candidate, "spelling", FOUND_NEARLY * candidate.nearly, "nearly the same words")
    return candidates


def _raise(candidate: Candidate, stage: str, least: float, detail: str) -> None:
    if candidate.score < least:
        candidate.add(stage, least - candidate.score, detail)


def _terms_of_query(asked: Asked) -> frozenset[str]:
    return frozenset(terms(asked.text))


def _tag_asked_for(record: Record, asked_terms: frozenset[str]) -> str:
    for tag in record.tags:
        tag_terms = terms(tag)
        if tag_terms and asked_terms.issuperset(tag_terms):
            return tag
    return ""


def importance(candidates: Candidates, asked: Asked) -> Candidates:  # noqa: ARG001
    """Up to a tenth more or less; the middle changes nothing."""
    for candidate in candidates:
        weight = candidate.record.importance
        change = candidate.score * 0.2 * (weight - 0.5)
        if change:
            candidate.add("importance", change, f"{weight:.2f}")
    return candidates


def decay(candidates: Candidates, asked: Asked) -> Candidates:
    """Older counts less, down to a floor; core memories do not fade."""
    for candidate in candidates:
        record = candidate.record
        rule = asked.profile.decay[record.durability]
        days = max((asked.now - record.at).total_seconds() / SECONDS_PER_DAY, 0.0)
        kept = rule.floor + (1 - rule.floor) * 0.5 ** (days / rule.half_life_days)
        change = candidate.score * (kept - 1)
        if abs(change) > NOTHING:
            candidate.add("decay", change, f"{days:.0f} days, {record.durability}")
    return candidates


def drop_copies(candidates: Candidates, asked: Asked) -> Candidates:  # noqa: ARG001
    """Of copies in several scopes (same origin) and of equal texts, only the best stays."""
    kept: Candidates = []
    seen: set[str] = set()
    for candidate in sorted(candidates, key=order):
        record = candidate.record
        keys = {key for key in (record.origin, record.hash) if key}
        if not keys & seen:
            kept.append(candidate)
        seen |= keys
    return kept


def one_per_source(candidates: Candidates, asked: Asked) -> Candidates:
    """A turn and a fact learned from it say the same: one of them stays, with the better score
    of both, so that no place in the answer is taken twice."""
    turns = {
        (*_session_of(candidate.record), id_): candidate
        for candidate in candidates
        if candidate.record.type == "turn"
        for id_ in candidate.record.lineage
    }
    dropped: set[str] = set()
    for fact in sorted(candidates, key=order) if turns else ():
        turn = _best_turn(fact.record, turns)
        if turn is None or turn.record.id in dropped:
            continue
        kept, gone = (fact, turn) if asked.prefer_facts else (turn, fact)
        dropped.add(gone.record.id)
        gain = max(gone.score - kept.score, 0.0)
        kept.add("same source", gain, f"{gone.record.type} {gone.record.id}")
    return [candidate for candidate in candidates if candidate.record.id not in dropped]


def _best_turn(record: Record, turns: Mapping[tuple[str, str, str], Candidate]) -> Candidate | None:
    """The best turn that a fact was learned from, if it is a candidate too."""
    if record.kind != "semantic" or not record.session:
        return None
    session = _session_of(record)
    found = [turn for id_ in record.lineage if (turn := turns.get((*session, id_)))]
    return min(found, key=order, default=None)


def related(record: Record, source: Candidate, kind: str, asked: Asked) -> Candidate:
    """A record that came along with a better one through a relation."""
    share = asked.profile.related_share
    candidate = Candidate(Hit(record=record), lent=_likeness(source) * share)
    value = source.score * share
    candidate.add("related", value, f"{kind} {source.record.id}")
    return candidate


def replacing(record: Record, turn: Candidate) -> Candidate:
    """What is true now, brought along by a turn in which something else was said: it stands
    where the turn stood, and the turn behind it."""
    candidate = Candidate(Hit(record=record), lent=_likeness(turn))
    candidate.add("replaces", turn.score, f"turn {turn.record.id}")
    turn.add("outdated", -OUTDATED_SHARE * turn.score, f"replaced by {record.id}")
    return candidate


def _meaning(hit: Hit) -> float:
    return hit.coverage if hit.similarity is None else hit.similarity


def _arm(hit: Hit) -> str:
    return "words, no vector" if hit.similarity is None else ""


def _bm25_text(hit: Hit) -> str:
    around = f", {hit.keyword_around:.2f} around" if hit.keyword_around != hit.keyword else ""
    return f"bm25 {hit.keyword:.2f}{around}"


def _cosine_text(hit: Hit) -> str:
    return "no vector" if hit.similarity is None else f"cosine {hit.similarity:.3f}"


STAGES: Mapping[str, Stage] = {
    "fuse": fuse,
    "voice": voice,
    "time": time,
    "standing": standing,
    "spread": lambda candidates, asked: candidates,  # noqa: ARG005 - after the cut, see recall
    "cosine": cosine,
    "bre": bre,
    "tag_boost": tag_boost,
    "alias": alias,
    "spelling": spelling,
    "importance": importance,
    "decay": decay,
    "drop_copies": drop_copies,
    "one_per_source": one_per_source,
}
