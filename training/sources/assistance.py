"""What people ask of assistants and services: bookings, frequent questions, open requests."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from training.invented.people import NAMES
from training.sources.mirror import Mirror, Pin
from training.sources.sentences import sentences
from training.stores import ANSWER, TOPIC, Asked, Place, Session, Store, Turn, joined

SGD = Pin("google-research-datasets/dstc8-schema-guided-dialogue",
          "e852981ae34990f4358979625854259302feaa78", "CC BY-SA 4.0")  # fmt: skip
FAQ = Pin("alexa/alexa-with-dstc9-track1-dataset", "7ebb4c767b64826c1ac0f8bae409c0fab9cc0ae4",
          "Apache-2.0")  # fmt: skip
OASST = Pin("Open-Assistant/oasst-model-eval", "ce935dee6922ec75d5a4006dd1c3595b39a01fdf",
            "Apache-2.0")  # fmt: skip
CLINC = Pin("clinc/oos-eval", "828f8093932c8fe6ca7936c3d2e52903b1c523de", "CC BY 3.0")

# A part of the dialogues, of every shape; a file is left out where it is larger than 4 MB.
DIALOGUES = (
    r"train/dialogues_(0[0-2]\d|08[6-9]|09[0-25-9]|10[0-3]|11[0-6]|12\d)\.json",
    r"dev/dialogues_0(0\d|1[0-4])\.json",
    r"test/dialogues_0(0\d|1[01])\.json",
)
TURNS = 200
EVERY = 6  # of the many alike bookings, this share is enough
REPLY_CHARACTERS = (80, 1400)

SUBJECTS = {
    "Alarm": "alarms", "Banks": "my bank accounts", "Buses": "bus tickets",
    "Calendar": "my calendar", "Events": "concerts and games", "Flights": "flights",
    "Homes": "finding a flat", "Hotels": "places to stay", "Media": "something to watch at home",
    "Messaging": "sharing my location", "Movies": "going to the cinema", "Music": "music",
    "Payment": "paying people back", "RentalCars": "renting a car", "Restaurants": "eating out",
    "RideSharing": "getting a ride", "Services": "appointments", "Trains": "train tickets",
    "Travel": "sights to see", "Weather": "the weather",
}  # fmt: skip
SLOT_ASKED = (
    "What was the {slot} {who} asked for?",
    "Which {slot} did {who} settle on for {subject}?",
    "For {subject}, what did {who} say about the {slot}?",
    "Do you remember the {slot} that {who} mentioned?",
    "What {slot} did {who} want?",
    "Look up the {slot} {who} gave when it was about {subject}.",
)
SUBJECT_ASKED = (
    "What has come up so far about {subject}?",
    "Go through everything that was said on {subject}, in the order it came.",
    "How did the plans for {subject} develop over time?",
    "Give me a summary of our talks about {subject}.",
    "In which order did I bring up things around {subject}?",
    "Everything I asked about {subject}, please.",
    "{subject}",
)


def sgd(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """Bookings: what was asked for, and what was talked about."""
    sessions = []
    for pattern in DIALOGUES:
        slots = _slots(mirror.json(SGD, f"{pattern.partition('/')[0]}/schema.json"))
        for path in mirror.paths(SGD, pattern):
            for number, raw in enumerate(mirror.json(SGD, path)):
                if number % EVERY == 0:
                    sessions.append(_booking(raw, slots, rng))
    rng.shuffle(sessions)
    for store in joined("sgd", sessions, TURNS):
        yield Store(store.source, store.sessions, _subjects_once(store.questions))


def _slots(schema: Sequence[Any]) -> dict[tuple[str, str], str]:
    """The words for a slot of a service: "time for the reservation"."""
    return {
        (service["service_name"], slot["name"]): slot["description"].rstrip(".").lower()
        for service in schema
        for slot in service["slots"]
    }


def _booking(raw: Any, slots: Mapping[tuple[str, str], str], rng: random.Random) -> Session:
    named = rng.random() < 0.5
    who = rng.choice(NAMES) if named else "I"
    turns: list[Turn] = []
    told: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(raw["turns"]):
        own = one["speaker"] == "USER"
        turns.append(Turn((who if named else "user") if own else "assistant", one["utterance"]))
        for frame in one["frames"] if own else ():
            for action in frame["actions"]:
                values = action["values"]
                if action["act"] == "INFORM" and values and values[0] in one["utterance"]:
                    told.setdefault((frame["service"], action["slot"]), []).append(number)
    questions = []
    for (service, slot), numbers in told.items():
        if rng.random() < 0.5:
            text = rng.choice(SLOT_ASKED).format(
                slot=slots[service, slot], who=who, subject=_subject(service)
            )
            questions.append(Asked(text, [Place(0, number) for number in numbers]))
    for service in raw["services"]:
        asked = rng.choice(SUBJECT_ASKED).format(subject=_subject(service))
        telling = [
            Place(0, number)
            for number, one in enumerate(raw["turns"])
            if one["speaker"] == "USER" and len(one["utterance"].split()) > 6
            if any(frame["service"] == service for frame in one["frames"])
        ]
        questions.append(Asked(asked, telling, TOPIC))
    return Session(turns, questions)


def _subject(service: str) -> str:
    return SUBJECTS[service.partition("_")[0]]


def _subjects_once(questions: Sequence[Asked]) -> list[Asked]:
    """Sessions about the same thing are all evidence for it."""
    kept = [asked for asked in questions if asked.kind == ANSWER]
    about: dict[str, list[Asked]] = {}
    for asked in questions:
        if asked.kind == TOPIC:
            subject = next(s for s in SUBJECTS.values() if s in asked.text)
            about.setdefault(subject, []).append(asked)
    for same in about.values():
        kept.append(Asked(same[0].text, [place for one in same for place in one.evidence], TOPIC))
    return kept


def faq(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """Frequent questions about many places; only the name tells the answers apart."""
    sessions = []
    for places in mirror.json(FAQ, "data_eval/knowledge.json").values():
        for place in places.values():
            name = (place["name"] or "").title()
            turns, questions = [], []
            for number, one in enumerate(place["docs"].values()):
                body, title = one["body"], one["title"]
                if name and name.lower() not in body.lower():
                    body = f"{name}: {body}"
                if name and name.lower() not in title.lower():
                    title = rng.choice(("{n}: {t}", "{t} ({n})", "About {n}: {t}")).format(
                        n=name, t=title
                    )
                turns.append(Turn("", body))
                questions.append(Asked(title, [Place(0, number)]))
            sessions.append(Session(turns, questions))
    rng.shuffle(sessions)
    return joined("faq", sessions, 120)


def requests(mirror: Mirror) -> list[tuple[str, list[str]]]:
    """Open requests to an assistant, each with the replies of several runs."""
    found: dict[str, list[str]] = {}
    low, high = REPLY_CHARACTERS
    for path in mirror.paths(OASST, r"sampling_reports/oasst-sft/1k-prompts/.*\.json"):
        for one in mirror.json(OASST, path)["prompts"]:
            outputs = [text for result in one["results"] for text in result["outputs"]]
            plain = [text.replace("<|endoftext|>", "").strip()[:high] for text in outputs]
            found.setdefault(one["prompt"], []).extend(text for text in plain if len(text) >= low)
    return [(prompt, replies) for prompt, replies in found.items() if len(replies) > 1]


def open_talk(mirror: Mirror, rng: random.Random) -> Iterator[Store]:
    """A request finds the reply to it; what another run replied finds both."""
    sessions = []
    for _ in range(2):
        for prompt, replies in requests(mirror):
            reply, other = rng.sample(replies, 2)
            if rng.random() < 0.5:
                sessions.append(Session([Turn("assistant", reply)], [Asked(prompt, [Place(0, 0)])]))
                continue
            parts = [text for _, text in sentences(other) if len(text.split()) > 5]
            both = [Place(0, 0), Place(0, 1)]
            asked = [Asked(text, both, TOPIC) for text in rng.sample(parts, min(2, len(parts)))]
            sessions.append(Session([Turn("user", prompt), Turn("assistant", reply)], asked))
    rng.shuffle(sessions)
    return joined("open", sessions, 60)


def intents(mirror: Mirror) -> dict[str, list[str]]:
    """Short requests by what they want."""
    found: dict[str, list[str]] = {}
    raw = mirror.json(CLINC, "data/data_full.json")
    for part in ("train", "val", "test"):
        for text, intent in raw[part]:
            found.setdefault(intent, []).append(text)
    return found
