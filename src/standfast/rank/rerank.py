"""Reranking: a model chooses among the candidates of a search. Pure: the question that is put to
it, and what becomes of its answer. It changes the order, or finds that nothing helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from standfast.models.prompts import as_data, render
from standfast.ports import Prompt
from standfast.rank.candidates import Candidate

TEXT_CHARACTERS_MAX = 600
QUESTION_CHARACTERS_MAX = 4000


def rerank_prompt(question: str, candidates: Sequence[Candidate], limit: int) -> Prompt:
    """The candidates go by number, so that no id has to be copied and none can be invented."""
    system, user = render(
        "rerank",
        limit=limit,
        question=as_data(question.strip()[:QUESTION_CHARACTERS_MAX]),
        memories=as_data("\n".join(_line(n, c) for n, c in enumerate(candidates, start=1))),
    )
    return Prompt(
        operation="rerank",
        system=system,
        user=user,
        schema=_schema(len(candidates), limit),
        tokens_max=20 + 4 * limit,
    )


def _line(number: int, candidate: Candidate) -> str:
    record = candidate.record
    text = " ".join(record.text.split())[:TEXT_CHARACTERS_MAX]
    who = f", {record.author}" if record.author else ""
    return f"{number}. [{record.at:%Y-%m-%d}, {record.type}{who}] {text}"


def _schema(most: int, limit: int) -> Mapping[str, Any]:
    number = {"type": "integer", "minimum": 1, "maximum": most}
    best = {"type": "array", "items": number, "maxItems": limit}
    return {
        "type": "object",
        "properties": {"best": best},
        "required": ["best"],
        "additionalProperties": False,
    }


def reordered(candidates: Sequence[Candidate], best: Sequence[int], model: str) -> list[Candidate]:
    """The chosen ones first, then the others as they were. The scores stay what they were as a
    whole: place by place, the new order gets the scores of the old, so a threshold means the
    same as before."""
    chosen = [candidates[number - 1] for number in dict.fromkeys(best)]
    ids = {candidate.record.id for candidate in chosen}
    rest = [candidate for candidate in candidates if candidate.record.id not in ids]
    scores = [candidate.score for candidate in candidates]
    for place, (candidate, score) in enumerate(zip([*chosen, *rest], scores, strict=True), start=1):
        if candidate.record.id in ids:
            candidate.add("rerank", score - candidate.score, f"place {place} by {model}")
        elif score != candidate.score:
            candidate.add("rerank", score - candidate.score, f"not chosen by {model}")
    return [*chosen, *rest]
