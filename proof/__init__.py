"""The promises, tried at length: ``make proof``. Each family of trials is seeded, resumable and
shown to be able to fail. Figures accumulate per commit; ``docs/reference/proofs.md`` is written
from them."""
