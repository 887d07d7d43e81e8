"""Words and meaning as one number; questions read for who and when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from standfast.index.found import FoundHits
from standfast.index.spread import Spread
from standfast.profiles import PROFILES
from standfast.rank.candidates import Candidate
from standfast.rank.fusion import fused
from standfast.rank.question import asks_for_the_assistant, names, parts, periods
from standfast.rank.stages import Asked, of_equal_say, rank
from standfast.testing.values import NOW, make_record
from standfast.text.analysis import asks
from standfast.types import Hit

WEIGHT = 0.16


def hit(id_: str = "a", **fields: object) -> Hit:
    return Hit(record=make_record(id_), **fields)  # type: ignore[arg-type]


def scores(*hits: Hit, weight: float = WEIGHT) -> list[float]:
    parts = fused(FoundHits.of(hits), weight)
    return [float(score) for score in parts.words + parts.meaning]


def test_M5_the_best_score_is_its_calibrated_relevance() -> None:
    """By words alone the share of words found, by meaning alone the cosine: a poor best stays
    poor however far ahead it is."""
    assert scores(hit(keyword=9.0, coverage=0.25)) == pytest.approx([0.25])
    assert scores(hit(similarity=0.3, lift=2.0)) == pytest.approx([0.3])
    both = scores(hit(keyword=9.0, coverage=0.5, similarity=0.3, lift=2.0))
    assert 0.3 < both[0] < 0.5


def test_M5_meaning_counts_by_how_far_it_stands_out() -> None:
    """The same cosines, in a store where all are alike and in one where they stand out."""
    word = hit("w", keyword=5.0, coverage=0.4, similarity=0.3, lift=0.0)
    dull = hit("m", similarity=0.5, lift=1.0)
    bright = hit("m", similarity=0.5, lift=6.0)
    ahead, behind = scores(word, dull)
    assert ahead > behind
    behind, ahead = scores(word, bright)
    assert ahead > behind


def test_M5_words_count_by_what_they_cover() -> None:
    meaning = hit("m", similarity=0.5, lift=4.0)
    found, other = scores(hit("w", keyword=5.0, coverage=0.9), meaning)
    assert found > other
    found, other = scores(hit("w", keyword=5.0, coverage=0.1), meaning)
    assert found < other


def test_M5_surroundings_count_beside_the_record() -> None:
    alone = hit("a", keyword=2.0, keyword_around=2.0, coverage=0.5)
    answer = hit("b", keyword=0.0, keyword_around=3.0)
    assert scores(alone, answer)[1] > scores(alone, answer)[0]
    near = hit("c", similarity=0.3, lift=1.0, lift_around=4.0)
    far = hit("d", similarity=0.3, lift=1.0, lift_around=0.0)
    assert scores(near, far)[0] > scores(near, far)[1]


def test_M5_no_score_is_below_nothing() -> None:
    low = hit("b", keyword=0.1, similarity=-0.2, lift=-5.0)
    assert min(scores(hit(keyword=5.0, coverage=1.0, similarity=0.5, lift=3.0), low)) >= 0
    assert scores(hit(similarity=0.0, lift=-1.0)) == [0.0]
    assert scores() == []


def test_M5_few_similarities_are_judged_by_what_is_usual() -> None:
    one = Spread.of(1, 0.5, 0.25)
    assert 2 < one.lift(0.5) < 5
    many = Spread.of(100_000, 50_000, 25_000 + 100_000 * 0.01)
    assert many.lift(0.5) == pytest.approx(0, abs=0.01)
    assert many.lift(0.6) == pytest.approx(1, abs=0.05)


def test_X16_an_english_model_has_no_say_in_chinese() -> None:
    profile = PROFILES["default"]
    hits = [
        hit("w", keyword=1.0, coverage=0.3, similarity=0.2, lift=0.0),
        hit("m", similarity=0.9, lift=8.0),
    ]
    asked = Asked(text="上司是做什么工作的", now=NOW, profile=profile, embedder="minilm")
    assert [one.record.id for one in rank(hits, asked)] == ["w", "m"]
    asked = Asked(text="what does the boss do", now=NOW, profile=profile, embedder="minilm")
    assert [one.record.id for one in rank(hits, asked)] == ["m", "w"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did you recommend for dinner?", True),
        ("Remind me what you said about the visa", True),
        ("I'm going back to our previous conversation about jazz", True),
        ("你上次推荐的餐厅是哪家？", True),
        ("Can you tell me where I parked?", False),
        ("Where did I park?", False),
    ],
)
def test_questions_about_the_assistant(text: str, expected: bool) -> None:
    assert asks_for_the_assistant(text) is expected


def test_a_question_names_an_author_as_a_word() -> None:
    assert names("What did ANN's dog eat?", "Ann")
    assert not names("What did Annette eat?", "Ann")
    assert names("Was sagte Jürgen?", "JURGEN")
    assert asks("Really? \n")
    assert not asks("Really? Yes.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is the key?", ()),
        ("Where is the key? And who has it?", ("Where is the key?", "And who has it?")),
        ("上司是谁？另外，地点是什么？", ("上司是谁？", "另外，地点是什么？")),
        ("What?!? Where?? Ah.", ("What?", "Where??")),
        ("a? b? c? d?", ()),
        ("", ()),
    ],
)
def test_several_questions_in_one(text: str, expected: tuple[str, ...]) -> None:
    assert parts(text, 3) == expected
    assert parts(text, 1) == ()


def test_L12_times_in_a_question_and_when_they_were_told() -> None:
    now = datetime(2023, 6, 15, 12, tzinfo=UTC)
    [day] = periods("What did Ann cook on 3 May 2023?", now)
    assert (day.start.day, day.start.month) == (3, 5)
    assert (day.end - day.start).days == 8
    [month] = periods("What did Ann cook in May 2023?", now)
    assert month.start.month == 5
    assert month.end > datetime(2023, 6, 25, tzinfo=UTC)
    assert periods("What did Ann cook?", now) == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("In June I ran a marathon.", True),
        ("We came third in the relay on 18 June, I never told you.", True),
        ("Im Juni bin ich einen Marathon gelaufen.", True),
        ("In July I ran a marathon.", False),
        ("June ran a marathon with me in July.", False),  # a name
        ("Next June I want to run a marathon.", False),
        ("I ran a marathon.", False),
        ("", False),
    ],
)
def test_X5_what_was_told_later_about_a_time_is_of_it(text: str, told: bool) -> None:
    now, later = datetime(2025, 11, 20, tzinfo=UTC), datetime(2025, 9, 2, tzinfo=UTC)
    [month] = periods("What did I run five months ago?", now)
    assert month.is_told(text, later) is told
    assert not month.is_told(text, datetime(2025, 3, 1, tzinfo=UTC))  # nobody tells of it before


def test_of_several_questions_none_drowns_the_other() -> None:
    loud, quiet = Candidate(hit("a"), score=0.8), Candidate(hit("b"), score=0.2)
    merged = of_equal_say([[loud], [quiet]])
    assert [round(one.score, 6) for one in merged] == [0.5, 0.5]
    assert of_equal_say([[], []]) == []
