"""English words that the rules know, by what they are."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Who belongs to somebody: "my sister Eva".
FAMILY = _set(
    "mother mom mum mommy mummy father dad daddy parents parent sister sisters brother brothers"
    " sibling siblings son sons daughter daughters kid kids child children baby twins wife husband"
    " spouse partner fiancé fiancée fiance fiancee girlfriend boyfriend grandma grandmother granny"
    " grandpa grandfather grandparents grandson granddaughter aunt uncle cousin cousins niece"
    " nephew stepson stepdaughter stepmother stepfather family ex"
)
IN_LAWS = ("mother-in-law", "father-in-law", "sister-in-law", "brother-in-law")
ACQUAINTANCES = _set(
    "friend friends boss manager colleague colleagues coworker coworkers teammate teammates"
    " roommate roommates flatmate neighbor neighbour neighbors neighbours landlord landlady teacher"
    " doctor therapist dentist lawyer coach trainer mentor professor supervisor client assistant"
    " team company startup band"
)
PETS = {
    word: kind
    for kind, words in {
        "dog": "dog dogs puppy puppies pup pups doggo",
        "cat": "cat cats kitten kittens kitty",
        "bird": "bird birds parrot parrots budgie canary",
        "horse": "horse horses pony",
        "rabbit": "rabbit rabbits bunny bunnies",
        "hamster": "hamster hamsters",
        "turtle": "turtle turtles tortoise",
        "fish": "fish goldfish",
        "snake": "snake snakes",
        "lizard": "lizard gecko iguana",
        "pig": "guinea-pig pig",
        "pet": "pet pets",
    }.items()
    for word in words.split()
}
# Only one of them at a time.
SINGLE = _set(
    "mother mom mum father dad wife husband spouse partner fiancé fiancée fiance fiancee"
    " girlfriend boyfriend"
)
PARTNERS = _set("wife husband spouse partner fiancé fiancée fiance fiancee girlfriend boyfriend")
# Adjectives that tell two relatives of one kind apart; others do not belong to who they are.
TELLING = _set("older younger elder elderly big little twin oldest youngest eldest late former ex")
OTHER_ADJECTIVES = _set("best good new old dear close own first second amazing lovely other middle")

PROFESSIONS = _set(
    "accountant actor actress analyst architect artist author baker banker barber barista"
    " bartender biologist builder butcher carpenter cashier chef chemist cleaner clerk coach"
    " consultant contractor cook counselor counsellor curator dancer dentist designer developer"
    " director doctor driver economist editor electrician engineer entrepreneur farmer filmmaker"
    " firefighter florist freelancer gardener geologist historian illustrator instructor"
    " interpreter investigator journalist judge lawyer lecturer librarian manager mechanic"
    " midwife model musician nanny novelist nurse nutritionist optician painter paramedic"
    " pharmacist philosopher photographer physician physicist physiotherapist pilot plumber poet"
    " politician postdoc producer professor programmer psychiatrist psychologist publisher"
    " radiologist realtor receptionist recruiter researcher salesperson salesman scientist"
    " screenwriter sculptor secretary seller singer soldier statistician streamer student surgeon"
    " surveyor tailor teacher technician therapist trainer translator tutor veterinarian vet"
    " waiter waitress welder writer retiree pensioner intern trainee apprentice freelance"
    " officer administrator specialist strategist marketer copywriter sommelier"
)
DIETS = {
    word: diet
    for diet, words in {
        "vegetarian": "vegetarian veggie végétarien végétarienne vegetariano vegetariana"
        " vegetarisch vegetarier vegetarierin 素食者 素食主义者",
        "vegan": "vegan vegane végane végan végétalien végétalienne vegano vegana veganer"
        " veganerin 纯素食者",
        "pescatarian": "pescatarian pescetarian pescetarier",
        "gluten-free": "gluten-free celiac coeliac",
        "kosher": "kosher",
        "halal": "halal",
    }.items()
    for word in words.split()
}
STATUSES = _set("married single divorced engaged widowed separated pregnant retired unemployed")
CONDITIONS = _set(
    "diabetes asthma adhd autism epilepsy arthritis migraines migraine depression anxiety insomnia"
    " celiac hypertension tinnitus dyslexia eczema psoriasis cancer"
)
POSSESSIONS = _set(
    "car bike bicycle motorcycle house apartment flat cottage cabin boat van truck garden piano"
    " guitar violin telescope laptop macbook iphone ipad pixel android tesla camper drone camera"
    " printer dishwasher balcony pool farm restaurant shop store studio company startup blog"
    " podcast channel website"
)
MEETINGS = _set(
    "appointment meeting interview exam test flight call class concert date deadline presentation"
    " surgery operation checkup check-up trip vacation holiday wedding birthday party reservation"
    " dinner lunch game match race competition audition gig conference workshop session shift"
    " rehearsal recital tournament"
)
LANGUAGES = _set(
    "english german french spanish chinese mandarin cantonese japanese korean italian portuguese"
    " russian arabic hindi dutch swedish norwegian danish finnish polish turkish greek hebrew czech"
    " hungarian ukrainian vietnamese thai catalan farsi persian urdu bengali tamil swahili latin"
    " esperanto romanian bulgarian croatian serbian"
)
PLAYED = _set(
    "piano guitar violin drums bass flute clarinet cello saxophone trumpet ukulele harp keyboard"
    " soccer football basketball tennis volleyball chess golf hockey baseball badminton rugby"
    " cricket squash handball poker dnd"
)

# Words that may stand between a subject and its verb.
ADVERBS = _set(
    "really just also still always currently now actually recently usually often sometimes totally"
    " absolutely definitely finally already only even mostly mainly generally normally especially"
    " particularly truly simply both all genuinely honestly deeply personally secretly officially"
    " rarely typically regularly primarily lately soon very super so pretty"
    " quite too kinda sorta basically literally certainly eventually"
)
HEDGES = _set("probably maybe perhaps possibly might may could should seemingly apparently guess")

# Openings that carry nothing; what follows is the statement.
OPENINGS = (
    "yeah yes yep yup no nope nah well oh ah aw aww wow hey hi hello so and but also btw fyi ok"
    " okay sure thanks haha hahaha lol right exactly absolutely totally definitely anyway anyways"
    " basically honestly luckily unfortunately sadly fortunately thankfully plus because hmm um uh"
    " awesome great cool nice gosh man dude like then alright actually sorry true agreed hopefully"
    " lastly first second finally additionally meanwhile furthermore possibly"
).split()
OPENING_PHRASES = (
    "by the way|to be honest|of course|in fact|just so you know|for the record|as you know"
    "|good news|you know|you see|i mean|let me see|for context|for reference|in case you wonder"
    "|as i said|as for me|on my side|on a side note|speaking of which|same here|me too|thank you"
    "|not gonna lie|for what it's worth|at the moment|these days|right now|good to see you"
    "|for sure|no worries|guess what|long story short|in my free time|in my spare time|for example"
    "|at work|at home|outside of work|oh yeah|oh no|oh wow"
    "|on another note|on a different note|on a side note|on the other hand|in the meantime"
)

# Words that point at something outside of the sentence.
POINTERS = _set(
    "it this that these those them he she they him his her hers their theirs its there here one"
    " ones such same another so everything anything something nothing everyone someone anyone"
    " thing things stuff lot lots"
)
ADDRESSED = _set("you your yours yourself u ur you're you've you'll you'd yall y'all")

# Nouns that make an event or a wish empty: "had a great time".
EMPTY = _set(
    "time times fun blast feeling chance moment moments idea doubt look feel luck point sense way"
    " ways bit kind sort ton bunch day days week while progress support love joy happiness words"
    " message question questions problem problems issue issues part reason experience experiences"
    " something anything everything nothing good great bad nice sure ready glad happy sad tired"
    " excited amazing awesome fine okay well better best hard break rest conversation chat"
    " goosebumps difference impact encouragement motivation inspiration strength memories lots lot"
    " news monday tuesday wednesday thursday friday saturday sunday mind step steps place places"
    " stuff thing idea ideas project projects event people things"
    " myself themselves memory focus care pic"
    " pics picture pictures photo photos glimpse shot break walk hang hit fan kick pleasure"
)

# Verbs after "want to" and the like that say nothing about a life.
EMPTY_WISHES = _set(
    "know see hear say ask tell thank make help talk share be keep show understand let give get"
    " have do mention add check think feel point express find take hug put believe remember"
    " inspire spread bring stay continue try use set raise look support create catch come encourage"
    " chat discuss meet focus reach cheer thank speak wait start fix debug print convert write run"
    " test parse"
)

STANDING_NOUNS = _set(
    "api server database db deadline project repo repository branch build deployment release"
    " version team client budget office meeting standup sprint service backend frontend app"
    " application website site cluster pipeline cache queue schema endpoint domain dashboard"
    " license licence cron job migration staging production prod ci stack framework codebase"
    " monorepo launch port workspace slack channel migration rollout test tests suite backup"
    " invoice contract order delivery ticket milestone roadmap"
)
