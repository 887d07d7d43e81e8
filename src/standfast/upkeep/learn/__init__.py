"""Learning: from what was said to what is known, in the background.

A session's cursor ``extract`` stands at the last message that was learned from. What lies behind
it is read by the network in the box or, where a model is configured, by one question for several
turns; what comes out is compared with what is known and written in the same commit that moves the
cursor. So two workers never learn the same twice, a killed one leaves nothing half done, and a
model that fails costs nothing but time.
"""

from __future__ import annotations

from standfast.upkeep.learn.lanes import AT_ONCE, DIGEST, LEARNED, ONBOARDING, READER
from standfast.upkeep.learn.round import LearnRound, learn_sessions, some_of

__all__ = [
    "AT_ONCE",
    "DIGEST",
    "LEARNED",
    "ONBOARDING",
    "READER",
    "LearnRound",
    "learn_sessions",
    "some_of",
]
