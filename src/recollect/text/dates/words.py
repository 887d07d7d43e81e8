"""The words of time in English, German, French, Spanish and Chinese, by their meaning."""

from __future__ import annotations

from collections.abc import Mapping

MONTHS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "January Jan Januar Jänner janvier enero",
            "February Feb Februar février febrero",
            "March Mar März mars marzo",
            "April Apr avril abril",
            "May Mai mai mayo",
            "June Jun Juni juin junio",
            "July Jul Juli juillet julio",
            "August Aug août agosto",
            "September Sept Sep septembre septiembre",
            "October Oct Oktober Okt octobre octubre",
            "November Nov novembre noviembre",
            "December Dec Dezember Dez décembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}

WEEKDAYS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "monday montag lundi lunes mon",
            "tuesday dienstag mardi martes tue tues",
            "wednesday mittwoch mercredi miércoles wed",
            "thursday donnerstag jeudi jueves thu thurs",
            "friday freitag vendredi viernes fri",
            "saturday samstag sonnabend samedi sábado",
            "sunday sonntag dimanche domingo",
        )
    )
    for name in names.split()
}

NUMBERS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "",
            "one a an ein eine einem einer einen un une una uno 一",
            "two couple zwei deux dos 两 二",
            "three few drei trois tres 三",
            "four vier quatre cuatro 四",
            "five fünf cinq cinco 五",
            "six sechs seis 六",
            "seven sieben sept siete 七",
            "eight acht huit ocho 八",
            "nine neun neuf nueve 九",
            "ten zehn dix diez 十",
            "eleven elf onze once 十一",
            "twelve zwölf douze doce 十二",
        )
    )
    for name in names.split()
}

UNITS: Mapping[str, str] = {
    name: unit
    for unit, names in {
        "hour": "hour hours stunde stunden heure heures hora horas 小时",
        "day": "day days tag tage tagen jour jours día días 天 日",
        "week": "week weeks woche wochen semaine semaines semana semanas 周 星期",
        "weekend": "weekend weekends wochenende week-end finde",
        "month": "month months monat monate monaten mois mes meses 月",
        "year": "year years jahr jahre jahren an ans année années año años 年",
    }.items()
    for name in names.split()
}

# Days away from today. Phrases of several words are written with blanks.
DAYS_AWAY: Mapping[str, int] = {
    phrase: away
    for away, phrases in {
        -2: "the day before yesterday|vorgestern|avant-hier|anteayer|antes de ayer|前天",
        -1: "yesterday|last night|gestern|hier soir|hier|ayer|anoche|昨天|昨晚|昨日",
        0: "today|tonight|this morning|this afternoon|this evening|earlier today|heute"
        "|aujourd'hui|ce matin|ce soir|hoy|esta mañana|esta noche|今天|今晚|今早|今日",
        1: "tomorrow|morgen|demain|mañana|明天|明晚|明日",
        2: "the day after tomorrow|übermorgen|après-demain|pasado mañana|后天",
    }.items()
    for phrase in phrases.split("|")
}

# Northern seasons, by their first month; a winter begins in December.
SEASONS: Mapping[str, int] = {
    name: first
    for first, names in {
        3: "spring frühling frühjahr printemps primavera",
        6: "summer sommer été verano",
        9: "autumn fall herbst automne otoño",
        12: "winter hiver invierno",
    }.items()
    for name in names.split()
}

SHIFTS: Mapping[str, int] = {
    word: shift
    for shift, words in {
        -1: "last past previous letzte letzten letztes letzter letztem vorige vorigen voriges"
        " vergangene vergangenen vergangenes dernier dernière pasado pasada 上 上个 去",
        0: "this current diese diesen dieses dieser diesem ce cet cette este esta 这 这个 本 今",
        1: "next coming upcoming nächste nächsten nächstes nächster nächstem kommende kommenden"
        " kommendes prochain prochaine próximo próxima 下 下个 明",
    }.items()
    for word in words.split()
}

# The words before a time that say how it bounds what is said.
RELATIONS: Mapping[str, str] = {
    word: relation
    for relation, words in {
        "since": "since|seit dem|seit der|seit|depuis le|depuis la|depuis|desde el|desde",
        "until": "until|till|bis zum|bis|jusqu'au|jusqu'en|jusqu'à|hasta el|hasta",
        "before": "before|vor dem|avant|antes de|antes del",
        "after": "after|nach dem|après|después de|después del",
        "by": "by|spätestens",
        "in": "on the|on|in the|in|during|at|back in|am|im|an|en|le|au|el|por|du",
    }.items()
    for word in words.split("|")
}
