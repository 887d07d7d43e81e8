"""The fields of a life: home, work, partner, pets. What a statement is about, in one word.

Two statements of one field may replace one another where one of them says that something changed.
``SINGLE`` fields have one state at a time; in the others many things live side by side, and a
change concerns only what it names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

SINGLE = frozenset(
    "home work partner diet age smoking drinking lead weight expecting commute heating hair".split()
)

_WORDS: Mapping[str, str] = {
    "home": r"live[sd]?|living|based|home|house|flat|apartment|relocated?|moved (?:to|into|in|back)|moving to|reside[sd]?|dorm|two-bedroom|address|hometown|queens|made the move|moved|suburbs?|downtown|roommates?|own place|rents? (?:a|an|our|my|the)|room in|moved in"
    r"|wohne?n?t?|lebe?n?t?|gezogen|umgezogen|wohnung|habite\w*|vis|vit|déménag\w*|emménag\w*|logement|viv[oe]\w*|vivimos|mud[éoa]\w*|mudamos|piso|住|搬",
    "work": r"work(?:s|ed|ing)?|jobs?|employ\w*|company|hired|freelanc\w*|studio|retired?|fired|laid off|let (?:me|him|her|us|\w+) go|promoted|resign\w*|notice|position|career|department|ward|nurs\w+|dev|developer|manager|engineer|teach\w*|drive for|drives for|sell|sells|postman|lawyer|barista|waiter|chef|cook|driver|salary|contract|unemployed|redundan\w+|call cent\w+|joined|parental leave|maternity leave|sabbatical|went back to work|back at work|on leave|apprentice\w*|intern\w*|self-employed|own business|marketing|finance|sales|accountan\w*|paralegal|the navy|the army|air force|rigs?"
    r"|arbeit\w*|gekündigt|kündig\w*|ausbildung|beruf\w*|angestellt|rente|entlassen|kita|travail\w*|boulot|emploi|démission\w*|retraite|embauch\w*|chauffeur|trabaj\w*|empleo|despid\w*|jubil\w*|renunci\w*|correos|工作|上班|辞职|离职|退休|公司|任职",
    "study": r"stud(?:y|ies|ied|ying)|student|major(?:ing|ed)?|university|college|degree|school|homeschool\w*|kindergarten|nursery|course|phd|master's|bachelor|law school|class of|graduat\w*|dropped out"
    r"|studier\w*|\w*studium|uni|schule|étudi\w*|fac|école|lycée|estudi\w*|universidad|escuela|carrera|学习|大学|读|上学|专业",
    "partner": r"(?:re)?married|marry|wife|husband|girlfriend|boyfriend|bf|gf|partner|fianc[ée]e?|engaged|divorc\w*|single|dating|broke up|split(?: up)?|seeing|separated|widow\w*|wedding|relationship|spouse|ex|tied the knot|together with"
    r"|beziehung|verheiratet|ehe\w*|freundin|freund|partnerin|geschieden|getrennt|ledig|verlobt|geheiratet|copain|copine|mari|femme|mariée?|célibataire|divorcée?|fiancée?|conjointe?|compagn\w+|rompu|séparée?|noviazgo|novi[oa]|marido|mujer|espos[oa]|casad[oa]|solter[oa]|divorci\w*|pareja|prometid[oa]|lo dejamos|女朋友|男朋友|老婆|老公|结婚|离婚|分手|单身|订婚|妻子|丈夫|对象",
    "children": r"kids?|child(?:ren)?|sons?|daughters?|bab(?:y|ies)|twins|born|toddler|newborn|girls|boys|boy|girl|our (?:first|second|third|fourth|youngest|eldest)|custody"
    r"|kind(?:er)?|tochter|sohn|baby|geboren|enfants?|fils|fille|bébé|née?|hij[oa]s?|bebé|nació|niñ[oa]s?|孩子|儿子|女儿|宝宝|出生",
    "expecting": r"pregnant|expecting|due (?:in|date|on)|(?:was|were|been|is|just) born|arrived|gave birth|had (?:a|an|our|the|her|his|my) (?:baby|son|daughter|twins|boy|girl|little)|maternity"
    r"|schwanger|geboren|enceinte|née?|embarazada|nació|怀孕|出生|生了",
    "pet": r"dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|hamsters?|hens?|chickens?|horses?|pon(?:y|ies)|birds?|parrots?|budgies?|fish|tortoises?|turtles?|guinea pigs?|labrador|greyhound|dachshund|collie|spaniel|terrier|poodle|beagle|retriever|goats?|sheep|bees|hives?|pets?|put down|geckos?|snakes?|ferrets?|rats?|mice"
    r"|hund\w*|katzen?|kater|dackel|hase|kaninchen|pferd\w*|chien\w*|chat\w*|lapins?|cheval|perr[oa]s?|gat[oa]s?|conejos?|caballos?|狗|猫|兔|鸟|宠物",
    "vehicle": r"cars?|drives?|driving|drove|bikes?|bicycle|e-?bike|motorcycles?|motorbikes?|scooters?|vans?|trucks?|lease[sd]?|tesla|polestar|volvo|bmw|audi|toyota|honda|ford|fiat|renault|skoda|vw|golf|caravan|camper|boat"
    r"|auto|wagen|fahre|fahren|fährt|passat|opel|motorrad|fahrrad|roller|voiture|roule|moto|vélo|coche|carro|bicicleta|conduzco|moto|车|开一辆|开比亚迪|开",
    "diet": r"vegan\w*|vegetarian\w*|pescatarian|meat|eats? (?:eggs|fish|meat|dairy|everything)|keto|paleo|gluten-free|dairy-free|carnivore|omnivore|plant-based|diet"
    r"|veganer\w*|vegetarier\w*|vegetarisch|fleisch|végétarien\w*|végane?|viande|vegetarian[oa]|vegan[oa]|carne|素食|吃素|吃肉",
    "smoking": r"smok\w+|cigarettes?|vap\w+|nicotine|tobacco|rauch\w*|zigarett\w*|fum(?:e|er|eur|o|ar|ador)\w*|cigarettes?|tabaco|抽烟|吸烟|戒烟|烟",
    "drinking": r"alcohol|sober|teetotal\w*|wine|beer|booze|drinks?(?! (?:coffee|tea|water|milk))|drinking(?! (?:coffee|tea))|alkohol|alcool|vin|bière|alcohol|vino|cerveza|喝酒|酒",
    "coffee": r"coffees?|caffeine|espresso|latte|tea|kaffee|tee|café|thé|té|咖啡|茶",
    "sport": r"run(?:s|ning)?|5k|10k|swim\w*|gym|marathon|train(?:ing|s)? for|football|soccer|tennis|yoga|cycl\w+|climb\w*|boxing|karate|judo|pilates|crossfit|handball|hockey|basketball|volleyball|rowing|badminton|jog\w*|hik\w+|ski\w*|surf\w*|danc\w+"
    r"|lauf\w*|jogge\w*|schwimm\w*|fußball|cour(?:s|ir)|nage\w*|natation|corr\w+|nad\w+|gimnasio|fútbol|跑步|游泳|健身|羽毛球|篮球|足球|瑜伽",
    "medicine": r"mg|pills?|tablets?|medication|meds|inhaler|insulin|dose|lisinopril|statins?|antidepressants?|ssri|levothyroxine|metformin|warfarin|ramipril|prescri\w+|take[sn]?|asthma|diabet\w+",
    "aid": r"glasses|contact lenses|contacts|wheelchair|crutches|hearing aids?|cane|walker|brace|braces|surgery",
    "age": r"years? old|turn(?:ed|ing|s) \w+|\w+(?:st|nd|rd|th) birthday|(?:sixth|seventh|eighth|ninth|tenth|fifth|fourth|third|second|first) birthday|aged?|i am \d+|is \d+|'m \d+|jahre alt|geworden|ans|años|cumpl\w+|岁",
    "weight": r"weigh\w*|kilos?|kg|pounds|lbs|stone",
    "language": r"speak\w*|french|german|spanish|english|italian|japanese|chinese|mandarin|korean|dutch|swedish|polish|russian|portuguese|arabic|sprech\w*|parle\w*|habl\w+|说|讲",
    "bank": r"banks?|banking|account",
    "insurance": r"insur\w+|premium|versicher\w*|assur\w+|segur[oa]s?|保险",
    "power": r"electricity|energy|gas|power|supplier|provider|strom\w*|électricité|luz",
    "internet": r"internet|broadband|fib(?:re|er)|mbit|gigabit|wi-?fi|router|line",
    "phone": r"phone|mobile|sim|plan|contract|vodafone|o2|telekom|t-mobile|verizon|at&t|orange|three|ee|iphone|android|pixel|carrier|number|handy\w*|téléphone|móvil|手机|电话",
    "doctor": r"doctors?|gps?|physician|dr\.?|dentist|vet|therapist|therapy|physio\w*|optician|paediatrician|pediatrician|arzt|ärztin|hausarzt|zahnarzt|médecin|docteure?|dentiste|médic[oa]|doctora?|dentista|医生|牙医",
    "lead": r"boss|manager|report(?:s|ing)? to|led by|leads?|head of|supervisor|in charge|team lead|chef|chefin|vorgesetzt\w*|patron|jef[ea]|responsable|老板|上司|领导|负责",
    "name": r"called|named?|code ?name|renamed|nickname|title",
    "meeting": r"meeting|stand-?up|call|sync|retro|review|lessons?|class(?:es)?|practice|rehearsal|appointment|flight|interview|session|kick-?off|release|deadline|launch|delivery|due|exam|training|board|sprint|deploys?|deployment|party|wedding|trip|termin|besprechung|unterricht|kurs|réunion|cours|rendez-vous|rdv|reunión|clase|cita|entrega|周会|会议|课|开会|约",
    "price": r"budget|price|cost|costs|fee|rent|standing order|subscription|salary|euros?|dollars?|pounds|\$|€|£|\d+k",
    "tool": r"use[sd]?|using|database|db|postgres\w*|mysql|mongo\w*|sqlite|redis|ci|jenkins|github|gitlab|notes|evernote|obsidian|notion|confluence|slack|teams|jira|asana|trello|editor|vim|emacs|vs ?code|zed|framework|react|vue|angular|svelte|hosting|aws|azure|gcp|kubernetes|docker|auth\w*|keycloak|okta|stack|language|written in|runs on|lives on|terraform|branch|linear|figma|sketch|linux|windows|macos|browser|firefox|chrome|docs?|wiki|nutz\w*|verwend\w*|doku|utilis\w+|us(?:o|amos|an)|用|项目",
    "commute": r"to work|to the office|commut\w*|tram|by (?:bus|train|bike|car)",
    "heating": r"heat(?:ing|s|ed)?(?: pump| with)?|boiler|radiators?|stove",
    "hair": r"hair|blond\w*|brunette|redhead|beard|moustache|bald",
    "sleep": r"bed|sleep\w*|wake|up until|get up|night owl|early bird|alarm",
    "meal": r"dinner|lunch|breakfast|supper|eat at",
    "music": r"piano|guitar|violin|cello|viola|trumpet|trombone|drums|bass|flute|saxophone|ukulele|clarinet|harp",
    "faith": r"sikh|muslim|jewish|christian|catholic|protestant|buddhist|hindu|atheist|church|mosque|converted",
    "fan": r"fan|support(?:s|er)?|favou?rite|prefer\w*|lieblings\w*|préféré\w*|favorit[oa]",
    "seat": r"seats?|window|aisle",
    "office": r"office|desk|workplace|building|floor|room|büro|bureau|oficina|办公室|楼",
    "volunteering": r"volunteer\w*|food bank|shelter|lifeboat|charity|soup kitchen",
}
_FIELDS = {
    name: re.compile(rf"(?<!\w)(?:{words})(?!\w)" if True else "", re.IGNORECASE)
    for name, words in _WORDS.items()
}
_DENSE_WORDS = {
    name: re.compile("|".join(w for w in words.split("|") if re.search("[\u3400-\u9fff]", w)))
    for name, words in _WORDS.items()
    if re.search("[\u3400-\u9fff]", words)
}
_DENSE = re.compile("[\u3400-\u9fff]")

# Fields by the slots that claims have.
OF_SLOT: Mapping[str, str] = {
    "home": "home", "employer": "work", "job": "work", "field": "work", "partner": "partner",
    "status": "partner", "diet": "diet", "age": "age", "pet": "pet", "drives": "vehicle",
    "studies": "study", "learning": "study", "child": "children", "son": "children",
    "daughter": "children", "weight": "weight", "lives-with": "home",
}  # fmt: skip


@lru_cache(maxsize=4000)
def fields_of(text: str) -> frozenset[str]:
    """The fields that the words of a text belong to."""
    patterns = _DENSE_WORDS if _DENSE.search(text) else _FIELDS
    return frozenset(name for name, pattern in patterns.items() if pattern.search(text))
