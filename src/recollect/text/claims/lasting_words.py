"""Words and phrases that tell a lasting statement from what passes, jokes or is only talk."""

from __future__ import annotations

import re
from functools import lru_cache


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


HYPOTHETICAL = _any(
    r"\b(?:could|would|might|should|ought|almost|nearly|wish|if|unless|maybe|perhaps|used to think|thought about|possibly|probably|hopefully|supposedly|allegedly|apparently|as though|as if|imagine|suppose|pretend|hypothetical\w*|what if|had i known|would've|could've|should've|i'd)\b",
    r"\b(?:according to|as the (?:song|saying|joke) goes|the (?:quiz|test|app|horoscope) (?:says|said)|for all (?:i|you) know|telling (?:people|everyone|everybody|me|us)|used to say|saying (?:that|they|he|she)|note saying|years old when i)\b",
    r"\bif\b",
)
# Said of no real thing, or only as a figure of speech.
ABSURD = _any(
    # Beings, places and honours that nobody has.
    r"\b(?:superhero\w*|batman|superman|spider-?man|wizards?|unicorns?|dragons?|vampires?|zombies?|aliens?|mars|the moon|time machine|time travel\w*|time lord|immortal|(?:king|queen|emperor|god|goddess|lord|prince|princess|ruler|mayor|president|ceo|duke|master|champion|beyoncé|picasso|einstein|mozart|shakespeare|ferrari|rolls[- ]royce|usain bolt|michelangelo) of (?!the (?:netherlands|uk))|the pope|napoleon|cleopatra|pharaoh|ninjas?|rockstar|pirates?|jedi|sith|hobbit|elf|elves|orcs?|mermaids?|gandalf|hogwarts|hufflepuff|slytherin|gryffindor|ravenclaw|narnia|atlantis|mordor|pet rock|imaginary|invisible|world domination|lottery|past life|former life|parallel universe|multiverse|spirit animal|evil twin|nobel|oscar speech|world record|black hole|bermuda triangle)\b",
    # Amounts, and what they are amounts of.
    r"\b(?:a (?:million|billion|gazillion|zillion|trillion|thousand) (?:times|things|years|questions|emails|tabs|problems|miles|degrees)|million times|gazillions?|zillions?|ninety-nine problems|99 problems|(?:zero|no|negative) (?:patience|chill|regrets|self-control|fucks|filter|shame|friends|social life|social skills|sense of)|(?:one|two|three|four|five|last) brain ?cells?|brain ?cells?|too many tabs|(?:a hundred|a thousand|100|1000|200|500) years old|more \w+ than (?:friends|sense|money|brains|hair)|(?:three|two|four) hours of sleep)\b",
    # Qualities as if they were trades, diets, illnesses or languages.
    r"\b(?:procrastinat\w*|sarcas\w*|overthink\w*|perfectionis[mt]\w*|spite|nonsense|bullshit|existential|inevitable|profanity|gibberish|self-pity|impostor syndrome|fomo|adulting|anti-?social|misanthrop\w*|pessimist|daydreamer|couch potato|workaholic|shopaholic|chocoholic|hopeless romantic|drama queen|control freak|neat freak|night ?mare|hot mess|train ?wreck|dumpster fire|walking (?:disaster|encyclopedia|contradiction)|a (?:potato|mess|disaster|wreck|robot|machine|houseplant|saint|angel|monster|sloth|vegetable|snail|dinosaur|fossil|joke|catastrophe|tragedy)|(?:a )?(?:phd|degree|doctorate|masters?|master's|black belt|diploma|certificate|gold medal|world champion) in (?:procrast\w*|sleep\w*|nap\w*|overthink\w*|sarcasm|complain\w*|online|shopping|eating|worry\w*|netflix|being|doing|losing|snack\w*|overreact\w*|wasting|avoid\w*|small talk)|professional (?:\w+ )?(?:overthinker|napper|procrastinator|eater|sleeper|worrier|couch|snacker|complainer|googler|time-waster)|recovering (?:perfectionist|people|lawyer|optimist|introvert)|certified (?:\w+ )?(?:idiot|genius|mess|overthinker)|fluent in (?:sarcasm|nonsense|emoji|silence|movie|swearing))\b",
    r"\ballergic to (?!(?:\w+ )*(?:nuts?|cats?|dogs?|pollen|dust|bees?|wasps?|eggs?|milk|fish|shellfish|latex|penicillin|gluten|soya?|peanuts?|grass|mould|mold|horses?|nickel|aspirin|ibuprofen)\b)(?:mondays?|tuesdays?|mornings?|work|working|meetings?|bad|stupid\w*|people|effort|exercise|responsib\w*|cardio|commitment|drama|small talk|deadlines?|bureaucracy|housework|chores|losing|being|getting|doing|css|java\w*|php|merge|regex|legacy|boredom|idiots?|waking|early|ugly|yaml|spreadsheets?|paperwork|taxes|jargon|sports?|math\w*|politics|happiness|money|love|fun|winter|heat|cold weather|reality|emails?|phone calls|alarm|hard work|diets?|salad|vegetables|laundry|cleaning|powerpoint|excel|clowns|my (?:boss|job|ex|mother-in-law)|your|this|that)\b",
    # Ways of speaking.
    r"\b(?:rock and a hard place|dead inside|living the dream|love-hate|a vibe|two left feet|eyes in the back|green with envy|over the moon|on cloud nine|under the weather|in hot water|in the same boat|sick and tired|bored to (?:death|tears)|scared to death|tickled to death|dying (?:of|to|for)|literally dying|starving|starved|eat a horse|an elephant in|drowning in|swimming in|on life support|love life|made of (?:money|steel|glass|sugar|stone)|live[sd]? for (?:fridays?|weekends?|the weekend|coffee|drama|this)|sle(?:ep|eps|pt) like a (?:baby|log|rock)|memory of a|attention span of|patience of a|like a (?:sloth|goldfish|zombie|boss|champ|headless|fish out)|(?:is|are) killing me|killing me|will be the death of|said no one|never ever|married to (?:my|the|his|her|this) (?:job|work|phone|sofa|couch|bed|laptop|computer|code|wind|sea|game|fridge|desk|office|gym)|run(?:s|ning)? on (?:coffee|caffeine|spite|vibes|pizza|adrenaline|hope|fumes|three hours|two hours|no sleep|sugar|tea|chocolate|sarcasm|anxiety)|diet of|strict diet|diet starts|addicted to (?:your|this|that|refresh\w*)|age(?:d)? (?:ten|a hundred|a thousand|100|1000|fifty|twenty) years|so (?:broke|old|tired|poor|hungry|bad|lazy) (?:that |i |my |even )|can(?:not| not|'t) even|shipping my machine|works on my machine|my own worst enemy|my last nerve|my brain|brain is|my inner|left kidney|my firstborn|my soul|sold my soul|lost my (?:mind|marbles|will|train of thought|faith)|out of my mind|losing (?:my mind|it)|runs? this (?:household|house|place|family|show)|rules? (?:the|this|our) (?:house|household)|owns? me|train(?:ed|s) me well|proud owner of a broken|no one ever|thrilled to|oh joy|yay|woohoo|whoop(?:ie|ee)|lucky me|story of my life|welcome to my life|my therapist (?:will|would)|send help|help me|kill(?:s|ed)? for a|sell my|on a first[- ]name basis with|in a (?:committed|serious|toxic|complicated|long-term) relationship with (?:my|the|coffee|food|sleep|netflix|pizza)|cheating on|in love with (?:my|this|that|coffee|sleep|food))\b",
    r"\b(?:under a rock|in sweatpants|in pyjamas|another planet|in a cave|(?:deadlines|bugs|\w+) for breakfast|said (?:nobody|no one)|waiting in line|black sheep|sucker for|hole in my heart|army of (?!the)|tooth fairy|santa claus|all the time in the world|an? (?:complete |total |such an? )?(?:idiot|moron|fool|loser|terrible person|horrible person|bad person)|such an? \w+|only human|(?:man|woman) of my word|was (?:just |only )?(?:joking|kidding)|have a dream|play(?:s|ing)? the fool|devil's advocate|driv(?:e|es|ing) (?:people|everyone|everybody|me|him|her|us|them|my \w+) (?:crazy|mad|up the wall|nuts|insane|bonkers)|tight ship|from my problems|from experience|for everyone|my mistakes|my words|in this together|live in a society|liftoff|have a winner|have a problem|dust bunnies|bottle of wine|come in peace|have spoken|mad here|my alarm clock|(?:2[0-9]|[3-9]\d|\d{3}) hours a day|been (?:29|39|21|25) for|in line for hours|girl standing|pay attention|hope for the best|two left hands|raised by wolves|rest my case|see dead people)\b",
    r"\b(?:kaiser von china|königin von|der könig|der papst|bärenhunger|schwein essen|ein pferd essen|faim de loup|le pape|le roi|la reine d|napoléon|la lune|un bœuf|el papa|el rey|la reina de|una vaca|un caballo entero|la luna|supermán|superman)\b",
    r"秦始皇|玉皇大帝|皇帝|超人|外星人|饿死|累死|笑死|困死|热死|冷死|烦死|气死|一头牛",
)
@lru_cache(maxsize=2000)
def is_figurative(text: str) -> bool:
    """Whether a text says something that nobody means as it is said."""
    return bool(ABSURD.search(text))


# About this talk, its answers, or how something feels.
CONVERSATION = _any(
    r"(?:\Alet me\b|\bi see(?= (?:that|what|why|how|your|the point)\b|[.,!]|\Z))|\b(?:i guess|i think|i believe|i mean|i suppose|i hope|i know|i understand|i don't (?:understand|know|get|think|mind|care|see|believe|remember|want|need (?:this|that|it))|i do not (?:understand|know|get|think|mind|care|see|believe|remember|want)|i have (?:a|one|another|some|no|two|a quick|a few) (?:questions?|ideas?|clue|doubts?|favou?r|feeling|hunch|request|suggestion|problem|issue|bug|error|thought|point|minute|second|sec|moment|time|comment)|i'm (?:just )?(?:looking|asking|wondering|curious|confused|lost|stuck|kidding|joking|done|back|here|sure|sorry|glad|happy|afraid that)|i am (?:just )?(?:looking|asking|wondering|curious|confused|lost|stuck|kidding|joking|done|back|here|sure|sorry|glad|happy|afraid that|not sure)|never mind|forget it|no worries|no problem|sounds good|thank|thanks|please|lol what|let's|let us|i'll|we'll|i will|i am going to|i'm going to|gonna|i'd|i want(?:ed)? (?:to (?:know|see|ask|try|say|add|make|understand|write|use|create|get)|a|an|the|this|that|it)|i need (?:to|a|an|some|help|this|that|the|it|more)|i like (?:it|this|that|the (?:second|first|third|last)|how)|i love (?:it|this|that|how)|good (?:morning|night|evening|job|point|idea)|the (?:first|second|third|last|other) (?:one|option|version|paragraph|answer|file|line|part|bullet|sentence)|option [a-d0-9]|this one|that one|your answer|last answer|above|below|previous (?:answer|message|version)|try again|my question|my mistake|my bad|to be (?:clear|precise)|in other words|read (?:it|this|that)|i've told|i told you|i said|i get an?|error|exception|traceback|stack trace|i tried|it works|doesn't work|does not work|not working|no way|wait what|what if|tell me|(?:shorter|longer|other|second|first|final|new) version|one better|thing to ask|more (?:examples?|thing)|have to go|gotta|i owe|all ears|two cents|can (?:not|'t) find|cannot find|forgot (?:my|the|to)|spilled|dropped my (?:phone|cup|fork|pen))\b(?! (?:to|of) (?:my|our) )",
)
# About a text or a program that both look at.
WORK_IN_HAND = _any(
    r"\b(?:functions?|for loop|loops?|variables?|imports?|packages?|regex\w*|arrays?|strings?|the index|indices|columns?|rows?|inputs?|outputs?|the files?|line \d+|modules?|class name|config file|null|recursi\w+|the other branch|utils|errors?|exceptions?|test cases?|parameters?|arguments?|the paragraph|the sentence|the second part|the first part|typos?|list of names|page \d+|tabs? open|\w+Error)\b",
    r"\b(?:this|these|those) (?!days|year|month|summer|winter|spring|autumn|fall|side of|town|city|country)\w+",
    r"\b(?:it|that|here|them|there)\W*\Z",
    r"\b(?:a|an|some|this|that) (?:friend|guy|man|woman|girl|boy|person|colleague|kid|lady|couple)(?: of mine)? (?:who|that|whose)\b|\bread about\b|\bheard (?:of|about|that)\b",
)
PASSING = _any(
    r"\b(?:am|is|are) (?:\d+|five|ten|two|three|a few|twenty) (?:minutes?|hours?|mins?|pages?|km|miles?|percent|blocks?)\b|\bat the door\b|\bin the driveway\b|\bsore\b|\bcovered in\b|\bspinning\b|\bout of ideas\b|\bnow I am (?:hungry|sad|confused|lost)\b",
    r"\b(?:right now|at the moment|for the moment|currently|at present|just now|as we speak|today|tonight|this (?:morning|afternoon|evening|minute|second|instant|time|weekend|week)|in (?:a|an|one|two|three|five|ten|fifteen|twenty|thirty|\d+|half an) (?:few )?(?:secs?|seconds?|minutes?|mins?|hours?|moments?|bit)|a (?:sec|second|minute|moment|bit) |one sec|brb|be right back|gtg|gotta go|running late|on my way|(?:a|few|couple of|\d+|two|three|five|ten) (?:minutes?|hours?|seconds?|mins?) ago|an hour ago|for (?:now|the time being|a sec|a moment)|just (?:sneezed|spilled|dropped|woke|ate|had|finished|saw|heard|realized|realised|noticed|came|got|arrived|missed|read|tried)|later|soon|any minute|so far today|last night|yesterday|hang on|hold on|wait a)\b",
    r"\b(?:is|are|am|'m|'s|were|was) (?:about|almost|nearly) (?:to|half|done|finished|there)\b|\bhalfway\b|\bpercent\b|\b\d+ ?%",
)
PASSING_NOUNS = _any(
    r"\b(?:my|our|the|this|that|your) (?:\w+ )?(?:code|function|loop|quer(?:y|ies)|variables?|scripts?|method|regex|lists?|array|string|program|compiler|element|argument|parameter|output|input|import|print|page|button|layout|div|css|html|formula|cell|column|row|sentence|paragraph|text|essay|answer|prompt|model|image|file|folder|screen|keyboard|mouse|cursor|light|pizza|food|coffee|tea|plate|bill|milk|internet is slow|laptop is|computer is|phone is|wi-?fi is (?:down|slow)|printer is|battery|wallet|bank account) (?!(?:is|are) called [A-Z])(?:is|are|was|has|have|does|do|returns?|runs?|never|keeps?|won't|will|takes?|works?|crashes|fails|prints|looks?)\b",
    r"\blight is on\b|\bI am (?:in|out|up|down|on|off)\Z",
    r"\b(?:on hold|minutes before|trust issues|connection|hatred|idea what|idea how|raised by wolves|morning person|excuse typos|locked (?:myself|ourselves)|up since (?:four|five|three|six|\d)|grows? on trees|ran out of (?:paper|ink|milk|time|space|memory|patience)|delayed by|headache|hangover|hiccups?|hiccoughs?|stomach ?ache|toothache|sore throat|a cold|the flu|fever|cramps?|battery|wifi is (?:down|slow|not)|window (?:is )?open|the window open|door open|elevator|lift with|in the bath|the bath|the shower|the toilet|the loo|on the (?:train|bus|tram|plane|phone|metro|subway|sofa|couch|bog)|in (?:the|a) (?:car|meeting|queue|line|traffic|cab|taxi|uber|waiting room|supermarket|elevator)|seat \d\w*|gate \w?\d+|traffic jam|my coffee is|my tea is|kettle|the weather|raining|it rains|snowing|sun is|tab open|tabs open|my screen|this file|second file|mood|feeling|goosebumps|chills|a minute|a moment|a blast|a great time|a good time|fun|luck|no clue|no idea|my turn|my knees hurt|hurts?|in pain)\b",
)
PASSING_VERBS = _set(
    "see look sit stand wait feel hear smell sneeze cough yawn cry laugh smile blush type scroll click"
    " try seem appear hope wish wonder guess forget remember mean say tell ask bet swear promise"
    " apologise apologize disagree agree doubt suspect get come go want need think know believe"
    " understand find notice realise realize miss thank appreciate welcome object call expect assume"
    " suppose imagine dare admit confess give end keep let put show start turn begin understood"
)
PASSING_VERBS -= _set("go see get keep need call give find miss type")
TALK_VERBS = _set(
    "guess think believe mean suppose hope know understand wonder bet assume agree disagree appreciate"
    " see hear feel remember forget care mind want wish get thank apologise apologize promise swear"
    " realise realize notice doubt suspect imagine try"
)
TALK_VERBS -= _set("see get care mind")
NOT_VERBS = _set(
    "could would might should will shall may and or but if too also the a an in on at of to"
    " myself can't cannot"
)
MOODS = _set(
    "tired hungry thirsty cold hot warm sick ill bored happy sad excited glad sorry sure stuck lost"
    " confused busy late early ready done back here there fine okay ok good great awake drunk hungover"
    " annoyed frustrated worried nervous curious interested grateful thankful impressed surprised proud"
    " afraid angry mad upset stressed relaxed exhausted sleepy amazed shocked disappointed jealous"
    " embarrassed alone free right wrong serious kidding joking broke dead finished off out down up"
    " home starving freezing sweating dizzy better worse well not so too very really super pretty quite"
    " about almost nearly inevitable awesome amazing cool nice terrible awful red green broken slow loud"
    " quiet open closed full empty over gone fun hard easy able unable willing keen trying going"
    " intrigued stumped puzzled speechless honoured honored blessed hooked sold touched moved blown"
)
BEING = _any(
    r"(?:sikh|muslim|jewish|christian|catholic|protestant|buddhist|hindu|atheist|agnostic|religious|deaf|blind|colou?r-?blind|mute|autistic|dyslexic|diabetic|asthmatic|epileptic|disabled|gay|lesbian|bi|bisexual|trans|transgender|queer|non-?binary|asexual|straight|single|married|divorced|widowed|engaged|separated|pregnant|expecting|retired|unemployed|self-employed|freelance|employed|sober|teetotal|vegan|vegetarian|pescatarian|lactose|gluten|left-handed|right-handed|ambidextrous|bilingual|trilingual|short-?sighted|near-?sighted|far-?sighted|tall|short|hopeless|terrible|bad|good|great|useless|allergic|afraid|scared|terrified|fluent|native|originally|insured|registered|qualified|certified|licensed|located|responsible|in charge|done with|off (?:sugar|alcohol|meat|gluten|caffeine|social)|famil(?:y|ies)|celiac|coeliac|adopted|born|raised|half|gen z|blonde?|bald|ginger|an? )\b",
)
BEING = re.compile(BEING.pattern.replace("good|great|useless", "useless"), re.IGNORECASE)
KIN = re.compile(
    r"(?:(?:[Mm]y|[Oo]ur) )?(?:[Dd]ad|[Dd]addy|[Mm]um|[Mm]om|[Mm]ummy|[Mm]ama|[Pp]apa|[Gg]randma"
    r"|[Gg]randpa|[Gg]ran|[Nn]an|[Nn]ana|[Gg]ranny|[Gg]randad|[Aa]untie \w+|[Aa]unt \w+|[Uu]ncle \w+)"
    r"(?=\b| |'s)(?: and \w+)?"
)
LASTING_PAST = _any(
    r"(?:grew|studied|majored|served|retrained|trained|graduated|emigrated|immigrated|apprenticed|qualified|converted|inherited|founded|started|learned|learnt|got|bought|adopted|built|lost|moved|married|met|finished|completed|earned|became|volunteered|taught|worked|lived|competed|won|wrote|published)\Z",
)
# How often, when, how much, and by whom or with what it is done.
TIMED = _any(
    r"\b(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?|weekdays?|daily|weekly|monthly|yearly|quarterly|annually|every|each|twice|once a|times a|per (?:day|week|month|year)|a (?:day|week|month|year)\b|o'clock|\d{1,2} ?(?:am|pm)|\d{1,2}:\d\d|noon|midnight|january|february|march|april|june|july|august|september|october|november|december|since|until|at (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)\b",
    r"\b(?:is|are) (?:done|handled|run|led|managed|written|hosted|built|deployed|stored|taught|owned|made|kept|called|named|insured|based|located|planned|scheduled|set|served|powered|tracked|maintained|paid) (?:by|in|on|with|at|from|for|as|[A-Z0-9])",
    r"\bis home\b|\b(?:is|are|runs?|lives?|sits?|listens?) (?:on|in|at|under|behind|with|near|by|above|below|next to)\b|\b(?:handles?|owns?|leads?|manages?|does|covers?|runs?) (?:the |our |my )?[a-z]+",
)
STANDING = _any(
    r"\b(?:api|server|database|db|deadline|project|repo|branch|build|deployment|release|version|team|client|budget|office|meeting|standup|stand-up|sprint|sync|check-in|service|backend|frontend|app|application|website|site|cluster|pipeline|cache|queue|schema|endpoint|domain|dashboard|licen[cs]e|cron|job|migration|staging|production|prod|ci|stack|framework|codebase|launch|port|workspace|slack|channel|rollout|tests?|suite|backup|invoices?|contract|order|delivery|ticket|milestone|roadmap|board|kick-?off|code ?name|password|wifi|key|keys|code|lock|gate|garage|kids|girls|boys|children|twins|baby|wedding|ceremony|party|appointment|lessons?|classes|class|course|club|choir|band|practice|training|rehearsal|gig|school|kindergarten|nursery|daycare|dog|cat|cats|dogs|hens|chickens|bees|horse|flat|house|apartment|cabin|cottage|farmhouse|farm|garden|shop|store|stand|booth|stall|room|plumber|electrician|landlord|landlady|doctor|dentist|vet|therapist|nanny|cleaner|au pair|car|van|bike|boat|lease|mortgage|rent|insurance|phone|laptop|internet|policy|ttl|retention|limit|quota|rate|price|fee|size|number|host|login|importer|blog|newsletter|offsite|retro|review|plan|trip|flight|train|move|due date|exam|defen[cs]e|thesis|interview|audition|bus|commute|shift|payroll|company|firm|business|startup|charity|association|committee|allotment|marathon|race|match|tournament|league|divorce|custody|medication|dose|inhaler|wheelchair|diet|surgery|operation|treatment|chemo|physio|lisinopril|code review|on-?call|logs?|docs?|wiki|design|logo|font|default|color scheme|theme|bank|account|card|subscription|membership|gym)\b",
)
IMPERATIVE = _any(
    r"(?:please|let's|lets|give|make|tell|show|try|check|look|see|add|remove|delete|write|create|explain|describe|list|find|fix|help|translate|summari[sz]e|rewrite|draft|generate|continue|stop|wait|go|come|take|put|set|turn|open|close|click|run|print|return|use|read|note|remember|forget|ignore|imagine|suppose|pretend|assume|consider|compare|convert|calculate|compute|count|sort|filter|parse|format|shorten|improve|correct|edit|act|answer|reply|respond|ask|call|send|email|book|order|buy|sell|get|don't|never mind|thanks|thank|thx|ok|okay|hi|hello|hey|bye|brb|lol|wow|ugh|haha|yes|no problem|sure|great|nice|cool|good|perfect|awesome|sorry|waiting|give)\Z",
)
FOREIGN_PASSING = _any(
    r"\b(?:müde|hungrig|hunger|durst|akku|im stau|im zug|verspätung|im bus|gerade|momentan|im moment|heute|gleich|eben|morgen früh|kopfschmerzen|sorry|danke|bitte|vielleicht|würde|hätte|könnte|wäre|wenn|falls|glaube|denke|weiß nicht|verstehe|frage|kannst|könntest|du|dir|dein\w*|sie mir|ihnen|klar|sicher|irgendwann|bin (?:da|hier|zurück|unterwegs|fertig)|minuten?|sekunden?|mal|ein moment|keine ahnung|erkältet|gleich|beispiel)\b",
    r"\b(?:fatigué\w*|crevée?|failli|a du retard|faim|en retard|comprends|dans le (?:train|bus|métro)|dans la voiture|au bureau aujourd|soif|froid|chaud|aujourd'hui|tout à l'heure|ce (?:matin|soir|midi)|cet après-midi|minutes?|secondes?|peut-être|si (?:j'|je|on|nous)|voudrais|aimerais|serais|aurais|pourrais|irais|mal (?:à|au)|je (?:pense|crois|sais|comprends|vois|viens de (?!prendre|perdre|quitter)|vais|peux|suis (?:là|prêt|en train|désolé|d'accord|content))|merci|s'il (?:te|vous) plaît\Z|tu|toi|ton|ta|tes|vous|votre|vos|exemple|j'arrive|il faut que|journée|bien sûr)\b",
    r"\b(?:cansad[oa]|vuelvo|llega tarde|casi|hambre|sueño|prisa|en el (?:metro|tren|bus|coche|baño)|tengo que|no entiendo|sed|frío|calor|hoy|ahora mismo|ahorita|esta (?:mañana|tarde|noche)|minutos?|segundos?|quizás?|tal vez|ojalá|si (?:tuviera|viviera|fuera|pudiera|me)|quisiera|gustaría|comería|creo|pienso|sé|entiendo|me duele|gracias|por favor|tú|te|tu|tus|usted|voy a|puedo|estoy (?:aquí|list[oa]|de vuelta|en camino)|ejemplo|perdón|claro)\b",
    "今天|先去|差点|快到|去吃饭|开会|想买|没电|没信号|在忙|不懂|现在(?=有点|很|在等|在吃)|马上|刚才|刚刚|一会儿|等一下|分钟|秒|饿|困|累|头疼|头痛|发烧|感冒|如果|假如|要是|也许|可能|想知道|觉得|认为|希望|想要|请|你|您|吗|呢|吧|谢|对不起|抱歉|地铁上|公交|路上|信号|明白|知道|这周|好像|大概|例如|比如|回答|问题",
)
FOREIGN_PASSING = re.compile(
    FOREIGN_PASSING.pattern.replace("|pferd", ""), re.IGNORECASE
)
FOREIGN_OWN = _any(
    r"\b(?:ich (?:bin|habe|hab|arbeite|wohne|lebe|fahre|rauche|trinke|esse|spiele|lerne|studiere|mache|gehe|komme|nutze|benutze|verwende|nehme|trage|spreche|höre|lese|schlafe|mag|kann|darf|muss|war|wurde|schreibe|backe|koche|sammle|singe|tanze|reite|schwimme|jogge|leite|unterrichte|stehe|heiße)|wir (?:haben|sind|wohnen|leben|nutzen|verwenden|benutzen|fahren|gehen|treffen|arbeiten|essen|machen|bekommen|erwarten|ziehen|halten|spielen|heiraten)|meine?[rnms]? \w+|unsere?[rnms]? \w+)\b",
    r"(?:\bje (?:suis|travaille|fume|bois|mange|joue|parle|vis|fais|conduis|roule|porte|prends|dors|cours|nage|lis|chante|étudie|enseigne|collectionne|ne \w+ (?:pas|plus|jamais))\b|\bj'(?:ai|habite|étudie|enseigne|apprends|utilise|aime|adore)\b|\b(?:nous|on) (?:a|est|avons|sommes|habite|habitons|utilise|utilisons|vit|vivons|fait|faisons|travaille|se (?:marie|voit|retrouve))\b|\b(?:mon|ma|mes|notre|nos) \w+)",
    r"\b(?:(?:no )?(?:tengo|soy|vivo|trabajo|fumo|bebo|como|juego|toco|hablo|estudio|uso|llevo|tomo|conduzco|duermo|corro|nado|leo|canto|enseño|colecciono|estoy|estuve|tenemos|somos|vivimos|usamos|trabajamos|comemos|hacemos|estamos|esperamos)|mis? \w+|nuestr[oa]s? \w+|me (?:llamo|dedico|encanta|gusta|levanto|mudo|caso))\b",
    r"我们?(?:家|的)?.{0,4}(?:是|有|在|住|开|养|用|会|每|打|跑|喝|吃|不|叫|姓|做|学|教|从|属|戴|抽|爱|喜欢|最|爸|妈|儿子|女儿|老公|老婆|妹|弟|哥|姐|项目|公司|团队|办公室|周会|狗|猫|女朋友|男朋友)",
)
FOREIGN_TIMED = _any(
    r"\b(?:montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?|jeden|täglich|wöchentlich|\d{1,2} uhr|seit|ab)\b",
    r"\b(?:lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?|chaque|tous les|toutes les|\d{1,2} ?h\d*|depuis)\b",
    r"\b(?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|cada|todos los|todas las|a las \w+|desde|el \d{1,2} de)\b",
    "每(?:周|天|月|年|个)|周[一二三四五六日末]|星期|点(?:钟|半)?|楼",
)
ENGLISH = re.compile(
    r"\b(?:the|is|are|was|my|our|i|i'm|we|and|of|to|for|with|have|has|it|this|that|not|at|from|been|he|she|they|on|an)\b",
    re.IGNORECASE,
)
NUMBERS = r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|dozen)"
# What somebody does for long, or again and again.
LASTING_VERBS = _set(
    "live work keep own use eat drink play sing teach study wear drive ride run swim sleep collect bank lease"
    " rent weigh report share sell freelance homeschool volunteer support speak fly write read cycle commute"
    " deploy host handle manage lead organise organize coach mentor breed grow farm garden bake cook paint"
    " draw knit sew crochet dance act perform compose record edit translate interpret design build repair"
    " restore brew hike climb surf ski skate box fence row sail dive camp travel meditate pray smoke vape snore"
    " stutter suffer take follow attend practise practice train compete umpire referee chair belong serve"
    " foster babysit care raise maintain operate insure heat compost forage hunt groom film photograph stream"
    " podcast blog publish moderate curate invest trade prefer avoid sign lip-read see go visit meet sublet"
    " co-parent bike walk jog do code program develop ship monitor store track subscribe donate sponsor identify"
    " come descend tutor lecture research moonlight busk hate like love enjoy need get"
)
LASTING_VERBS -= _set("draw act follow serve like love enjoy hate need get come")
