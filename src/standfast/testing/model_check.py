"""How well a language model learns: a fixed set of questions, and what it does well and badly.

The questions are those that learning asks, with the same prompt, and the answers are held against
what was shown by the same checks. What a model says is judged before those checks, so that a bad
model shows; ``held`` says which of its mistakes they keep out of a memory all the same.
"""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, cast

from standfast.errors import Invalid, Unavailable
from standfast.models.calls import FailedCall, sum_of
from standfast.models.careful import Careful
from standfast.models.prompts import extract as extract_prompt
from standfast.ports import AnswerError, Reply
from standfast.text.normal import fold
from standfast.text.redact import Redactor
from standfast.types import Message, Record, Role, Usage
from standfast.types.checks import Mistake, ModelReport, Price1000, Score
from standfast.types.frozen import frozen
from standfast.upkeep.learn.answers import (
    Shown,
    known_as_text,
    messages_as_text,
    read_answer,
    show,
)
from standfast.upkeep.learn.lanes import Learned
from standfast.upkeep.learn.statements import may_teach

VERDICTS = ("supersedes", "corrects", "duplicate", "contradicts")
SAID_AT = datetime(2026, 4, 9, 10, 0, tzinfo=UTC)
KNOWN_FOR = timedelta(days=31)
SCOPE = "user:check"
ANSWER_CHARACTERS_MAX = 120

_LINK = re.compile(r"\b([a-z_]+):?\s+k1\b")


@frozen
class ModelCase:
    name: str
    part: str
    messages: tuple[str, ...]  # "role: text"
    known: tuple[str, ...] = ()
    expect: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    whose: tuple[str, ...] = ()


@cache
def model_cases() -> tuple[ModelCase, ...]:
    """The cases in the package."""
    text = files(__package__).joinpath("model_cases.toml").read_text("utf-8")
    return tuple(
        ModelCase(
            name=one["name"],
            part=one["part"],
            messages=tuple(one["messages"]),
            known=tuple(one.get("known", ())),
            expect=tuple(one.get("expect", ())),
            forbidden=tuple(one.get("forbidden", ())),
            whose=tuple(one.get("whose", ())),
        )
        for one in tomllib.loads(text)["case"]
    )


async def check_model(
    models: Careful | None,
    redactor: Redactor,
    *,
    scope: str = SCOPE,
    cases: Sequence[ModelCase] | None = None,
    progress: Callable[[int, int], None] = lambda _, __: None,
    seconds: Callable[[], float] = time.monotonic,
) -> ModelReport:
    """Ask everything once. The budget of ``scope`` pays. Unavailable if the first question is not
    answered; where a later one is not, and no other would be, the report says so and is about
    those before."""
    model = models.model_for("extract") if models else None
    if models is None or model is None:
        raise Invalid(
            "there is no language model to check: set STANDFAST_MODEL (and STANDFAST_MODEL_URL "
            "for a server of your own), or name one: standfast model check ollama:llama3.2"
        )
    tally = _Tally(model.name)
    asked = model_cases() if cases is None else cases
    for number, case in enumerate(asked):
        begun = seconds()
        try:
            reply = await _asked(models, case, scope)
        except AnswerError as error:
            tally.unreadable(case, str(error), error.usage, seconds() - begun)
        except Unavailable as error:
            if number == 0:
                raise
            if _is_over(error):
                tally.stopped = str(error)
                break
            tally.unreadable(case, str(error), Usage(), seconds() - begun)
        else:
            tally.read(case, reply, redactor, seconds() - begun)
        progress(number + 1, len(asked))
    return tally.report()


def _is_over(error: Unavailable) -> bool:
    """Would the next question fail too? One that failed may have failed by chance; a budget that
    is used up, a breaker that opened or a key that is wrong stays so."""
    return error.lasting or not isinstance(error, FailedCall)


async def _asked(models: Careful, case: ModelCase, scope: str) -> Reply:
    shown = _shown(case)
    teaching = {one.id for one in shown.messages.values() if may_teach(one)}
    said = messages_as_text(shown, teaching)
    prompt = extract_prompt(known=known_as_text(shown), messages=said)
    return await models.ask(prompt, scope=scope)


def _shown(case: ModelCase) -> Shown:
    messages = []
    for number, line in enumerate(case.messages, 1):
        role, _, text = line.partition(": ")
        messages.append(
            Message(
                id=f"m{number}",
                scope=SCOPE,
                session=case.name,
                role=cast("Role", role),
                text=text,
                at=SAID_AT + timedelta(minutes=number),
                source="user" if role == "user" else "assistant",
                seq=number,
            )
        )
    known = [
        Record(
            id=f"r{number}",
            scope=SCOPE,
            kind="semantic",
            type="fact",
            text=text,
            learned_at=SAID_AT - KNOWN_FOR,
        )
        for number, text in enumerate(case.known, 1)
    ]
    return show(messages, (), known)


class _Tally:
    """What came of the questions so far."""

    def __init__(self, model: str) -> None:
        self.stopped = ""
        self._model = model
        self._right: dict[str, list[int]] = {}
        self._mistakes: list[Mistake] = []
        self._spent: dict[str, list[tuple[int, Usage, float]]] = {"turn": [], "digest": []}
        self._notes: dict[str, None] = {}

    def unreadable(self, case: ModelCase, why: str, usage: Usage, seconds: float) -> None:
        self._count("valid", right=0)
        self._wrong(case, "valid", _short(why), held=True)
        for part, of in _judged(case).items():
            self._count(part, right=0, of=of)
        self._paid(case, usage, seconds)

    def read(self, case: ModelCase, reply: Reply, redactor: Redactor, seconds: float) -> None:
        self._paid(case, reply.usage, seconds)
        self._notes |= dict.fromkeys(reply.notes)
        self._count("valid", right=1)
        shown = _shown(case)
        said = [fact["text"] for fact in reply.data["facts"]]
        learned = _checked(reply.data, shown, redactor)
        kept = [candidate.statement.text for candidate in learned.candidates]
        self._count("grounded", right=len(said) - len(learned.refused), of=len(said))
        for _, reason in learned.refused:
            self._wrong(case, "grounded", _short(reason), held=True)
        if case.part in VERDICTS:
            self._verdict(case, reply.data["facts"])
        elif case.part == "others":
            self._others(case, said, kept)
        else:
            found = [word for word in case.expect if _has(word, kept)]
            self._count("facts", right=len(found), of=len(case.expect))
            for word in case.expect:
                if word not in found:
                    self._wrong(case, "facts", f"not learned: {word}")

    def _verdict(self, case: ModelCase, facts: Iterable[Mapping[str, Any]]) -> None:
        """What is said again may also be passed over: nothing is new."""
        listed = list(facts)
        links = {kind for fact in listed for kind in _LINK.findall(str(fact.get("links", "")))}
        right = case.part in links or (case.part == "duplicate" and not listed)
        self._count(case.part, right=int(right))
        if not right:
            told = ", ".join(sorted(links)) or ("no link" if listed else "no fact")
            self._wrong(case, case.part, f"said {told}")

    def _others(self, case: ModelCase, said: Sequence[str], kept: Sequence[str]) -> None:
        wrong = [text for text in said if _is_made_theirs(text, case)]
        self._count("others", right=int(not wrong))
        for text in wrong:
            self._wrong(case, "others", f"said {_short(text)!r}", held=text not in kept)

    def _wrong(self, case: ModelCase, part: str, what: str, *, held: bool = False) -> None:
        self._mistakes.append(Mistake(case=case.name, part=part, what=what, held=held))

    def _count(self, part: str, *, right: int, of: int = 1) -> None:
        found = self._right.setdefault(part, [0, 0])
        found[0] += right
        found[1] += of

    def _paid(self, case: ModelCase, usage: Usage, seconds: float) -> None:
        kind = "digest" if case.part == "digest" else "turn"
        self._spent[kind].append((len(case.messages), usage, seconds))

    def report(self) -> ModelReport:
        every = [one for spent in self._spent.values() for one in spent]
        usage = Usage()
        for _, spent, _ in every:
            usage = sum_of(usage, spent)
        unpriced = [note for note in self._notes if note.startswith("the price of")]
        return ModelReport(
            model=self._model,
            questions=len(every),
            scores={p: Score(right=right, of=of) for p, (right, of) in self._right.items()},
            mistakes=tuple(self._mistakes),
            per_1000={kind: _per_1000(spent) for kind, spent in self._spent.items() if spent},
            usage=usage,
            seconds=round(sum(took for *_, took in every), 3),
            priced=not unpriced,
            stopped=self.stopped,
            notes=tuple(note for note in self._notes if note not in unpriced),
        )


def _judged(case: ModelCase) -> dict[str, int]:
    """What a case without an answer counts as missed."""
    if case.part in ("facts", "digest"):
        return {"facts": len(case.expect)}
    return {case.part: 1}


def _checked(data: Any, shown: Shown, redactor: Redactor) -> Learned:
    """What learning takes of the answer; of one that would only take away it takes nothing."""
    try:
        return read_answer(data, shown, redactor)
    except Invalid as error:
        return Learned(refused=tuple(("", str(error)) for _ in data["facts"]))


def _is_made_theirs(text: str, case: ModelCase) -> bool:
    return any(_has(word, [text]) for word in case.forbidden) and not any(
        _has(name, [text]) for name in case.whose
    )


def _has(word: str, texts: Iterable[str]) -> bool:
    wanted = re.compile(rf"(?<!\w){re.escape(fold(word))}")
    return any(wanted.search(fold(text)) for text in texts)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= ANSWER_CHARACTERS_MAX else line[: ANSWER_CHARACTERS_MAX - 1] + "…"


def _per_1000(spent: Sequence[tuple[int, Usage, float]]) -> Price1000:
    messages = sum(count for count, _, _ in spent)
    each = 1000 / messages
    return Price1000(
        messages=round(messages / len(spent)),
        calls=round(each * len(spent), 1),
        tokens_in=round(each * sum(usage.tokens_in for _, usage, _ in spent)),
        tokens_out=round(each * sum(usage.tokens_out for _, usage, _ in spent)),
        cost=round(each * sum(usage.cost for _, usage, _ in spent), 4),
        seconds=round(each * sum(took for *_, took in spent), 1),
    )
