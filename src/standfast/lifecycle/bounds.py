"""What the answers of a reader are worth: from where on a statement is in doubt, and until where
a rule of change is not heeded.

They are log-odds. ``LIKELY``, ``LEAST``, ``OWN`` and ``SHOWN`` are what ``python -m
training.news.bounds`` prints, from answers to texts that the network was not trained on; the others
were chosen around what it prints, on the open sets and the totals of those that are held back.
"""

from __future__ import annotations

LIKELY = 1.98  # above it what is known is in doubt
AGREED = 1.2  # the same where the sum of what both have in common says so, too
LEAST = -3.12  # below it nothing is replaced for a word of change
LASTING = 1.0  # above it a sentence that no rule reads is kept as it was said
LASTING_REPLY = -2.0  # the same for what is said to something that somebody else said
SURELY_LASTING = 1.4  # above it also one that some rule takes for a question, a task or a moment
MAY_LAST = 0.0  # and it stands in a sentence that is above this
NO_CORRECTION = -2.5  # below it what was just said is not corrected, whatever the form of words
OWN = 1.93  # above it a passage is the speaker's own, though a rule takes it for something shown
SHOWN = -0.65  # below it a passage is only shown, though no rule sees that
PASSING = -3.2  # below it for all sentences of a message what the rules read there is not kept
