"""recall: the right memories, in order, with reasons."""

from __future__ import annotations

from typing import Any

import pytest

from standfast import Denied, Invalid, Memory
from standfast.testing.judge import ScriptedJudge
from tests.requirements.asking import stored, texts
from tests.requirements.conftest import MovableClock, OpenMemory


def test_O4_otto_scores_similarity_plus_a_tenth_for_a_tag(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="otto")
    stored(memory, "Releases happen on Friday", scope="project:web", tags=["deploy"])
    stored(memory, "Releases need a review", scope="project:web")
    for hit in memory.recall("how do we deploy releases", scope="project:web").hits:
        assert hit.similarity is not None
        boost = 0.1 if hit.record.tags else 0.0
        assert hit.score == pytest.approx(hit.similarity + boost, abs=1e-9)


def test_O4_without_a_project_every_visible_scope_is_searched(memory: Memory) -> None:
    stored(memory, "The web team deploys daily", scope="project:web")
    stored(memory, "The data team deploys weekly", scope="project:data")
    answer = memory.recall("deploys")
    assert {hit.record.scope for hit in answer.hits} == {"project:web", "project:data"}
    assert any("every scope" in note for note in answer.notes)
    assert texts(memory, "deploys", scope="project:web") == ["The web team deploys daily"]


def test_O4_a_tag_in_the_query_lifts_a_record(memory: Memory) -> None:
    stored(memory, "It goes out on Tuesdays", scope="org:acme")
    tagged = stored(memory, "It goes out on Fridays, at noon", scope="org:acme", tags=["deploy"])
    best = memory.recall("when does the deploy go out", scope="org:acme").hits[0]
    assert best.record.id == tagged
    assert any(why.stage == "tag" and why.value == 0.1 for why in best.why)


def test_O6_projects_never_pollute_each_other(memory: Memory) -> None:
    stored(memory, "Budget is 100", scope="project:marketing")
    stored(memory, "Budget is 200", scope="project:engineering")
    assert texts(memory, "budget", scope="project:engineering") == ["Budget is 200"]


def test_L5_an_agent_sees_its_organisation_but_no_other_agent(memory: Memory) -> None:
    stored(memory, "the company fact", scope="org:acme")
    stored(memory, "the cto fact", scope="org:acme:agent:cto")
    stored(memory, "the cfo fact", scope="org:acme:agent:cfo")
    stored(memory, "the look-alike fact", scope="org:acme2")
    assert set(texts(memory, "fact", scope="org:acme:agent:cto")) == {
        "the company fact",
        "the cto fact",
    }
    assert texts(memory, "fact", scope="org:acme") == ["the company fact"]
    assert len(texts(memory, "fact", scope="org:acme", descend=True)) == 3


def test_several_scopes_of_several_roots_are_asked_at_once(memory: Memory) -> None:
    stored(memory, "Ann likes tea", scope="user:ann")
    stored(memory, "The project serves tea", scope="project:web")
    stored(memory, "Bob likes tea", scope="user:bob")
    assert set(texts(memory, "tea", scope=["user:ann", "project:web"])) == {
        "Ann likes tea",
        "The project serves tea",
    }


def test_a_bound_handle_cannot_leave_its_scope(open_memory: OpenMemory, tmp_path: Any) -> None:
    file = str(tmp_path / "shared.db")
    everyone = open_memory(file)
    foreign = stored(everyone, "Bob's secret plan", scope="user:bob")
    ann = open_memory(file, scope="user:ann")
    stored(ann, "Ann's plan")
    assert texts(ann, "plan") == ["Ann's plan"]
    assert ann.get([foreign]) == ()
    for call in (
        lambda: ann.recall("plan", scope="user:bob"),
        lambda: ann.remember("x", scope="user:bob"),
        lambda: ann.observe("s", ["x"], scope="user:bob"),
        lambda: ann.forget(scope="user:bob"),
        lambda: ann.set_policy("user:bob", persist=False),
    ):
        with pytest.raises(Denied):
            call()
    assert [i.reason for i in ann.forget(ids=[foreign, "no-such"]).items] == [
        "there is no such record",
        "there is no such record",
    ]
    assert everyone.get([foreign])[0].text == "Bob's secret plan"


def test_M5_bre_is_the_dot_product_minus_a_tenth_of_the_magnitude(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="openmotoko")
    stored(memory, "User prefers dark mode interfaces", scope="user:ann")
    hit = memory.recall("dark mode", scope="user:ann").hits[0]
    assert hit.similarity is not None
    assert hit.score == pytest.approx(hit.similarity - 0.1)


def test_M5_dedupe_uses_plain_cosine_and_fires(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge who is not sure enough by itself is believed of two that are near."""
    unsure = ScriptedJudge({("production", "production"): ("same", 0.3)})
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (unsure, ""))
    memory = open_memory(profile="openmotoko")
    stored(memory, "The production server runs on Fly in Frankfurt", scope="user:ann")
    again = memory.remember("The production servers run on Fly in Frankfurt", scope="user:ann")
    assert again.items[0].status == "merged"
    stored(memory, "In Frankfurt a cluster on Fly serves production", scope="user:ann")


def test_M6_time_ranges_find_episodes_of_a_period(memory: Memory) -> None:
    for day in ("01", "10", "20"):
        stored(
            memory,
            f"Standup of day {day}",
            scope="user:ann",
            kind="episodic",
            valid_from=f"2026-03-{day}T09:00:00+00:00",
        )
    found = texts(
        memory,
        "standup",
        scope="user:ann",
        kinds=["episodic"],
        since="2026-03-05T00:00:00Z",
        until="2026-03-20T09:00:00Z",
    )
    assert found == ["Standup of day 10"]


def test_M6_importance_ranks_episodes(memory: Memory) -> None:
    stored(memory, "Meeting about the roof", scope="user:ann", kind="episodic", importance=0.1)
    stored(memory, "Meeting about the door", scope="user:ann", kind="episodic", importance=0.9)
    assert texts(memory, "meeting", scope="user:ann")[0] == "Meeting about the door"


def test_L4_decay_ranks_by_tier_and_never_hides(memory: Memory, clock: MovableClock) -> None:
    for durability in ("ephemeral", "standard", "core"):
        stored(
            memory, f"The {durability} note about parking", scope="user:ann", durability=durability
        )
    clock.forward(days=3650)
    hits = memory.recall("note about parking", scope="user:ann").hits
    assert [hit.record.durability for hit in hits] == ["core", "standard", "ephemeral"]
    assert not any(why.stage == "decay" for why in hits[0].why)
    assert all(why.value < 0 for hit in hits[1:] for why in hit.why if why.stage == "decay")


def test_L4_the_map_from_type_to_durability_is_profile_data(open_memory: OpenMemory) -> None:
    lota = open_memory("dict:", profile="lota")
    id_ = stored(lota, "Answers in bullet points", scope="org:acme", type="preference")
    assert lota.get([id_])[0].durability == "ephemeral"


@pytest.mark.parametrize(
    "kind",
    ["contradicts", "supports", "supersedes", "caused_by", "depends_on", "part_of", "implements"],
)
def test_L12_related_records_come_along(memory: Memory, kind: str) -> None:
    cause = stored(memory, "The disk filled up", scope="org:acme")
    effect = stored(memory, "Our website was down yesterday", scope="org:acme")
    assert memory.relate(effect, kind, cause).items[0].status == "stored"
    hits = memory.recall("website down", scope="org:acme").hits
    assert [hit.record.id for hit in hits] == [effect, cause]
    assert hits[1].why[-1].stage == "related"
    assert effect in hits[1].why[-1].detail
    assert memory.relate(effect, kind, cause).items[0].status == "merged"


def test_L12_a_relation_never_leads_out_of_sight(memory: Memory) -> None:
    hidden = stored(memory, "The salary is secret", scope="org:acme:agent:hr")
    shown = stored(memory, "Our website was down", scope="org:acme")
    memory.relate(hidden, "supports", shown)
    assert texts(memory, "website", scope="org:acme") == ["Our website was down"]


def test_X5_as_of_asks_what_was_true_then(memory: Memory) -> None:
    berlin = stored(memory, "Ann lives in Berlin", scope="user:ann", valid_from="2024-01-01T00:00Z")
    memory.remember(
        "Ann lives in Hamburg", scope="user:ann", supersedes=berlin, valid_from="2026-05-01T00:00Z"
    )
    ask = {"query": "where does Ann live", "scope": "user:ann"}
    assert texts(memory, **ask) == ["Ann lives in Hamburg"]
    assert texts(memory, **ask, as_of="2026-02-01T00:00:00+00:00") == ["Ann lives in Berlin"]
    assert texts(memory, **ask, as_of="2026-06-01T00:00:00+00:00") == ["Ann lives in Hamburg"]
    assert texts(memory, **ask, as_of="2023-06-01T00:00:00+00:00") == []


def test_X5_known_at_asks_what_we_believed_then(memory: Memory, clock: MovableClock) -> None:
    berlin = stored(memory, "Ann lives in Berlin", scope="user:ann", valid_from="2024-01-01T00:00Z")
    clock.forward(days=30)
    before = clock.now
    clock.forward(days=30)
    # She had moved long before we heard of it.
    memory.remember(
        "Ann lives in Hamburg", scope="user:ann", supersedes=berlin, valid_from="2026-05-01T00:00Z"
    )
    ask = {"query": "where does Ann live", "scope": "user:ann"}
    then = before.isoformat()
    assert texts(memory, **ask, known_at=then, as_of=then) == ["Ann lives in Berlin"]
    assert texts(memory, **ask, as_of=then) == ["Ann lives in Hamburg"]
    assert texts(memory, **ask, known_at="2026-01-01T00:00:00Z") == []


def test_X5_a_correction_was_never_true(memory: Memory) -> None:
    wrong = stored(memory, "Ann was born in 1990", scope="user:ann")
    memory.remember("Ann was born in 1991", scope="user:ann", supersedes=wrong)
    found = texts(memory, "when was Ann born", scope="user:ann", as_of="2020-01-01T00:00:00Z")
    assert found == ["Ann was born in 1991"]


def test_expired_memories_are_gone_for_every_reader(memory: Memory, clock: MovableClock) -> None:
    stored(memory, "The code is 1234", scope="user:ann", expires_at="2026-11-16T00:00:00Z")
    assert texts(memory, "code", scope="user:ann") == ["The code is 1234"]
    clock.forward(days=1)
    assert texts(memory, "code", scope="user:ann") == []
    stored(memory, "The code is 1234", scope="user:ann")
    swept = memory.maintain()
    assert [item.reason for item in swept.items] in (["expired"], [])


def test_X7_every_hit_explains_its_score(memory: Memory) -> None:
    stored(memory, "Deploys go out on Tuesdays", scope="org:acme", tags=["deploy"], importance=0.9)
    hit = memory.recall("when do we deploy", scope="org:acme").hits[0]
    assert {why.stage for why in hit.why} >= {"similarity", "keyword", "tag", "importance"}
    assert sum(why.value for why in hit.why) == pytest.approx(hit.score)
    assert "cosine" in str(hit.why[0])


def test_X7_explain_names_what_was_not_returned(memory: Memory) -> None:
    for n in range(5):
        stored(memory, f"Deploy rule {n}: check {n} things", scope="org:acme")
    answer = memory.recall("deploy rule", scope="org:acme", limit=2, explain=True)
    assert len(answer.hits) == 2
    assert sum("not returned" in note for note in answer.notes) == 3


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我住在北京市朝阳区", "北京"),
        ("明日は東京で会議があります", "東京 会議"),
        ("저는 서울에서 살고 있어요", "서울"),
        ("ผมอาศัยอยู่ในกรุงเทพมหานคร", "กรุงเทพ"),
        ("Le café est près de l'hôtel", "cafe hotel"),
        ("Die Straße ist gesperrt", "STRASSE"),
        ("She was running and swimming", "run swim"),
        ("мама мыла раму", "Раму"),
        ("मैं दिल्ली में रहता हूँ", "दिल्ली"),
        ("أعيش في القاهرة", "القاهرة"),
    ],
)
def test_X16_keyword_search_works_in_any_script(
    open_memory: OpenMemory, text: str, query: str
) -> None:
    memory = open_memory(embedder="none")
    stored(memory, text, scope="user:ann")
    stored(memory, "Something else entirely, 別の話, อื่น", scope="user:ann")
    answer = memory.recall(query, scope="user:ann")
    assert answer.hits[0].record.text == text
    assert answer.hits[0].keyword > 0
    assert "no embedder" in " ".join(answer.notes)


def test_filters_narrow_by_kind_type_tag_and_status(memory: Memory) -> None:
    stored(memory, "note one", scope="user:ann", type="preference", tags=["Red"])
    stored(memory, "note two", scope="user:ann", kind="procedural", data={"steps": ["a", "b"]})
    old = stored(memory, "note three", scope="user:ann")
    memory.remember("note four", scope="user:ann", supersedes=old)
    ask = {"query": "note", "scope": "user:ann"}
    assert texts(memory, **ask, types=["preference"]) == ["note one"]
    assert texts(memory, **ask, kinds=["procedural"]) == ["note two"]
    assert texts(memory, **ask, tags=["red", "blue"]) == ["note one"]
    assert texts(memory, **ask, statuses=["superseded"]) == ["note three"]
    assert "note three" not in texts(memory, **ask)


def test_a_threshold_on_calibrated_scores_gives_nothing_for_nothing(memory: Memory) -> None:
    stored(memory, "Deploys go out on Tuesdays", scope="org:acme")
    assert texts(memory, "Deploys go out on Tuesdays", scope="org:acme", threshold=0.9)
    assert texts(memory, "zebras in Africa", scope="org:acme", threshold=0.3) == []


def test_now_is_the_moment_of_asking(memory: Memory) -> None:
    for year in ("2022", "2023"):
        memory.observe(
            f"s{year}",
            [{"role": "user", "content": f"lunch with Sam ({year})", "at": f"{year}-06-01T12:00Z"}],
            scope="user:ann",
        )
    hits = memory.recall("lunch with Sam", scope="user:ann", now="2023-06-02T00:00Z").hits
    assert "2023" in hits[0].record.text


@pytest.mark.not_served("the server words what is misshapen in its own way")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": -3}, "limit"),
        ({"limit": 10**9}, "limit"),
        ({"scope": "nonsense"}, "kind:id"),
        ({"scope": []}, "empty"),
        ({"kinds": ["odd"]}, "one of"),
        ({"types": "odd"}, "one of"),
        ({"statuses": 5}, "list"),
        ({"since": "whenever"}, "ISO 8601"),
        ({"threshold": 7}, "0 to 1"),
    ],
)
def test_bad_questions_are_refused_with_the_remedy(
    memory: Memory, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(Invalid, match=said):
        memory.recall("x", **options)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "the of and",
        "🙂🙂🙂",
        '"unbalanced AND (NEAR/3 OR * -x:',
        "'; DROP TABLE record; --",
        '{"$gt": ""}',
        "мама 北京 mixed กรุงเทพ",
        "word " * 20_000,
        "\x00\x07",
    ],
    ids=[
        "empty",
        "blank",
        "stop words",
        "emoji",
        "fts",
        "sql",
        "json",
        "mixed",
        "100 KB",
        "control",
    ],
)
def test_odd_queries_get_a_correct_or_an_empty_answer(memory: Memory, query: str) -> None:
    stored(memory, "a word about Berlin", scope="user:ann")
    answer = memory.recall(query, scope="user:ann")
    assert answer.notes
    assert len(answer.hits) <= 1


def test_a_range_that_ends_before_it_starts_is_empty_and_noted(memory: Memory) -> None:
    stored(memory, "something", scope="user:ann")
    answer = memory.recall(
        "something", scope="user:ann", since="2026-02-01T00:00Z", until="2026-01-01T00:00Z"
    )
    assert answer.hits == ()
    assert any("ends before it starts" in note for note in answer.notes)


def test_spaces_never_mix_and_the_answer_says_what_is_degraded(
    open_memory: OpenMemory, tmp_path: Any
) -> None:
    file = str(tmp_path / "spaces.db")
    with open_memory(file, embedder="hashing") as memory:
        stored(memory, "Deploys go out on Tuesdays", scope="org:acme")
    other = open_memory(file, embedder="hashing/64")
    receipt = other.remember("Lunch is at noon", scope="org:acme")
    assert "hashing/384" in receipt.items[0].reason
    answer = other.recall("deploys", scope="org:acme")
    assert answer.hits[0].similarity is None
    assert any("degraded" in note and "hashing/384" in note for note in answer.notes)
    first = open_memory(file, embedder="hashing")
    assert first.maintain().usage.texts_embedded == 1
    assert first.recall("lunch", scope="org:acme").hits[0].similarity is not None
