"""Turns scored together with their neighbours, for a few rows of an index."""

from __future__ import annotations

import numpy as np

from standfast.index.derived import hash_of
from standfast.index.neighbours import AFTER, BEFORE, PAUSE_SECONDS, WORDS_MAX
from standfast.index.postings import distinct
from standfast.index.scope import Array, Vectors
from standfast.index.scoring import Parts, Probe, Share, Words
from standfast.index.turns import NONE
from standfast.text import analysis
from standfast.types.frozen import frozen

_WEIGHTS = np.array([*BEFORE, *AFTER])
_PAUSE = PAUSE_SECONDS * 1_000_000


@frozen(kw_only=False)
class Surroundings:
    """Each row's neighbours, in columns like ``_WEIGHTS``; NONE where there is none."""

    rows: Array
    others: Array  # rows by places
    shares: Array  # what each neighbour counts; 0 where there is none
    present: Array  # the weights of the places that are taken


def surroundings(share: Share, rows: Array) -> Surroundings:
    turns, alive = share.index.turns, share.alive
    if not turns.any_of(rows):
        return _no_neighbours(rows)
    columns: list[Array] = []
    for step, places in ((turns.before, len(BEFORE)), (turns.after, len(AFTER))):
        last = rows
        for _ in range(places):
            other = step(last, alive)
            other = np.where((other != NONE) & (turns.pause(last, other) <= _PAUSE), other, NONE)
            columns.append(other)
            last = other
    others = np.stack(columns, axis=1)
    there = others != NONE
    talk = (there & ~turns.same_voice(rows[:, None], others)).any(axis=1)
    others = np.where(talk[:, None], others, NONE)
    present = np.where(others != NONE, _WEIGHTS, 0.0)
    words = np.maximum(share.index.column("words")[others], 1)
    return Surroundings(rows, others, present * np.minimum(1.0, WORDS_MAX / words), present)


def _no_neighbours(rows: Array) -> Surroundings:
    shape = (len(rows), len(_WEIGHTS))
    return Surroundings(rows, np.full(shape, NONE), np.zeros(shape), np.zeros(shape))


def near_rows(share: Share, rows: Array) -> Array:
    """These rows, which pass, and all that have one of them as a neighbour, as far as they do."""
    turns, alive = share.index.turns, share.alive
    if not turns.any_of(rows):
        return rows
    found = [rows]
    for step, places in ((turns.after, len(BEFORE)), (turns.before, len(AFTER))):
        last = rows
        for _ in range(places):
            last = step(last, alive)
            found.append(last)
    pool = distinct(np.concatenate(found))
    pool = pool[pool != NONE]
    pool = pool[share.passing[pool]]
    others = surroundings(share, pool).others
    wanted = np.zeros(share.index.size, dtype=bool)
    wanted[rows] = True
    near: Array = pool[wanted[pool] | ((others != NONE) & wanted[others]).any(axis=1)]
    return near


def keyword_around(share: Share, words: Words, around: Surroundings) -> Array:
    """BM25 of every row together with its neighbours, in the very steps of ``analysis.bm25``."""
    assert share.keyword is not None
    if not around.present.any():
        return share.keyword[around.rows]
    lengths = share.index.column("words")
    length = lengths[around.rows] + (around.shares * lengths[around.others]).sum(axis=1)
    usual = words.average + around.present.sum(axis=1) * min(words.average, WORDS_MAX)
    norm = analysis.K1 * (1 - analysis.B + analysis.B * length / np.where(usual > 0, usual, 1.0))
    scores = np.zeros(len(around.rows))
    for weight, parts in zip(words.weights, share.found, strict=True):
        own = _counts(parts, around.rows)
        others = _counts(parts, around.others.reshape(-1)).reshape(around.others.shape)
        frequency = own + (around.shares * others).sum(axis=1)
        held = frequency > 0
        scores[held] += (weight * frequency * (analysis.K1 + 1) / (frequency + norm))[held]
    return scores


def _counts(parts: Parts, rows: Array) -> Array:
    """How often each row holds a word."""
    counts = np.zeros(len(rows))
    for owners, times in parts:
        if len(owners):
            place = np.minimum(owners.searchsorted(rows), len(owners) - 1)
            held = owners[place] == rows
            counts[held] = times[place[held]]
    return counts


def after_question(share: Share, around: Surroundings) -> Array:
    """Whether the turn just before each row asks."""
    asking = list(share.index.postings.find(hash_of(analysis.QUESTION)))
    asked: Array = _counts(asking, around.others[:, 0]) > 0
    return asked


def similarity_around(
    probe: Probe, vectors: Vectors, around: Surroundings, size: int
) -> tuple[Array, Array]:
    """What the neighbours add: the sum of their products, weighed, and the sum of weights.
    About: vectors in one byte per number."""
    flat = around.others.reshape(-1)
    held = (flat != NONE) & vectors.held[flat]
    rows = distinct(flat[held])
    products = np.zeros(len(flat))
    products[held] = probe.products(vectors, rows, size)[rows.searchsorted(flat[held])]
    shares = np.where(held.reshape(around.others.shape), around.shares, 0.0)
    return (shares * products.reshape(shares.shape)).sum(axis=1), shares.sum(axis=1)
