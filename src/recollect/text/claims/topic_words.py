"""Words by which two statements are found to be about the same."""

from __future__ import annotations

import re
from collections.abc import Mapping

from recollect.text.analysis import stem


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


# Too common to say what a statement is about.
GENERIC = _stems(
    "day days week weeks month months year years time now new today yesterday name named called call"
    " get got go goes went going make made take takes took taken use uses used live lives living work"
    " works working have has had one two three four five six good great big small little lot thing"
    " things way really just also still even back home finally since last next first second again"
    " like love want need keep keeps put let come came see people person full every other old says"
    " said tell told well know think feel week start started begin began stop stopped end ended"
    " switched changed moved move moves moving left quit sold gone over bought turned became become"
    " instead anymore longer ago once twice always never usually often mostly much many more most"
    " some any all both each own place part bit sort kind year-old right around about after before"
    " ich wir mein meine unser jetzt nicht mehr seit habe haben bin ist sind und der die das ein eine"
    " einen den dem hab mache je suis mon ma notre est sont une les des pas plus depuis maintenant"
    " avoir vient ans tengo soy mi nuestro nuestra está años ahora desde por una los las que hace"
    " monday tuesday wednesday thursday friday saturday sunday january february march april june july"
    " august september october november december morning evening afternoon night"
)
_PEOPLE = (
    "sister|brother|mother|mom|mum|father|dad|son|daughter|wife|husband|partner|girlfriend|boyfriend|fiancé"
    "|fiancée|fiance|fiancee|grandma|grandmother|granny|gran|nan|grandpa|grandfather|grandad|aunt|uncle|cousin|niece"
    "|nephew|parents|friend|boss|manager|colleague|coworker|roommate|flatmate|neighbour|neighbor|landlord"
    "|landlady|godson|goddaughter|stepson|stepdaughter|stepmother|stepfather|mother-in-law|father-in-law"
    "|sister-in-law|brother-in-law|ex|eldest|youngest|oldest|kids|children|twins|siblings|sisters|brothers"
    "|sons|daughters|friends|grandson|granddaughter|teammate|doctor|gp|vet|dentist|therapist|surgeon"
    "|Bruder|Schwester|Mutter|Mama|Vater|Papa|Sohn|Tochter|Frau|Mann|Freund|Freundin|Oma|Opa|Onkel|Tante"
    "|Chef|Chefin|Nachbar|Nachbarin|Kollege|Kollegin|Eltern|Kinder"
    "|frère|sœur|soeur|mère|maman|père|papa|fils|fille|femme|mari|copain|copine|ami|amie|oncle|tante"
    "|chef|voisin|voisine|collègue|parents|enfants"
    "|hermano|hermana|madre|mamá|padre|papá|hijo|hija|mujer|esposa|marido|esposo|novio|novia|amigo|amiga"
    "|jefe|jefa|vecino|vecina|primo|prima|tío|tía|abuelo|abuela|hijos|padres"
)
KIN = re.compile(
    r"\W*(?:(?:my|our|the user's|their|[A-Z]\w+'s|meine?[rnms]?|unsere?[rnms]?|mon|ma|mes|notre|nos|mis?"
    rf"|nuestr[oa]s?) (?:(?!is\b|are\b|was\b)[\w-]+ ){{0,2}}?)?(?P<kin>{_PEOPLE})(?!\w)",
    re.IGNORECASE,
)
KIN_OF: Mapping[str, str] = {
    word: kin
    for kin, words in {
        "mother": "mom mum mummy mama mutter mère maman madre mamá",
        "father": "dad daddy papa vater père padre papá",
        "sister": "schwester sœur soeur hermana sisters",
        "brother": "bruder frère hermano brothers",
        "son": "sohn fils hijo sons boys boy",
        "daughter": "tochter fille hija daughters girls girl",
        "wife": "frau femme mujer esposa",
        "husband": "mann mari marido esposo",
        "grandmother": "grandma granny gran nan oma abuela",
        "grandfather": "grandpa grandad opa abuelo",
        "landlord": "landlady",
        "boss": "manager chef chefin jefe jefa",
        "friend": "freund freundin ami amie amigo amiga copain copine novio novia",
        "fiancé": "fiancée fiance fiancee",
        "child": "kids children kinder enfants hijos",
    }.items()
    for word in words.split()
}
MENTIONS = frozenset(word.casefold() for word in _PEOPLE.split("|")) | KIN_OF.keys()
PARTNERS = _set("wife husband partner girlfriend boyfriend fiancé friend ex")
NEUTRAL = _set("doctor gp vet dentist therapist surgeon landlord landlady child kids eldest youngest")

_DAY = (
    r"mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|montags?|dienstags?"
    r"|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?|lundis?|mardis?|mercredis?|jeudis?"
    r"|vendredis?|samedis?|dimanches?|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?"
)
_NUMBER = (
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|deux|trois|quatre|cinq|six|sept|huit|neuf|dix"
    r"|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|third|second|fourth|fifth|sixth|seventh"
    r"|eighth|ninth|tenth|one"
)
# Values of which a statement has one where another has another.
VALUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("day", re.compile(rf"\b(?:{_DAY})\b|周[一二三四五六日]|星期[一二三四五六日]", re.IGNORECASE)),
    ("month", re.compile(r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b", re.IGNORECASE)),
    ("number", re.compile(rf"(?<![\w.:])\d[\d.,]*(?:k|m)?(?![\w:])|\d+(?=[a-z%年岁楼])|\b(?:{_NUMBER})\b", re.IGNORECASE)),
    ("time", re.compile(r"\b\d{1,2}(?::\d\d)? ?(?:am|pm)\b|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b|\b\d{1,2} ?h\d*\b|[一二三四五六七八九十\d]+点", re.IGNORECASE)),
    ("often", re.compile(r"\b(?:daily|weekly|monthly|quarterly|yearly|annually|biweekly|every (?:day|week|month|quarter|year)|once|twice)\b", re.IGNORECASE)),
)
# Fields in which "switched to" is about what was known of them.
SWITCHED = _set(
    "tool study internet power bank insurance phone doctor office fan vehicle medicine lead name sport"
    " coffee pet seat"
)
SWITCHED -= _set("pet sport coffee")
SWITCHED |= _set("music sleep meal faith study")
# Of these there is usually one, so another one takes its place.
ONE_OF = _set("doctor bank insurance power internet office lead name weight age phone")
# What is otherwise "now" is so instead of what was.
NOW_FIELDS = _set("commute sleep heating hair meal diet smoking age weight")
_THINGS = {
    "database": "postgres postgresql mysql mariadb mongodb mongo sqlite oracle redis cassandra dynamodb database db",
    "ci": "jenkins github gitlab circleci travis buildkite teamcity actions ci pipeline",
    "chat": "slack teams discord mattermost zulip",
    "tracker": "jira asana trello linear basecamp clickup monday",
    "notes": "evernote obsidian notion onenote roam logseq bear notes",
    "docs": "confluence notion wiki docs doku",
    "cloud": "aws azure gcp heroku hetzner digitalocean vercel netlify",
    "editor": "vim emacs vscode zed sublime pycharm intellij neovim",
    "auth": "keycloak auth0 okta cognito auth",
    "frontend": "react vue angular svelte solid ember",
    "language": "python java kotlin go rust scala typescript javascript ruby php elixir",
    "design": "figma sketch penpot",
    "major": "biology history physics chemistry law medicine economics maths mathematics philosophy",
    "car": "car golf passat polestar tesla skoda bmw audi volvo fiat renault clio dacia ibiza vespa",
    "bike": "bike bicycle motorcycle motorbike scooter ebike",
}
KINDS_OF_THINGS: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split()) | _stems(names) for kind, names in _THINGS.items()
}
# States of a field that exclude each other.
STATES: Mapping[str, frozenset[str]] = {
    "diet": _stems("vegan vegetarian pescatarian meat carnivore omnivore keto eggs fish fleisch viande carne"),
    "partner": _stems("married single engaged divorced separated widowed remarried dating seeing"),
    "work": _stems("retired unemployed self-employed freelance student employed railway"),
    "seat": _stems("window aisle middle"),
    "coffee": _stems("tea coffee decaf"),
    "drinking": _stems("sober drink alcohol"),
}
