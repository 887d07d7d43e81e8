"""Queries that nobody would call questions: a correct or an empty answer, never an error."""

from __future__ import annotations

import pytest

from standfast import Memory

SCOPE = "user:ann"
SOUP = "Ann cooks leek soup on Fridays"

NONSENSE = {
    "only punctuation": "?!... ;;; ---",
    "only emoji": "🍲🙂🎉",
    "a zero byte": "\x00",
    "unmatched quotes": '"\'`"',
    "operators": "NEAR( AND OR NOT * ^ : - +",
    "surrogates": "\ud800\udfff",
}
WITH_A_WORD = {
    "FTS operators": '"leek" AND (soup OR NOT salad*) NEAR/2 ^Fridays title:soup',
    "SQL": "'; DROP TABLE record; -- leek soup",
    "JSON": '{"query": {"match": {"text": "leek soup"}}}',
    "mixed scripts": "leek soup 北京 Москва مرحبا 🍲",
    "control characters": "leek\x00\x1b[31m soup\u202e",
    "markup": "<b>leek</b> <script>soup</script> %s {0} ${x}",
    "regular expression": "(leek|soup)+.*?[a-z]{1000}$",
}


@pytest.fixture
def fed(memory: Memory) -> Memory:
    memory.remember(SOUP, scope=SCOPE)
    memory.remember("The deploy key is in the blue safe", scope=SCOPE)
    memory.observe(
        "chat",
        [
            {"role": "user", "content": "to be or not to be"},
            {"role": "assistant", "content": "Ja."},
        ],
        scope=SCOPE,
    )
    return memory


def texts(memory: Memory, query: str, **options: object) -> list[str]:
    answer = memory.recall(query, scope=SCOPE, **options)  # type: ignore[arg-type]
    assert answer.notes, "every answer says what was done"
    return [hit.record.text for hit in answer.hits]


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_L8_an_empty_query_lists_the_newest_and_says_so(fed: Memory, query: str) -> None:
    answer = fed.recall(query, scope=SCOPE)
    assert "no query text: newest first" in answer.notes
    assert len(answer.hits) == 4


@pytest.mark.parametrize("query", NONSENSE.values(), ids=NONSENSE.keys())
def test_L8_what_says_nothing_finds_nothing_in_particular(fed: Memory, query: str) -> None:
    assert SOUP not in texts(fed, query)[:1]


@pytest.mark.parametrize("query", WITH_A_WORD.values(), ids=WITH_A_WORD.keys())
def test_L8_syntax_around_words_is_ignored(fed: Memory, query: str) -> None:
    assert texts(fed, query)[0] == SOUP


def test_L8_100_kilobytes_of_text_find_what_shares_a_rare_word(fed: Memory) -> None:
    page = " ".join(f"word{n}" for n in range(12_000))
    assert len(page) > 100_000
    assert texts(fed, f"{page} leek soup")[0] == SOUP
    assert SOUP not in texts(fed, page)[:1]


def test_L8_stop_words_alone_find_the_text_made_of_them(fed: Memory) -> None:
    assert texts(fed, "to be or not to be?")[0] == "to be or not to be"


def test_L8_a_query_in_another_language_is_no_error(fed: Memory) -> None:
    for query in ("Где ключ?", "钥匙在哪里？上海呢？", "Où est la clé ?", "ที่ไหน", "أين المفتاح؟"):
        assert all(isinstance(text, str) for text in texts(fed, query))


def test_L8_many_question_marks_are_not_many_questions(fed: Memory) -> None:
    assert texts(fed, "leek soup????????")[0] == SOUP
    assert texts(fed, "?" * 10_000 + " leek soup")[0] == SOUP
    assert texts(fed, "a? b? c? d? e? f? leek soup?")[0] == SOUP


def test_L8_a_time_range_that_ends_before_it_starts(fed: Memory) -> None:
    answer = fed.recall("leek soup", scope=SCOPE, since="2026-12-01", until="2026-01-01")
    assert answer.hits == ()
    assert any("ends before it starts" in note for note in answer.notes)


@pytest.mark.parametrize(
    "query",
    [
        "leek soup on 99 Octember 20265",
        "leek soup 9999999999999 years ago",
        "leek soup before the year 0",
        "leek soup in year 9999 and next century",
        "leek soup since yesterday until tomorrow",
    ],
)
def test_L8_times_that_cannot_be_are_words_like_others(fed: Memory, query: str) -> None:
    assert SOUP in texts(fed, query)
