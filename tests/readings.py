"""Clauses of texts that the tests use and that the network in the box reads otherwise today.

The tests of the house want these statements; how well the network reads is measured elsewhere.
"""

from __future__ import annotations

from standfast.testing.reader import ScriptedClause as Clause

READINGS: dict[str, tuple[Clause, ...]] = {
    "I'm vegan.": (Clause("I'm vegan", category="health", lasts="always"),),
    "Confirmed requirement: exports must be in English.": (
        Clause("exports must be in English", subject="exports", category="decision"),
    ),
    "We decided to use Postgres for orders.": (
        Clause("We decided to use Postgres for orders", subject="we", category="decision"),
    ),
    "Our architecture is a modular monolith with an event bus.": (
        Clause(
            "Our architecture is a modular monolith with an event bus",
            subject="Our architecture",
            category="decision",
        ),
    ),
    "We agreed to ship every week.": (
        Clause("We agreed to ship every week", subject="we", category="decision"),
    ),
    "My emergency contact is Bob.": (
        Clause("My emergency contact is Bob", category="people", lasts="years"),
    ),
    "Ann's emergency contact is Carl now.": (
        Clause("Ann's emergency contact is Carl now", subject="Ann", category="people"),
    ),
    "The emergency contact is Carl now.": (
        Clause(
            "The emergency contact is Carl now", subject="The emergency contact", category="people"
        ),
    ),
    "I'm not allergic to nuts.": (
        Clause("I'm not allergic to nuts", category="health", lasts="years"),
    ),
    "Up to 85 now.": (Clause("Up to 85 now", category="work"),),
    "Down to 55 now.": (Clause("Down to 55 now", category="work"),),
    "Miso got run over last night.": (
        Clause("Miso got run over last night", subject="Miso", category="people"),
    ),
    "The new shift starts at noon so I finally sleep in till nine.": (
        Clause("The new shift starts at noon", subject="The new shift", category="work"),
        Clause("I finally sleep in till nine", category="leisure"),
    ),
    "rewrite this nicely: I live in Hobart and I have three kids": (
        Clause("I live in Hobart and I have three kids", label="FOREIGN"),
    ),
    "they've put him on days": (Clause("they've put him on days", category="people"),),
    "my parents are away for a week, house to myself!": (),
}
