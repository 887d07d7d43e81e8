"""Learning without a model: which turns are worth it, and what they say.

Rules read statements about people, places, tastes, plans, decisions and corrections, and write
each as a sentence that stands on its own. They rather learn nothing than something wrong.
Everything here is pure and works on any text in linear time.
"""

from __future__ import annotations

from recollect.text.claims.gate import gate
from recollect.text.claims.lessons import Extraction, Gated
from recollect.text.claims.reader import TurnReading, claim_in, extract

__all__ = ["Extraction", "Gated", "TurnReading", "claim_in", "extract", "gate"]
