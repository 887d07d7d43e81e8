"""A message is covered where what is shown holds its content words: in any language, with blanks
between the words or without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.text.coverage import all_words, content_words, covers

# Language -> a message of two statements, what was learned from the first, and from the second.
MESSAGES = {
    "en": (
        "My daughter Mia is nine. For her party she wants a pirate cake.",
        "Ann's daughter Mia is nine.",
        "Ann's daughter wants a pirate cake for her party.",
    ),
    "de": (
        "Meine Tochter Mia ist neun. Zu ihrer Feier wünscht sie sich einen Piratenkuchen.",
        "Anns Tochter Mia ist neun.",
        "Zu ihrer Feier wünscht sich Mia einen Piratenkuchen.",
    ),
    "fr": (
        "Ma fille Mia a neuf ans. Pour sa fête elle veut un gâteau de pirate.",
        "La fille d'Ann, Mia, a neuf ans.",
        "Mia veut un gâteau de pirate pour sa fête.",
    ),
    "es": (
        "Mi hija Mia tiene nueve años. Para su fiesta quiere un pastel de pirata.",
        "La hija de Ann, Mia, tiene nueve años.",
        "Mia quiere un pastel de pirata para su fiesta.",
    ),
    "it": (
        "Mia figlia Eva ha nove anni. Per la festa vuole una torta dei pirati.",
        "La figlia di Ann, Eva, ha nove anni.",
        "Eva vuole una torta dei pirati per la festa.",
    ),
    "pt": (
        "Minha filha Mia tem nove anos. Para a festa ela quer um bolo de pirata.",
        "A filha da Ann, Mia, tem nove anos.",
        "Ela quer um bolo de pirata para a festa.",
    ),
    "nl": (
        "Mijn dochter Mia is negen. Voor haar feest wil ze een piratentaart.",
        "De dochter van Ann, Mia, is negen.",
        "Mia wil een piratentaart voor haar feest.",
    ),
    "sv": (
        "Min dotter Mia är nio år. Till festen vill hon ha en pirattårta.",
        "Anns dotter Mia är nio år.",
        "Mia vill ha en pirattårta till festen.",
    ),
    "pl": (
        "Moja córka Mia ma dziewięć lat. Na przyjęcie chce tort piracki.",
        "Córka Anny, Mia, ma dziewięć lat.",
        "Mia chce tort piracki na przyjęcie.",
    ),
    "fi": (
        "Tyttäreni Mia on yhdeksän. Hän haluaa juhliin merirosvokakun.",
        'Ann sanoi: "Tyttäreni Mia on yhdeksän."',
        "Mia haluaa juhliin merirosvokakun.",
    ),
    "tr": (
        "Kızım Mia dokuz yaşında. Partisi için korsan pastası istiyor.",
        'Ann: "Kızım Mia dokuz yaşında."',
        "Mia partisi için korsan pastası istiyor.",
    ),
    "ru": (
        "Моей дочери Мие девять лет. На праздник она хочет пиратский торт.",
        "Анна сказала: Моей дочери Мие девять лет.",
        "На праздник она хочет пиратский торт.",
    ),
    "ar": (
        "ابنتي ميا عمرها تسع سنوات. تريد كعكة قراصنة لحفلتها.",
        "قالت آن: ابنتي ميا عمرها تسع سنوات.",
        "تريد كعكة قراصنة لحفلتها.",
    ),
    "hi": (
        "मेरी बेटी मिया नौ साल की है। उसे समुद्री डाकू वाला केक चाहिए।",
        "ऐन ने कहा: मेरी बेटी मिया नौ साल की है।",
        "उसे समुद्री डाकू वाला केक चाहिए।",
    ),
    "ko": (
        "제 딸 미아는 아홉 살이에요. 생일 파티에 해적 케이크를 원해요.",
        '앤: "제 딸 미아는 아홉 살이에요."',
        "생일 파티에 해적 케이크를 원해요.",
    ),
    "zh": (
        "我女儿美亚九岁。她的派对想要一个海盗蛋糕。",
        "安的女儿美亚九岁。",
        "她的派对想要一个海盗蛋糕。",
    ),
    "ja": (
        "私の娘のミアは九歳です。パーティーには海賊のケーキが欲しいそうです。",
        "アンの娘のミアは九歳。",
        "パーティーには海賊のケーキが欲しいそうです。",
    ),
    "th": (
        "ลูกสาวของฉันชื่อมีอาอายุเก้าขวบ เธออยากได้เค้กโจรสลัด",
        "ลูกสาวแอนชื่อมีอาอายุเก้าขวบ ลูกสาวชื่อมีอา",
        "เธออยากได้เค้กโจรสลัด",
    ),
}


@pytest.mark.parametrize("language", MESSAGES)
def test_a_part_does_not_cover_a_message_and_all_parts_do(language: str) -> None:
    message, first, second = MESSAGES[language]
    assert not covers([first], message)
    assert not covers([second], message)
    assert covers([first, second], message)
    assert covers([second, first], message)
    assert covers([f'Ann said: "{message}"'], message)


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        ("Ann is allergic to nuts.", "I'm not allergic to nuts."),
        ("Ann eats meat.", "I don't eat meat."),
        ("Ann isst Fleisch.", "Ich esse nicht gern Fleisch."),
        ("A Ann le gusta la carne.", "No me gusta la carne."),
        ("安吃肉。", "我不吃肉。"),
        ("Ann's code is 1234.", "My code is 12345."),
        ("Ann likes tea.", "I like tea 🍋"),
    ],
)
def test_negations_numbers_and_signs_are_content(shown: str, message: str) -> None:
    assert not covers([shown], message)


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        ("Ann does not eat meat.", "I don't eat meat."),
        ("Ann isn't married.", "I am not married"),
        ("Ann has been vegetarian since January 2026.", "I've been vegetarian since January."),
        ("Ann prefers tea over coffee.", "I prefer tea over coffee!"),
        ("安是素食者。", "我是素食者。"),
    ],
)
def test_person_contraction_and_inflection_are_not_content(shown: str, message: str) -> None:
    assert covers([shown], message)


def test_nothing_covers_what_is_not_analysed() -> None:
    long = "tea " * 60_000
    assert not covers([long], long)


@given(st.lists(st.text(min_size=1), max_size=4), st.text())
def test_a_covered_text_has_no_content_word_of_its_own(shown: list[str], text: str) -> None:
    assert covers([*shown, text], text)
    covered = covers(shown, text)
    assert covered == (content_words(text) <= frozenset().union(*map(all_words, shown)))
    if covered:
        assert covers([*shown, "another"], text)
