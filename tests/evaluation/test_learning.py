"""The sets of what people say are sound, and the scorer sees a wrong belief for what it is."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from evaluation.cases import DataError
from evaluation.learning.__main__ import CANNOT, GOOD, main
from evaluation.learning.cases import (
    HALVES,
    LANGUAGES,
    SETS,
    Case,
    SetName,
    half_of,
    load,
    load_all,
)
from evaluation.learning.judging import Verdict, judge
from evaluation.learning.living import Belief, Lived, live
from evaluation.learning.matching import covers, is_garbled, matches, says_an_end
from evaluation.learning.report import as_json, failures, render
from standfast.models.providers.hashing import HashingEmbedder

LEAST: dict[SetName, int] = {
    "pairs": 180,
    "corrections": 120,
    "tricky": 240,
    "pastes": 80,
    "harmless": 140,
    "everyday": 150,
}


@pytest.fixture(scope="module")
def cases() -> dict[SetName, list[Case]]:
    return {name: load(name) for name in LEAST}


def known(*texts: str, **fields: bool | str) -> list[Belief]:
    """Records whose ids are their texts: the same text at two moments is the same record."""
    state = {"status": "active", "current": True, "doubted": False, **fields}
    return [Belief(id=text, text=text, **state) for text in texts]  # type: ignore[arg-type]


def lived(before: Sequence[Belief], after: Sequence[Belief]) -> Lived:
    return Lived(first=before, before=before, after=after)


def case(name: SetName, **fields: object) -> Case:
    """Through the loader, from a folder of its own."""
    given = {"lang": "en", "turns": ["one", "two"], "id": f"{name}-test", **fields}
    with TemporaryDirectory() as folder:
        (Path(folder) / f"{name}.jsonl").write_text(json.dumps(given), "utf-8")
        (one,) = load(name, Path(folder))
    return one


# the sets


def test_the_sets_are_large_enough_in_five_languages(cases: dict[SetName, list[Case]]) -> None:
    for name, least in LEAST.items():
        assert len(cases[name]) >= least, name
        spoken = Counter(one.lang for one in cases[name])
        assert set(spoken) == set(LANGUAGES), name
        assert 0.7 <= spoken["en"] / len(cases[name]) <= 0.85, name


def test_no_id_and_no_text_is_there_twice(cases: dict[SetName, list[Case]]) -> None:
    everything = [one for found in cases.values() for one in found]
    for counted in (Counter(one.id for one in everything), Counter(one.text for one in everything)):
        assert [text for text, times in counted.items() if times > 1] == []


def test_the_halves_are_fixed_and_of_about_one_size(cases: dict[SetName, list[Case]]) -> None:
    assert (half_of("pairs-en-001"), half_of("pairs-en-002")) == ("tune", "held")
    for name, found in cases.items():
        halves = Counter(one.half for one in found)
        assert all(halves[half] >= 0.4 * len(found) for half in HALVES), name


def test_later_sets_have_texts_of_their_own_and_two_halves() -> None:
    for name in SETS:
        everything = load_all(name)
        texts = Counter(one.text for one in everything)
        assert [text for text, times in texts.items() if times > 1] == [], name
        for later in {one.later for one in everything} - {"", "second", "sixth"}:
            halves = Counter(one.half for one in everything if one.later == later)
            assert set(halves) == {f"{later}, tune", f"{later}, held"}, name
            least = 0.4 if later == "third" else 0.25  # few corrections: the hash was not even
            assert min(halves.values()) >= least * sum(halves.values()), name


def test_what_is_expected_was_said(cases: dict[SetName, list[Case]]) -> None:
    """A misspelt keyword would fail a case for ever, or pass it for ever."""
    for found in cases.values():
        for one in found:
            earlier = " ".join(turn.text for turn in one.turns[:-1])
            for group in one.believe:
                assert matches(_without_exceptions(group), one.text), (one.id, group)
            for group in one.gone:
                assert matches(_without_exceptions(group), earlier), (one.id, group)


def _without_exceptions(group: str) -> str:
    return re.sub(r"\s*!\S+", "", group)


def test_every_case_expects_what_its_set_is_about(cases: dict[SetName, list[Case]]) -> None:
    for one in (*cases["pairs"], *cases["corrections"]):
        assert one.believe, one.id
        assert one.gone, one.id
        assert len(one.turns) >= 2, one.id
    assert all(one.believe and len(one.turns) == 2 for one in cases["harmless"])
    assert all(bool(one.believe) == (len(one.turns) > 1) for one in cases["pastes"])


def test_a_broken_set_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text('{"id": "a", "lang": "en", "turns": ["x"], "odd": 1}\n')
    with pytest.raises(DataError, match=r"pairs\.jsonl:1: unknown fields \['odd'\]"):
        load("pairs", tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        load("tricky", tmp_path)


# keywords


@pytest.mark.parametrize(
    ("group", "text", "found"),
    [
        ("faro", "Ann moved to Faro.", True),
        ("gottingen", "Wir sind nach Göttingen gezogen.", True),
        ("allerg nut", "Ann is allergic to nuts.", True),
        ("5", "on the 5th of May, 2026-04-05", True),
        ("5", "50 people and 15 dogs", False),
        ("ex", "for example", False),
        ("use wheelchair", "The user sold the wheelchair.", False),
        ("no_longer|quit", "Ann quit.", True),
        ("coffee !not", "Ann doesn't drink coffee.", False),
        ("重庆", "我们上个月搬到重庆了", True),
        ("mongodb", "我们用的是MongoDB。", True),
    ],
)
def test_keywords(group: str, text: str, found: bool) -> None:
    assert matches(group, text) is found


def test_what_is_over_and_what_is_garbled() -> None:
    assert says_an_end("Ann no longer works there.")
    assert not says_an_end("Ann works there.")
    assert is_garbled("Ann's bike is called My bike's name is Storm.")
    assert is_garbled("The user is allergic to they are allergic to eggs.")
    assert not is_garbled('Ann said: "My bike is called Storm."')
    assert covers("Ann has a red bike from Italy.", "Ann has a red bike.")
    assert covers("Ann lives near the old harbour in Leeds.", "Ann lives in Leeds.")
    assert not covers("Ann has a bike.", "Ann lives in a red house.")
    assert not covers("Ann's favourite colour is blue.", "Ann's favourite colour is red.")
    assert not covers("Ann is not afraid of dogs anymore.", "Ann is afraid of dogs.")


# the scorer


def test_a_change_is_right_if_the_new_has_taken_the_place_of_the_old() -> None:
    move = case("pairs", believe=["faro"], gone=["porto"])
    old, new = known("Ann lives in Porto."), known("Ann lives in Faro.")
    closed = known("Ann lives in Porto.", status="superseded", current=False)
    assert judge(move, lived(old, [*closed, *new])).right
    assert judge(move, lived([], new)).right
    assert judge(move, lived(old, [*old, *new])).why == "the old is still believed"
    assert judge(move, lived(old, old)).why == "the old is still believed, the new is not"
    assert judge(move, lived(old, closed)).why == "the new is not believed"
    assert not judge(move, lived([], [])).right


def test_a_record_that_names_the_old_to_say_it_is_over_is_no_old_belief() -> None:
    sale = case("pairs", believe=["tesla"], gone=["golf"])
    old = known("Ann has a Golf.")
    closed = known("Ann has a Golf.", status="superseded", current=False)
    said = known("Ann sold the Golf.", "Ann has a Tesla.")
    assert judge(sale, lived(old, [*closed, *said])).right
    again = known("Ann has a Tesla.", "The Golf is Ann's.")
    assert not judge(sale, lived(old, [*closed, *again])).right


def test_an_end_needs_no_new_record_but_an_old_one_that_was_known() -> None:
    quit_ = case("pairs", believe=["quit"], gone=["bakery"], end=True)
    old = known("Ann works at a bakery.")
    closed = known("Ann works at a bakery.", current=False)
    assert judge(quit_, lived(old, closed)).right
    assert judge(quit_, lived([], known("Ann quit the bakery."))).right
    assert not judge(quit_, lived([], [])).right
    assert not judge(quit_, lived(old, [*old, *known("Ann quit the bakery.")])).right


def test_doubt_in_the_open_counts_for_a_change_and_against_what_is_harmless() -> None:
    doubted = known("Ann lives in Porto.", "Ann lives in Faro.", status="disputed", doubted=True)
    verdict = judge(
        case("pairs", believe=["faro"], gone=["porto"]),
        lived(known("Ann lives in Porto."), doubted),
    )
    assert (verdict.right, verdict.by_doubt) == (True, True)
    harmless = case("harmless", believe=["porto"])
    assert not judge(harmless, lived(known("Ann lives in Porto."), doubted)).right


def test_a_garbled_record_is_no_belief() -> None:
    bike = case("corrections", believe=["storm"], gone=["stern"])
    old = known("Ann's bike is called Stern.")
    closed = known("Ann's bike is called Stern.", status="superseded", current=False)
    garbled = known("Ann's bike is called My bike's name is Storm.")
    assert not judge(bike, lived(old, [*closed, *garbled])).right


def test_what_is_harmless_may_add_and_enrich_but_not_replace() -> None:
    harmless = case("harmless", believe=["bike"])
    old = known("Ann has a bike.")
    closed = known("Ann has a bike.", status="superseded", current=False)
    assert judge(harmless, lived(old, [*old, *known("Ann has a car.")])).right
    assert judge(harmless, lived(old, [*closed, *known("Ann has a red bike.")])).right
    assert not judge(harmless, lived(old, [*closed, *known("Ann owns a car.")])).right
    assert judge(harmless, lived([], old)).why == "the first statement was not learned"


def test_a_joke_or_a_paste_must_teach_nothing_and_break_nothing() -> None:
    for name in ("tricky", "pastes"):
        paste = case(name, believe=["ipswich"], also=["colleague"])
        old = known("Ann lives in Ipswich.")
        assert judge(paste, lived(old, old)).right
        assert judge(paste, lived(old, [*old, *known("Ann has a colleague.")])).right
        wrong = judge(paste, lived(old, [*old, *known("Ann is moving to Cardiff.")]))
        assert wrong.why == "believed: Ann is moving to Cardiff."
        assert not judge(paste, lived(old, known(old[0].text, current=False))).right
        assert not judge(paste, lived(old, known(old[0].text, doubted=True))).right
        assert not judge(paste, lived([], [])).right


def test_facts_are_counted_and_so_is_what_is_no_fact() -> None:
    turn = case("everyday", believe=["crane", "44"], also=["jokes"])
    verdict = judge(
        turn, lived([], known("Ann operates a crane.", "Ann knows jokes.", "Ann is 12."))
    )
    assert (verdict.facts, verdict.records) == ((1, 2), (2, 3))
    assert verdict.why == "missed: 44; wrong: Ann is 12."


def test_of_a_talk_is_counted_what_was_told_and_what_was_only_guessed() -> None:
    talk = case("talks", believe=["fedora", "44"], gone=["windows", "labrador"])
    verdict = judge(
        talk,
        lived([], known('Ann has Fedora. (asked: "Windows?")', "Ann's dog is called Labrador.")),
    )
    assert (verdict.facts, verdict.records) == ((1, 2), (1, 2))
    assert verdict.why == "missed: 44; wrong: Ann's dog is called Labrador."


# from end to end


def test_cases_run_through_the_public_interface() -> None:
    move = case(
        "pairs",
        turns=["I live in Berlin.", "I live in Hamburg now."],
        believe=["hamburg"],
        gone=["berlin"],
    )
    wrong = case("tricky", turns=["I live in Berlin."])
    right = case("tricky", turns=["What is the capital of Peru?"])
    fact = case("everyday", turns=["I live in Berlin."], believe=["berlin"])
    embedder = HashingEmbedder()

    def verdict(one: Case) -> Verdict:
        return judge(one, asyncio.run(live(one, embedder)))

    assert verdict(move).right
    assert not verdict(wrong).right, "the scorer must see that something was believed"
    assert verdict(right).right
    assert verdict(fact).facts == (1, 1)


def test_cases_do_not_see_each_other() -> None:
    embedder = HashingEmbedder()
    one = case("everyday", turns=["I live in Berlin."], believe=["berlin"])
    first, second = (asyncio.run(live(one, embedder)) for _ in range(2))
    assert len(first.after) == len(second.after) == 1


def test_of_the_held_half_only_totals_are_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "results.json"
    options = ["--set", "corrections", "--failures", "--embedder", "hashing", "--json", str(file)]
    assert main(options) == GOOD
    held = [one for one in load("corrections") if one.half == "held"]
    shown = capsys.readouterr().out + file.read_text("utf-8")
    assert "right, held" in shown
    assert [
        one.id for one in held if one.id in shown or one.turns[-1].text in shown.split("\n")
    ] == []


def test_reports_of_nothing_and_of_what_failed() -> None:
    one = judge(case("pairs", believe=["a"], gone=["b"]), lived([], []))
    assert "pairs" in render([one])
    assert len(as_json([one])["totals"]) == 2
    assert bool(list(failures([one]))) is (one.case.half == "tune")
    assert main(["--embedder", "no-such-embedder", "--set", "pastes"]) == CANNOT
