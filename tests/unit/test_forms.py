"""Words of every language: another form of a word finds it, emoji are words."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from standfast import AsyncMemory
from standfast.text.analysis import (
    document_terms,
    idf,
    languages_of,
    length_of,
    query_terms,
    weights,
    words,
)
from standfast.text.forms import same_word

# What was written, and what is asked for.
PAIRS = {
    "de": "Katze Katzen, Haus Häuser, Buch Bücher, Kind Kinder, Hund Hunde, Freundin Freundinnen, "
    "Arzt Ärzte, Fahrrad Fahrräder, Stadt Städte, Termin Termine, Wohnung Wohnungen, "
    "Lehrer Lehrern, "
    "Garten Gärten, Tochter Töchter, Auto Autos, Schlüssel Schlüsseln, Allergie Allergien, "
    "Krankenversicherung Versicherung, Geburtstag Geburtstage, Zahnarzttermin Termin",
    "fr": "chat chats, maison maisons, voiture voitures, ami amis, livre livres, fille filles, "
    "ordinateur ordinateurs, médecin médecins, école écoles, vacances vacance, travail travaille, "
    "chanter chantait, manger mangeons, heureux heureuse, grand grande, voyage voyages, "
    "allergie allergies, boulangerie boulangeries, acheter achetait, petit petites",
    "es": "gato gatos, casa casas, coche coches, libro libros, amiga amigas, médico médicos, "
    "ciudad ciudades, trabajar trabajaba, comer comiendo, alergia alergias, hermano hermana, "
    "perro perros, escuela escuelas, vivir viviendo, reloj relojes, viaje viajes, pequeño pequeña, "
    "hospital hospitales, estudiar estudiando, canción canciones",
    "it": "gatto gatti, casa case, libro libri, ragazza ragazze, medico medici, scuola scuole, "
    "macchina macchine, lavorare lavorava, mangiare mangiando, fratello fratelli, "
    "sorella sorelle, viaggio viaggi, allergia allergie, piccolo piccola, amico amici, "
    "bambino bambini, montagna montagne, treno treni, chiave chiavi, giardino giardini",
    "pt": "gato gatos, casa casas, livro livros, menina meninas, médico médicos, escola escolas, "
    "carro carros, trabalhar trabalhava, comer comendo, irmão irmãos, viagem viagens, "
    "alergia alergias, pequeno pequena, amigo amigas, cidade cidades, chave chaves, "
    "jardim jardins, cachorro cachorros, estudar estudando, hospital hospitais",
    "nl": "kat katten, huis huizen, boek boeken, kind kinderen, hond honden, fiets fietsen, "
    "dokter dokters, school scholen, werk werken, stad steden, sleutel sleutels, tuin tuinen, "
    "dochter dochters, allergie allergieën, afspraak afspraken, verjaardag verjaardagen, "
    "vriend vrienden, zus zussen, trein treinen, woning woningen",
    "sv": "katt katter, hus huset, bok boken, barn barnen, hund hundar, bil bilar, skola skolan, "
    "läkare läkaren, nyckel nyckeln, trädgård trädgården, vän vänner, syster systern, "
    "allergi allergier, resa resor, tåg tåget, stad staden, arbete arbetet, cykel cykeln, "
    "tand tanden, flicka flickor",
    "pl": "Kraków Krakowie, kot koty, dom domu, książka książki, szkoła szkoły, lekarz lekarza, "
    "samochód samochody, siostra siostry, praca pracy, miasto miasta, klucz klucze, "
    "ogród ogrody, alergia alergii, podróż podróże, pociąg pociągi, szpital szpitala, "
    "urodziny urodzin, córka córki, telefon telefonu, kawa kawy",
    "ru": "больница больнице, кошка кошки, дом дома, книга книги, школа школе, врач врача, "
    "машина машину, сестра сестры, работа работе, город городе, ключ ключи, сад саду, "
    "аллергия аллергии, поезд поезда, дочь дочери, телефон телефона, собака собаку, "
    "квартира квартире, друг друга, улица улице",
    "tr": "İstanbul İstanbul'da, kedi kediler, ev evler, kitap kitaplar, okul okulda, "
    "doktor doktorlar, "
    "araba arabalar, kardeş kardeşler, iş işler, şehir şehirler, anahtar anahtarlar, "
    "bahçe bahçeler, alerji alerjiler, tren trenler, köpek köpekler, telefon telefonlar, "
    "hastane hastanede, çocuk çocuklar, arkadaş arkadaşlar, Ankara Ankara'dan",
    "fi": "kissa kissat, talo talossa, kirja kirjat, koulu koulussa, lääkäri lääkärit, auto autot, "
    "sisko siskot, kaupunki kaupungissa, avain avaimet, puutarha puutarhassa, allergia allergiat, "
    "juna junat, koira koirat, puhelin puhelimet, sairaala sairaalassa, lapsi lapset, "
    "ystävä ystävät, Helsinki Helsingissä, matka matkat, huone huoneet",
    "hu": "macska macskák, ház házak, könyv könyvek, iskola iskolában, orvos orvosok, autó autók, "
    "testvér testvérek, város városban, kulcs kulcsok, kert kertek, allergia allergiák, "
    "vonat vonatok, kutya kutyák, telefon telefonok, kórház kórházban, gyerek gyerekek, "
    "barát barátok, Budapest Budapesten, utazás utazások, szoba szobák",
}  # fmt: skip


def pairs(language: str) -> list[tuple[str, str]]:
    return [tuple(pair.split()) for pair in PAIRS[language].split(", ")]  # type: ignore[misc]


@pytest.mark.parametrize("language", PAIRS)
def test_X16_another_form_of_a_word_finds_it(language: str) -> None:
    pytest.importorskip("onnxruntime", reason="the local model needs the extra `local`")
    assert len(pairs(language)) == 20

    async def found() -> list[str]:
        async with await AsyncMemory.open("dict:", embedder="recall-2", background=False) as memory:
            for written, _ in pairs(language):
                await memory.remember(f"7 {written} 7", scope="user:ann")
            missed = []
            for written, asked in pairs(language):
                answer = await memory.recall(asked, scope="user:ann")
                if f"7 {written} 7" not in [hit.record.text for hit in answer.hits]:
                    missed.append(f"{written}/{asked}")
            return missed

    missed = asyncio.run(found())
    assert len(missed) <= 1, missed


def further() -> list[tuple[str, str, str, str]]:
    """What was told; another form of the word in it, and in a question; the language."""
    found = []
    for line in (Path(__file__).with_name("forms.txt")).read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        language, told, asked, listed = line.split(" | ")
        for written, form in (pair.split() for pair in listed.split(", ")):
            found.append((told.format(written), form, asked.format(form), language))
    return found


def test_X16_another_form_is_found_among_many_by_its_stem() -> None:
    """In one store of twelve languages, without any model: by index, not by looking around."""
    cases = further()
    assert len(cases) == 12 * 20

    async def missed() -> list[str]:
        async with await AsyncMemory.open("dict:", embedder="none", background=False) as memory:
            for told, *_ in cases:
                await memory.remember(told, scope="user:ann")
            found = []
            for number, (told, form, asked, language) in enumerate(cases):
                query = asked if number % 2 else form
                answer = await memory.recall(query, scope="user:ann")
                if told not in [hit.record.text for hit in answer.hits]:
                    found.append(f"{language}: {query}")
            return found

    found = asyncio.run(missed())
    assert len(found) <= 0.05 * len(cases), found


@pytest.mark.parametrize(
    ("text", "language"),
    [("Wann fährt der Zug nach Köln?", "de"), ("Je suis né à Lyon en mai", "fr"),
     ("Mieszkam w mieście nad rzeką", "pl"), ("Bu sabah çok yağmur vardı", "tr"),
     ("The gateway is on the second floor", "en")],
)  # fmt: skip
def test_X16_small_words_tell_the_language(text: str, language: str) -> None:
    assert language in languages_of(text, list(words(text)))


def test_X16_stems_stand_beside_the_words_and_count_for_nothing_more() -> None:
    found = document_terms("Unsere Katzen schlafen im Garten", "")
    assert found[:5] == ["unser", "katzen", "schlafen", "im", "garten"]
    assert "~katz" in found
    assert length_of(found) == 5
    assert length_of(document_terms("Our cats sleep in the garden", "")) == 6
    assert not any(one.startswith("~") for one in document_terms("Our cats sleep here", ""))


def test_X16_a_word_and_its_stems_weigh_as_one() -> None:
    terms = ("katzen", "~katz", "~kats", "mila")
    assert weights(terms, 10, [0, 2, 0, 1]) == [0.0, idf(10, 2), 0.0, idf(10, 1)]
    assert weights(terms, 10, [1, 2, 0, 0]) == [idf(10, 1), idf(10, 2), 0.0, idf(10, 0)]
    assert weights(terms, 10, [0, 0, 0, 0]) == [idf(10, 0), 0.0, 0.0, idf(10, 0)]


@pytest.mark.parametrize(
    ("word", "other"),
    [("katzen", "karten"), ("bank", "band"), ("haus", "maus"), ("больница", "большой"),
     ("gatto", "getto"), ("marta", "markt"), ("rom", "rot")],
)  # fmt: skip
def test_X16_another_word_is_no_form_of_it(word: str, other: str) -> None:
    assert not same_word(word, other)


def test_X16_emoji_and_signs_are_words() -> None:
    assert "🎻" in document_terms("we met at the 🎻 shop", "")
    assert query_terms("🎻") == ("🎻",)
    assert "€" in document_terms("it costs 40 €", "")
    assert document_terms("plain words", "") == ["plain", "word"]


@pytest.mark.parametrize(
    ("written", "asked"),
    [("больнице", "больница"), ("σχολείο", "σχολεία"), ("лекарства", "лекарство")],
)
def test_X16_a_script_of_one_language_is_indexed_by_its_stems(written: str, asked: str) -> None:
    assert query_terms(asked)[0] in document_terms(f"x {written} y", "")
