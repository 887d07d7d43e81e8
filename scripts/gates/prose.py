"""Prose gate: sentences of README and docs that are long, and words that only this project uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from scripts.gates.project import ROOT

WORDS_MAX = 30  # of a sentence
# Of a page a reader meets; the record of decisions and generated tables are not counted.
PAGES = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/**/*.md")
LEFT_OUT = ("docs/adr/", "docs/reference/requirements.md", "docs/reference/vocabulary.md")
# private word -> the plain one
PRIVATE = {
    "anew": "again",
    "by itself": "automatically",
    "whoever": "anyone who",
    "whatever is told": "what is said",
    "waits for you": "needs review",
    "is away": "is not running",
    "nobody else": "no other",
    "near misses": "omitted",
    "upkeep": "maintenance",
    "packet": "context",
    "packets": "contexts",
    "arms": "retrievers",
    "keepsakes": "verbatim facts",
    "is told of": "learns of",
    "is told": "learns",
    "what was told": "what was said",
    "one's": "your",
    "tellings": "statements",
}
CODE = re.compile(r"```.*?```|`[^`\n]*`|<[^>\n]+>", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z\"(*])")


def pages(root: Path = ROOT) -> list[Path]:
    found = {path for pattern in PAGES for path in root.glob(pattern)}
    return sorted(path for path in found if not str(path.relative_to(root)).startswith(LEFT_OUT))


def plain(text: str) -> str:
    """The running text of a page: no code, tables, headings or addresses."""
    text = LINK.sub(r"\1", CODE.sub(" x ", text))
    lines = text.splitlines()
    kept = ["" if line.lstrip().startswith(("|", "#", "---")) else line for line in lines]
    return "\n".join(kept)


def sentences(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", plain(text)):
        for sentence in END.split(" ".join(block.split())):
            if sentence.strip():
                yield sentence.strip()


def long_sentences(text: str) -> list[str]:
    return [one for one in sentences(text) if len(re.findall(r"[^\W\d_]+", one)) > WORDS_MAX]


def private_words(text: str) -> list[str]:
    folded = plain(text).lower()
    return [word for word in PRIVATE for _ in re.finditer(rf"\b{re.escape(word)}\b", folded)]


def counts(root: Path = ROOT) -> dict[str, int]:
    texts = [path.read_text("utf-8") for path in pages(root)]
    return {
        "long_sentences": sum(len(long_sentences(text)) for text in texts),
        "private_words": sum(len(private_words(text)) for text in texts),
    }
