"""Searching: raw scores of two arms, comparable and the same in every store."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

from standfast.index.conditions import conditions_of
from standfast.ports import Store
from standfast.testing.harness import Contract, clause
from standfast.testing.values import (
    NOW,
    ROOT,
    SPACE,
    ask,
    found_ids,
    make_query,
    make_record,
    make_search,
    moment,
    one_record,
    put,
    scores_of,
    unit,
)
from standfast.text.analysis import bm25, idf, query_terms, terms
from standfast.types import Hit

BELOW = f"{ROOT}:agent:cto"
KEYS = {"hashes", "origins", "lineage", "derived_from"}
TEXTS = {
    "a": "the deploy goes out on tuesday",
    "b": "deploy deploy deploy",
    "c": "tuesday is soup day, and the soup is good",
    "d": "nothing of the kind",
}
COMPASS = {"east": (1, 0, 0), "north": (0, 1, 0), "west": (-1, 0, 0), "between": (1, 1, 0)}


async def _plant_texts(store: Store) -> None:
    await put(store, *(make_record(id_, text) for id_, text in TEXTS.items()))


async def _plant_compass(store: Store) -> None:
    vectors = {id_: unit(*numbers) for id_, numbers in COMPASS.items()}
    await put(store, *(make_record(id_) for id_ in COMPASS), vectors=vectors, space=SPACE)


async def _hits(store: Store, **fields: Any) -> dict[str, Hit]:
    return {hit.record.id: hit for hit in await store.search(make_search(**fields))}


def _expected_keyword(query: str, id_: str) -> float:
    """BM25 by the book, over TEXTS."""
    counted = {key: terms(text) for key, text in TEXTS.items()}
    average = sum(map(len, counted.values())) / len(counted)
    score = 0.0
    for term in query_terms(query):
        containing = sum(term in words for words in counted.values())
        frequency = counted[id_].count(term)
        weight = idf(len(counted), containing)
        score += bm25(weight, frequency, len(counted[id_]), average) if frequency else 0.0
    return score


class KeywordClauses(Contract):
    @clause
    async def test_M4_the_vector_arm_can_be_bounded_from_below(self, store: Store) -> None:
        """Only what is more similar counts; the other arm is not touched."""
        await put(
            store,
            make_record("same", "tea"),
            make_record("near", "tea"),
            make_record("far", "coffee"),
            vectors={"same": unit(1, 0, 0), "near": unit(2, 1, 0), "far": unit(0, 1, 0)},
            space=SPACE,
        )
        asked = {"vector": unit(1, 0, 0), "space": SPACE}
        assert await found_ids(store, **asked, similar_above=0.95) == ["same"]
        assert sorted(await found_ids(store, **asked, similar_above=0.5)) == ["near", "same"]
        found = await found_ids(store, **asked, text="coffee", similar_above=0.95)
        assert sorted(found) == ["far", "same"]

    @clause
    async def test_X16_keyword_is_bm25(self, store: Store) -> None:
        """The one formula of ``standfast.text.analysis``, over what the scopes can see."""
        await _plant_texts(store)
        for query in ("deploy", "tuesday deploys", "soup on tuesday", "good deploy day"):
            for id_, hit in (await _hits(store, text=query)).items():
                expected = _expected_keyword(query, id_)
                assert math.isclose(hit.keyword, expected, rel_tol=1e-6), (query, id_)

    @clause
    async def test_keyword_is_above_zero_only_if_a_word_matches(self, store: Store) -> None:
        """Found by word: exactly the records that hold one of the words."""
        await _plant_texts(store)
        found = await _hits(store, text="deploy soup")
        assert set(found) == {"a", "b", "c"}
        assert all(hit.keyword > 0 for hit in found.values())
        assert await _hits(store, text="zebra") == {}

    @clause
    async def test_keyword_arm_without_vector_has_no_similarity(self, store: Store) -> None:
        """None, not 0: nothing was compared."""
        await _plant_texts(store)
        found = await _hits(store, text="deploy")
        assert [hit.similarity for hit in found.values()] == [None, None]

    @clause
    async def test_rarer_word_weighs_more(self, store: Store) -> None:
        """Of two equal texts the one with the rarer word is first."""
        common = [make_record(f"c{n}", "common word") for n in range(8)]
        await put(store, *common, make_record("rare", "rare word"))
        found = await _hits(store, text="common rare")
        assert found["rare"].keyword > found["c0"].keyword
        assert (await found_ids(store, text="common rare"))[0] == "rare"

    @clause
    async def test_coverage_is_the_share_of_the_query(self, store: Store) -> None:
        """1 with all its words, less without the rare one, 0 with none."""
        await _plant_texts(store)
        vectors = {"d": unit(1, 0, 0)}
        await put(store, root=ROOT, vectors=vectors, space=SPACE)
        found = await _hits(store, text="deploy tuesday soup", vector=unit(1, 0, 0), space=SPACE)
        total = sum(idf(4, containing) for containing in (2, 2, 1))
        assert math.isclose(found["a"].coverage, 2 * idf(4, 2) / total, rel_tol=1e-6)
        assert math.isclose(found["b"].coverage, idf(4, 2) / total, rel_tol=1e-6)
        assert found["d"].coverage == 0
        assert found["d"].keyword == 0
        [hit] = await store.search(make_search(text="soup day"))
        assert math.isclose(hit.coverage, 1, rel_tol=1e-6)

    @clause
    async def test_stop_words_alone_still_search(self, store: Store) -> None:
        """They are left out only where there is something better."""
        await put(store, make_record("a", "to be or not to be"), make_record("b", "question"))
        assert await found_ids(store, text="to be") == ["a"]
        assert await found_ids(store, text="what is the question") == ["b"]

    @clause
    async def test_query_without_words_finds_nothing(self, store: Store) -> None:
        """Punctuation and operators of some query language are neither words nor errors."""
        await put(store, make_record("a", "apple NOT pie"))
        for text in ("???", '"', "' OR 1=1 --", "* ^ ( ) :", "a:b AND", "\x00", "-", "NEAR("):
            assert set(await found_ids(store, text=text)) <= {"a"}
        assert await found_ids(store, text='"apple') == ["a"]
        assert await found_ids(store, text="!!!") == []

    @clause
    async def test_statistics_ignore_the_filters(self, store: Store) -> None:
        """A filter hides hits; it does not change the scores of the rest."""
        await _plant_texts(store)
        await put(store, make_record("p", "deploy soup", type_="preference"))
        await put(store, make_record("s", "deploy soup", status="superseded"))
        everything = await scores_of(store, make_search(text="deploy soup"))
        only = await scores_of(store, make_search(text="deploy soup", types=("preference",)))
        assert only == {"p": everything["p"]}

    @clause
    async def test_long_queries_work(self, store: Store) -> None:
        """A whole page as query finds the record that shares a rare word with it."""
        await _plant_texts(store)
        page = " ".join(f"word{n}" for n in range(500)) + " soup"
        assert await found_ids(store, text=page) == ["c"]


class ScriptClauses(Contract):
    """X16: words are found in any script."""

    @clause
    async def test_X16_english_stems_and_case(self, store: Store) -> None:
        """Endings, case and apostrophes do not matter."""
        await put(store, make_record("a", "Ann's DEPLOYMENTS were running"))
        for text in ("deployment", "run", "RUNS", "ann", "Ann’s"):
            assert await found_ids(store, text=text) == ["a"], text

    @clause
    async def test_X16_accents_and_widths_are_folded(self, store: Store) -> None:
        """With or without accents, composed or not, full width or half."""
        await put(store, make_record("a", "Café in Zürich, Straße, ＡＢＣ, naïve"))
        for text in ("cafe", "CAFÉ", "cafe\u0301", "zurich", "strasse", "abc", "naive"):
            assert await found_ids(store, text=text) == ["a"], text

    @clause
    async def test_X16_chinese_is_found_without_blanks(self, store: Store) -> None:
        """A word inside a sentence; the sentence that holds it whole comes first."""
        await put(store, make_record("a", "我住在北京市"), make_record("b", "他住在上海"))
        assert await found_ids(store, text="北京") == ["a"]
        assert sorted(await found_ids(store, text="住")) == ["a", "b"]
        assert (await found_ids(store, text="你住在上海吗"))[0] == "b"

    @clause
    async def test_X16_japanese_is_found_without_blanks(self, store: Store) -> None:
        """Kanji and kana, half width folded."""
        await put(
            store, make_record("a", "私は東京でラーメンを食べた"), make_record("b", "猫が好き")
        )
        for text in ("東京", "ラーメン", "ﾗｰﾒﾝ", "食べた"):
            assert (await found_ids(store, text=text))[:1] == ["a"], text

    @clause
    async def test_X16_korean_is_found_behind_particles(self, store: Store) -> None:
        """The particle that sticks to the word does not hide it."""
        await put(store, make_record("a", "서울에서 회의가 있습니다"), make_record("b", "부산"))
        for text in ("서울", "회의"):
            assert (await found_ids(store, text=text))[:1] == ["a"], text

    @clause
    async def test_X16_thai_is_found_without_blanks(self, store: Store) -> None:
        """Words inside a run of Thai."""
        await put(store, make_record("a", "ฉันชอบกินข้าวผัดที่กรุงเทพ"), make_record("b", "แมวน้ำ"))
        for text in ("กรุงเทพ", "ข้าวผัด"):
            assert (await found_ids(store, text=text))[:1] == ["a"], text

    @clause
    async def test_X16_other_scripts(self, store: Store) -> None:
        """Hebrew points, Arabic marks, Hindi vowel signs, Greek and Cyrillic case."""
        words = {
            "hebrew": ("שָׁלוֹם עולם", "שלום"),
            "arabic": ("مُحَمَّد هنا", "محمد"),
            "hindi": ("मुझे हिन्दी पसंद है", "हिन्दी"),
            "greek": ("Αθήνα", "ΑΘΉΝΑ"),
            "russian": ("Москва", "москва"),
        }
        await put(store, *(make_record(id_, text) for id_, (text, _) in words.items()))
        for id_, (_, asked) in words.items():
            assert await found_ids(store, text=asked) == [id_]


class VectorClauses(Contract):
    @clause
    async def test_O1_similarity_is_the_cosine(self, store: Store) -> None:
        """Exact, negative ones too."""
        await _plant_compass(store)
        found = await _hits(store, vector=unit(1, 0, 0), space=SPACE)
        expected = {"east": 1.0, "between": math.sqrt(0.5), "north": 0.0, "west": -1.0}
        assert set(found) == set(expected)
        for id_, cosine in expected.items():
            similarity = found[id_].similarity
            assert similarity is not None
            assert abs(similarity - cosine) < 1e-5
            assert (found[id_].keyword, found[id_].coverage) == (0, 0)

    @clause
    async def test_O1_best_by_meaning_come_first(self, store: Store) -> None:
        """The nearest ``limit``, nearest first."""
        await _plant_compass(store)
        near = {"vector": unit(1, 0.1, 0), "space": SPACE}
        assert await found_ids(store, **near, limit=2) == ["east", "between"]
        assert await found_ids(store, **near) == ["east", "between", "north", "west"]

    @clause
    async def test_O1_both_scores_on_every_hit(self, store: Store) -> None:
        """The union of the best of each arm; nothing is scored by one arm alone."""
        await _plant_compass(store)
        await put(store, make_record("words", "east wind"))
        hybrid = {"text": "east", "vector": unit(0, 1, 0), "space": SPACE}
        found = await _hits(store, **hybrid, limit=2)
        assert set(found) == {"east", "words", "north", "between"}
        assert found["east"].keyword > 0
        assert found["east"].similarity is not None
        assert abs(found["east"].similarity) < 1e-5
        assert found["words"].similarity is None
        assert found["north"].keyword == 0
        assert (found["north"].similarity or 0) > 0.99

    @clause
    async def test_O1_arms_are_limited_each(self, store: Store) -> None:
        """Ten by word and ten by meaning may be twenty hits."""
        words = [make_record(f"w{n:02}", "apple " * (n + 1)) for n in range(20)]
        shapes = [make_record(f"v{n:02}", "shape") for n in range(20)]
        vectors = {f"v{n:02}": unit(1, n, 0) for n in range(20)}
        await put(store, *words, *shapes, vectors=vectors, space=SPACE)
        query = make_search(text="apple", vector=unit(1, 0, 0), space=SPACE, limit=10)
        ids = {hit.record.id for hit in await store.search(query)}
        assert {id_ for id_ in ids if id_[0] == "v"} == {f"v{n:02}" for n in range(10)}
        assert len({id_ for id_ in ids if id_[0] == "w"}) == 10

    @clause
    async def test_spaces_never_mix(self, store: Store) -> None:
        """A vector of another space, even of the same length, is not compared."""
        await put(store, make_record("a"), vectors={"a": unit(1, 0, 0)}, space="one/3")
        await put(store, make_record("b"), vectors={"b": unit(1, 0, 0)}, space="two/3")
        await put(store, root=ROOT, vectors={"b": unit(0, 1)}, space="three/2")
        near = {"vector": unit(1, 0, 0)}
        assert await found_ids(store, **near, space="one/3") == ["a"]
        assert await found_ids(store, **near, space="two/3") == ["b"]
        assert await found_ids(store, **near, space="nobody/3") == []
        assert await found_ids(store, vector=unit(0, 1), space="three/2") == ["b"]

    @clause
    async def test_vector_may_come_later_and_be_replaced(self, store: Store) -> None:
        """Embedding is a commit of its own; the last one counts, the version stays."""
        await put(store, make_record("a"))
        await put(store, root=ROOT, vectors={"a": unit(0, 1, 0)}, space=SPACE)
        await put(store, root=ROOT, vectors={"a": unit(1, 0, 0)}, space=SPACE)
        [hit] = await store.search(make_search(vector=unit(1, 0, 0), space=SPACE))
        assert (hit.similarity or 0) > 0.999
        assert hit.record.version == 1

    @clause
    async def test_vector_outlives_an_update(self, store: Store) -> None:
        """Changing fields of a record leaves its words and vectors in place."""
        await put(store, make_record("a", "apple"), vectors={"a": unit(1, 0, 0)}, space=SPACE)
        await put(store, make_record("a", "apple", version=1, status="disputed"))
        query = make_search(text="apple", vector=unit(1, 0, 0), space=SPACE)
        [hit] = await store.search(query)
        assert hit.keyword > 0
        assert (hit.similarity or 0) > 0.999
        assert hit.record.status == "disputed"

    @clause
    async def test_filters_hold_for_both_arms(self, store: Store) -> None:
        """The best ``limit`` are counted among those that pass."""
        for n in range(30):
            record = make_record(f"f{n:02}", "apple", type_="fact")
            await put(store, record, vectors={record.id: unit(1, 0, 0)}, space=SPACE)
        late = make_record("p", "apple and a much longer text", type_="preference")
        await put(store, late, vectors={"p": unit(1, 9, 0)}, space=SPACE)
        only = {"types": ("preference",), "limit": 1}
        assert await found_ids(store, text="apple", **only) == ["p"]
        assert await found_ids(store, vector=unit(1, 0, 0), space=SPACE, **only) == ["p"]

    @clause
    async def test_X9_who_is_left_out_crowds_nobody_out(self, store: Store) -> None:
        """However many of one source are better by both arms, one of another is found."""
        pages = [make_record(f"w{n:03}", "apple apple", source="web") for n in range(300)]
        vectors = {page.id: unit(1, 0, 0) for page in pages}
        await put(store, *pages, vectors=vectors, space=SPACE)
        mine = make_record("p", "an apple in a much longer text")
        await put(store, mine, vectors={"p": unit(1, 9, 0)}, space=SPACE)
        near = {"vector": unit(1, 0, 0), "space": SPACE}
        for arms in ({"text": "apple"}, near, {"text": "apple", **near}):
            assert "p" not in await found_ids(store, **arms, limit=5)
            assert await found_ids(store, **arms, sources=("user", "import"), limit=5) == ["p"]
        assert await found_ids(store, order="id", sources=("user", "import"), limit=5) == ["p"]


class FilterClauses(Contract):
    @clause
    async def test_each_filter(self, store: Store) -> None:
        """Any of the values asked for; filters narrow together."""
        chat: dict[str, Any] = {"session": "chat", "lineage": ("m1", "m2")}
        await put(
            store,
            make_record("a", tags=("Café", "x"), source="web", author="ann", **chat),
            make_record("b", tags=("y",), type_="episode", hash="h", origin="o"),
            make_record("c", type_="procedure", derived_from=("a", "b"), session="other"),
            make_record("d", status="archived", lineage=("m2",), session="other"),
        )
        expected: list[tuple[dict[str, Any], list[str]]] = [
            ({}, ["a", "b", "c"]),
            ({"kinds": ("semantic",)}, ["a"]),
            ({"kinds": ("episodic", "procedural")}, ["b", "c"]),
            ({"types": ("episode", "fact")}, ["a", "b"]),
            ({"tags": ("CAFE",)}, ["a"]),
            ({"tags": ("cafe", "Y", "z")}, ["a", "b"]),
            ({"tags": ("caf",)}, []),
            ({"statuses": ("archived",)}, ["d"]),
            ({"statuses": ()}, ["a", "b", "c", "d"]),
            ({"sources": ("web", "file")}, ["a"]),
            ({"authors": ("ann",)}, ["a"]),
            ({"authors": ("an",)}, []),
            ({"session": "chat"}, ["a"]),
            ({"session": "chat", "lineage": ("m2", "m9")}, ["a"]),
            ({"session": "other", "lineage": ("m1",)}, []),
            ({"derived_from": ("b", "z")}, ["c"]),
            ({"hashes": ("h",)}, ["b"]),
            ({"origins": ("o",)}, ["b"]),
            ({"types": ("episode",), "tags": ("x",)}, []),
        ]
        for filters, ids in expected:
            assert await found_ids(store, order="id", **filters) == ids, filters
            if not KEYS & set(filters):
                by_word = await found_ids(store, text="fact", **filters)
                assert sorted(by_word) == ids, filters

    @clause
    async def test_conditions_on_tags_and_data(self, store: Store) -> None:
        """All, any or none of them; of tags as of data, in every kind of reading."""
        web = {"team": {"name": "Web"}, "year": 2024, "open": True, "who": ["ann", "bob"]}
        await put(
            store,
            make_record("a", tags=("Café", "x"), data=web, hash="h"),
            make_record("b", tags=("x",), data={"year": 2022, "open": 1, "who": "eve"}, hash="i"),
            make_record("c", tags=("y",), data={"team.name": "Mail", "year": "2023"}, hash="j"),
            make_record("d"),
        )
        expected: list[tuple[dict[str, Any], list[str]]] = [
            ({"tags": {"all": ["cafe", "X"]}}, ["a"]),
            ({"tags": {"any": ["cafe", "y"]}}, ["a", "c"]),
            ({"tags": {"none": ["x"]}}, ["c", "d"]),
            ({"tags": {"any": ["x", "y"], "none": ["cafe"]}}, ["b", "c"]),
            ({"data": {"all": {"team.name": "Web", "year": 2024}}}, ["a"]),
            ({"data": {"any": {"team.name": ["Mail", "Web"]}}}, ["a", "c"]),
            ({"data": {"none": {"year": {"exists": True}}}}, ["d"]),
            ({"data": {"all": {"year": {"gte": 2022, "lt": 2024}}}}, ["b"]),
            ({"data": {"all": {"year": {"gt": "2022"}}}}, ["c"]),
            ({"data": {"all": {"open": True}}}, ["a"]),
            ({"data": {"all": {"open": 1}}}, ["b"]),
            ({"data": {"any": {"who": "bob"}}}, ["a"]),
            ({"data": {"none": {"year": 2024}}, "tags": {"any": ["x"]}}, ["b"]),
        ]
        for where, ids in expected:
            matching = conditions_of(where)
            assert await found_ids(store, order="id", matching=matching) == ids, where
            assert sorted(await found_ids(store, text="fact", matching=matching)) == ids, where
            by_key = await found_ids(store, order="id", hashes=("h", "i", "j"), matching=matching)
            assert by_key == [id_ for id_ in ids if id_ != "d"], where
        years = conditions_of({"data": {"all": {"year": 2022}}})
        assert await found_ids(store, text="fact", matching=years, limit=1) == ["b"]
        await put(store, replace(await one_record(store, "b"), data={"year": 2025}))
        assert await found_ids(store, text="fact", matching=years) == []

    @clause
    async def test_keys_narrow_together_and_with_every_filter(self, store: Store) -> None:
        """A record has one of the values of each key; pages and orders are those of listings."""
        both: dict[str, Any] = {"hash": "h", "origin": "o"}
        await put(
            store,
            make_record("a", **both, importance=0.2, learned_at=moment(-3)),
            make_record("b", status="archived", **both),
            make_record("c", hash="h", scope=BELOW, importance=0.9),
            make_record("d", origin="o", derived_from=("a",), expires_at=moment(5)),
            make_record("e", origin="o", derived_from=("a", "b"), learned_at=moment(-1)),
        )
        await put(store, make_record("x", scope="org:other", **both, derived_from=("a",)))
        expected: list[tuple[dict[str, Any], list[str]]] = [
            ({"hashes": ("h",)}, ["a"]),
            ({"hashes": ("h",), "descend": True}, ["a", "c"]),
            ({"hashes": ("h",), "statuses": ()}, ["a", "b"]),
            ({"hashes": ("h", "other"), "origins": ("o",)}, ["a"]),
            ({"origins": ("o",)}, ["a", "d", "e"]),
            ({"origins": ("o",), "now": moment(5)}, ["a", "e"]),
            ({"origins": ("o",), "derived_from": ("b",)}, ["e"]),
            ({"derived_from": ("a", "b"), "after": "d"}, ["e"]),
            ({"derived_from": ("a",), "limit": 1}, ["d"]),
            ({"derived_from": ("a",), "limit": 0}, []),
            ({"hashes": ("nobody",)}, []),
        ]
        for asked, ids in expected:
            assert await found_ids(store, **{"order": "id", **asked}) == ids, asked
        assert await found_ids(store, order="newest", origins=("o",)) == ["e", "d", "a"]
        assert await found_ids(store, order="recent", origins=("o",)) == ["d", "e", "a"]
        everywhere: dict[str, Any] = {"hashes": ("h",), "descend": True}
        assert await found_ids(store, order="important", **everywhere) == ["c", "a"]
        assert await found_ids(store, BELOW, exact=True, hashes=("h",)) == ["c"]

    @clause
    async def test_a_claim_is_found_under_the_tags_of_its_slot(self, store: Store) -> None:
        """Of an exclusive slot by subject and slot, of others by the value too; a changed claim
        under its new ones."""
        home = {"subject": "ann", "slot": "home", "value": "berlin"}
        await put(
            store,
            make_record("a", data=home),
            make_record("b", data={**home, "value": "Köln"}, tags=("x",)),
            make_record("c", data={"subject": "ann", "slot": 7, "value": "berlin"}),
            make_record("d", tags=("slot:ann/home",)),
        )
        assert await found_ids(store, order="id", tags=("slot:ann/home",)) == ["a", "b", "d"]
        assert await found_ids(store, order="id", tags=("slot:ann/home/koln", "y")) == ["b"]
        assert await found_ids(store, tags=("slot:ann",)) == []
        read = (await store.records(ROOT, ("a",), now=NOW))[0]
        assert read.tags == ()
        await put(store, replace(read, data={**home, "slot": "office"}))
        assert await found_ids(store, order="id", tags=("slot:ann/home",)) == ["b", "d"]
        assert await found_ids(store, tags=("slot:ann/office",)) == ["a"]


class ListingClauses(Contract):
    @clause
    async def test_M6_recent_first(self, store: Store) -> None:
        """By the time it happened, else learned; equal times by id."""
        await put(
            store,
            make_record("old", learned_at=moment(-9)),
            make_record("b", learned_at=moment(-1)),
            make_record("a", learned_at=moment(-1)),
            make_record("new", valid_from=moment(5), learned_at=moment(-99)),
        )
        assert await found_ids(store) == ["new", "a", "b", "old"]
        assert await found_ids(store, order="recent") == ["new", "a", "b", "old"]
        assert await found_ids(store, order="recent", limit=2) == ["new", "a"]

    @clause
    async def test_M6_important_first(self, store: Store) -> None:
        """Then recent, then by id."""
        await put(
            store,
            make_record("a", importance=0.2),
            make_record("b", importance=0.9, learned_at=moment(-1)),
            make_record("d", importance=0.9),
            make_record("c", importance=0.9),
        )
        assert await found_ids(store, order="important") == ["c", "d", "b", "a"]

    @clause
    async def test_listing_has_no_scores(self, store: Store) -> None:
        """Nothing was compared; and a search for nothing finds nothing."""
        await put(store, make_record("a"), vectors={"a": unit(1, 0)}, space="s")
        assert [record.id for record in await ask(store, make_query())] == ["a"]
        assert await store.search(make_search(text="")) == []

    @clause
    async def test_paging_by_id_over_250_records(self, store: Store) -> None:
        """Every record once, in order, strictly behind the last one of the page before."""
        ids = [f"r{n:03}" for n in range(250)]
        shuffled = sorted(ids, key=lambda id_: id_[::-1])
        for start in range(0, 250, 50):
            await put(store, *(make_record(id_) for id_ in shuffled[start : start + 50]))
        seen: list[str] = []
        after = ""
        while page := await found_ids(store, order="id", after=after, limit=60):
            assert page[0] > after
            seen += page
            after = page[-1]
        assert seen == ids
        assert all(a < b for a, b in pairwise(seen))

    @clause
    async def test_paging_from_the_newest_over_250_records(self, store: Store) -> None:
        """The same downwards, over several scopes and with every filter."""
        ids = [f"r{n:03}" for n in range(250)]
        for start in range(0, 250, 50):
            some = ids[start : start + 50]
            await put(store, *(make_record(i, scope=BELOW if i[-1] > "4" else ROOT) for i in some))
        for types in ((), ("fact",)):
            seen: list[str] = []
            asked: dict[str, Any] = {"order": "newest", "descend": True, "types": types}
            while page := await found_ids(store, **asked, after=(seen or [""])[-1], limit=60):
                seen += page
            assert seen == ids[::-1]
        above = [id_ for id_ in ids if id_[-1] <= "4"]
        assert await found_ids(store, order="newest", limit=3) == above[:-4:-1]

    @clause
    async def test_X16_counts_are_of_what_a_listing_shows(self, store: Store) -> None:
        """By kind, type and status; nothing of other scopes, nothing that expired."""
        await put(
            store,
            make_record("a"),
            make_record("b", status="archived"),
            make_record("c", type_="preference", scope=BELOW),
            make_record("d", expires_at=moment(1)),
        )
        await put(store, make_record("e", scope=f"{ROOT}x"))
        fact, like = ("semantic", "fact", "active"), ("semantic", "preference", "active")
        gone = ("semantic", "fact", "archived")
        assert await store.counts((ROOT,), now=NOW) == {fact: 2, gone: 1}
        assert await store.counts((ROOT,), now=NOW, descend=True) == {fact: 2, gone: 1, like: 1}
        assert await store.counts((BELOW,), now=moment(2)) == {fact: 1, gone: 1, like: 1}
        assert await store.counts(("org:nobody",), now=NOW, descend=True) == {}
        assert await store.counts((), now=NOW) == {}

    @clause
    async def test_limit_of_nothing(self, store: Store) -> None:
        """No room, no hits."""
        await put(store, make_record("a", "apple"))
        assert await found_ids(store, limit=0) == []
        assert await found_ids(store, text="apple", limit=0) == []
        assert await store.search(make_search("org:empty", text="apple", now=NOW)) == []
