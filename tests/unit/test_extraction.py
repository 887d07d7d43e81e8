"""Learning without a model: the gate, the sentences it writes, and the claims they make."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.text.claims import claim_in, extract, gate
from standfast.text.claims.lessons import Claim, Lesson
from standfast.types import Message, Role, Source

AT = datetime(2026, 3, 9, 10, 0, tzinfo=timezone(timedelta(hours=1)))


def message(
    text: str, author: str = "Ann", role: Role = "user", source: Source = "user", id_: str = "m1"
) -> Message:
    return Message(
        id=id_, scope="s", session="c", role=role, text=text, at=AT, author=author, source=source
    )


def lessons(text: str, author: str = "Ann", earlier: tuple[str, ...] = ()) -> tuple[Lesson, ...]:
    before = [message(said, author, id_=f"e{number}") for number, said in enumerate(earlier)]
    return extract([message(text, author)], earlier=before).lessons


def texts(text: str, author: str = "Ann") -> list[str]:
    return [lesson.text for lesson in lessons(text, author)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("😂😂👍", "no words"),
        ("Hello there!", "small talk"),
        ("ok, thanks a lot", "small talk"),
        ("Danke, alles klar!", "small talk"),
        ("Merci beaucoup, parfait", "small talk"),
        ("谢谢你", "small talk"),
        ("How do I sort a list?", "question"),
        ("def f(x):\n    return x\n\nprint(f(3));\n", "code or log"),
        ("2026-03-09 10:00:00 INFO start\n2026-03-09 10:00:01 ERROR no\nERROR: x", "code or log"),
        ("I live in Rome. " * 600, "long paste"),
    ],
)
def test_A3_trivial_turns_are_skipped_with_a_reason(text: str, reason: str) -> None:
    assert gate(message(text)).skip == reason
    answer = extract([message(text)])
    assert answer.lessons == ()
    assert answer.skipped == {"m1": reason}


@pytest.mark.parametrize(
    "text",
    [
        "No, it's Smyth, not Smith.",
        "I prefer tea.",
        "Remember that the key is under the mat.",
        "We decided to use Postgres.",
        "The deployment failed because the disk was full.",
        "My name is Ann.",
        "I moved to Hamburg.",
        "Always answer in German.",
    ],
)
def test_A3_corrections_preferences_and_outcomes_always_pass(text: str) -> None:
    gated = gate(message(text))
    assert gated.skip == ""
    assert 0.3 <= gated.importance <= 1
    assert lessons(text, earlier=("My last name is Smith.",))


def test_A3_what_matters_weighs_more() -> None:
    weighty = gate(message("Remember that I am allergic to nuts.")).importance
    assert weighty > gate(message("I went for a walk.")).importance


@pytest.mark.parametrize(
    ("role", "source"),
    [
        ("system", "system"),
        ("developer", "system"),
        ("tool", "tool"),
        ("function", "tool"),
        ("user", "web"),
        ("user", "file"),
    ],
)
def test_what_no_person_said_teaches_nothing(role: Role, source: Source) -> None:
    answer = extract([message("I live in Rome.", role=role, source=source)])
    assert answer.lessons == ()
    assert answer.skipped["m1"]


def test_an_assistant_teaches_nothing_about_people() -> None:
    assert extract([message("You live in Rome. I like your plan.", role="assistant")]).lessons == ()
    told = extract([message("The deployment failed because of a timeout.", role="assistant")])
    (lesson,) = told.lessons
    assert lesson.confidence <= 0.5


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I live in Hamburg.", "Ann lives in Hamburg."),
        ("I'm allergic to nuts", "Ann is allergic to nuts."),
        ("I have two cats.", "Ann has two cats."),
        ("I don't like tea.", "Ann does not like tea."),
        ("I like coffee a lot.", "Ann likes coffee a lot."),
        ("I go jogging every Sunday.", "Ann goes jogging every Sunday."),
        ("My sister Eva lives in Lyon.", "Ann's sister Eva lives in Lyon."),
        ("My mom gave me a ring last year.", "Ann's mom gave Ann a ring in 2025."),
        ("Yesterday I went to the dentist.", "Ann went to the dentist on 2026-03-08."),
        ("I'm flying to Rome next week with my mom.",
         "Ann is flying to Rome in the week of 2026-03-16 with their mom."),
        ("My wife and I bought a house last month.",
         "Ann and their wife bought a house in February 2026."),
        ("Yeah, I've been working at Google since 2019!",
         "Ann has been working at Google since 2019."),
        ("The API runs on port 8080.", "The API runs on port 8080."),
        ("Let's go with Postgres.", "Decision: go with Postgres."),
        ("Remember that the spare key is under the mat.", "The spare key is under the mat."),
        ("Always answer in German.", 'Ann asks: "Always answer in German"'),
        ("Ich wohne in Hamburg.", 'Ann said: "Ich wohne in Hamburg"'),
        ("Gestern war ich beim Arzt.",
         'Ann said: "Gestern war ich beim Arzt" (Gestern: 2026-03-08)'),
    ],
)  # fmt: skip
def test_L6_a_lesson_stands_on_its_own(said: str, written: str) -> None:
    assert texts(said) == [written]


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I moved to Leeds, how do I register with a doctor?", ["Ann moved to Leeds."]),
        ("We switched to Postgres, so should I keep the indexes?", ["Ann switched to Postgres."]),
        ("I have a chicken and rice, what can I cook?", []),
        ("If I moved to Leeds, how do I register?", []),
        ("I'm allergic to nuts, can you find me a cake?", ["Ann is allergic to nuts."]),
        ("Hi, I have diabetes, is honey okay for me?", ["Ann has diabetes."]),
        ("My son is allergic to eggs, which cake do we bake?", ["Ann's son is allergic to eggs."]),
        ("If I'm allergic to nuts, can I eat almonds?", []),
        ("When I'm allergic to something, what happens?", []),
        ("My friend, who is allergic to nuts, can he eat this?", []),
        ("Say I quit my job, what would happen?", []),
        ("My brother, who quit school, can he go back?", []),
        ("I gave away 5 of my 12 apples, how many do I have?", []),
    ],
)
def test_L6_a_change_told_before_a_question_is_heard(said: str, written: list[str]) -> None:
    assert texts(said) == written


@pytest.mark.parametrize(
    "said",
    ["We are both vegan.", "We're a family of four.", "We are five in the office.",
     "We're all left-handed.", "We are a small software company.", "We are closed on Mondays."],
)  # fmt: skip
def test_L6_what_is_true_of_several_is_not_said_of_one(said: str) -> None:
    assert texts(said) == [f'Ann said: "{said.rstrip(".")}"']


def test_L6_what_is_true_of_each_is_said_of_the_one_who_speaks() -> None:
    assert texts("We are vegan.") == ["Ann is vegan."]
    assert texts("We are moving to Bonn.") == ["Ann is moving to Bonn."]


def test_without_a_name_it_is_the_user() -> None:
    assert texts("I live in Hamburg.", author="") == ["The user lives in Hamburg."]
    assert texts("My dog's name is Rex.", author="") == ["The user's dog's name is Rex."]


def test_one_lesson_for_each_thing_said() -> None:
    assert texts("I live in Rome and work at Eni, and I like tea and coffee.") == [
        "Ann lives in Rome.",
        "Ann works at Eni.",
        "Ann likes tea.",
        "Ann likes coffee.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I had a great time yesterday.",
        "I finished it last week.",
        "I love it when you say that.",
        "I want to know how this works.",
        "I'm looking for a recipe for bagels.",
        "I'm interested in learning more about this.",
        "Thanks, I'm glad you like it!",
        "Ho fame.",
        "Я живу в Москве.",
        "私は東京に住んでいます。",
    ],
)
def test_rather_nothing_than_junk(text: str) -> None:
    assert texts(text) == []


def test_X5_times_of_lessons() -> None:
    (moved,) = lessons("I moved to Hamburg last month.")
    assert moved.valid_from == datetime(2026, 2, 1, tzinfo=AT.tzinfo)
    (until,) = lessons("I live in Hamburg until June.")
    assert until.valid_to == datetime(2026, 7, 1, tzinfo=AT.tzinfo)
    (plan,) = lessons("I'm flying to Rome next week.")
    assert plan.valid_from is None  # a plan is true from when it is told
    assert plan.tags == ("plan",)


def test_M3_lessons_carry_category_and_confidence() -> None:
    (sure,) = lessons("I am allergic to nuts.")
    (unsure,) = lessons("I think I am allergic to nuts.")
    assert (sure.type, sure.tags) == ("fact", ("allergy",))
    assert unsure.claim == sure.claim
    assert unsure.confidence < sure.confidence / 1.5
    assert unsure.text.startswith("Possibly:")
    (asked,) = lessons("Remember that I am allergic to nuts.")
    assert asked.confidence > sure.confidence
    assert asked.messages == ("m1",)


@pytest.mark.parametrize(
    ("earlier", "said", "slot", "value"),
    [
        ("I live in Berlin.", "No, not Berlin, Hamburg.", "home", "hamburg"),
        ("My last name is Smith.", "It's Smyth, not Smith.", "last-name", "smyth"),
        ("My dog's name is Rex.", "Sorry, I meant Max.", "name", "max"),
        ("My phone number is 555-0134.", "No, it's 555-0135.", "phone", "555-0135"),
        ("I live in Berlin.", "Correction: I live in Bonn.", "home", "bonn"),
        ("Ich wohne in Berlin.", "Nein, nicht Berlin, sondern Bonn.", "home", "bonn"),
    ],
)
def test_L6_corrections_find_what_they_correct(
    earlier: str, said: str, slot: str, value: str
) -> None:
    (lesson,) = lessons(said, earlier=(earlier,))
    assert lesson.corrects
    assert lesson.claim is not None
    assert (lesson.claim.slot, lesson.claim.value) == (slot, value)


def test_a_correction_of_nothing_known_teaches_nothing() -> None:
    assert lessons("No, not Berlin, Hamburg.") == ()
    other = extract(
        [message("No, not Berlin, Hamburg.", "Bo")], earlier=[message("I live in Berlin.", "Ann")]
    )
    assert other.lessons == ()


def test_earlier_messages_are_not_learned_again() -> None:
    assert lessons("I like tea.", earlier=("I live in Rome.",))[0].text == "Ann likes tea."
    assert len(lessons("I like tea.", earlier=("I live in Rome.",))) == 1


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I live in Berlin", "Ann lives in Berlin."),
        ("I don't like tea", "Ann does not like tea."),
        ("My sister Eva lives in Lyon", "Ann's sister Eva lives in Lyon."),
        ("My favourite colour is blue", "Ann's favourite colour is blue."),
        ("I love spending time with my kids", "Ann loves spending time with their kids."),
        ("I am a nurse", "Ann is a nurse."),
        ("I use Zed for Python", "Ann uses Zed for Python."),
        ("Ich wohne in Berlin", 'Ann said: "Ich wohne in Berlin"'),
    ],
)
def test_a_claim_is_the_same_said_or_written(said: str, written: str) -> None:
    claim = claim_in(said, speaker="Ann")
    assert claim is not None
    assert claim == claim_in(written)


def test_claims_name_their_subject() -> None:
    home = Claim(subject="user", slot="home", value="berlin", exclusive=True)
    assert claim_in("I live in Berlin") == home
    assert claim_in("The user lives in Berlin.") == home
    assert claim_in("Ich wohne in Berlin.") == home
    bob = claim_in("Bob's birthday is May 3.")
    assert bob == Claim(subject="bob", slot="birthday", value="05-03", exclusive=True)
    brother, boss = claim_in("My brother Tom is 30."), claim_in("My boss Tom is 50.")
    assert brother is not None
    assert boss is not None
    assert brother.subject != boss.subject


def test_a_name_to_be_called_by_is_claimed_however_the_wish_begins() -> None:
    for text in ("Call me Beth.", "Please call me Beth."):
        (wish,) = lessons(text)
        assert wish.claim == Claim(subject="ann", slot="called", value="beth", exclusive=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Do I live in Berlin?",
        "If I lived in Berlin.",
        "It rains.",
        "a" * 5000,
        "I live. I die.",
    ],
)
def test_no_claim_where_nothing_is_claimed(text: str) -> None:
    assert claim_in(text, speaker="Ann") is None


@given(st.text(max_size=400), st.text(max_size=20))
def test_no_text_breaks_it(text: str, author: str) -> None:
    turn = message(text, author)
    answer = extract([turn], earlier=[turn])
    assert bool(answer.lessons) != ("m1" in answer.skipped)
    claim_in(text, speaker=author)


PIECES = st.lists(
    st.sampled_from(
        "I my we am live in Berlin not no , . ! ? and but sister Eva 's \" ( last week 3 May since"
        " 2019 like tea remember that always answer Ich bin Je suis soy 我 住在 the API is".split()
    ),
    max_size=40,
)


@given(PIECES)
def test_no_jumble_of_known_words_breaks_it(words: list[str]) -> None:
    text = " ".join(words)
    for lesson in extract([message(text)], earlier=[message(text)]).lessons:
        assert lesson.text.strip()
        assert 0 < lesson.confidence <= 1
        assert 0 <= lesson.importance <= 1
        if lesson.claim is not None:
            assert lesson.claim.subject
            assert lesson.claim.value
    claim_in(text)


@pytest.mark.parametrize(
    "unit",
    ["I am ", "my my ", "and I ", "I live in ", '"I ', "(((", "'s ", "not ", "last week ",
     "remember that ", "我住在", "Ich bin ", "no, ", "A ", "it's a, not ", "> a\n", "```", "{};\n",
     "my A's "],
)  # fmt: skip
@pytest.mark.parametrize("size", [5_900, 100_000])
def test_hostile_texts_take_linear_time(unit: str, size: int) -> None:
    started = process_time()
    extract([message((unit * (size // len(unit) + 1))[:size])])
    assert process_time() - started < 2


def test_X1_the_rules_keep_up_with_any_conversation() -> None:
    """Far above the 500 turns a second that the whole path must reach."""
    turns = [
        message(text)
        for text in (
            "I went to a concert with my sister last Friday, and it was great!",
            "Thanks, that helps.",
            "Could you explain how the cache works?",
            "I live in Hamburg and work as a nurse.",
            "Sounds good, let's talk about it tomorrow when you have time for that.",
        )
    ]
    extract(turns)
    started = process_time()
    for _ in range(40):
        extract(turns)
    assert 200 / (process_time() - started) > 500


@pytest.mark.parametrize(
    "said",
    [
        "Don't use emojis in answers",
        "use British spelling please",
        "no jargon please",
        "stop apologising all the time",
        "I'd like you to answer in bullet points",
        "my English is not so good, so please use simple words",
        "everyone calls me Lizzie, you can too",
    ],
)
def test_L6_a_wish_about_answers_is_a_standing_request(said: str) -> None:
    (lesson,) = lessons(said)
    assert lesson.type == "user_request"


@pytest.mark.parametrize(
    "said",
    [
        "Write a short poem about spring",
        "Use bullet points for this list",
        "Use simple words to explain gravity",
        "make this shorter",
        "answer in one sentence: what is a monad",
        "I'd rather not talk about it",
        "I'd rather have pizza tonight",
        "single malt is fine",
        "based on your answer I have to think again",
    ],
)
def test_L6_a_wish_for_one_thing_teaches_nothing(said: str) -> None:
    assert texts(said) == []


@pytest.mark.parametrize(
    ("said", "slot", "value"),
    [
        ("My home is in Tallinn.", "home", "tallinn"),
        ("Home for us is Tartu.", "home", "tartu"),
        ("I'd rather have tea than coffee.", "prefers", "tea"),
        ("I'd prefer a window seat.", "prefers", "window seat"),
        ("Based in Utrecht.", "home", "utrecht"),
        ("Allergic to bees.", "allergy", "bees"),
        ("Vegan, by the way.", "diet", "vegan"),
    ],
)
def test_L6_what_is_told_as_a_wish_or_without_a_subject(said: str, slot: str, value: str) -> None:
    (lesson,) = lessons(said)
    assert lesson.claim is not None
    assert (lesson.claim.slot, lesson.claim.value) == (slot, value)


@pytest.mark.parametrize(
    ("said", "corrected", "written"),
    [
        ("My shoe size is 42.", "43. I always mix that up.", "Ann's shoe size is 43."),
        ("I was at Nokia for six years.", "hang on, seven. 2014 to 2021", "for seven years."),
        ("My manager is Karen.", "that's wrong, Karen is the director, my manager's Bev", "Bev."),
        ("Our son is called Jaimie.", "spelt Jamie", "Ann's son is called Jamie."),
        ("I graduated in 2012.", "scrap that, 2013", "Ann graduated in 2013."),
        ("I run 10k on Sundays.", "on Saturdays I should say", "Ann runs 10k on Saturdays."),
        ("I'm five foot nine.", "ok fine five foot eight and a half", "eight and a half."),
    ],
)
def test_L6_a_correction_may_come_with_a_comment(said: str, corrected: str, written: str) -> None:
    (lesson,) = lessons(corrected, earlier=(said,))
    assert lesson.text.endswith(written)
    assert lesson.corrects


@pytest.mark.parametrize(
    "asked",
    [
        "{}, what should I order?",
        "{} - any tips?",
        "{}; which one should I take?",
        "{} so what would you do?",
        "Since {}, what do you recommend?",
        "What do you recommend, given that {}?",
        "{}, is that a problem?",
        "Help me plan the week, {}",
        "Note: {}",
        "You should know that {}",
        "I forgot to say that {}",
    ],
)
@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I'm allergic to nuts", "Ann is allergic to nuts."),
        ("I live in Leeds", "Ann lives in Leeds."),
        ("I have two kids", "Ann has two kids."),
        ("I'm left-handed", "Ann is left-handed."),
    ],
)
def test_L6_what_lasts_is_heard_beside_a_question(asked: str, said: str, written: str) -> None:
    assert texts(asked.format(said)) == [written]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ich bin allergisch gegen Nüsse, was soll ich essen?", "Ich bin allergisch gegen Nüsse"),
        ("Je suis végétarien, que puis-je commander ?", "Je suis végétarien"),
        ("Vivo en Sevilla, ¿dónde puedo correr?", "Vivo en Sevilla"),
        ("我对花生过敏，可以吃什么？", "我对花生过敏"),
    ],
)
def test_L6_so_it_is_in_other_languages(text: str, said: str) -> None:
    assert texts(text) == [f'Ann said: "{said}"']


@pytest.mark.parametrize(
    "text",
    [
        "I have a chicken, what can I cook?",
        "Ich habe drei Eier, was kann ich kochen?",
        "I'm in Paris, where should I eat?",
        "I have a meeting at 3, can you remind me?",
        "I have three eggs - any ideas?",
        "Am I allergic to nuts or is it hay fever, how would I tell?",
        "What's best if I'm allergic to nuts?",
        "I was born yesterday, is that what you think?",
        "I'm making soup, what goes in first?",
    ],
)
def test_L6_what_is_only_so_while_somebody_asks_is_not(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    "aside", ["nice to meet you", "thank you", "as you know", "by the way", "if that helps"]
)
def test_L6_an_aside_is_no_part_of_a_statement(aside: str) -> None:
    assert texts(f"My name is Mara, {aside}!") == ["Ann's name is Mara."]
    assert texts(f"I live in Leeds, {aside}") == ["Ann lives in Leeds."]


def test_L6_a_sentence_about_she_is_kept_once_and_with_who_she_is() -> None:
    found = extract([message("My aunt is visiting. She comes the week after.")])
    (lesson,) = found.lessons
    assert lesson.text == 'Ann said: "My aunt is visiting. She comes the week after"'
    assert found.unread == ()


@pytest.mark.parametrize(("old", "new"), [("6:40", "8:40"), ("3.5", "4.25"), ("1,200", "950")])
@pytest.mark.parametrize(
    "form",
    ["Sorry, I meant {new}", "not {old}, {new}", "{new}, not {old}", "I said {old} but it's {new}"],
)
def test_L6_a_mark_inside_a_number_parts_nothing(form: str, old: str, new: str) -> None:
    (lesson,) = lessons(form.format(old=old, new=new), earlier=(f"My lucky number is {old}",))
    assert lesson.text == f"Ann's lucky number is {new}."


def test_L6_a_statement_of_its_own_is_never_put_into_another() -> None:
    (lesson,) = lessons("wait is it Bruges? yes Bruges", earlier=("My cousin lives in Ghent.",))
    assert lesson.doubts
    assert "lives in is it" not in lesson.text


def test_nobody_learns_that_somebody_is_themselves() -> None:
    assert lessons("I'm Mara.", author="Mara") == ()
