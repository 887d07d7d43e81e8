"""How far a similarity stands out from the others; one formula for every store."""

from __future__ import annotations

from standfast.types.frozen import frozen

# What similarities are taken to be before any are seen; as good as so many seen.
USUAL_SIMILARITY = 0.1
USUAL_DEVIATION = 0.1
SEEN_BEFORE = 30


@frozen(kw_only=False)
class Spread:
    """How similarities to a query are spread over what it can find: the average and the
    standard deviation, kept sane where there are few."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, count: int, total: float, squares: float) -> Spread:
        """From how many there are, their sum and the sum of their squares."""
        usual_square = USUAL_SIMILARITY**2 + USUAL_DEVIATION**2
        weight = count + SEEN_BEFORE
        mean = (total + SEEN_BEFORE * USUAL_SIMILARITY) / weight
        square = (squares + SEEN_BEFORE * usual_square) / weight
        return cls(mean, max(square - mean * mean, 1e-6) ** 0.5)

    def lift(self, similarity: float) -> float:
        return (similarity - self.mean) / self.deviation
