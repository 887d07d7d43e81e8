"""What the answers of a reader are worth: from where on a statement is in doubt, and until where
a rule of change is not heeded.

They are log-odds. ``LIKELY`` and ``LEAST`` are what ``python -m
training.news.bounds`` prints, from answers to texts that the network was not trained on; ``AGREED``
was chosen around what it prints, on the open sets and the totals of those that are held back.
"""

from __future__ import annotations

LIKELY = 1.98  # above it what is known is in doubt
AGREED = 1.2  # the same where the sum of what both have in common says so, too
LEAST = -3.12  # below it nothing is replaced for a word of change
