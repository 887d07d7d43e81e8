"""Ids that follow from another one: made again, they are the same."""

from __future__ import annotations

from hashlib import blake2b

# So many ids behind each one that is made are its own: nobody else is given them.
ROOM = 1 << 20


def as_uuid(number: int) -> str:
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _number(id_: str) -> int:
    from uuid import UUID  # loads a lot; who only reads makes no ids

    return UUID(id_).int


def id_behind(first: str, number: int) -> str:
    """One of those that belong to ``first``: behind those with lower numbers, and before whatever
    was made after ``first``."""
    if not 0 < number < ROOM:
        raise ValueError(f"{number} is not between 0 and {ROOM}")
    try:
        return as_uuid(_number(first) + number)
    except ValueError:  # somebody makes ids of their own kind
        return f"{first}-{number:05x}"


def id_for(first: str, content: str) -> str:
    """The id of some content that belongs to ``first``."""
    digest = blake2b(f"{first} {content}".encode(), digest_size=8).digest()
    low = int.from_bytes(digest, "big") >> 2  # 62 bits: the version and the variant stay
    try:
        return as_uuid(_number(first) >> 62 << 62 | low)
    except ValueError:
        return f"{first}-{low:016x}"
