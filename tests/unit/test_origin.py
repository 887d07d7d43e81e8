"""Every word of a learned text comes from a message, in its order, or from one named edit."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from standfast import Memory
from standfast.interfaces.http.metrics import learning_lines
from standfast.text.origin import as_quoted, as_said, paraphrase, trace
from standfast.text.origin.words import tokens
from standfast.types import Message, Record

AT = datetime(2026, 10, 5, 10, 0, tzinfo=UTC)


def message(text: str, number: int = 1, author: str = "Ann", role: str = "user") -> Message:
    return Message(
        id=f"m{number}", scope="user:x", session="s", role=role, text=text, at=AT, author=author,
        seq=number,
    )  # type: ignore[arg-type]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said", "runs"),
    [
        ("Ann lives in Bonn.", "I live in Bonn!", ["person 1 0:0-0", "tense 1 0:1-1", "0:2-3"]),
        (
            "Ann works at Siemens.",
            "I live in Bonn and work at Siemens",
            ["person 1 0:0-0", "tense 1 0:5-5", "0:6-7"],
        ),
        (
            "Ann moved to Rome in September 2026.",
            "I moved to Rome last month.",
            ["person 1 0:0-0", "0:1-3", "date 3 0:4-5"],
        ),
        ('Ann: "We keep bees."', "Well, we keep bees.", ["frame 1", "0:1-3"]),
        ('Ann asks: "我住在杭州。"', "我住在杭州。", ["frame 2", "0:0-4"]),
    ],
)
def test_words_are_traced(text: str, said: str, runs: Sequence[str]) -> None:
    found = trace(text, [message(said)])
    assert found.fault == ""
    assert found.as_data() == runs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Mia is allergic to just.", "Mia eats fish though, just not shellfish."),
        ("Ann drinks.", "I don't smoke and drink."),
        ("Ann lives in Bonn.", "I don't live in Bonn."),
        ("Ann lives in Bonn.", "I don't think I live in Bonn."),
        ("Ann lives in Bonn.", "If I get the job, I live in Bonn."),
        ("Ann lives in Bonn.", "I might live in Bonn."),
        ("Ann lives in Bonn.", "Eva says I live in Bonn."),
        ("Ann's sister lives in Bonn.", "A friend of my sister lives in Bonn."),
        ("Bob likes coffee.", "Bob likes tea and Eva likes coffee."),
        ("Ann lives in Bonn.", "You live in Bonn."),
        ("Ann moved to Rome in August 2026.", "I moved to Rome last month."),
        ('Ann said: "I live in Bonn."', "I don't think that I live in Bonn."),
        ('Ann said: "Our CTO is Ola stepped down."', "Ola stepped down, Henrik is CTO."),
        ('Bob said: "I live in Bonn."', "I live in Bonn."),
        ('Ann said: "I am vegan."', "vegan here"),
        ('Ann said: "wohne in Bonn."', "Ich glaube nicht, wenn ich nicht wohne in Bonn."),
        ('Ann said: "in Bonn wohne."', "Ich glaube nicht dass ich in Bonn wohne."),
    ],
)
def test_what_nobody_said_has_no_origin(text: str, said: str) -> None:
    assert trace(text, [message(said)]).fault


def test_a_pronoun_means_what_the_same_person_named() -> None:
    said, name = message("No, it's Smyth.", 2), message("My surname is Smith.", 1)
    found = trace("Ann's surname is Smyth.", [said], before=[name])
    assert found.as_data() == ["pronoun 3 1:0-1", "tense 1 0:2-2", "0:3-3"]
    other = message("My surname is Smith.", 1, author="Bob")
    assert trace("Ann's surname is Smyth.", [said], before=[other]).fault


def test_an_answer_is_quoted_with_its_question() -> None:
    asked = message("Nice. How old is your dog?", 1, author="", role="assistant")
    said = message("he is 9!", 2)
    found = trace('Ann, asked "How old is your dog?": "he [your dog] is 9"', [said], [asked])
    assert found.as_data() == [
        "frame 2", "question 5 0:1-5", "1:0-0", "pronoun 2 0:4-5", "1:1-2",
    ]  # fmt: skip
    assert trace('Ann, asked "How big is your dog?": "he is 9"', [said], [asked]).fault
    assert trace('Ann: "he [Ann\'s cat] is 9"', [said], [asked]).fault


def test_what_stands_in_another_clause_is_not_left_out() -> None:
    said = message("No more than one question at a time pls i get muddled since May")
    text = 'Ann: "i get muddled since May"'
    assert trace(text, [said]).fault
    assert trace(text, [said], clauses=((0, 39), (40, 63))).fault == ""


@pytest.mark.parametrize(
    ("said", "text", "exact"),
    [
        ("bicycle number 0 is red", "Bicycle number 0 is red.", "bicycle number 0 is red"),
        ("Hm. we keep bees! Really.", "We keep bees.", "we keep bees!"),
        ("It costs 5%, here", "It costs 5.", "It costs 5%"),
        ("we pay £5 a month", "£5 a month.", "£5 a month"),
        ("我住在杭州。", "我住在杭州", "我住在杭州。"),
    ],
)
def test_a_quotation_is_exactly_what_was_said(said: str, text: str, exact: str) -> None:
    other = message("No bees.", 1)
    assert as_quoted(f'Ann: "{text}"', [other, message(said, 2)]) == f'Ann: "{exact}"'
    assert as_quoted(f'Ann: "{text}"', [other]) == f'Ann: "{text}"'


def test_a_model_may_paraphrase_and_not_misquote() -> None:
    said = [message("I'd rather have tea than coffee.")]
    assert paraphrase("Ann prefers tea.", said).as_data() == ["paraphrase 3"]
    assert paraphrase('Ann wrote "rather have tea" once.', said).fault == ""
    assert paraphrase('Ann wrote "rather have coffee" once.', said).fault


def test_what_is_kept_as_said_always_has_an_origin() -> None:
    for text in ('He said "no" and "yes".', "  a\nb\n", "I'm off :) http://x.y/z?a=1", "9", "好。"):
        kept = as_said(message(text), "something else")
        assert trace(kept, [message(text)]).fault == ""
    assert as_said(message("?!"), "x") == ""


def test_a_long_message_costs_little() -> None:
    said = message("I went there and then we did some things with the dog, and " * 3000)
    began = time.process_time()
    assert trace("Ann did some things with the cat.", [said]).fault
    assert time.process_time() - began < 5


def test_metrics_name_the_writer() -> None:
    assert 'standfast_kept_as_said_total{writer="model"} 2' in [*learning_lines({"model": 2})]


# Through the public interface


def learned(texts: Sequence[tuple[str, str]]) -> tuple[list[Record], dict[str, str]]:
    """What is stored of what several people said, and what each message says."""
    said = {f"m{number}": text for number, (_, text) in enumerate(texts)}
    with Memory.open("dict:", embedder="none", background=False) as memory:
        for number, (author, text) in enumerate(texts):
            role = "user" if author else "assistant"
            at = AT + timedelta(minutes=number)
            one = {"role": role, "content": text, "id": f"m{number}", "at": at}
            memory.observe("s", [one], scope="user:x", author=author)
            if random.random() < 0.3:
                memory.maintain()
        memory.maintain()
        page = memory.records(scope="user:x", kinds=["semantic"], limit=200)
    return [one for one in page.items if one.lineage and one.type != "profile"], said


_RUN = re.compile(
    r"(?:(?P<edit>[a-z]+) (?P<words>\d+))?(?: ?(?P<message>\d+):(?P<a>\d+)-(?P<b>\d+))?"
)


def assert_has_origin(record: Record, said: dict[str, str]) -> None:
    words, place = [one.word for one in tokens(record.text)], 0
    for run in record.data["origin"]:
        found = _RUN.fullmatch(run)
        assert found, (record.text, run)
        count = int(found["words"] or 0)
        if not found["edit"]:
            source = [one.word for one in tokens(said[record.lineage[int(found["message"])]])]
            part = source[int(found["a"]) : int(found["b"]) + 1]
            assert words[place : place + len(part)] == part, (record.text, run)
            count = len(part)
        place += count
    assert place == len(words), (record.text, record.data["origin"])
    for quoted in re.findall(r'"([^"]*)"', re.sub(r" ?\[[^]]*\]", "", record.text)):
        assert any(quoted in " ".join(said[id_].split()) for id_ in record.lineage), record.text


PARTS = (
    "My sister Mia is allergic to shellfish.",
    "We have 41 paying clinics, most of them in Portugal.",
    "Churn is at 3.1% a month, mostly single-dentist clinics.",
    "I'm flying there on Thursday.",
    "My commute is by bike now, about 20 minutes.",
    "Please move the nightly invoice job to the Temporal queue. It must keep running at 02:15.",
    "Our CTO is Ola.",
    "My number is 0151 2233.",
    "I live in Leeds and work at Arup.",
    "Ich wohne in Köln.",
    "Soy vegetariano.",
    "vegan here, two kids",
    "I love tea, don't eat meat and might move to Oslo in May.",
)
TURNS = (
    "Mia eats fish though, just not shellfish.",
    "Sorry, I said 41 clinics. It's 43 since last Friday.",
    "Wait, I said Thursday earlier, but the flight is on Wednesday, October 7.",
    "Right, that is a known bug.",
    "Ola stepped down, Henrik is CTO.",
    "New number: 0176 9988.",
    "*York",
    "No, it's Wednesday.",
    "not Portugal but Spain",
    "Nein, in Worms.",
    "Ya no soy vegetariano.",
    "I meant Bath, not Leeds",
    "Okay. And she is nine.",
)
ASKED = ("How old is she?", "The job runs at 01:15 UTC, so cron is wrong.", "Where do you live?")


@pytest.mark.parametrize("seed", range(25))
def test_no_stored_word_without_an_origin(seed: int) -> None:
    random.seed(seed)
    talk = [
        (random.choice(("Ann", "Bob", "", "")), "")
        if random.random() < 0.2
        else (random.choice(("Ann", "Ann", "Bob")), random.choice((*PARTS, *TURNS)))
        for _ in range(14)
    ]
    records, said = learned(
        [
            (who, text or random.choice(ASKED)) if who else ("", random.choice(ASKED))
            for who, text in talk
        ]
    )
    assert records
    for record in records:
        assert_has_origin(record, said)
