"""Ranking: a tuple of stages from raw scores to one score, each saying what it did.

A profile names its stages. ``fuse`` is ours; ``cosine`` is Otto's, ``bre`` OpenMotoko's. A
stage changes the scores on the board, or drops some candidates; it looks at nothing but its
arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from standfast.index.codes import micros
from standfast.index.found import Array, FoundHits, number_or_none
from standfast.index.vectors import is_name
from standfast.ports import FeedRecord, Glance
from standfast.profiles import UNCALIBRATED, Calibration, Cuts, Profile
from standfast.rank.candidates import Board, Candidate, Candidates, in_order, order, rows_of
from standfast.rank.contrast import latin_share, misses, second_hops
from standfast.rank.fusion import fused
from standfast.rank.nearness import held_nearly, is_english, uncertain_words
from standfast.rank.question import (
    asks_for_help,
    asks_for_several,
    asks_for_the_assistant,
    is_wish,
    names,
    periods,
)
from standfast.rank.sought import TIME, without_it
from standfast.text.analysis import asks, query_terms, terms
from standfast.text.coverage import covers
from standfast.types import Hit, Record
from standfast.types.frozen import frozen

SECONDS_PER_DAY = 86_400.0
MICROSECONDS = 1_000_000
ENGLISH_ONLY = frozenset(("minilm",))  # embedders
OUTDATED_SHARE = 0.2  # what a turn loses whose statement was replaced since
FOUND_BY_NAME = 0.8  # the score of what is asked for by nothing but its name
FOUND_NEARLY = 0.7
READ_SHARE = 0.5  # of a query's letters that the embedder can read
ALL_HELD = 0.99  # the share of the query's words that leaves no word to look for
SPREAD_BEHIND = 5  # the first hits stay; of more, each of a session already there counts less
SPREAD_SHARE = 0.03  # of the best score, for each better hit of the session
SPREAD_AMONG = 60
WISHES = frozenset(("preference", "user_request"))  # types
WISHED = WISHES | {"turn"}  # of what may be one
WISH_LIFT = 2.0  # standard deviations of similarity from which a wish counts whole
HOPS_FROM = 3  # of more first hits nobody needs to go on
CONTRAST_AMONG = 20  # the first hits; hardly anybody asks for more
COVERAGE_MOST = 0.5  # the share of the words that is more than a few
NOTHING = 0.0005  # a change of score that nobody would see
USUAL_IMPORTANCE = 0.5
RAISED = frozenset(("alias", "spelling", "related", "replaces"))  # stages that found it otherwise


@frozen
class Asked:
    """The question and the moment of asking."""

    text: str
    now: datetime
    profile: Profile
    embedder: str = ""  # family of the vectors compared, such as "hashing"; "" = none
    calibration: Calibration = UNCALIBRATED  # of that embedder
    threshold: float | None = None
    prefer_facts: bool = False  # of a turn and a fact learned from it; else the turn stays


ScoreStage = Callable[[Board, Asked], None]
Stage = Callable[[Candidates, Asked], Candidates]


def rank(hits: Iterable[Hit], asked: Asked) -> Candidates:
    """All stages of the profile, best first: those that score, then those that drop some."""
    board = _scored(hits, asked)
    ranked = board.candidates()
    needless = {"drop_copies": not board.copied, "one_per_source": not any(board.columns.session)}
    for name in asked.profile.stages:
        if name in DROPPING and not needless[name]:
            ranked = DROPPING[name](ranked, asked)
    return in_order(ranked)


def _scored(hits: Iterable[Hit], asked: Asked) -> Board:
    found = FoundHits.of(hits)
    board = _without_noise(found, _spelled(found, asked), asked)
    for name in asked.profile.stages:
        if name in SCORING:
            SCORING[name](board, asked)
    return board


def dropped_by(hits: Iterable[Hit], asked: Asked, id_: str) -> str:
    """The stage that takes this record out of the ranking ("noise" before the first); "" if it
    stays in it."""
    ranked = _scored(hits, asked).candidates()
    for name in ("noise", *asked.profile.stages):
        ranked = DROPPING[name](ranked, asked) if name in DROPPING else ranked
        if not any(candidate.glance.id == id_ for candidate in ranked):
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


def above_threshold(candidates: Candidates, asked: Asked) -> Candidates:
    least = asked.profile.threshold if asked.threshold is None else asked.threshold
    if not asked.text.strip():
        return candidates
    if _is_by_score(least, asked.profile):
        return [one for one in candidates if one.score >= least]
    return [one for one in candidates if _likeness(one) >= least]


def strength(candidate: Candidate, least: float, profile: Profile) -> float:
    """What a threshold is held against: the score, or what the profile's document calls
    similarity. That everything is good enough says nothing about either."""
    return candidate.score if _is_by_score(least, profile) else _likeness(candidate)


def _is_by_score(least: float, profile: Profile) -> bool:
    return profile.threshold_on == "score" or least <= 0


def _likeness(candidate: Candidate) -> float:
    if candidate.lent is not None:
        return candidate.lent
    return candidate.coverage if candidate.similarity is None else candidate.similarity


def _without_noise(found: FoundHits, nearly: Sequence[float], asked: Asked) -> Board:
    """A hit has a word or a tag in common with the query, or means something like it."""
    if not asked.text.strip():
        return Board(found, nearly)
    floors, calibrated = asked.profile.similarity_floor, asked.calibration.similarity_floor
    means = found.similarity >= floors.get(asked.embedder, calibrated)
    heard = means | (found.keyword > 0) | (found.keyword_around > 0)
    if heard.all():
        return Board(found, nearly)
    asked_terms = _terms_of_query(asked)
    kept = [
        row
        for row, is_heard in enumerate(heard.tolist())
        if is_heard or (nearly and nearly[row] > 0) or _tag_asked_for(found.read[row], asked_terms)
    ]
    return Board(found.taken(kept), [nearly[row] for row in kept] if nearly else ())


def _spelled(found: FoundHits, asked: Asked) -> Sequence[float]:
    """A short query may hold a word that is misspelled or only begun: the share of its words that
    each holds, some of them only nearly; () if all are as they are written."""
    if "spelling" not in asked.profile.stages or not len(found):
        return ()
    if float(found.coverage.max()) > ALL_HELD:
        return ()
    query = uncertain_words(asked.text)
    if not query:
        return ()
    texts = [" ".join((one.glance.author, one.glance.text, *_tags(one))) for one in found.read]
    return held_nearly(query, texts, forms=not is_english(asked.text))


def standing_out(candidates: Candidates, asked: Asked) -> Candidates:
    """What answers, best first: up to where the scores fall off. Whoever sets a threshold has
    said where; and where only words decide, because the embedder cannot read the script, scores
    fall off among what answers."""
    cuts = _cuts(asked)
    if not cuts or asked.threshold is not None or not asked.text.strip() or not candidates:
        return candidates
    if asked.embedder in ENGLISH_ONLY and latin_share(asked.text) < READ_SHARE:
        return candidates
    best = max(candidate.score for candidate in candidates)
    least = _leasts(best, cuts, several=asks_for_several(asked.text))
    lowest = min(least)
    near = [one for one in candidates if one.score >= lowest]
    clear = [one for one in near if one.score >= _least(one, least, cuts)]
    return _with_what_is_sought(_of_what_is_asked(clear, asked), candidates, asked)


def _cuts(asked: Asked) -> Cuts | None:
    cuts = asked.profile.cuts
    return None if cuts is None else cuts.get(asked.embedder, asked.calibration.cuts)


def _with_what_is_sought(kept: Candidates, candidates: Candidates, asked: Asked) -> Candidates:
    """Without statements that hold nothing of the kind that is asked for, unless another goes on
    where they end."""
    told = [one for one in kept[:CONTRAST_AMONG] if one.glance.type != "turn"]
    if not told:
        return kept
    if further := _second_hops(told, candidates, asked):
        return sorted([*kept, *further], key=order)
    lacking = {one.glance.id for one in _lacking(told, asked)}
    return [one for one in kept if one.glance.id not in lacking] if lacking else kept


def _lacking(told: Candidates, asked: Asked) -> Candidates:
    """What holds every word of the question is believed to answer it all the same, and what
    happened has a time without saying so."""
    lacks = without_it(asked.text, list(map(_told, told)))
    found = [
        (one, what)
        for one, what in zip(told, lacks, strict=True)
        if what and one.coverage < ALL_HELD and not (what == TIME and _is_dated(one.record))
    ]
    for one, what in found:
        one.add("contrast", 0.0, f"holds no {what}")
    return [one for one, _ in found]


def _is_dated(record: Record) -> bool:
    return record.kind == "episodic" or record.valid_from is not None


def _second_hops(first: Candidates, candidates: Candidates, asked: Asked) -> Candidates:
    """What goes on where the first hits end, by a name that only they have."""
    if len(first) > HOPS_FROM:
        return []
    there = {one.glance.id for one in first}
    others = [
        one
        for one in candidates[:CONTRAST_AMONG]
        if one.glance.type != "turn" and one.coverage > 0 and one.glance.id not in there
    ]
    if not others:
        return []
    named = second_hops(asked.text, list(map(_told, first)), list(map(_told, others)))
    further = [(one, name) for one, name in zip(others, named, strict=True) if name]
    lacking = _lacking([one for one, _ in further], asked)
    further = [(one, name) for one, name in further if one not in lacking]
    for one, name in further:
        one.add("hop", 0.0, name)
    return [one for one, _ in further]


def _told(candidate: Candidate) -> str:
    seen = candidate.glance
    return " ".join((seen.text, *candidate.record.tags)) if seen.tagged else seen.text


def _of_what_is_asked(candidates: Candidates, asked: Asked) -> Candidates:
    """Without statements of another thing. In talk a turn answers with what stands around it."""
    told = [one for one in candidates[:CONTRAST_AMONG] if one.glance.type != "turn"]
    if not told:
        return candidates
    texts = list(map(_told, told))
    apart: set[str] = set()
    single = len(query_terms(asked.text)) == 1
    for one, why in zip(told, misses(asked.text, texts), strict=True):
        if why or not (single or _says_it(one, asked.calibration.lift_least)):
            one.add("contrast", 0.0, why or "a word in common, and nothing else")
            apart.add(one.glance.id)
    return [one for one in candidates if one.glance.id not in apart]


def _says_it(candidate: Candidate, lift_least: float) -> bool:
    """Or has it a word in common, perhaps the name, and says something else?"""
    lift = candidate.lift
    return (
        lift is None
        or lift >= lift_least
        or candidate.coverage > COVERAGE_MOST
        or any(stage in RAISED for stage, _, _ in candidate.why)
    )


class Leasts(NamedTuple):
    """The scores that stand out: of a turn, of a statement, and of one far from the question."""

    turn: float
    statement: float
    far: float


def _leasts(best: float, cuts: Cuts, *, several: bool) -> Leasts:
    told = cuts["statement"]
    statement = max(told.share * best, told.least)
    return Leasts(
        # Of talk in which nothing stands out, the nearest is all there is.
        turn=cuts["turn"].share * best if best >= cuts["turn"].least else 0.0,
        statement=statement,
        far=statement if several else max(told.share_of_far * best, told.least),
    )


def _least(candidate: Candidate, least: Leasts, cuts: Cuts) -> float:
    if candidate.glance.type == "turn":
        return least.turn
    return least.far if candidate.score < cuts["statement"].clear else least.statement


def fuse(board: Board, asked: Asked) -> None:
    """Words and meaning as one number; see ``fusion``."""
    parts = fused(board.found, _similarity_weight(asked))
    board.add_all("similarity", parts.meaning, _cosine_text)
    board.add_all("keyword", parts.words, _bm25_text)


def _similarity_weight(asked: Asked) -> float:
    """Less where the embedder cannot read the script."""
    weights = asked.profile.similarity_weight
    weight = weights.get(asked.embedder, asked.calibration.similarity_weight)
    return weight * latin_share(asked.text) if asked.embedder in ENGLISH_ONLY else weight


def voice(board: Board, asked: Asked) -> None:
    """Who said it, and to whom: somebody the question names counts more, and so does the answer
    to a question; a turn that only asks, among people, less; what an assistant answered less,
    unless the question is about just that."""
    if "turn" not in board.columns.type:
        return
    turns = rows_of([type_ == "turn" for type_ in board.columns.type])
    best = board.best()
    of_assistant = asks_for_the_assistant(asked.text)
    for row in turns:
        source = board.columns.source[row]
        if source == "assistant" and not of_assistant:
            board.add(row, "voice", -best * asked.profile.assistant_discount, "the assistant's")
        elif source == "user":
            _weigh_what_a_person_said(board, row, best, asked)


def _weigh_what_a_person_said(board: Board, row: int, best: float, asked: Asked) -> None:
    author = board.columns.author[row]
    named = bool(author) and is_name(author)
    if named and names(asked.text, author):
        board.add(row, "voice", best * asked.profile.named_boost, author)
    if not asks(board.columns.text[row]):
        if board.found.after_question[row]:
            value = float(board.scores[row]) * asked.profile.answer_boost
            board.add(row, "voice", value, "answers a question")
    elif named:
        board.add(row, "voice", -best * asked.profile.question_discount, "only asks")


def time(board: Board, asked: Asked) -> None:
    """What was said in a time that the question names, or soon after it, or later about it."""
    named = periods(asked.text, asked.now) if asked.text else ()
    if not named:
        return
    best = board.best()
    for row, record in enumerate(board.found.records):
        at = record.at
        phrase = next(
            (p.phrase for p in named if p.start <= at < p.end or p.is_told(record.text, at)), ""
        )
        if phrase:
            board.add(row, "time", best * asked.profile.time_boost, phrase)


def standing(board: Board, asked: Asked) -> None:
    """A request is answered as the person wants such things in general: what they said about
    that counts more, the nearer in meaning the more."""
    if WISHED.isdisjoint(board.columns.type) or not asks_for_help(asked.text):
        return
    best = board.best()
    for row, one in enumerate(board.glances):
        if _is_wish(one):
            lift = float(board.found.lift[row])
            near = min(max(lift / WISH_LIFT, 0.0), 1.0) if lift == lift else 0.0
            board.add(row, "standing", best * near * asked.profile.standing_boost, "a wish")


def _is_wish(one: Glance) -> bool:
    """By its kind, or by how a person put it."""
    told = one.type == "turn" and one.source == "user"
    return one.type in WISHES or (told and is_wish(one.text))


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


def cosine(board: Board, asked: Asked) -> None:  # noqa: ARG001 - all stages alike
    """Otto: the similarity itself; without vectors the share of the query's words found."""
    board.add_all("cosine", _meaning(board.found), _arm)


def bre(board: Board, asked: Asked) -> None:
    """OpenMotoko: dot product minus a share of the magnitude. Stored vectors have length 1,
    so the penalty is the same for all and only lowers the score."""
    board.add_all("dot", _meaning(board.found), _arm)
    board.add_all("magnitude", np.full(len(board.found), -asked.profile.magnitude_penalty))


def tag_boost(board: Board, asked: Asked) -> None:
    """A record one of whose tags appears in the query."""
    asked_terms = _terms_of_query(asked) if board.tagged else frozenset()
    for row in board.tagged:
        if tag := _tag_asked_for(board.found.read[row], asked_terms):
            board.add(row, "tag", asked.profile.tag_boost, tag)


def alias(board: Board, asked: Asked) -> None:
    """Tags are further names: what is asked for by one of them is found, not merely near."""
    raised = sorted({*board.tagged, *rows_of(_below(board))})
    query = frozenset(query_terms(asked.text)) if raised else frozenset()
    for row in raised if query else ():
        named = {term for tag in _tags(board.found.read[row]) for term in terms(tag)} & query
        _raise(board, row, "alias", FOUND_BY_NAME * len(named) / len(query), " ".join(named))


def spelling(board: Board, asked: Asked) -> None:  # noqa: ARG001
    """What holds the words of the query nearly: misspelled, or only begun."""
    nearly = board.nearly or [0.0] * len(board.found)
    for row in range(len(nearly)) if board.nearly else rows_of(_below(board)):
        _raise(board, row, "spelling", FOUND_NEARLY * nearly[row], "nearly the same words")


def _below(board: Board) -> list[bool]:
    """Which scores are below zero: nothing that was found is worth less than nothing."""
    below: list[bool] = (board.scores < 0).tolist() if board.scores.min(initial=0.0) < 0 else []
    return below


def _raise(board: Board, row: int, stage: str, least: float, detail: str) -> None:
    score = float(board.scores[row])
    if score < least:
        board.add(row, stage, least - score, detail)


def _terms_of_query(asked: Asked) -> frozenset[str]:
    return frozenset(terms(asked.text))


def _tags(one: FeedRecord) -> Sequence[str]:
    return one.record().tags if one.glance.tagged else ()


def _tag_asked_for(one: FeedRecord, asked_terms: frozenset[str]) -> str:
    for tag in _tags(one):
        tag_terms = terms(tag)
        if tag_terms and asked_terms.issuperset(tag_terms):
            return tag
    return ""


def importance(board: Board, asked: Asked) -> None:  # noqa: ARG001
    """Up to a tenth more or less; the middle changes nothing."""
    weights = board.columns.importance
    if weights.count(USUAL_IMPORTANCE) == len(weights):
        return
    for row in rows_of([weight != USUAL_IMPORTANCE for weight in weights]):
        change = float(board.scores[row]) * 0.2 * (weights[row] - USUAL_IMPORTANCE)
        if change:
            board.add(row, "importance", change, f"{weights[row]:.2f}")


def decay(board: Board, asked: Asked) -> None:
    """Older counts less, down to a floor; core memories do not fade."""
    now, decays = micros(asked.now), asked.profile.decay
    rules = {
        name: (rule.floor, 1 - rule.floor, rule.half_life_days) for name, rule in decays.items()
    }
    # Whole microseconds, as the difference of two times counts them.
    spans = [(now - at) / MICROSECONDS / SECONDS_PER_DAY for at in board.columns.at]
    days = [span if span > 0 else 0.0 for span in spans]
    kept = [
        floor + rest * 0.5 ** (age / half_life)
        for age, (floor, rest, half_life) in zip(
            days, map(rules.__getitem__, board.columns.durability), strict=True
        )
    ]
    change = board.scores * (np.array(kept) - 1)

    def told(board: Board, row: int) -> str:
        return f"{days[row]:.0f} days, {board.columns.durability[row]}"

    board.add_all("decay", np.where(np.abs(change) > NOTHING, change, np.nan), told)


def drop_copies(candidates: Candidates, asked: Asked) -> Candidates:  # noqa: ARG001
    """Of copies in several scopes (same origin) and of equal texts, only the best stays; that of a
    page or a tool stands for nobody else's."""
    told = [key for one in candidates for key in (one.glance.origin, one.glance.hash) if key]
    if len(told) == len(frozenset(told)):
        return candidates
    kept: Candidates = []
    seen: set[str] = set()
    for candidate in sorted(candidates, key=lambda one: (one.is_outside, order(one))):
        keys = {key for key in (candidate.glance.origin, candidate.glance.hash) if key}
        if not keys & seen:
            kept.append(candidate)
        seen |= keys
    return kept


def one_per_source(candidates: Candidates, asked: Asked) -> Candidates:
    """A turn and a fact learned from it may say the same: then one of them stays, with the better
    score of both, so that no place in the answer is taken twice. Usually that is the turn, which
    says it all. A fact that is in doubt stays, as its turn does not say so, and so does every fact
    that is preferred; then the turn goes only if the facts contain its content words."""
    dropped: set[str] = set()
    for turn, facts in _facts_of_turns(candidates):
        speaking = [one for one in facts if _speaks(one, asked)]
        covered = bool(speaking) and covers([one.record.text for one in facts], turn.record.text)
        if covered or (speaking and turn.score > speaking[0].score):
            _lend(turn, speaking[0])
        if covered:
            speaking[0].covered += (turn,)
            dropped.add(turn.glance.id)
            continue
        for fact in facts:
            if fact not in speaking:
                _lend(fact, turn)
                dropped.add(fact.glance.id)
    return [one for one in candidates if one.glance.id not in dropped] if dropped else candidates


def _speaks(fact: Candidate, asked: Asked) -> bool:
    """Does it stay beside its turn, or in its place?"""
    return asked.prefer_facts or fact.record.status == "disputed"


def _lend(giver: Candidate, taker: Candidate) -> None:
    """The better score of both."""
    gain = max(giver.score - taker.score, 0.0)
    taker.add("same source", gain, f"{giver.record.type} {giver.record.id}")


def _facts_of_turns(candidates: Candidates) -> Iterable[tuple[Candidate, list[Candidate]]]:
    """Each turn that facts among the candidates were learned from, and these, best first."""
    facts = [one for one in candidates if one.glance.session and one.glance.kind == "semantic"]
    sessions = frozenset(fact.glance.session for fact in facts)
    turns = {
        (*_session_of(candidate.record), id_): candidate
        for candidate in (candidates if facts else ())
        if candidate.glance.type == "turn" and candidate.glance.session in sessions
        for id_ in candidate.record.lineage
    }
    found: dict[str, tuple[Candidate, list[Candidate]]] = {}
    for fact in sorted(facts, key=order) if turns else ():
        if turn := _best_turn(fact.record, turns):
            found.setdefault(turn.glance.id, (turn, []))[1].append(fact)
    return found.values()


def _best_turn(record: Record, turns: Mapping[tuple[str, str, str], Candidate]) -> Candidate | None:
    """The best turn that a fact was learned from, if it is a candidate too."""
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


def _meaning(found: FoundHits) -> Array:
    return np.where(np.isnan(found.similarity), found.coverage, found.similarity)


def _arm(board: Board, row: int) -> str:
    return "words, no vector" if np.isnan(board.found.similarity[row]) else ""


def _bm25_text(board: Board, row: int) -> str:
    own, wide = board.found.keyword.item(row), board.found.keyword_around.item(row)
    return f"bm25 {own:.2f}" + (f", {wide:.2f} around" if wide != own else "")


def _cosine_text(board: Board, row: int) -> str:
    similarity = number_or_none(board.found.similarity.item(row))
    return "no vector" if similarity is None else f"cosine {similarity:.3f}"


SCORING: Mapping[str, ScoreStage] = {
    "fuse": fuse,
    "voice": voice,
    "time": time,
    "standing": standing,
    "cosine": cosine,
    "bre": bre,
    "tag_boost": tag_boost,
    "alias": alias,
    "spelling": spelling,
    "importance": importance,
    "decay": decay,
}
# They come last, whatever their place; "spread" comes after the cut, see ``recall``.
DROPPING: Mapping[str, Stage] = {"drop_copies": drop_copies, "one_per_source": one_per_source}
STAGES = (*SCORING, *DROPPING, "spread")
