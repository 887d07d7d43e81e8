"""Whether a case came out right, as a person would say who reads what is believed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.learning.cases import Case, SetName
from evaluation.learning.living import Belief, Lived
from evaluation.learning.matching import covers, is_garbled, matches, matches_any, says_an_end

_ASKED = re.compile(r'\(asked[^:"]*: ".*"\)')  # an assistant's question, which claims nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``why`` says what is wrong; it is empty if nothing is. ``facts`` and ``records`` count, for
    everyday turns and talks, (found, expected) and (right, believed)."""

    case: Case
    why: str
    after: Sequence[Belief]
    first_learned: bool | None = None
    by_doubt: bool = False
    facts: tuple[int, int] = (0, 0)
    records: tuple[int, int] = (0, 0)

    @property
    def right(self) -> bool:
        return not self.why


def judge(case: Case, lived: Lived) -> Verdict:
    return _JUDGES[case.set](case, lived)


def _change(case: Case, lived: Lived) -> Verdict:
    """The new is believed and the old no longer, or the old is openly in doubt. An end needs no
    new record: closing the old one is enough."""
    first = _believed(case.gone, lived.first)
    old = [belief for belief in lived.after if _still_believes(belief, case, lived)]
    new = all(_believed([group], lived.fresh) for group in case.believe)
    by_doubt = bool(old) and all(belief.doubted for belief in old)
    why = ""
    if old and not by_doubt:
        why = "the old is still believed" + ("" if new else ", the new is not")
    elif not old and not new and not (case.end and first):
        why = "the new is not believed" + ("" if first else ", nor was the first statement")
    return Verdict(
        case=case, why=why, after=lived.after, first_learned=first, by_doubt=by_doubt and not why
    )


def _still_believes(belief: Belief, case: Case, lived: Lived) -> bool:
    """A record of the last turn may name the old one to say that it is over."""
    if not belief.current or not matches_any(case.gone, belief.text):
        return False
    if belief.id not in {one.id for one in lived.fresh}:
        return True
    return not matches_any(case.believe, belief.text) and not says_an_end(belief.text)


def _harmless(case: Case, lived: Lived) -> Verdict:
    """The first statement was learned and stands, and nothing was put in doubt or replaced by
    something that says less."""
    learned = all(_believed([group], lived.first) for group in case.believe)
    doubted = [belief for belief in lived.after if belief.doubted]
    lost = [belief for belief in lived.after if _is_lost(belief, lived.after)]
    why = ""
    if not learned:
        why = "the first statement was not learned"
    elif doubted:
        why = f"disputed: {doubted[0].text}"
    elif lost:
        why = f"superseded: {lost[0].text}"
    elif not all(_believed([group], lived.after) for group in case.believe):
        why = "the first statement is no longer believed"
    return Verdict(case=case, why=why, after=lived.after, first_learned=learned)


def _is_lost(belief: Belief, after: Sequence[Belief]) -> bool:
    """Neither current nor contained in something that is."""
    return not belief.current and not any(
        one.current and covers(one.text, belief.text) for one in after
    )


def _nothing(case: Case, lived: Lived) -> Verdict:
    """The last turn taught nothing, and what was said before it still stands."""
    learned = all(_believed([group], lived.before) for group in case.believe)
    wrong = [
        belief
        for belief in lived.fresh
        if belief.current and not matches_any(case.also, belief.text)
    ]
    standing = [belief for belief in lived.after if not belief.doubted]
    why = ""
    if wrong:
        why = f"believed: {wrong[0].text}"
    elif not learned:
        why = "the true statement was not learned"
    elif not all(_believed([group], standing) for group in case.believe):
        why = "the true statement did not survive"
    return Verdict(
        case=case, why=why, after=lived.after, first_learned=learned if case.believe else None
    )


def _facts(case: Case, lived: Lived) -> Verdict:
    """Which facts were noted, and which records are of none."""
    believed = [belief for belief in lived.after if belief.current and not belief.doubted]
    missed = [group for group in case.believe if not _believed([group], believed)]
    known = [*case.believe, *case.also]
    wrong = [one for one in believed if is_garbled(one.text) or not matches_any(known, one.text)]
    faults = [*(f"missed: {group}" for group in missed), *(f"wrong: {one.text}" for one in wrong)]
    return Verdict(
        case=case,
        why="; ".join(faults),
        after=lived.after,
        facts=(len(case.believe) - len(missed), len(case.believe)),
        records=(len(believed) - len(wrong), len(believed)),
    )


def _talk(case: Case, lived: Lived) -> Verdict:
    """What the user told is believed, and nothing of what an assistant guessed, or of what was
    answered in a few words and read as something else. ``records``: of what must not be."""
    believed = [belief for belief in lived.after if belief.current and not belief.doubted]
    missed = [group for group in case.believe if not _believed([group], believed)]
    wrong = [
        next((one.text for one in believed if matches(group, _ASKED.sub("", one.text))), "")
        for group in case.gone
    ]
    faults = [f"missed: {group}" for group in missed] + [f"wrong: {one}" for one in wrong if one]
    return Verdict(
        case=case,
        why="; ".join(faults),
        after=lived.after,
        facts=(len(case.believe) - len(missed), len(case.believe)),
        records=(wrong.count(""), len(wrong)),
    )


def _believed(groups: Sequence[str], beliefs: Sequence[Belief]) -> bool:
    """Whether a readable current record has one of these."""
    return any(
        matches(group, belief.text)
        for group in groups
        for belief in beliefs
        if belief.current and not is_garbled(belief.text)
    )


_JUDGES: Mapping[SetName, Callable[[Case, Lived], Verdict]] = {
    "pairs": _change,
    "corrections": _change,
    "tricky": _nothing,
    "pastes": _nothing,
    "harmless": _harmless,
    "everyday": _facts,
    "talks": _talk,
}
