"""Every public source is read as its repository lays it out; these are its layouts in small."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from training import prepare
from training.sources import assistance, conversations, encyclopedia, tales, translations
from training.sources.mirror import Mirror, Pin, SourceError
from training.sources.sentences import sentences, untokenised
from training.stores import ANSWER, TOPIC, Store, cleaned

PARAGRAPH = {
    "context": "Ida sails. She lives in Oslo! Her boat is red.",
    "qas": [
        {"question": "Where does Ida live?", "answers": [{"answer_start": 24, "text": "Oslo"}]}
    ],
}
ARTICLES = {"data": [{"paragraphs": [PARAGRAPH]}]}
MEETING = {
    "meeting_transcripts": [
        {"speaker": "PM", "content": "We need a name for it {vocalsound} and it should be short ."},
        {"speaker": "UI", "content": "Yes ."},
        {
            "speaker": "UI",
            "content": "The remote should be yellow because our brand is yellow too .",
        },
        {
            "speaker": "ME",
            "content": "And the price has to stay below twenty five euros for each one .",
        },
    ],
    "specific_query_list": [
        {"query": "What colour did they choose?", "relevant_text_span": [["2", "2"]]},
        {"query": "What about the price?", "relevant_text_span": [["3", "3"], ["x"]]},
    ],
    "topic_list": [{"topic": "Name", "relevant_text_span": [["0", "1"]]}],
}
HELP = {
    "edus": [
        {"speaker": "ann", "text": "My sound is gone"},
        {"speaker": "bo", "text": "Install alsa"},
    ],
    "context": "my sound is gone install alsa",
    "qas": [
        {
            "question": "What to install ？",
            "answers": [{"answer_start": 25}],
            "is_impossible": False,
        },
        {"question": "Why?", "answers": [], "is_impossible": True},
    ],
}
CHANNEL = "\n".join(
    [
        "=== zed has joined",
        "[01:00] <ann> how do I mount a disk without being root?",
        "[01:01] <bo> ann: use udisksctl mount with the device name",
        "[01:02] <ann> and how do I see which devices there are?",
        "[01:03] <cy> ann: lsblk shows you every device there is",
        "[01:04] <ann> can I have that mounted at every start?",
        "[01:05] <bo> ann: put a line into fstab and run mount",
    ]
)
BOOKING = {
    "services": ["Flights_1"],
    "turns": [
        {
            "speaker": "USER",
            "utterance": "I would like to fly to Oslo with my two sons.",
            "frames": [
                {
                    "service": "Flights_1",
                    "actions": [{"act": "INFORM", "slot": "destination", "values": ["Oslo"]}],
                }
            ],
        },
        {"speaker": "SYSTEM", "utterance": "When?", "frames": []},
    ],
}
SCHEMA = [
    {
        "service_name": "Flights_1",
        "slots": [{"name": "destination", "description": "City to fly to."}],
    }
]
PLACES = {
    "hotel": {
        "1": {
            "name": "AVALON",
            "docs": {
                "0": {"title": "Can I bring a dog?", "body": "Dogs are welcome."},
                "1": {"title": "Is there parking at Avalon?", "body": "Avalon has ten places."},
            },
        }
    }
}
LONG = (
    "Blue light is scattered more than red light by the air above us, so the sky looks blue. " * 2
)
SAMPLED = {
    "prompts": [
        {
            "prompt": "Why is the sky blue?",
            "results": [{"outputs": [LONG + "<|endoftext|>", LONG]}],
        },
        {"prompt": "Too short", "results": [{"outputs": ["No.", "No!"]}]},
    ]
}
TALE_QUESTIONS = """question_id,cor_section,question,ex-or-im1,answer1
1,1,Where did the fox live?,explicit,in an old oak
2,1,How did the hen feel?,implicit,afraid
"""
TALE = 'section,text\n1,"The hen was white. The fox lived in an\nold oak, far away."\n'

FILES: dict[str, Any] = {
    "data/processed/src-dev.txt": "ida lives in oslo .\nida lives in oslo .\nthe boat 's red .\n",
    "data/processed/tgt-dev.txt": "where does ida live ?\nwho lives in oslo ?\nwhat is red ?\n",
    "data/processed/src-test.txt": "",
    "data/processed/tgt-test.txt": "",
    "ass/selqa-ass-dev.json": [
        {"candidates": ["A boat.", "Oslo."], "answers": [1], "question": "Where?"}
    ],
    "ass/selqa-ass-test.json": [],
    "data/wiki-sentences.tsv": "s1\tIda sails to Oslo .\n",
    "data/filtered/dev.tsv": (
        "s1\t0\tw\t1\t0\tWhere does Ida sail to ?\t4\tx\ns1\t0\tw\t1\t0\tWho ?\t4\tx\n"
    ),
    "data/filtered/test.tsv": "",
    **{f"xquad.{language}.json": ARTICLES for language in encyclopedia.LANGUAGES},
    "squad-style-data/cmrc2018_dev.json": ARTICLES,
    "squad-style-data/cmrc2018_trial.json": ARTICLES,
    **{
        f"data/tatoeba/v1/tatoeba.{language}-eng.{side}": f"{side} one\n{side} two\n"
        for language in translations.LANGUAGES
        for side in (language, "eng")
    },
    "data-by-train-split/questions/val/fox-questions.csv": TALE_QUESTIONS,
    "data-by-train-split/section-stories/val/fox-story.csv": TALE,
    "data/Product/val/a.json": MEETING,
    "MRC(withDiscourse)/test.json": {"data": {"dialogues": [HELP]}},
    "data/train/a.annotation.txt": "1 1 -\n1 2 -\n3 4 -\n5 6 -\n",
    "data/train/a.ascii.txt": CHANNEL,
    **{
        f"conversations/{part}.json": {"1": {"content": [{"message": "Do you like rain?"}] * 4}}
        for part in ("valid_freq", "valid_rare", "test_freq", "test_rare")
    },
    "train/schema.json": SCHEMA,
    "dev/schema.json": SCHEMA,
    "test/schema.json": SCHEMA,
    "dev/dialogues_001.json": [BOOKING],
    "data_eval/knowledge.json": PLACES,
    "sampling_reports/oasst-sft/1k-prompts/a.json": SAMPLED,
    "data/data_full.json": {
        part: [[f"{part} {name} please", name] for name in assistance_intents]
        for part in ("train", "val", "test")
        for assistance_intents in [("book_flight", "recipe")]
    },
}  # fmt: skip


class Shelf(Mirror):
    """The files above, in every repository."""

    def __init__(self) -> None:
        super().__init__(Path("nowhere"))

    def text(self, _pin: Pin, path: str) -> str:
        content = FILES[path]
        return content if isinstance(content, str) else json.dumps(content)

    def paths(self, _pin: Pin, pattern: str) -> list[str]:
        return [name for name in FILES if re.fullmatch(pattern, name)]


def read(source: Callable[[Mirror, random.Random], Iterable[Store]]) -> list[Store]:
    found = [cleaned(store) for store in source(Shelf(), random.Random(1))]
    return [store for store in found if store is not None]


def pairs(found: Iterable[Store]) -> dict[str, list[str]]:
    """Each question with the texts that it should find."""
    return {
        asked.text: [store.sessions[place.session][place.turn].text for place in asked.evidence]
        for store in found
        for asked in store.questions
    }


def test_squad() -> None:
    found = read(encyclopedia.squad)
    assert pairs(found) == {
        "where does ida live?": ["ida lives in oslo."],
        "who lives in oslo?": ["ida lives in oslo."],
        "what is red?": ["the boat's red."],
    }
    assert found[0].turns == 2


def test_selqa() -> None:
    assert pairs(read(encyclopedia.selqa)) == {"Where?": ["Oslo."]}


def test_qamr_leaves_out_what_fits_everywhere() -> None:
    assert pairs(read(encyclopedia.qamr)) == {"Where does Ida sail to?": ["Ida sails to Oslo."]}


@pytest.mark.parametrize("source", [encyclopedia.xquad, encyclopedia.cmrc])
def test_paragraphs_are_cut_into_sentences(source: Any) -> None:
    assert pairs(read(source)) == {"Where does Ida live?": ["She lives in Oslo!"]}


def test_translations_ask_in_both_directions() -> None:
    found = pairs(read(translations.tatoeba))
    assert {"eng one": ["tur one"]}.items() <= found.items()
    assert {asked.kind for s in read(translations.tatoeba) for asked in s.questions} == {TOPIC}


def test_a_tale_gives_the_sentence_that_answers() -> None:
    assert pairs(read(tales.tales)) == {
        "Where did the fox live?": ["The fox lived in an old oak, far away."]
    }


def test_a_meeting_gives_answers_and_topics() -> None:
    (found,) = read(conversations.qmsum)
    assert pairs([found]) == {
        "What colour did they choose?": [
            "The remote should be yellow because our brand is yellow too."
        ],
        "What about the price?": [
            "And the price has to stay below twenty five euros for each one."
        ],
        "Name": ["We need a name for it and it should be short."],
    }
    assert {asked.kind for asked in found.questions} == {ANSWER}


def test_molweni_finds_the_turn_of_an_answer() -> None:
    assert pairs(read(conversations.molweni)) == {"What to install?": ["Install alsa"]}


def test_a_channel_gives_replies_and_not_the_question() -> None:
    (found,) = read(conversations.irc)
    assert pairs([found])["how do I mount a disk without being root?"] == [
        "use udisksctl mount with the device name"
    ]
    assert all("?" not in turn.text for turn in found.sessions[0])


def test_bookings_ask_for_what_was_told() -> None:
    (found,) = read(assistance.sgd)
    slot, subject = found.questions
    assert "city to fly to" in slot.text
    assert "flights" in subject.text
    assert subject.kind == TOPIC
    told = "I would like to fly to Oslo with my two sons."
    assert set(map(tuple, pairs([found]).values())) == {(told,)}


def test_frequent_questions_name_their_place() -> None:
    found = pairs(read(assistance.faq))
    assert found["Is there parking at Avalon?"] == ["Avalon has ten places."]
    (dog,) = (question for question in found if "dog" in question)
    assert "Avalon" in dog
    assert found[dog] == ["Avalon: Dogs are welcome."]


def test_open_requests_keep_only_replies_that_say_something() -> None:
    assert assistance.requests(Shelf()) == [("Why is the sky blue?", [LONG.strip()] * 2)]
    found = pairs(read(assistance.open_talk))
    assert all(LONG.strip() in texts for texts in found.values())


def test_small_talk_and_intents() -> None:
    assert len(conversations.small_talk(Shelf())) == 4
    assert assistance.intents(Shelf())["recipe"][0] == "train recipe please"


def test_untokenised_text_reads_as_written() -> None:
    assert untokenised("It 's ( not ) here , is n't it ?") == "It's (not) here, isn't it?"


def test_sentences_know_where_they_begin() -> None:
    text = "One.  Two! 三。四。"
    assert [text[start : start + len(part)] == part for start, part in sentences(text)] == [
        True
    ] * 4


@pytest.fixture
def clone(tmp_path: Path) -> tuple[Mirror, Pin]:
    folder = tmp_path / "owner+name"
    folder.mkdir()
    (folder / "a.json").write_text('{"é": 1}', "utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return Mirror(tmp_path), Pin("owner/name", commit.stdout.strip(), "MIT")


def test_files_are_those_of_the_pinned_commit(clone: tuple[Mirror, Pin], tmp_path: Path) -> None:
    mirror, pin = clone
    (tmp_path / "owner+name" / "a.json").write_text("changed since")
    mirror.check(pin)
    assert mirror.paths(pin, r".*\.json") == ["a.json"]
    assert mirror.json(pin, "a.json") == {"é": 1}


def test_a_missing_clone_or_commit_says_what_to_run(clone: tuple[Mirror, Pin]) -> None:
    mirror, pin = clone
    for wrong in (Pin("owner/other", pin.commit, "MIT"), Pin("owner/name", "0" * 40, "MIT")):
        with pytest.raises(SourceError, match=r"run: git clone https://github.com/owner/"):
            mirror.check(wrong)


def test_preparing_without_clones_ends_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare.main([str(tmp_path), str(tmp_path / "out")]) == 2
    assert "git clone" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_every_pin_is_listed_with_its_licence(capsys: pytest.CaptureFixture[str]) -> None:
    assert prepare.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(prepare.PINS)
    for pin, line in zip(prepare.PINS, lines, strict=True):
        assert re.fullmatch(r"[0-9a-f]{40}", pin.commit)
        assert pin.repository in line
        assert line.endswith(f"# {pin.licence}")
