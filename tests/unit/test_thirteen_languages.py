"""Search, keys, names, cutting and counting in the thirteen languages of the requirements."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.words import LANGUAGES, Question, questions, ranks
from standfast import AsyncMemory
from standfast.index.derived import label_of
from standfast.packet.window import cut_to
from standfast.text.analysis import document_terms, query_terms, search_terms
from standfast.text.compare import text_hash
from standfast.text.compare.names import other_thing
from standfast.text.graphemes import beginning, ending
from standfast.text.normal import caseless, fold
from standfast.text.summary import short
from standfast.text.tokens import estimate
from standfast.types import Message

# Characters as readers see them: some are several code points.
CHARACTERS: dict[str, tuple[str, ...]] = {
    "en": tuple("abcdefghijklmnopqrstuvwxyz"),
    "de": tuple("abdefghiklmnoprstuwzäöüß"),
    "fr": tuple("abcdefgilmnopqrstuvàâçéèêëîïôœùû"),
    "es": tuple("abcdefghilmnopqrstuvzáéíñóúü"),
    "it": tuple("abcdefghilmnopqrstuvzàèéìòù"),
    "pt": tuple("abcdefghilmnopqrstuvzáâãçéêíóôõú"),
    "nl": tuple("abcdefghijklmnoprstuvwzëï"),
    "pl": tuple("abcdefghijklmnoprstuwyząćęłńóśźż"),
    "tr": tuple("abcdefghijklmnoprstuvyzçğıöşü"),
    "ru": tuple("абвгдеёжзийклмнопрстуфхцчшщъыьэюя"),
    "zh": tuple("我住在北京市银行工作喜欢咖啡龍體"),
    "ja": tuple("私東京銀行働猫あいうがぎぱカタナパピー"),
    "ko": tuple("저는서울에있는은행에서일합니다각힣"),
}
EMOJI = ("👩‍👩‍👧", "👍🏽", "🇩🇪", "❤️", "ｶﾞ")


def written(language: str, *further: str) -> st.SearchStrategy[list[str]]:
    """Characters of a language, some of them taken apart."""
    whole = (*CHARACTERS[language], *further)
    apart = [unicodedata.normalize("NFD", one) for one in whole]
    return st.lists(st.sampled_from((*whole, *apart)), min_size=1, max_size=40)


def each(languages: tuple[str, ...] = tuple(CHARACTERS)) -> st.SearchStrategy[str]:
    return st.sampled_from(languages)


@given(st.data(), each())
def test_X35_no_text_loses_all_its_words(data: st.DataObject, language: str) -> None:
    text = "".join(data.draw(written(language)))
    held = document_terms(text, "")
    assert held
    assert query_terms(text)
    assert set(query_terms(text)) <= set(held)


@given(st.data(), each())
def test_X35_a_text_finds_itself_however_it_is_encoded(data: st.DataObject, language: str) -> None:
    text = " ".join("".join(data.draw(written(language))) for _ in range(2))
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert document_terms(composed, "") == document_terms(apart, "")
    assert search_terms(composed) == search_terms(apart)
    assert caseless(composed) == caseless(apart)
    assert text_hash(composed) == text_hash(apart)
    assert label_of(composed) == label_of(apart)
    assert other_thing(composed, apart) == ""


@given(st.data(), each(("de", "fr", "es", "it", "pt", "nl", "pl", "tr")))
def test_X35_who_leaves_accents_out_finds_the_word(data: st.DataObject, language: str) -> None:
    word = "".join(data.draw(written(language)))
    without = fold(word)
    assert without.isascii()
    assert query_terms(without)[0] in document_terms(word, "")
    assert query_terms(word)[0] in document_terms(without, "")
    # Who writes them finds first who wrote them too.
    both, one = (
        len(set(search_terms(word)) & set(document_terms(told, ""))) for told in (word, without)
    )
    assert both > one or unicodedata.normalize("NFC", word).casefold() == without


@given(st.data(), each(), st.integers(1, 60))
def test_X35_nothing_is_cut_inside_a_character(
    data: st.DataObject, language: str, length: int
) -> None:
    characters = data.draw(written(language, *EMOJI))
    text = "".join(characters)
    for cut, pieces in (
        (beginning(text, length), characters),
        (ending(text, length)[::-1], [one[::-1] for one in reversed(characters)]),
    ):
        assert cut
        longest = max(map(len, characters))
        assert len(cut) <= max(length, 1)
        assert length < longest or cut in _starts(pieces)


def _starts(characters: list[str]) -> Iterator[str]:
    for end in range(len(characters) + 1):
        yield "".join(characters[:end])


@given(st.data(), each(), st.integers(1, 200))
def test_X35_a_message_that_is_cut_fits_and_says_something(
    data: st.DataObject, language: str, budget: int
) -> None:
    text = "".join(data.draw(written(language, *EMOJI))) * 3
    now = datetime(2026, 1, 1, tzinfo=UTC)
    message = Message(scope="user:ann", session="s", id="m", role="user", text=text, at=now)
    shown = cut_to(message, budget, lambda one: estimate(one.text))
    if shown is None:
        return
    assert estimate(shown.text) <= budget
    head, cut, _ = shown.text.partition(" [... ")
    assert head
    assert not cut or text.startswith(head)
    assert short(text, 20).removesuffix("...").strip()


@given(st.data(), each(("zh", "ja", "ko", "ru")))
def test_X35_a_token_is_no_four_characters_of_another_script(
    data: st.DataObject, language: str
) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(CHARACTERS[language]), min_size=8)))
    assert estimate(text) >= (1.0 if language != "ru" else 0.5) * len(text)


# A name, the same without accents, and another one.
NAMES = {
    "de": ("Müller", "Muller"), "fr": ("Chloé", "Chloe"), "es": ("Peña", "Pena"),
    "it": ("Nicolò", "Nicolo"), "pt": ("João", "Joao"), "nl": ("Zoë", "Zoe"),
    "pl": ("Łukasz", "Lukasz"), "tr": ("Işıl", "Isil"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "without"), NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("told", ["{} 42", "7 {} 42", "Tom, {} 42"])
def test_X35_names_that_differ_in_accents_are_two_and_find_each_other(
    name: str, without: str, told: str
) -> None:
    assert other_thing(told.format(name), told.format(without))
    assert other_thing(told.format(name), told.format(unicodedata.normalize("NFD", name))) == ""
    assert label_of(name) == label_of(without)

    async def found(asked: str) -> list[str]:
        async with await AsyncMemory.open("dict:", embedder="none", background=False) as memory:
            for one in (without, name):
                await memory.remember(told.format(one), scope="user:ann")
            answer = await memory.recall(asked, scope="user:ann")
            return [hit.record.text for hit in answer.hits]

    assert asyncio.run(found(name)) == [told.format(name), told.format(without)]
    assert sorted(asyncio.run(found(without))) == sorted([told.format(name), told.format(without)])


def test_X35_a_letter_that_may_be_left_out_makes_no_other_name() -> None:
    assert other_thing("Мой врач Артём", "Мой врач Артем") == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_X35_other_forms_of_words_are_found_by_words_alone(language: str) -> None:
    own = ranks(questions(), language)
    assert len(own) == 10
    assert all(rank <= 5 for rank in own), own


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("我住在北京市", "北京"),
        ("東京タワーに登った", "タワー"),
        ("저는 서울에 살아요", "서울은?"),
        ("Ｐｙｔｈｏｎを習う", "python"),
        ("ﾊﾟｿｺﾝを買った", "パソコン"),
        ("один новый", "новое"),
        ("Łódź trip", "lodz"),
        ("ISPARTA 7", "ısparta"),
        ("l'œuf dur", "oeuf"),
        ("Straße 7", "STRASSE"),
    ],
)
def test_X35_one_form_of_writing_finds_another(said: str, asked: str) -> None:
    question = [Question("zz", said, asked)]
    assert ranks(question, "zz") == [1]
