"""Learning without a model: which turns are worth it, and what they say.

Rules read statements about people, places, tastes, plans, decisions and corrections, and write
each as a sentence that stands on its own. They rather learn nothing than something wrong.
Everything here is pure and works on any text in linear time.
"""

from __future__ import annotations

from recollect.text.claims.claim import claim_in
from recollect.text.claims.gate import gate
from recollect.text.claims.reader import TurnReading, extract
from recollect.text.claims.values import Extraction, Gated

__all__ = ["Extraction", "Gated", "TurnReading", "claim_in", "extract", "gate"]
