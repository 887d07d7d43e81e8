"""How quickly texts become vectors: the local model beside a plain float32 loop."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.peers.float32 import QUERIES
from bench.peers.running import Done, MeasuringError, Run, process
from bench.peers.venvs import InstallError, python_of
from bench.texts import Corpus
from bench.timing import Times
from standfast.errors import StandfastError
from standfast.models.providers.minilm import sources, weights
from standfast.wiring.models import model_folder

KEY = "embedding"
THREADS = 2


def measure(run: Run, count: int) -> None:
    if KEY in run.done or run.is_late:
        return
    run.say(f"embedding {count:,} texts")
    try:
        run.keep(KEY, _measured(run, count))
    except (InstallError, MeasuringError, StandfastError, OSError) as error:
        run.say(f"  not measured: {error}")
        run.keep(KEY, {"error": str(error)[:300]})


def _measured(run: Run, count: int) -> Done:
    ready = weights.status(model_folder("minilm"))
    if not ready.ready:
        raise MeasuringError(ready.detail)
    published = _published(run)
    python = python_of("onnxruntime", run.folder / "venvs", run.say)
    texts = [text for _, chunk in Corpus().records(0, count, 1000) for text in chunk.texts]
    threads = min(THREADS, os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(dir=run.folder) as desk:
        told = {"texts": texts, "model": str(published), "threads": threads}
        files = [str(Path(desk) / name) for name in ("ours.npy", "plain.npy")]
        ours = process(
            Path(sys.executable), "bench.peers.embedding", {**told, "vectors": files[0]}, None
        )
        plain = process(python, "bench.peers.float32", {**told, "vectors": files[1]}, Path(desk))
        cosines = (np.load(files[0]) * np.load(files[1])).sum(axis=1)
    return {
        "ours": {**ours, "tokens": ours["texts"] / plain["texts"] * plain["tokens"]},
        "plain": plain,
        "count": count,
        "words": sum(len(text.split()) for text in texts) / count,
        "threads": threads,
        "cosine": float(cosines.mean()),
        "cosine_min": float(cosines.min()),
    }


def _published(run: Run) -> Path:
    """The weights as they were published; fetched once, checked by hash."""
    folder = run.folder / "model"
    if not all((folder / name).exists() for name in sources.NAMES):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=run.folder) as scratch:
            found, _ = sources.fetch(Path(scratch), None, run.say, weights.check_published)
            for name, path in found.items():
                path.replace(folder / name)
    return folder


async def _ours(told: dict[str, Any]) -> dict[str, Any]:
    from standfast.models.providers.minilm.model import MiniLmEmbedder

    embedder = MiniLmEmbedder(model_folder("minilm"), threads=told["threads"])
    texts: list[str] = told["texts"]
    await embedder.embed(texts[:32])
    whole, query = Times(), Times()
    for _ in range(2):
        with whole.one():
            vectors = await embedder.embed(texts)
    for text in texts[:QUERIES]:
        with query.one():
            await embedder.embed([text[:60]])
    np.save(told["vectors"], np.asarray(vectors, dtype=np.float32))
    return {"texts": len(texts) / min(whole.seconds), "query": query.median}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_ours(json.load(sys.stdin)))))
