"""Ways to set standfast up that are measured beside each other: the ablation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from evaluation.asking import Variant
from standfast.errors import Invalid
from standfast.profiles import Profile, profile_named
from standfast.rank.stages import STAGES

EACH = "each"


def variants_of(
    profile: str, stages: str | None, without: Sequence[str], changes: Sequence[str]
) -> list[Variant]:
    """First the one to measure, then the others, which are compared with it."""
    chosen = profile_named(profile)
    base = Variant()
    running = chosen.stages
    if stages is not None:
        running = tuple(stage for stage in stages.split(",") if stage)
        _check(running, tuple(STAGES))
        base = Variant(name=f"stages {','.join(running)}", changes={"stages": running})
    left_out = list(running) if EACH in without else list(dict.fromkeys(without))
    _check(left_out, running)
    ablated = [
        Variant(
            name=f"without {stage}",
            changes={"stages": tuple(one for one in running if one != stage)},
        )
        for stage in left_out
    ]
    changed = [_changed(text, dict(base.changes)) for text in changes]
    return [base, *ablated, *changed]


def _check(stages: Sequence[str], known: Sequence[str]) -> None:
    for stage in stages:
        if stage not in known:
            raise Invalid(f"there is no stage {stage!r} here; choose from {', '.join(known)}")


def _changed(text: str, base: dict[str, Any]) -> Variant:
    name, equals, value = text.partition("=")
    known = {field.name for field in fields(Profile)}
    if not equals or name not in known:
        raise Invalid(f"--set {text!r}: write FIELD=JSON with a field of the profile")
    try:
        parsed = json.loads(value)
    except ValueError as error:
        raise Invalid(f"--set {text!r}: the value is not JSON: {error}") from error
    if isinstance(parsed, list):
        parsed = tuple(parsed)
    return Variant(name=text, changes={**base, name: parsed})
