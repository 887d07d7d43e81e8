"""From an embedder's numbers to stored vectors, trusting nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from struct import unpack

from standfast.errors import Unavailable
from standfast.types import Record, Vector

# What an adapter writes where it knows only the role of a speaker.
_NOBODY = frozenset(("user", "assistant", "system", "tool", "human", "ai"))


def packed(rows: Sequence[Sequence[float]], count: int, dimensions: int) -> list[Vector]:
    """Normalised little-endian float32, one per text; all zero where the text says nothing to
    the embedder. Raises Unavailable if the embedder broke its promise."""
    import numpy as np  # here, because importing standfast must stay cheap

    try:
        matrix = np.asarray(rows, dtype="<f4")
    except (TypeError, ValueError) as error:
        raise Unavailable(f"the embedder did not answer with numbers: {error}") from None
    if matrix.shape != (count, dimensions):
        raise Unavailable(
            f"the embedder answered with shape {matrix.shape} instead of {(count, dimensions)}"
        )
    if not np.isfinite(matrix).all():
        raise Unavailable("the embedder answered with numbers that are not finite")
    norms = np.sqrt(np.add.reduce(matrix * matrix, axis=1))
    whole = (matrix / np.where(norms > 0, norms, 1)[:, None]).astype("<f4").tobytes()
    size = 4 * dimensions
    return [whole[size * row : size * (row + 1)] for row in range(count)]


def embedding_text(record: Record) -> str:
    """What a record means: a turn means what somebody said, if it is known who."""
    if record.type == "turn" and record.author and is_name(record.author):
        return f'{record.author} said, "{record.text}"'
    return record.text


def is_name(author: str) -> bool:
    """Somebody in particular, not merely a role."""
    return author.casefold() not in _NOBODY


def says_nothing(vector: Vector) -> bool:
    return not any(vector)


def weighed_sum(vector: Vector, weights: Sequence[float]) -> float:
    """Of the numbers of a vector brought to length one."""
    values: tuple[float, ...] = unpack(f"<{len(vector) // 4}f", vector)
    length = math.hypot(*values) or 1.0
    return sum(one * weight for one, weight in zip(values, weights, strict=True)) / length


def cosines(vector: Vector | None, others: Mapping[str, Vector | None]) -> dict[str, float]:
    """How similar each is that has a vector; nothing without one to compare with."""
    held = {name: other for name, other in others.items() if other is not None}
    if vector is None or not held:
        return {}
    import numpy as np

    matrix = np.frombuffer(b"".join(held.values()), dtype="<f4").reshape(len(held), -1)
    found = matrix @ np.frombuffer(vector, dtype="<f4")
    return dict(zip(held, found.tolist(), strict=True))
