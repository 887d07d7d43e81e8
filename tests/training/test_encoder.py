"""The multilingual base is read, cut and given parallel text as it should."""

from __future__ import annotations

import bz2
import struct
from pathlib import Path

import numpy as np
import pytest

from training.encoder import parallel, pieces, published

PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁a", -1.0), ("haus", -2.0)]


def packed_blocks(rows: int) -> bytes:
    """Blocks whose scale is 1 and whose weights are -8 in the low half and 7 in the high half."""
    block = np.float16(1).tobytes() + bytes([0xF0] * 16)
    return block * (rows * published.WIDTH // published.BLOCK)


def base_file(path: Path) -> Path:
    texts = [piece.encode() for piece, _ in PIECES]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in texts])])
    head = published.MAGIC + struct.pack("<i", 1) + struct.pack("<7ifi", *[0] * 7, 0.0, 0)
    head += struct.pack("<5i", len(PIECES), 0, 2, 1, 3)
    head += struct.pack("<Q", int(offsets[-1])) + struct.pack(f"<{len(PIECES) + 1}I", *offsets)
    head += struct.pack(f"<{len(PIECES)}f", *(score for _, score in PIECES)) + b"".join(texts)
    head += struct.pack("<iI", 0, 0) + struct.pack("<i", 2)
    table, bias = packed_blocks(len(PIECES)), np.arange(4, dtype=np.float32).tobytes()
    size = len(PIECES) * published.WIDTH
    entries = ((published.WORDS, size, table), ("emb.ln.b", 4, bias))
    where = len(head) + sum(2 + len(name) + struct.calcsize("<BIQQ") for name, _, _ in entries)
    body = b""
    for name, numbers, raw in entries:
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", 0, numbers, where + len(body), len(raw))
        body += raw
    path.write_bytes(head + body)
    return path


def test_the_base_is_read_and_cut(tmp_path: Path) -> None:
    found = published.read(base_file(tmp_path / "base.bin"))
    assert found.pieces == PIECES
    assert found.tensors["emb.ln.b"].tolist() == [0, 1, 2, 3]
    cut = published.kept(found, np.array([0, 1, 2, 3, 5]))
    table = published.unpacked(cut[published.WORDS].astype(np.uint8)).reshape(-1, published.WIDTH)
    assert table.shape == (5, published.WIDTH)
    assert set(table[0, :16]) == {-8.0}
    assert set(table[0, 16:32]) == {7.0}


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"onnx")
    with pytest.raises(ValueError, match="E5S1"):
        published.read(tmp_path / "x.bin")


def test_a_piece_stays_for_the_language_that_needs_it_most() -> None:
    names = ["<s>", "<pad>", "</s>", "<unk>", "▁the", "▁haus", "x", "▁rare"]

    def split(texts: list[str]) -> list[list[int]]:
        return [[names.index(word) for word in text.split()] for text in texts]

    english = pieces.shares(split, len(names), ["▁the ▁the ▁rare"])  # type: ignore[arg-type]
    german = pieces.shares(split, len(names), ["▁haus", "▁the"], [9.0, 1.0])  # type: ignore[arg-type]
    assert german[5] == pytest.approx(0.9)
    kept = pieces.best(names, [(english, english), (german, german)], 7)
    assert kept.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_paragraphs_of_a_description_meet_their_translations(tmp_path: Path) -> None:
    def entry(language: str, title: str, *lines: str) -> str:
        body = "\n".join(f" {line}" for line in lines)
        return f"Package: x\nDescription-md5: abc\nDescription-{language}: {title}\n{body}"

    english = entry(
        "en", "A game about ancient wars", "It is played alone.", ".", "Or together with others."
    )
    german = entry(
        "de", "Ein Spiel über alte Kriege", "Man spielt allein.", ".", "Oder mit anderen zusammen."
    )
    for language, text in (("en", english), ("de", german)):
        (tmp_path / f"sid-{language}.bz2").write_bytes(bz2.compress(text.encode()))
    (store,) = parallel.stores(tmp_path)
    assert store.source == "parallel-de"
    # The first store of a language is asked in that language, and tells in English.
    told = {turn.text for turn in store.sessions[0]}
    assert told == {"A game about ancient wars", "It is played alone.", "Or together with others."}
    asked = {one.text for one in store.questions}
    assert asked == {
        "Ein Spiel über alte Kriege",
        "Man spielt allein.",
        "Oder mit anderen zusammen.",
    }
    for one in store.questions:
        (place,) = one.evidence
        both = {one.text, store.sessions[0][place.turn].text}
        assert both in (
            {"A game about ancient wars", "Ein Spiel über alte Kriege"},
            {"It is played alone.", "Man spielt allein."},
            {"Or together with others.", "Oder mit anderen zusammen."},
        )
