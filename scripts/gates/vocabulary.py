"""Vocabulary gate: every word of a name stands in an English word list or on the vocabulary page.

Names are those of modules, classes and public functions, split at ``_`` and capitals. A bare
participle or preposition is no name. Today's offenders stand in one file that may only shrink.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from scripts.gates.project import ROOT, SOURCE, nodes_of, python_files

PAGE = ROOT / "docs" / "reference" / "vocabulary.md"
OFFENDERS = ROOT / "tests" / "architecture" / "vocabulary_offenders.txt"
OWN_WORDS_MAX = 30
OWN, FIELD = "Our own words", "Terms of the field"

PREPOSITIONS = frozenset(
    """about above across after against along amid among anew apart around aside at away before
    behind below beneath beside besides between beyond by down during except for from in inside into
    near of off on onto out outside over past since through till to together toward towards under
    until up upon with within without""".split()
)
IRREGULAR_PARTICIPLES = frozenset(
    """been begun born bought bound broken brought built caught chosen come done drawn driven eaten
    fallen felt forgotten fought found given gone gotten grown heard held hidden kept known laid
    learnt left lent lost made meant met paid ridden risen said seen sent shaken shown sold sought
    spent spoken stolen stood struck sworn taken thought thrown told torn understood woken won worn
    written""".split()
)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def words_of(name: str) -> list[str]:
    """The words of an identifier in lower case; single letters and digits are no words."""
    return [word.lower() for word in WORD.findall(name) if len(word) > 1]


@cache
def english() -> frozenset[str]:
    """The English list of pyspellchecker: words with their inflections."""
    from spellchecker import SpellChecker  # a tool of `make check` alone

    return frozenset(SpellChecker(language="en").word_frequency.dictionary)


@cache
def listed(heading: str, page: Path = PAGE) -> frozenset[str]:
    """The words of the first column of the table under a heading of the vocabulary page."""
    section = page.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [row.split("|")[1].strip() for row in section.splitlines() if row.startswith("| ")]
    return frozenset(word for row in rows[1:] for word in row.replace("`", "").lower().split())


def accepted(word: str) -> bool:
    return word in english() or word in listed(FIELD) or word in listed(OWN)


def is_bare(name: str) -> bool:
    """A whole name that is a preposition or a participle: it does not say what the thing is."""
    found = words_of(name)
    if len(found) != 1:
        return False
    word = found[0]
    return word in PREPOSITIONS or word in IRREGULAR_PARTICIPLES or _is_regular_participle(word)


def _is_regular_participle(word: str) -> bool:
    if not word.endswith("ed") or word.endswith("eed") or word in listed(FIELD):
        return False
    stems = {word[:-2], word[:-1], word[:-3]}
    return any(len(stem) > 2 and stem in english() for stem in stems)


def names_in(path: Path, source: Path = SOURCE) -> set[str]:
    """The module's own name, its classes and its public functions and methods."""
    module = path.parent.name if path.name == "__init__.py" else path.stem
    found = {module} if path.parent != source or path.name != "__init__.py" else set()
    for node in nodes_of(path):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
    return {name for name in found if not name.startswith("_")}


def is_offender(name: str) -> bool:
    return is_bare(name) or not all(accepted(word) for word in words_of(name))


def offenders(source: Path = SOURCE) -> set[str]:
    found = {name for path in python_files(source) for name in names_in(path, source)}
    return {name for name in found if is_offender(name)}


def known_offenders() -> set[str]:
    return set(OFFENDERS.read_text("utf-8").split()) if OFFENDERS.exists() else set()


def problems() -> list[str]:
    now, known = offenders(), known_offenders()
    found = [
        f"name {name!r}: use a word of the field, or define it in {PAGE.relative_to(ROOT)}"
        for name in sorted(now - known)
    ]
    found += [
        f"{name!r} is no offender any more: take it off {OFFENDERS.relative_to(ROOT)}"
        for name in sorted(known - now)
    ]
    if len(listed(OWN)) > OWN_WORDS_MAX:
        found.append(f"{len(listed(OWN))} words of our own: at most {OWN_WORDS_MAX} are allowed")
    return found


def tighten() -> None:
    """Take what is no offender any more off the list; the first time, write the list."""
    kept = offenders() & known_offenders() if OFFENDERS.exists() else offenders()
    OFFENDERS.write_text("".join(f"{name}\n" for name in sorted(kept)), "utf-8")
