"""What is believed after plain talk without a language model: changes, ends, corrections, whose
words they are, and what is no fact. Each case is said through the public interface."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from standfast import Memory, Record
from standfast.testing.judge import ScriptedJudge
from standfast.understanding.judging.judge import Judged
from standfast.wiring.judge import boxed_judge
from tests.requirements.conftest import MovableClock

ANN = "user:ann"
MONTH, MINUTE = timedelta(days=31), timedelta(minutes=1)


Relations = dict[tuple[str, str], tuple[Judged, float]]


@pytest.fixture
def relations(monkeypatch: pytest.MonkeyPatch) -> Relations:
    """What a judge says of a known and a new text; it is asked before ``memory`` opens."""
    said: Relations = {}
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (ScriptedJudge(said), ""))
    return said


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge in the box, for what must end nothing."""
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (boxed_judge(), ""))


@pytest.fixture
def memory(clock: MovableClock) -> Iterator[Memory]:
    with Memory.open("dict:", embedder="hashing", background=False, clock=clock) as opened:
        yield opened


def say(memory: Memory, clock: MovableClock, *turns: str, pause: timedelta = MONTH) -> None:
    """Each turn is said and learned before the next; after a long pause in a new session."""
    for number, text in enumerate(turns):
        said = clock.now.isoformat()  # what is said later, in another call, is no repetition
        session = "chat" if pause < timedelta(hours=1) else f"chat-{said}"
        message = {"role": "user", "content": text, "id": f"m{number}-{said}"}
        memory.observe(session, [message], scope=ANN, author="Ann")
        memory.maintain()
        clock.now += pause


def believed(memory: Memory, clock: MovableClock) -> list[Record]:
    """What is active or disputed, and not over by now."""
    page = memory.records(scope=ANN, limit=100)
    return [
        record
        for record in page.items
        if record.type != "turn"
        and record.status in ("active", "disputed")
        and (record.valid_to is None or record.valid_to > clock.now)
    ]


def texts(memory: Memory, clock: MovableClock) -> str:
    return "\n".join(record.text for record in believed(memory, clock))


@pytest.mark.parametrize(
    ("first", "later", "gone", "stays"),
    [
        ("I live in Porto.", "We moved to Faro last month.", "Porto", "Faro"),
        ("I live in Porto.", "I've been living in Faro since 1 March.", "Porto", "Faro"),
        ("My sister lives in Nice.", "My sister moved to Lyon this year.", "Nice", "Lyon"),
        ("J'habite à Nantes.", "J'ai déménagé à Lyon le mois dernier.", "Nantes", "Lyon"),
        ("Ich wohne in Kiel.", "Ich bin letzte Woche nach Ulm gezogen.", "Kiel", "Ulm"),
        ("We use MySQL.", "We switched to PostgreSQL.", "MySQL", "PostgreSQL"),
        ("I prefer tea.", "I prefer coffee now.", "tea", "coffee"),
        ("We have two kids.", "Our third was born last week, a boy!", "two kids", "third"),
        ("My watch is a Garmin.", "Swapped the Garmin for an Apple Watch.", "is a Garmin", "Apple"),
        ("Our standup is on Monday.", "Our standup was moved to Tuesday.", "Monday", "standup"),
    ],
)
def test_X22_K1_K3_a_later_report_of_a_change_is_believed(
    relations: Relations,
    memory: Memory,
    clock: MovableClock,
    first: str,
    later: str,
    gone: str,
    stays: str,
) -> None:
    relations[gone, stays] = ("replaces", 0.95)
    say(memory, clock, first, later)
    known = texts(memory, clock)
    assert gone not in known
    assert stays in known


@pytest.mark.parametrize(
    ("first", "later", "gone"),
    [
        ("I work at Nokia.", "I quit my job at Nokia.", "works at Nokia"),
        ("I own a motorcycle.", "I sold my motorcycle.", "owns a motorcycle"),
        ("I'm married to Helen.", "Helen and I got divorced.", "married"),
        ("I have a hamster named Pip.", "Pip passed away on Sunday.", "hamster"),
        ("I volunteer at the shelter.", "I don't volunteer at the shelter anymore.", "volunteers"),
        ("Vivo en Sevilla.", "Ya no vivo en Sevilla.", '"Vivo en Sevilla'),
    ],
)
def test_X22_K3_an_end_is_an_end_and_the_past_stays_known(
    relations: Relations, memory: Memory, clock: MovableClock, first: str, later: str, gone: str
) -> None:
    relations[first.rstrip("."), later.rstrip(".")] = ("ends", 0.95)
    say(memory, clock, first, later)
    assert gone not in texts(memory, clock)
    page = memory.records(scope=ANN, statuses=["superseded"], limit=100)
    closed = [one for one in page.items if gone.strip('"') in one.text and one.valid_to]
    assert closed, "what was true until then is lost"


OTHERS = [
    "Forwarded message from my aunt:\n\nDear family, we live in Hobart now! Love, Jean",
    "rewrite this nicely: I live in Hobart and I have three kids",
    "[10:02] Kofi: i live in hobart btw\n[10:03] Lou: since when??",
    'A customer said "I live in Hobart and I am allergic to milk." What do I answer?',
    "Imagine I live in Hobart. What would I pay?",
]


@pytest.mark.parametrize("pasted", OTHERS)
def test_X22_K4_other_peoples_words_teach_nothing(
    memory: Memory, clock: MovableClock, pasted: str
) -> None:
    say(memory, clock, "I live in Ballarat.", pasted, pause=MINUTE)
    assert [one.text for one in believed(memory, clock)] == ["Ann lives in Ballarat."]


@pytest.mark.parametrize(
    "text",
    [
        "The meeting is in five minutes.",
        "I work at a company. Just kidding.",
        "I'm moving to Mars. jk",
        "I could eat a horse.",
        "My phone is at 3 percent",
        "Suppose my landlord raises the rent.",
    ],
)
def test_X22_K5_jokes_moments_and_suppositions_are_no_facts(
    memory: Memory, clock: MovableClock, text: str
) -> None:
    say(memory, clock, text)
    assert believed(memory, clock) == []


def test_X22_K5_both_halves_of_a_sentence_are_kept(memory: Memory, clock: MovableClock) -> None:
    say(memory, clock, "I'm vegetarian but I do eat fish", "My wife is a beekeeper and I'm 40.")
    known = texts(memory, clock)
    assert all(word in known for word in ("vegetarian", "fish", "beekeeper", "40"))


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize(
    ("first", "follow_up"),
    [
        ("I live in Aberdeen.", "My cousin moved to Augsburg last month."),
        ("My sister Paula is a midwife.", "Paula works at the clinic in Trier."),
        ("I drive a Mini.", "My boss bought a Tesla."),
        ("I work at Airbus.", "I work on the wings."),
        ("I have a cat.", "I have a dog."),
        ("My mum comes on Tuesdays.", "Mum moved to Worthing."),
        ("My class has 28 pupils.", "The class moved to room 12."),
    ],
)
def test_X22_K10_what_agrees_replaces_nothing(
    memory: Memory, clock: MovableClock, first: str, follow_up: str
) -> None:
    say(memory, clock, first)
    (before,) = believed(memory, clock)
    say(memory, clock, follow_up)
    (after,) = (one for one in believed(memory, clock) if one.id == before.id)
    assert after.status == "active"


@pytest.mark.parametrize("text", ["I'm married to Helen, have been for 19 years.", "Mara is Mara."])
def test_X22_K11_no_garbled_sentence_is_written(
    memory: Memory, clock: MovableClock, text: str
) -> None:
    say(memory, clock, text)
    for word in ("theirs", ", have been since", "Mara is Mara"):
        assert word not in texts(memory, clock)


@pytest.mark.parametrize("later", ["Had the op."])
def test_K3_news_of_what_is_not_known_teach_nothing(
    memory: Memory, clock: MovableClock, later: str
) -> None:
    say(memory, clock, "I live in Porto.", later)
    assert [one.text for one in believed(memory, clock)] == ["Ann lives in Porto."]


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("I have a mortgage with Halifax.", "Halifax closed the branch in town."),
        ("I volunteer at a food bank.", "The food bank moved to a bigger hall."),
        ("My car is a Skoda.", "The neighbours sold their Skoda."),
        ("I'm learning Welsh.", "I finished the second Welsh textbook."),
        ("I've got two sisters.", "One of my sisters moved to Crewe."),
        ("We ship to Spain.", "We ship to Malta too since last week."),
        ("I work at Siemens.", "I got a raise at work."),
        ("I'm a nurse at St Mary's.", "They changed the parking rules at work."),
        ("I bank with Halifax.", "I changed my PIN at Halifax."),
        ("I work nights at a bakery.", "My oven broke at the bakery yesterday."),
        ("I live on the third floor.", "The people on the third floor next door moved out."),
        ("I'm the drummer in a band called Moth.", "Our bassist left Moth."),
        ("Our wedding is on June 14.", "Changed the wedding flowers to peonies."),
        ("My landlord is Mr Ahmed.", "Mr Ahmed replaced the boiler."),
        ("I teach year 4.", "Changed the seating plan in my year 4 class."),
        ("My bike is a Trek mountain bike.", "Had to replace the chain on the Trek."),
        ("I work from home on Fridays.", "The internet at home died on Friday."),
    ],
)
def test_K3_what_happens_to_a_thing_ends_nothing_that_is_said_of_the_speaker(
    memory: Memory, clock: MovableClock, first: str, later: str
) -> None:
    say(memory, clock, first)
    (known,) = believed(memory, clock)
    say(memory, clock, later)
    after = next(one for one in believed(memory, clock) if one.id == known.id)
    assert after.status == "active"


@pytest.mark.parametrize(
    ("first", "later", "gone"),
    [
        ("I live in Bristol.", "finally got the keys to the new flat in Leeds", "Bristol"),
        ("My dad works at a car plant.", "Dad took early retirement.", "plant"),
        (
            "We have a labrador called Biscuit.",
            "Biscuit crossed the rainbow bridge on Sunday.",
            "labrador",
        ),
        ("My brother drives a bus.", "My brother retrained as a nurse.", "bus"),
    ],
)
def test_M4_an_event_of_a_life_changes_what_was_so_before_it(
    relations: Relations, memory: Memory, clock: MovableClock, first: str, later: str, gone: str
) -> None:
    """Where it cannot be so beside it: what was believed is disputed in the open."""
    relations[gone, later.rstrip(".")] = ("contradicts", 0.95)
    say(memory, clock, first, later)
    old = [record for record in believed(memory, clock) if gone in record.text]
    assert [record.status for record in old] == ["disputed"]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("I'm a nurse.", "they've put me on nights now"),
        ("I live in Leeds.", "landlord put the rent up to 920"),
        ("I have a cat called Miso.", "Miso went to the vet on Monday"),
    ],
)
def test_M4_an_event_in_another_field_changes_nothing(
    memory: Memory, clock: MovableClock, first: str, later: str
) -> None:
    say(memory, clock, first)
    before = {record.id for record in believed(memory, clock)}
    assert before
    say(memory, clock, later)
    after = {record.id: record.status for record in believed(memory, clock)}
    assert all(after.get(id_) == "active" for id_ in before)


@pytest.mark.parametrize(
    ("first", "later", "gone", "stays"),
    [
        ("I work at Boots.", "I work at Boot.", "Boots", "Boot."),
        ("My cat is called Mica.", "My cat is called Micas.", "Mica.", "Micas"),
        ("My sister's name is Maria.", "My sister's name is Marie.", "Maria", "Marie"),
    ],
)
def test_K3_a_name_has_no_other_forms(
    memory: Memory, clock: MovableClock, first: str, later: str, gone: str, stays: str
) -> None:
    say(memory, clock, first, later)
    told = texts(memory, clock)
    assert stays in told
    assert gone not in told


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("The sun of shelf 1 weighs 1 pounds", "The ink of shelf 3 weighs 3 pounds"),
        ("The kitchen light was switched off.", "The garage light was switched off."),
        ("We settled on Tailwind for styling.", "We settled on Playwright for tests."),
        ("The meeting with Lena slipped to Thursday.", "The meeting with Tom slipped to Friday."),
        ("Team Red has new hours: 9 to 5.", "Team Blue has new hours: 10 to 6."),
        ("We moved the frontend repo to GitLab.", "We moved the backend repo to GitHub."),
    ],
)
def test_K3_the_same_change_of_two_things_is_two(memory: Memory, first: str, later: str) -> None:
    memory.remember(first, scope=ANN)
    [item] = memory.remember(later, scope=ANN).items
    assert (item.status, item.reason) == ("stored", "")


def facts_of(whom: str) -> list[str]:
    """Eighty things, none of which says anything of another."""
    file = Path(__file__).with_name(f"facts_of_a_{whom}.txt")
    return file.read_text("utf-8").splitlines()


@pytest.mark.parametrize("whom", ["team", "farm"])
def test_K3_what_a_team_notes_of_many_things_stays_each(memory: Memory, whom: str) -> None:
    noted = facts_of(whom)
    for text in noted:
        [item] = memory.remember(text, scope="org:acme").items
        assert (item.status, item.reason) == ("stored", ""), text
    page = memory.records(scope="org:acme", statuses=["active"], limit=200)
    assert len(page.items) == len(noted)


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("whom", ["person", "household"])
def test_K3_what_a_person_tells_of_many_things_ends_none_of_them(
    memory: Memory, clock: MovableClock, whom: str
) -> None:
    say(memory, clock, *facts_of(whom), pause=timedelta(days=1))
    gone = memory.records(scope=ANN, statuses=["superseded", "disputed"], limit=200).items
    assert [one.text for one in gone if one.type != "profile" and not one.derived_from] == []


@pytest.mark.parametrize(
    "said",
    [
        "I nurse on a stroke unit",
        "electricity supplier is Octopus",
        "two kids, 4 and 7",
        "The twins share a bedroom",
        "grew up on a dairy farm",
    ],
)
def test_K4_a_lasting_statement_is_kept_whatever_its_form(
    memory: Memory, clock: MovableClock, said: str
) -> None:
    say(memory, clock, said)
    assert texts(memory, clock)


@pytest.mark.parametrize(
    "said",
    [
        "I bet the rota changes again",
        "I'm doing the washing up",
        "I have a stinking cold",
        "we're off in a minute",
        "hate this weather",
        "I vote we get pizza",
    ],
)
def test_K4_a_moment_of_the_same_form_is_not(
    memory: Memory, clock: MovableClock, said: str
) -> None:
    say(memory, clock, said)
    assert texts(memory, clock) == ""


@pytest.mark.usefixtures("network")
def test_K3_a_bare_value_that_may_be_of_anything_disputes_nothing(
    memory: Memory, clock: MovableClock
) -> None:
    say(memory, clock, "I weigh 92 kilos", "I own 80 records", "My blog has 90 readers")
    say(memory, clock, "down to 85")
    assert {one.status for one in believed(memory, clock)} == {"active"}


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("I have a motorcycle licence.", "I sold my motorcycle in 2022."),
        ("The practice has six rooms.", "The practice moved to the square in 2021."),
    ],
)
def test_K3_what_happened_to_another_thing_long_ago_touches_nothing(
    memory: Memory, first: str, later: str
) -> None:
    memory.remember(first, scope=ANN)
    [item] = memory.remember(later, scope=ANN).items
    assert (item.status, item.reason) == ("stored", "")


def test_K3_what_happened_in_a_year_long_past_replaces_nothing_told_since(
    relations: Relations, memory: Memory
) -> None:
    relations["a dog called Rex", "Rex died"] = ("ends", 0.95)
    memory.remember("I have a dog called Rex.", scope=ANN)
    [item] = memory.remember("Rex died in 2019.", scope=ANN).items
    assert item.status == "disputed"
    assert "supersedes" not in item.reason


def test_K2_what_is_told_of_a_name_is_no_other_name(memory: Memory, clock: MovableClock) -> None:
    say(memory, clock, "My best friend is Arjen.", "Arjen lives in Rotterdam.", pause=MINUTE)
    assert "Ann's best friend is Arjen." in texts(memory, clock).splitlines()
