"""How people say things about themselves in German, French, Spanish and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """One language: the words that give it away (and those that speak against it), and patterns
    by slot. Groups: v the value, neg/neg2 a negation, relation and called for relatives, kind for
    pets, thing for favourites."""

    name: str
    words: frozenset[str]
    others: frozenset[str]
    unreal: re.Pattern[str]
    split: re.Pattern[str]
    end: re.Pattern[str]
    past: re.Pattern[str]  # the speaker did or was something
    patterns: tuple[tuple[str, re.Pattern[str]], ...]
    relations: Mapping[str, str]
    pets: Mapping[str, str]
    statuses: Mapping[str, str]


def _pairs(text: str) -> dict[str, str]:
    """ "dog: Hund Hunde" lines as word -> meaning."""
    pairs = {}
    for line in text.strip().splitlines():
        meaning, words = line.split(":")
        pairs.update({word.casefold(): meaning.strip() for word in words.split()})
    return pairs


def _compiled(text: str, parts: Mapping[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Lines "slot = pattern"; one that begins with "|" goes on. ``<NAME>`` stands for a part."""
    patterns = []
    for line in text.strip().replace("\n|", "|").splitlines():
        slot, pattern = line.strip().split(" = ", 1)
        for name, part in parts.items():
            pattern = pattern.replace(f"<{name}>", part)
        patterns.append((slot, re.compile(pattern)))
    return tuple(patterns)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = _words(
    "the i is my and you it to of for with have we our are that this your don did not been but she"
    " they at from what can will just his"
)
_CAP = r"[A-ZÄÖÜÉÈÁÍÓÚÑÇ][\w\-&.]*"
_PARTS = {
    "CAP": rf"(?P<v>{_CAP}(?: {_CAP}){{0,2}})",
    "V": r"(?P<v>[^,;:!?]{2,60})",
    "MID": r"(?P<mid>(?: [\w.]+){0,4}?)",
    "MAIL": r"(?P<v>[\w.+\-]+@[\w.\-]+)",
    "TEL": r"(?P<v>\+?[\d][\d \-/]{4,20})",
}

_GERMAN_RELATIONS = _pairs("""
mother: Mutter Mama
father: Vater Papa
sister: Schwester
brother: Bruder
son: Sohn
daughter: Tochter
wife: Frau Ehefrau
husband: Mann Ehemann
partner: Partner Partnerin
friend: Freund Freundin
boss: Chef Chefin
colleague: Kollege Kollegin
neighbour: Nachbar Nachbarin
grandmother: Oma Großmutter
grandfather: Opa Großvater
uncle: Onkel
aunt: Tante
cousin: Cousin Cousine
dog: Hund
cat: Katze Kater
""")
GERMAN = Language(
    name="de",
    words=_words(
        "ich mein meine meinen wir uns mir mich bin habe und nicht bitte dass der das ein eine"
        " einen ist heißt wohne mag immer jetzt auf deutsch kein keine keinen für bei seit merk"
        " vergiss denk ab nein sondern eigentlich unser unsere haben"
    ),
    others=_ENGLISH,
    unreal=re.compile(
        r"\b(?:wenn|falls|würde|würden|hätte|hätten|wäre|wären|könnte|angenommen|stell dir vor"
        r"|vielleicht|möchte wissen|übersetze?|schreib)\b|^(?:[Ww]ohne|[Bb]in|[Mm]ag|[Hh]abe) ich",
        re.IGNORECASE,
    ),
    split=re.compile(
        r"[;:] |,? (?:und|aber|denn) (?=(?:ich|mein\w*|wir|unser\w*|arbeite|wohne|mag|habe|bin"
        r"|heiße|lebe)\b)|, (?=(?:ich|mein\w*|wir)\b)"
    ),
    end=re.compile(
        r"[,;]| (?:und (?=\w+t\b)|weil|aber|seit|sehr|gern|gerne|nicht|überhaupt|mehr|jetzt"
        r"|im Moment|als|an|am|in|mit|lieber|besonders|auch|wirklich|total|um|umgezogen|gezogen)\b"
    ),
    past=re.compile(
        r"\b(?:war|ging|habe|bin|hatte|haben|waren) (?:ich|wir)\b|\b(?:[Ii]ch|[Ww]ir) (?:war|ging"
        r"|hatte|waren)\b"
        r"|\b(?:[Ii]ch|[Ww]ir) (?:habe|bin|haben|sind) .*(?:ge\w+t|ge\w+en|iert|ver\w+|be\w+)\b"
    ),
    patterns=_compiled(
        r"""
name = \b[Ii]ch hei(?:ß|ss)e <CAP>
name = \b[Mm]ein Name ist <CAP>
home = \b[Ii]ch (?:wohne|lebe)\b(?P<neg> nicht mehr| nicht)?<MID> in <CAP>
home = \b[Ii]ch bin<MID> nach <CAP>(?: um)?gezogen
home = \b[Ii]ch bin<MID> nach (?P<v>[A-ZÄÖÜ][\w\-]+) (?:um)?gezogen
origin = \b[Ii]ch (?:komme|stamme)(?: ursprünglich)? aus <CAP>
birthplace = \b[Ii]ch bin in <CAP> geboren
birthplace = \b[Ii]ch wurde in <CAP> geboren
employer = \b(?:[Ii]ch )?[Aa]rbeite\b(?P<neg> nicht mehr)?<MID> (?:bei|für) <CAP>
job = \b(?:[Ii]ch )?[Aa]rbeite\b<MID> als (?P<v>[A-ZÄÖÜ][\w\-]+)
job = \b[Ii]ch bin(?: von Beruf)?(?: jetzt)? (?P<v>(?:[A-Z]\w+)?(?:[Ll]ehrer|[Aa]rzt|[Ää]rztin
|[Ii]ngenieur|[Ss]tudent|[Ee]ntwickler|[Kk]rankenpfleger|[Kk]rankenschwester|[Kk]och|[Kk]öchin
|[Aa]nwalt|[Aa]nwältin|[Ii]nformatiker|[Dd]esigner|[Jj]ournalist|[Ff]otograf|[Bb]äcker|[Tt]ischler
|[Aa]rchitekt)(?:in)?)\b
age = \b[Ii]ch bin(?: jetzt| schon)? (?P<v>\d{1,3}) Jahre alt
age = \b[Ii]ch bin(?: jetzt| schon)? (?P<v>\d{1,3})(?: geworden)?\s*$
birthday = \b[Ii]ch habe am (?P<v>\d\d?\. ?\w+) Geburtstag
birthday = \b[Mm]ein Geburtstag ist(?: am)? (?P<v>\d\d?\. ?\w+(?: \d{4})?)
allergy = \b[Ii]ch bin(?: \w+)? allergisch (?:gegen|auf) <V>
allergy = \b[Ii]ch bin gegen (?P<v>[\w ]{2,30}?) allergisch
allergy = \b[Ii]ch habe eine (?P<v>[A-ZÄÖÜ]\w+?)allergie
diet = \b[Ii]ch bin(?: jetzt| seit \d+)? (?P<v>[Vv]egetarier(?:in)?|[Vv]eganer(?:in)?|vegan
|vegetarisch)\b
diet = \b[Ii]ch (?:esse|lebe|ernähre mich)(?: jetzt)? (?P<v>vegan|vegetarisch)\b
favourite = \b[Mm]eine? Lieblings(?P<thing>\w+) (?:ist|sind|heißt) <V>
likes = \b[Ii]ch mag\b(?P<neg> kein(?:e|en)?
| nicht)? (?P<v>[A-ZÄÖÜ][^,;:!?]{1,40}?)(?P<neg2> nicht(?: mehr)?| gar nicht)?\s*$
likes = \b[Ii]ch liebe (?P<v>[A-ZÄÖÜ][^,;:!?]{1,40})
likes = \b[Ii]ch (?:esse|trinke|höre|spiele|lese) (?:sehr |besonders )?gerne? <V>
likes = \b[Ii]ch (?:esse|trinke|höre|spiele
|lese) (?P<v>[A-ZÄÖÜ][\w ]{2,30}?) (?P<neg>nicht )?gerne?\b
dislikes = \b[Ii]ch (?:hasse|verabscheue) <V>
eats = \b[Ii]ch (?:esse|trinke) (?P<neg>keine?n?) (?P<v>[A-ZÄÖÜ]\w+)
prefers = \b[Ii]ch (?:bevorzuge|trinke lieber|esse lieber|nehme lieber|mag lieber) <V>
pet = \b(?:[Ii]ch|[Ww]ir) habe?n? (?:eine?n?|zwei|drei) (?P<kind>\w+) (?:namens
|mit (?:dem )?Namen) (?P<v>[A-ZÄÖÜ]\w+(?: und [A-ZÄÖÜ]\w+)?)
pet = \b(?:[Ii]ch|[Ww]ir) habe?n? (?:eine?n?|zwei|drei) (?P<kind>Hund|Katze|Kater|Hamster|Hunde
|Katzen|Vogel|Pferd|Kaninchen)(?P<v>)\b
status = \b[Ii]ch bin(?: jetzt| seit \d+| frisch| glücklich)* (?P<v>verheiratet|ledig|geschieden
|verlobt|single)\b
language = \b[Ii]ch spreche(?: fließend)? <V>
learning = \b[Ii]ch lerne\b<MID> (?P<v>Deutsch|Englisch|Spanisch|Französisch|Italienisch|Japanisch
|Chinesisch|Klavier|Gitarre|\w+isch)\b
phone = \b[Mm]eine (?:neue )?(?:Telefon|Handy)nummer ist <TEL>
email = \b[Mm]eine (?:neue )?E?-?[Mm]ail(?:-?[Aa]dresse)? (?:ist|lautet) <MAIL>
name = \b[Mm]eine? (?P<relation>\w+)(?P<x>)hei(?:ß|ss)t <CAP>
name = \b[Mm]eine? (?P<relation>\w+) hei(?:ß|ss)t <CAP>
home = \b[Mm]eine? (?P<relation>\w+)(?: (?P<called>[A-ZÄÖÜ]\w+))? (?:wohnt|lebt)\b<MID> in <CAP>
employer = \b[Mm]eine? (?P<relation>\w+)(?: (?P<called>[A-ZÄÖÜ]\w+))? arbeitet\b<MID> (?:bei
|für) <CAP>
""",
        _PARTS,
    ),
    relations=_GERMAN_RELATIONS,
    pets=_pairs("""
dog: Hund Hunde Hündin Welpe Welpen
cat: Katze Katzen Kater
bird: Vogel Papagei Wellensittich
hamster: Hamster
horse: Pferd
rabbit: Kaninchen Hase
"""),
    statuses=_pairs("""
married: verheiratet
single: ledig single
divorced: geschieden
engaged: verlobt
"""),
)

FRENCH = Language(
    name="fr",
    words=_words(
        "je j mon ma mes nous notre suis ai et est pas une le la les des à chez que toujours"
        " depuis ne n moi non pour c du au aux habite travaille aime rappelle souviens"
        " réponds français oublie désormais"
    ),
    others=_ENGLISH | _words("ich y mi el"),
    unreal=re.compile(
        r"\b[Ss]i (?:j'|je|on|nous)|\b(?:aimerais|voudrais|serais|aurais|pourrais|imagine|suppose"
        r"|traduis|écris|peut-être)\b|-je\b",
        re.IGNORECASE,
    ),
    split=re.compile(
        r"[;:] |,? (?:et|mais) (?=(?:je|j'|m[oa]n?|nous)\b|j')|, (?=(?:je|j'|m[oa]n?)\b|j')"
    ),
    end=re.compile(
        r"[,;]| (?:et (?=\w)|mais|parce|car|depuis|maintenant|beaucoup|du tout|aussi|comme"
        r"|en ce moment|avec|qui|quand|pour|dans)\b"
    ),
    past=re.compile(
        r"\b(?:[Jj]'ai|[Nn]ous avons) \w+(?:é|i|u|is|it|ert)\b|\b[Jj]e suis (?:allée?|partie?"
        r"|venue?|restée?|tombée?)\b|\b[Jj]'étais\b|\b[Nn]ous sommes (?:allés|partis)\b"
    ),
    patterns=_compiled(
        r"""
name = \b[Jj]e m'appelle <CAP>
name = \b[Mm]on (?:nom|prénom) est <CAP>
home = \b(?:[Jj]'habite|[Jj]e vis|[Jj]e réside|[Nn]ous habitons)\b<MID> (?:à|en|au|aux) <CAP>
home = \b[Jj]e n'habite (?P<neg>plus|pas) (?:à|en|au) <CAP>
home = \b(?:[Jj]'ai (?:emménagé|déménagé)|[Jj]e viens d'emménager)\b<MID> (?:à|en|au) <CAP>
origin = \b[Jj]e (?:viens|suis originaire) (?:de |d'|du )<CAP>
birthplace = \b[Jj]e suis née? à <CAP>
employer = \b[Jj]e travaille\b<MID> (?:chez|pour) <CAP>
job = \b[Jj]e travaille\b<MID> comme (?P<v>[\w\-]+)
job = \b[Jj]e suis(?: maintenant| devenue?)? (?P<v>infirmi(?:er|ère)|professeure?|enseignante?
|médecin|ingénieure?|étudiante?|développeu(?:r|se)|avocate?|cuisini(?:er|ère)|journaliste
|architecte|boulang(?:er|ère)|comptable|dentiste|pharmacien(?:ne)?|photographe)\b
age = \b[Jj]'ai(?: maintenant)? (?P<v>\d{1,3}) ans\b
birthday = \b[Mm]on anniversaire est le (?P<v>\d\d?(?:er)? \w+)
birthday = \b[Jj]e suis née? le (?P<v>\d\d?(?:er)? \w+ \d{4})
allergy = \b[Jj]e suis allergique (?:à la |à l'|aux |au |à )<V>
diet = \b[Jj]e suis(?: devenue?| maintenant)? (?P<v>végétarien(?:ne)?|végane?|vegane?
|végétalien(?:ne)?)\b
favourite = \b[Mm](?:on|a) (?P<thing>\w+) préférée? (?:est|c'est|reste) <V>
likes = \b[Jj]e n'aime (?P<neg>pas|plus|pas du tout) <V>
likes = \b[Jj]'(?:aime|adore)\b(?: beaucoup| bien| vraiment)? <V>
dislikes = \b[Jj]e (?:déteste|hais|ne supporte pas) <V>
eats = \b[Jj]e ne (?:mange|bois) (?P<neg>pas|jamais|plus) (?:de |d')(?P<v>[\w ]{2,30})
prefers = \b[Jj]e préfère (?P<v>[^,;:!?]{2,40}?)(?: (?:à la|au|aux|à|plutôt)\b.*)?$
pet = \b(?:[Jj]'ai|[Nn]ous avons) (?:une?|deux|trois) (?P<kind>\w+),? (?:qui s'appelle(?:nt)?
|nommée?s?|appelée?s?) (?P<v>[A-Z]\w+(?: et [A-Z]\w+)?)
pet = \b(?:[Jj]'ai|[Nn]ous avons) (?:une?|deux|trois) (?P<kind>chiens?|chats?|chienne|chatte
|lapins?|cheval)(?P<v>)\b(?!.*appel)
status = \b[Jj]e suis (?P<v>mariée?|célibataire|divorcée?|fiancée?)\b
language = \b[Jj]e parle(?: couramment)? <V>
learning = \b[Jj]'apprends\b<MID> (?P<v>(?:l'|le |la )?\w+(?:ais|and|ol|ois|ien|ano|are|tare
|guitare)\b)
phone = \b[Mm]on (?:nouveau )?numéro(?: de téléphone)? est(?: le)? <TEL>
email = \b[Mm]on (?:adresse )?(?:e-?mail|mail|courriel) est <MAIL>
name = \b[Mm](?:on|a) (?P<relation>\w+) s'appelle <CAP>
home = \b[Mm](?:on|a) (?P<relation>\w+)(?: (?P<called>[A-Z]\w+))? (?:habite|vit)\b<MID> (?:à|en
|au) <CAP>
employer = \b[Mm](?:on|a) (?P<relation>\w+)(?: (?P<called>[A-Z]\w+))? travaille\b<MID> (?:chez
|pour) <CAP>
""",
        _PARTS,
    ),
    relations=_pairs("""
mother: mère maman
father: père papa
sister: sœur soeur
brother: frère
son: fils
daughter: fille
wife: femme épouse
husband: mari époux
partner: compagnon compagne conjoint conjointe
friend: ami amie copain copine
boss: chef patron patronne
colleague: collègue
neighbour: voisin voisine
grandmother: grand-mère mamie
grandfather: grand-père papi
uncle: oncle
aunt: tante
cousin: cousin cousine
dog: chien chienne
cat: chat chatte
"""),
    pets=_pairs("""
dog: chien chiens chienne chiot
cat: chat chats chatte chaton
rabbit: lapin lapins
horse: cheval
bird: oiseau perroquet
"""),
    statuses=_pairs("""
married: marié mariée
single: célibataire
divorced: divorcé divorcée
engaged: fiancé fiancée
"""),
)

SPANISH = Language(
    name="es",
    words=_words(
        "yo mi mis nos nuestro nuestra soy vivo tengo trabajo y es en el la los las una que"
        " de gusta llamo siempre ahora recuerda responde español hemos para por desde se ya muy"
        " estoy hablo nunca partir con prefiero odio cumpleaños encanta encantan gustan mudé como"
        " ayer fui nací hace"
    ),
    others=_ENGLISH | _words("ich je j et est les"),
    unreal=re.compile(
        r"\b(?:[Ss]i (?:yo |me )?(?:viviera|tuviera|fuera|pudiera|vivo|tengo)|[Oo]jalá|quisiera"
        r"|gustaría|imagina|supón|traduce|escribe una?|quizás?|tal vez)\b",
    ),
    split=re.compile(
        r"[;:] |,? (?:y|pero) (?=(?:me|mi|vivo|trabajo|tengo|soy|no|hablo|yo|estoy)\b)"
        r"|, (?=(?:me|mi|vivo|trabajo|tengo|soy)\b)"
    ),
    end=re.compile(
        r"[,;]| (?:y (?=\w)|pero|porque|desde|ahora|mucho|muchísimo|nada|también|como|con|que"
        r"|cuando|para|en)\b"
    ),
    past=re.compile(
        r"\b(?:[Ff]ui|[Ff]uimos|[Cc]ompré|[Vv]isité|[Tt]uve|[Hh]ice|[Ee]stuve|[Ee]mpecé|[Tt]erminé"
        r"|[Vv]iajé|[Cc]omimos|[Vv]isitamos|[Hh]e \w+[aei]do|[Hh]emos \w+[aei]do)\b"
    ),
    patterns=_compiled(
        r"""
name = \b[Mm]e llamo <CAP>
name = \b[Mm]i nombre es <CAP>
home = (?:\b[Yy]a (?P<neg>no) )?\b(?:[Yy]o )?(?:[Aa]hora )?[Vv]iv(?:o|imos)\b<MID> en <CAP>
home = \b[Mm]e (?:mudé|he mudado)\b<MID> a <CAP>
origin = \b[Ss]oy de <CAP>
birthplace = \b[Nn]ací en <CAP>
employer = \b[Tt]rabajo\b<MID> (?:en|para) <CAP>
job = \b[Tt]rabajo\b<MID> (?:como|de) (?P<v>[\w\-]+)
job = \b[Ss]oy(?: ahora)? (?P<v>enfermer[oa]|profesora?|maestr[oa]|médic[oa]|ingenier[oa]
|estudiante|programadora?|desarrolladora?|abogad[oa]|cociner[oa]|periodista|arquitect[oa]|contable
|dentista|fotógraf[oa])\b
age = \b[Tt]engo(?: ya)? (?P<v>\d{1,3}) años\b
birthday = \b[Mm]i cumpleaños es el (?P<v>\d\d? de \w+)
birthday = \b[Nn]ací el (?P<v>\d\d? de \w+ de \d{4})
allergy = \b[Ss]oy alérgic[oa] (?:a los |a las |a la |al |a )<V>
diet = \b[Ss]oy(?: ahora)? (?P<v>vegetarian[oa]|vegan[oa])\b
favourite = \b[Mm]i (?P<thing>\w+) (?:favorit[oa]|preferid[oa]) es <V>
likes = \b(?:[Yy]a )?(?P<neg>[Nn]o )?[Mm]e (?:gustan?|encantan?)\b(?: mucho| muchísimo)? <V>
dislikes = \b(?:[Oo]dio|[Dd]etesto|[Nn]o soporto) <V>
eats = \b(?P<neg>[Nn]o|[Nn]unca) (?:como|bebo) (?P<v>[a-zñáéíóú]+)
prefers = \b[Pp]refiero (?P<v>[^,;:!?]{2,40}?)(?: (?:a|al|que|antes|en vez)\b.*)?$
pet = \b[Tt](?:engo|enemos) (?:una?|dos|tres) (?P<kind>\w+),? (?:que se llaman?
|llamad[oa]s?) (?P<v>[A-Z]\w+(?: y [A-Z]\w+)?)
pet = \b[Tt](?:engo|enemos) (?:una?|dos|tres) (?P<kind>perr[oa]s?|gat[oa]s?|conejos?
|caballo)(?P<v>)\b
status = \b[Ee]stoy (?P<v>casad[oa]|solter[oa]|divorciad[oa]|comprometid[oa])\b
language = \b[Hh]ablo <V>
learning = \b[Ee]stoy aprendiendo (?:a tocar )?<V>
phone = \b[Mm]i (?:nuevo )?(?:número(?: de teléfono)?|teléfono|móvil) es(?: el)? <TEL>
email = \b[Mm]i (?:correo(?: electrónico)?|e-?mail) es <MAIL>
name = \b[Mm]i (?P<relation>\w+) se llama <CAP>
home = \b[Mm]i (?P<relation>\w+)(?: (?P<called>[A-Z]\w+))? vive\b<MID> en <CAP>
employer = \b[Mm]i (?P<relation>\w+)(?: (?P<called>[A-Z]\w+))? trabaja\b<MID> (?:en|para) <CAP>
""",
        _PARTS,
    ),
    relations=_pairs("""
mother: madre mamá
father: padre papá
sister: hermana
brother: hermano
son: hijo
daughter: hija
wife: mujer esposa
husband: marido esposo
partner: pareja
girlfriend: novia
boyfriend: novio
friend: amigo amiga
boss: jefe jefa
colleague: compañero compañera colega
neighbour: vecino vecina
grandmother: abuela
grandfather: abuelo
uncle: tío
aunt: tía
cousin: primo prima
dog: perro perra
cat: gato gata
"""),
    pets=_pairs("""
dog: perro perra perros perras cachorro
cat: gato gata gatos gatas
rabbit: conejo conejos
horse: caballo
bird: pájaro loro
"""),
    statuses=_pairs("""
married: casado casada
single: soltero soltera
divorced: divorciado divorciada
engaged: comprometido comprometida
"""),
)

_ZH = {
    "V": "(?P<v>[^，。,；！!？?、：:的了]{1,12})",
    "NAME": "(?P<v>[\u3400-\u9fffA-Za-z·]{1,8})",
    "KIN": "(?P<relation>哥哥|弟弟|姐姐|妹妹|妈妈|母亲|爸爸|父亲|老婆|妻子|太太|老公|丈夫|儿子|女儿"
    "|女朋友|男朋友|朋友|老板|同事|邻居|奶奶|爷爷|外婆|外公)",
    "NOW": "(?:现在|目前|一直|还|已经|今年|家)*",
}
CHINESE = Language(
    name="zh",
    words=frozenset(),
    others=frozenset(),
    unreal=re.compile(
        "如果|假如|要是|假设|想象|就好了|[吗呢吧]$|想知道|翻译|写一|也许|可能|是不是|好不好|你觉得|希望"
    ),
    split=re.compile("[，,；;](?=我|而且|并且|但)"),
    end=re.compile("[，。,；]|已经|从|(?:之后|以后)"),
    past=re.compile("我们?.{0,8}(?:去|买|参加|看|搬|开始|完成|做|吃|见|拿)了|我们?.*[了过]$"),
    patterns=_compiled(
        """
name = 我(?:的名字)?(?:叫|是叫)(?:做)?<NAME>$
name = 我的名字是<NAME>$
favourite = 我最(?:喜欢|爱)的(?P<thing>[^是]{1,8})是<V>
home = 我们?<NOW>(?P<neg>不)?住在<V>
home = 我们?(?:已经|刚|上个月|去年|最近|今年)*搬(?:家)?到了?<V>
employer = 我<NOW>在(?P<v>[^，。,；！!？?、]{1,12}?)(?:上班|工作|任职)
job = 我<NOW>是(?:一名|一个|一位|个)?(?P<v>[^，。,；的]{0,6}(?:老师|教师|医生|工程师|护士|学生
|律师|程序员|设计师|厨师|记者|会计|教授|经理|司机|作家|演员|画家))
age = 我<NOW>(?P<v>\\d{1,3}|[一二三四五六七八九十]{1,3})岁
birthday = 我的?生日是(?P<v>(?:\\d{4}年)?\\d\\d?月\\d\\d?[日号])
allergy = 我对<V>过敏
diet = 我<NOW>是(?:一个|一名)?(?P<v>素食者|素食主义者|纯素食者)
prefers = 我更(?:喜欢|爱)<V>
likes = 我<NOW>(?P<neg>不再|不太|不怎么|不|再也不)(?:喜欢|爱)<V>
likes = 我<NOW>(?:很|非常|特别|也|最|真的|超级)*(?:喜欢|热爱|爱)<V>
dislikes = 我<NOW>(?:很|非常|特别|最)?(?:讨厌|受不了|恨)<V>
eats = 我<NOW>(?P<neg>不|从不)(?:吃|喝)<V>
pet = 我(?:家)?(?:养了?|有)(?:[一二两三]|\\d)?(?:只|条|个)?(?:小)?(?P<kind>猫|狗|兔子|仓鼠
|鸟)[，,]?(?:名字|它)?叫(?:做)?<NAME>
pet = 我(?:家)?(?:养了?|有)(?:[一二两三]|\\d)?(?:只|条|个)(?:小)?(?P<kind>猫|狗|兔子|仓鼠|鸟)(?P<v>)
status = 我<NOW>(?P<v>结婚|离婚|单身|订婚)了?
language = 我会(?:说|讲)<V>
learning = 我<NOW>(?:正)?在学(?:习)?<V>
origin = 我来自<V>
origin = 我是(?P<v>[\u3400-\u9fff]{2,5})人$
phone = 我的?(?:新)?(?:电话|手机)(?:号码?)?是(?P<v>\\+?[\\d][\\d \\-]{4,20})
email = 我的?(?:邮箱|电子邮件|邮件地址)是(?P<v>[\\w.+\\-]+@[\\w.\\-]+)
name = 我的?<KIN>(?:的名字)?叫<NAME>
home = 我的?<KIN>(?P<called>[\u3400-\u9fff]{2,3}?)?(?:现在)?住在<V>
employer = 我的?<KIN>(?P<called>[\u3400-\u9fff]{2,3}?)?(?:现在)?在(?P<v>[^，。,；]{1,12}?)(?:上班
|工作)
""",
        _ZH,
    ),
    relations=_pairs("""
brother: 哥哥 弟弟
sister: 姐姐 妹妹
mother: 妈妈 母亲
father: 爸爸 父亲
wife: 老婆 妻子 太太
husband: 老公 丈夫
son: 儿子
daughter: 女儿
girlfriend: 女朋友
boyfriend: 男朋友
friend: 朋友
boss: 老板
colleague: 同事
neighbour: 邻居
grandmother: 奶奶 外婆
grandfather: 爷爷 外公
"""),
    pets=_pairs("""
dog: 狗
cat: 猫
rabbit: 兔子
hamster: 仓鼠
bird: 鸟
"""),
    statuses=_pairs("""
married: 结婚
divorced: 离婚
single: 单身
engaged: 订婚
"""),
)

LANGUAGES: Mapping[str, Language] = {
    language.name: language for language in (GERMAN, FRENCH, SPANISH, CHINESE)
}
