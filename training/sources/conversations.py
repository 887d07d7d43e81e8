"""Questions about what people said to each other: meetings, help channels, chats."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from training.sources.mirror import Mirror, Pin
from training.sources.sentences import untokenised
from training.stores import ANSWER, TOPIC, Asked, Place, Session, Store, Turn, joined

QMSUM = Pin("Yale-LILY/QMSum", "83d7768c1f2b4dfeb091385d3dc7e239b8e5bb7e", "MIT")
MOLWENI = Pin("HIT-SCIR/Molweni", "2eb681d7e610ee3fda4ab3b4cc364554bd17ee67", "Apache-2.0")
IRC = Pin("jkkummerfeld/irc-disentanglement", "82ed04f9627a45d0d6f2ec3c8683c88eb408a0d5",
          "CC BY 4.0")  # fmt: skip
CHAT = Pin("alexa/Topical-Chat", "7c939229cbcf6f55f6977b341a5a2f2fe982d53f", "CDLA-Sharing-1.0")

TURNS = 160
MEETING_CHARACTERS = 600  # of a turn
ANSWER_TURNS_MAX = 16  # a longer stretch of a meeting is about the question, no answer to it
WORDS_MIN = 7  # "Yeah." is no evidence
QUESTIONS_MIN = 3  # of a piece of a meeting or channel, to be worth its turns
ASKED_WORDS_MIN = 6  # of a question in a help channel that stands for itself
REPLY_WORDS_MIN = 5  # of a reply that says something

_LINE = re.compile(r"\[\d\d:\d\d\] <(\S+)> (.*)")
_ADDRESS = re.compile(r"^\S+[:,] ")


def qmsum(mirror: Mirror, _rng: random.Random) -> Iterator[Store]:
    """Meetings in pieces; a question belongs to the piece with most of its evidence."""
    for domain in ("Academic", "Product", "Committee"):
        for path in mirror.paths(QMSUM, rf"data/{domain}/(train|val|test)/.*\.json"):
            yield from _meeting(mirror.json(QMSUM, path))


def _meeting(raw: Any) -> Iterator[Store]:
    turns = [
        Turn(
            one["speaker"], untokenised(re.sub(r"\{\w+\}", "", one["content"]))[:MEETING_CHARACTERS]
        )
        for one in raw["meeting_transcripts"]
    ]
    asked = [(one["query"], one["relevant_text_span"]) for one in raw["specific_query_list"]]
    asked += [(one["topic"], one["relevant_text_span"]) for one in raw["topic_list"]]
    for start in range(0, len(turns), TURNS):
        piece = turns[start : start + TURNS]
        questions = []
        for text, spans in asked:
            places = [number for number in _numbers(spans) if number < len(turns)]
            telling = [n for n in places if len(turns[n].text.split()) >= WORDS_MIN]
            inside = [n - start for n in telling if start <= n < start + len(piece)]
            if inside and 2 * len(inside) > len(telling):
                kind = ANSWER if len(places) <= ANSWER_TURNS_MAX else TOPIC
                questions.append(Asked(text, [Place(0, n) for n in inside], kind))
        if len(questions) >= QUESTIONS_MIN:
            yield Store("qmsum", [piece], questions)


def _numbers(spans: Sequence[Sequence[str]]) -> list[int]:
    """Of the spans that are well-formed; a few are not."""
    found: set[int] = set()
    for span in spans:
        if len(span) == 2 and all(str(end).isdigit() for end in span):
            found.update(range(int(span[0]), int(span[1]) + 1))
    return sorted(found)


def molweni(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    found = mirror.json(MOLWENI, "MRC(withDiscourse)/test.json")["data"]["dialogues"]
    sessions = list(map(_help, found))
    rng.shuffle(sessions)
    return joined("molweni", sessions, TURNS)


def _help(raw: Any) -> Session:
    """Answers are places in the joined text: find the turn that each is in."""
    ends, at = [], 0
    for one in raw["edus"]:
        begins = raw["context"].find(one["text"].lower(), at)
        at = (at if begins < 0 else begins) + len(one["text"])
        ends.append(at)
    questions = []
    for asked in raw["qas"]:
        if not asked.get("is_impossible"):
            starts = [answer["answer_start"] for answer in asked["answers"]]
            places = {sum(end <= start for end in ends) for start in starts}
            text = untokenised(asked["question"].replace("？", "?"))
            questions.append(Asked(text, [Place(0, place) for place in sorted(places)]))
    turns = [Turn(one["speaker"], untokenised(one["text"])) for one in raw["edus"]]
    return Session(turns, questions)


def irc(mirror: Mirror, _rng: random.Random) -> Iterator[Store]:
    """A question that was asked in a channel finds the replies to it. The question itself is
    not in the store: it would find nothing but itself."""
    for path in mirror.paths(IRC, r"data/train/.*\.annotation\.txt"):
        links = [line.split()[:2] for line in mirror.lines(IRC, path) if line.strip()]
        lines = mirror.lines(IRC, path.replace(".annotation.", ".ascii."))
        yield from _channel(lines, [(int(one), int(other)) for one, other in links])


def _channel(lines: Sequence[str], links: Sequence[tuple[int, int]]) -> Iterator[Store]:
    said = {n: found.groups() for n, line in enumerate(lines) if (found := _LINE.match(line))}
    replies: dict[int, list[int]] = {}
    for one, other in links:
        earlier, later = sorted((one, other))
        if earlier in said and later in said and _replies(said[earlier], said[later]):
            replies.setdefault(earlier, []).append(later)
    asked = {n for n in replies if _asks(said[n][1])}
    linked = sorted({n for link in links for n in link if n in said} - asked)
    for start in range(0, len(linked), TURNS):
        numbers = linked[start : start + TURNS]
        place = {number: Place(0, at) for at, number in enumerate(numbers)}
        questions = [
            Asked(
                _ADDRESS.sub("", said[n][1]),
                [place[reply] for reply in replies[n] if reply in place],
            )
            for n in sorted(asked)
            if any(reply in place for reply in replies[n])
        ]
        turns = [Turn(said[n][0], _ADDRESS.sub("", said[n][1])) for n in numbers]
        if len(questions) >= QUESTIONS_MIN:
            yield Store("irc", [turns], questions)


def _replies(one: Sequence[str], other: Sequence[str]) -> bool:
    text = _ADDRESS.sub("", other[1])
    return one[0] != other[0] and len(text.split()) >= REPLY_WORDS_MIN and text[0] != "!"


def _asks(text: str) -> bool:
    return "?" in text and len(text.split()) >= ASKED_WORDS_MIN and "http" not in text


def small_talk(mirror: Mirror) -> list[list[str]]:
    """Real chats, to stand between invented turns."""
    return [
        [turn["message"] for turn in chat["content"]]
        for part in ("valid_freq", "valid_rare", "test_freq", "test_rare")
        for chat in mirror.json(CHAT, f"conversations/{part}.json").values()
    ]
