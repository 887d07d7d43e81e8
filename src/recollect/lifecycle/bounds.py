"""What the answers of a reader are worth: from where on a statement is in doubt, and until where
a rule of change is not heeded.

They are log-odds. ``LIKELY`` and ``LEAST`` are what ``python -m training.news.bounds`` prints, from
answers to texts that the network was not trained on; the other two were chosen around what it
prints, on the open sets.
"""

from __future__ import annotations

LIKELY = 2.55  # above it what is known is in doubt
LEAST = -3.27  # below it nothing is replaced for a word of change
LASTING = 0.5  # above it a sentence that no rule reads is kept as it was said
PASSING = -3.2  # below it for all sentences of a message what the rules read there is not kept
