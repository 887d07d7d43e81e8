"""Who judges what new statements do to known ones: the network in the box, where it can run."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from standfast.models.local import box
from standfast.settings import Settings
from standfast.understanding.judging.judge import ChangeJudge
from standfast.wiring.reader import why_no_network


def why_no_judge() -> str:
    """Why no network can run here, in one line; "" if one can. Its files are looked at only when
    they are loaded."""
    return why_no_network(box.JUDGE)


def judge_for(settings: Settings) -> ChangeJudge:
    from standfast.understanding.judging.network import NetworkJudge, network_in

    folder = box.place() or Path()
    return NetworkJudge(lambda: network_in(folder, settings.model_threads))


@cache
def boxed_judge() -> ChangeJudge:
    """For whoever measures: one for all of the process, on one thread."""
    return judge_for(replace(Settings(), model_threads=1))
