"""No private vocabulary: a house word in the name of a class or module is in the glossary."""

from __future__ import annotations

import ast
import re

from tests.architecture.source import PACKAGE, PROJECT, files_below, name_of, nodes_of

# Words that mean something here which they do not mean elsewhere.
HOUSE_WORDS = frozenset(
    """arm batch breaker burial candidate careful claim clause consent cursor decay desk dialect
    dispute door draft embedder episode evidence finding fold gate ground heard hit intake item
    journal lane lease ledger lesson lineage lore mark misfit packet patience portrait postings
    practice procedure profile proposal receipt record redactor root round scope session shape sign
    slot source space speaker spread stage surroundings survey survivor tally tombstone touch trust
    turn upkeep verdict wish workbook workspace worth""".split()
)


def used() -> dict[str, str]:
    """House word -> where a name of the source has it."""
    found: dict[str, str] = {}
    for path in files_below(PACKAGE):
        names = [name_of(path).rpartition(".")[2]]
        names += [node.name for node in nodes_of(path) if isinstance(node, ast.ClassDef)]
        for name in names:
            for word in re.findall(r"[A-Z]?[a-z]+", name):
                for form in (word.lower(), word.lower().removesuffix("s")):
                    found.setdefault(form, f"{path.relative_to(PROJECT)}: {name}")
    return {word: place for word, place in found.items() if word in HOUSE_WORDS}


def defined() -> set[str]:
    """The words of the glossary; a profile of a scope defines "profile" too."""
    rows = (PROJECT / "docs/reference/glossary.md").read_text("utf-8").splitlines()
    entries = [row.split("|")[1].strip() for row in rows if row.startswith("| ")]
    return {entry.partition(" (")[0] for entry in entries}


def test_every_house_word_in_a_name_is_in_the_glossary() -> None:
    missing = {word: place for word, place in used().items() if word not in defined()}
    assert not missing, "say in docs/reference/glossary.md what these mean, or use a plain word"
    assert len(used()) > 40


def test_the_glossary_is_in_order_and_says_each_word_once() -> None:
    rows = (PROJECT / "docs/reference/glossary.md").read_text("utf-8").splitlines()
    entries = [row.split("|")[1].strip() for row in rows if row.startswith("| ")][1:]
    assert entries == sorted(set(entries))
