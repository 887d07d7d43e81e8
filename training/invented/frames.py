"""What people tell of their lives, and what somebody may want to know of it later.

``says`` are things that a person tells by themselves, ``asked`` what the other one asks and
``answers`` what they reply then (often only half a sentence). ``wants`` are questions from
outside about a person N; in them, as in the rest, {words} are drawn from ``SLOTS``.
"""

from __future__ import annotations

from typing import NamedTuple


class Frame(NamedTuple):
    says: tuple[str, ...]
    asked: tuple[str, ...]
    answers: tuple[str, ...]
    wants: tuple[str, ...]


def _frame(says: str, asked: str, answers: str, wants: str) -> Frame:
    return Frame(*(tuple(text.split("|")) for text in (says, asked, answers, wants)))


_WORDS = {
    "when": "yesterday|two days ago|last Tuesday|a fortnight ago|at the end of May|in January|last "
    "autumn|over Easter|on Sunday evening|three weeks ago|the other day|back in 2019|this morning|"
    "at the weekend|on the 3rd|last week|a month ago|the night before last|in the summer of 2022|"
    "during the storm|right after New Year|on my day off|Monday|half a year ago",
    "soon": "tomorrow|next Friday|in two weeks|at the end of the month|in November|on the 12th|after "
    "the exams|next spring|this weekend|on Saturday night|in a few days|before Christmas|come June",
    "kin": "sister|brother|mother|father|grandmother|grandfather|aunt|uncle|cousin|niece|nephew|"
    "daughter|son|wife|husband|stepdad|mother-in-law|twin|godson|fiancée|boyfriend|flatmate",
    "friend": "Adele|Boris|Ciara|Dante|Estelle|Farid|Gloria|Hamza|Iker|Jolene|Kwame|Lotte|Marek|"
    "Noor|Oskar|Priti|Quentin|Rowan|Saskia|Timur|Umberto|Vesna|Willa|Yann|Zofia",
    "town": "Ghent|Bergen|Kraków|Porto|Leeds|Tampere|Bologna|Quito|Halifax|Perth|Nagoya|Accra|Tunis|"
    "Zagreb|Seville|Omaha|Bristol|Lyon|Riga|Cork|Busan|Medellín|Hobart|Leipzig|Basel|Tucson",
    "dish": "goulash|mussels|a quiche|fish tacos|borscht|okonomiyaki|moussaka|pierogi|a beef stew|"
    "shakshuka|plum dumplings|biryani|clam chowder|focaccia|jollof rice|cheesecake|pho|meringues",
    "job": "physiotherapist|baker|tax adviser|bus driver|vet|translator|electrician|midwife|welder|"
    "primary school teacher|sound engineer|beekeeper|paralegal|dental nurse|train conductor|"
    "surveyor|game designer|gardener|lab technician|florist",
    "firm": "the harbour authority|a small brewery|the botanical garden|an insurance company|the "
    "opera house|a bike courier|a robotics lab|the water board|a publishing house|the zoo|a law "
    "office|the town museum|an airline|a furniture maker",
    "music": "accordion|double bass|oboe|banjo|bass guitar|harp|clarinet|marimba|viola|trombone",
    "sport": "judo|handball|bouldering|rowing|figure skating|table tennis|archery|water polo|"
    "orienteering|squash|trail running|field hockey|fencing|kitesurfing|curling|salsa",
    "craft": "lino printing|weaving|leatherwork|stained glass|wood carving|book binding|crochet|"
    "ceramics|screen printing|basket making|soap making|jewellery making",
    "thing": "sewing machine|canoe|rice cooker|turntable|microscope|tandem|projector|sleeping bag|"
    "rocking chair|bread machine|drone|typewriter|carpet|e-reader|wetsuit|dehumidifier|piano stool",
    "shop": "a jumble sale|an auction|the charity shop|a factory outlet|the market hall|a neighbour|"
    "an online forum|the junk yard|a shop that was closing down",
    "sum": "12 pounds|about 300 euros|next to nothing|900 dollars|forty quid|twice what I planned|a "
    "third of the price|65 francs",
    "book": "a memoir of a lighthouse keeper|The Master and Margarita|a book about fungi|Middlemarch|"
    "a graphic novel on the Silk Road|a crime story from Iceland|an essay on boredom|Beloved|a "
    "guide to night skies|One Hundred Years of Solitude",
    "show": "a series on shipwrecks|a silent film|a Danish political drama|a quiz show|a cartoon about "
    "bees|a film about a chess prodigy|a baking contest|a documentary on salt",
    "act": "a brass band|a klezmer group|a techno night|a choir from Latvia|an Elvis impersonator|the "
    "youth orchestra|a fado singer|a ska band",
    "plant": "rhubarb|sweet peas|a fig tree|pumpkins|dahlias|kale|chillies|a lemon tree|runner beans|"
    "a vine|asparagus|hollyhocks",
    "cause": "the lifeboat station|a repair café|the hospice|the night shelter|an animal sanctuary|the "
    "mountain rescue|a youth club|the soup kitchen|a tree planting group|the blood bank",
    "study": "geology|midwifery|Old Norse|urban planning|bookkeeping|acoustics|first aid|Catalan|"
    "veterinary medicine|film editing|pastry making|anthropology|sign language|carpentry",
    "ill": "shingles|a slipped disc|tonsillitis|a cracked rib|hay fever|a kidney stone|an inflamed "
    "tendon|vertigo|a concussion|anaemia|a frozen shoulder|pneumonia",
    "mood": "giddy|uneasy|worn out|thankful|furious|homesick|light-hearted|ashamed|hopeful|restless",
    "ride": "a three-wheeler|an old Volvo|a cargo bike|a camper van|a moped|a second-hand estate car|"
    "a sidecar",
    "place": "the moor|a glacier|the salt flats|the cliffs|a cave|the dunes|an island in the lake|the "
    "hot springs|a gorge|the high plateau|a fjord|the vineyards",
    "gift": "a fountain pen|a quilt|a compass|a jigsaw of our street|a signed record|a pearl brooch|a "
    "hammock|a kite|a tin of tea|a pocket knife|theatre tickets",
    "game": "backgammon|a strategy game about trains|bridge|darts|Go|a zombie shooter|cribbage|a "
    "role-playing game|pétanque|pinball",
    "aim": "sail to Norway|open a second-hand bookshop|foster a child|learn to fly a glider|walk the "
    "Camino|pay off the loan|write a cookbook|live off the grid|play at an open mic|build a boat",
    "fear": "lifts|dentists|wasps|driving at night|diving|dogs|being on stage|thunder|hospitals|horses",
    "heap": "matchboxes|postmarks|old keys|beer mats|fossils|teapots|film posters|marbles|thimbles|"
    "bus tickets",
    "room": "the loft|the hallway|the cellar|the nursery|the study|the porch|the spare room|the shed",
    "shade": "mustard|navy|olive|coral|charcoal|mint|plum|ochre",
    "count": "two|three|four|seven|eight|eleven|thirteen|nine|twenty",
    "hour": "five in the morning|half past six|noon|ten at night|a quarter to eight|two in the morning",
    "fair": "a kite festival|the harvest fair|a chess tournament|an open studio day|a folk festival|the "
    "carnival|a robot contest|a book fair|a regatta|the winter market",
    "custom": "jump into the cold lake|bake saffron buns|burn a paper ship|sing in the stairwell|hide "
    "eggs in the attic|eat herring at midnight|carry lanterns through the village",
    "feast": "Midsummer|Saint Nicholas|New Year's Eve|Nowruz|Mardi Gras|Hanukkah|Diwali|Eid|Easter|"
    "the Moon Festival",
    "tool": "a sleep tracker|an app for train delays|a notebook with squares|a podcast on history|a "
    "timer shaped like a tomato|a bird song app|an online budget sheet",
    "tongue": "Finnish|Tagalog|Welsh|Farsi|Hungarian|Yoruba|Icelandic|Basque|Korean|Ukrainian",
    "prize": "third place|the jury prize|a cup|a travel grant|a medal|the golden spoon|a voucher",
    "food": "lactose|hazelnuts|shrimps|wheat|pork|caffeine|eggs|spicy food|celery",
    "pet": "parrot|tortoise|greyhound|rabbit|terrier|pair of guinea pigs|Siamese cat|budgie|ferret|"
    "rescue dog|grey cat|hedgehog",
    "petname": "Pixel|Fudge|Captain|Miso|Dumpling|Juno|Bandit|Tofu|Hobbes|Pip|Saffron|Moss|Gizmo",
    "art": "a mural|a small landscape|a portrait of my {kin}|a vase|a print of the harbour|a bench",
}
SLOTS = {name: tuple(words.split("|")) for name, words in _WORDS.items()}

FRAMES: tuple[Frame, ...] = (
    _frame(
        "We took in a {pet} {when} and named it {petname}.|{petname} is here at last! A {pet}, and "
        "already the boss of the house.|There is a new one in the family: {petname}, our {pet}.",
        "Have you got animals?|Who is making that noise?",
        "That is {petname}, our {pet}.|Yes, a {pet}, since {when}.",
        "What is N's pet called?|Which animal lives with N?|When did N get {petname}?|Does N have "
        "any pets?|Who is {petname}?",
    ),
    _frame(
        "{petname} had to go to the vet {when}, but it was nothing bad.|Our {pet} ran off {when} and "
        "came back after {count} hours.|I found {petname} asleep in the laundry basket.",
        "How is {petname}?|Is the little one better?",
        "Fine again, the vet saw us {when}.|Ran away {when}, but we have it back.",
        "What happened to N's pet?|When was N at the vet?|Where did N find {petname}?|Why was N "
        "worried about the {pet}?",
    ),
    _frame(
        "I started as a {job} at {firm} {when}.|They gave me the post, so I will be a {job} from now "
        "on.|I have been a {job} for {count} years, mostly for {firm}.",
        "What do you do all day?|Did you hear back about the position?",
        "I work as a {job} now, for {firm}.|Yes! I begin {soon}.",
        "What does N do for a living?|Who employs N?|When did N start the job?|What is N's "
        "profession?|For which company does N work?|Would N know how a {job} works?",
    ),
    _frame(
        "I handed in my notice {when}.|{firm} let me go {when}, along with half the floor.|I could "
        "not bear the night shifts any longer and quit.",
        "Are you still with {firm}?|Why are you at home on a weekday?",
        "No, I left {when}.|I quit, it was too much.",
        "Why did N stop working there?|When did N leave the job?|Is N out of work?|What happened "
        "between N and {firm}?",
    ),
    _frame(
        "I was made head of a team of {count} people {when}.|My pay went up {when}, finally.|{firm} "
        "wants me to run the new branch in {town}.",
        "Anything new at work?|You look pleased, what is it?",
        "I got promoted {when}.|I lead {count} people now.",
        "When did N get promoted?|How many people work under N?|How is N's career going?|Where will "
        "N run a branch?",
    ),
    _frame(
        "We moved to {town} {when} and still live out of boxes.|I am leaving for {town} {soon}, for "
        "good.|I was born in {town} and left when I was {count}.",
        "Where do you live now?|You have an accent, where is that from?",
        "In {town}, since {when}.|{town}, I grew up there.",
        "Where does N live?|When did N move?|Which town does N come from?|Where is N going to live?|"
        "Where did N spend the childhood?",
    ),
    _frame(
        "We spent {count} days in {town} {when}, and I ate {dish} every evening.|I am just back from "
        "{town}, and the best part was {place}.|My {kin} took me along to {town} {when}.",
        "How was the holiday?|You are tanned, where were you?",
        "{town}! We stayed {count} days.|With my {kin}, at {place}.",
        "Where was N on holiday?|When was N in {town}?|With whom did N travel?|What did N eat in "
        "{town}?|How long did N stay away?|Which places has N been to?",
    ),
    _frame(
        "The tickets to {town} are booked, we leave {soon}.|My {kin} and I want to see {place} "
        "{soon}.|I will take the night train to {town} {soon}.",
        "Any plans?|Are you going away?",
        "Yes, to {town}, {soon}.|To {place}, with my {kin}.",
        "What trip is N planning?|When does N leave for {town}?|Who goes with N to {place}?|How will "
        "N get there?|What is N looking forward to?",
    ),
    _frame(
        "I play the {music} in a little band.|My {kin} left me a {music}, and I take lessons since "
        "{when}.|After {count} years I have taken up the {music} again.",
        "Do you make music?|What is in that case?",
        "The {music}, I have lessons since {when}.|A {music}, from my {kin}.",
        "Which instrument does N play?|Who gave N the {music}?|When did N begin with music lessons?|"
        "Is N musical?|How long did N not play?",
    ),
    _frame(
        "I go to {sport} twice a week with {friend}.|My first try at {sport} {when} ended with a "
        "bruise.|{sport} starts at {hour} on Saturdays, and I never miss it.",
        "How do you keep fit?|What are the bruises from?",
        "{sport}, with {friend}.|I tried {sport} {when}.",
        "What sport does N do?|With whom does N train?|When did N try {sport}?|What does N do on "
        "Saturdays?|How does N stay in shape?",
    ),
    _frame(
        "Our team took {prize} {when}, nobody had expected it.|I won {prize} at {fair}.|My {craft} got "
        "me {prize} {when}.",
        "How did it go?|So, did you win?",
        "We got {prize}!|I came home with {prize}.",
        "What did N win?|When did N get a prize?|For what was N honoured?|How did N do at {fair}?",
    ),
    _frame(
        "I cooked {dish} for everybody {when}, and nothing was left.|The recipe for {dish} is from my "
        "{kin}.|{dish} is what I could eat every day.",
        "What smells so good?|What is your favourite dish?",
        "{dish}, after my {kin}'s recipe.|Anything, but {dish} most of all.",
        "What can N cook?|What is N's favourite dish?|Who taught N to make {dish}?|When did N cook for "
        "others?|What could one cook to please N?",
    ),
    _frame(
        "I do not tolerate {food}, the doctor found out {when}.|Since {when} I leave {food} alone.|No "
        "{food} for me, or I swell up.",
        "Would you like to try some?|Is there something you do not eat?",
        "Is there {food} in it? Then no.|I have to avoid {food}.",
        "What can N not eat?|To what is N allergic?|Since when does N avoid {food}?|What should one "
        "keep in mind when cooking for N?|Why did N refuse the food?",
    ),
    _frame(
        "I found a {thing} at {shop} {when}, for {sum}.|My {thing} came {when}.|I treated myself to a "
        "{thing}.",
        "Is that new?|What did you buy?",
        "A {thing}, for {sum}.|I got it from {shop} {when}.",
        "What did N buy?|How much did N pay for the {thing}?|Where did N get the {thing}?|When did N "
        "buy something?|What new thing does N own?",
    ),
    _frame(
        "Somebody stole my {thing} {when}.|I dropped the {thing} and the repair is {sum}.|My {thing} "
        "has been gone since {when}, I must have left it on the bus.",
        "What is the matter?|Why are you cross?",
        "My {thing} is gone.|It broke {when}, and mending it costs {sum}.",
        "What was stolen from N?|What did N lose?|How much is the repair?|When did N's {thing} break?|"
        "What bad luck did N have?",
    ),
    _frame(
        "I am halfway through {book}.|My {kin} lent me {book}, and I read it in one night.|{book} has "
        "been on my table since {when}.",
        "What are you reading?|Any book I should know?",
        "{book}, my {kin} lent it to me.|I just finished {book}.",
        "What is N reading?|Who lent N a book?|Which book did N like?|What does N like to read?",
    ),
    _frame(
        "We watched {show} {when} and could not stop.|{show} is the only thing I watch.|{friend} and I "
        "saw {show} at the cinema {when}.",
        "Seen anything good?|What do you watch in the evenings?",
        "{show}, with {friend}.|I saw {show} {when}.",
        "What did N watch?|With whom was N at the cinema?|Which programme does N like?|When did N see "
        "{show}?",
    ),
    _frame(
        "{friend} took me to hear {act} {when}.|We have tickets for {act} {soon}.|{act} played in the "
        "square {when}, and I danced the whole night.",
        "How was the concert?|Do you go to concerts?",
        "Loud! It was {act}.|Yes, {act}, with {friend}.",
        "What did N hear live?|Who went to the concert with N?|When was N at a concert?|What kind of "
        "music does N go to?",
    ),
    _frame(
        "I put {plant} into the ground {when}.|The {plant} on my balcony made it through the frost.|My "
        "{kin} gave me {plant} for the garden.",
        "How does your garden grow?|Is that from your garden?",
        "Well, mostly {plant} this year.|Yes, {plant}, I planted it {when}.",
        "What grows at N's place?|What did N plant?|When did N plant the {plant}?|Who gave N plants?|"
        "What does N do outdoors?",
    ),
    _frame(
        "I help out at {cause} every second Thursday.|I did my first shift at {cause} {when}.|{friend} "
        "talked me into {cause}, and now I am there each week.",
        "Where are you off to?|What do you do with your free time?",
        "To {cause}, I help there.|I volunteer with {friend}.",
        "Where does N volunteer?|When did N first help at {cause}?|Who brought N to {cause}?|How does N "
        "help others?|What good does N do?",
    ),
    _frame(
        "I gave {count} boxes of clothes to {cause} {when}.|We collected {sum} for {cause}.|All the "
        "money from the cake sale went to {cause}.",
        "How was the collection?|Where did it all go?",
        "To {cause}.|We got {sum} together.",
        "What did N donate?|To whom did N give money?|How much was collected?|When did N give clothes "
        "away?",
    ),
    _frame(
        "I have signed up for a course in {study}.|I finished my degree in {study} {when}.|I failed the "
        "exam in {study} {when}, second try {soon}.",
        "How are your studies?|What are you learning?",
        "{study}, I finish {soon}.|I passed {when}!",
        "What does N study?|When did N finish studying?|Which exam did N fail?|What course is N taking?|"
        "What education does N have?",
    ),
    _frame(
        "I have had {ill} since {when}.|They found out it was {ill}.|{ill} kept me at home for {count} "
        "weeks.",
        "You do not look well.|Where have you been?",
        "In bed, with {ill}.|It is {ill}, since {when}.",
        "What illness did N have?|How long was N ill?|Since when is N unwell?|Why did N stay at home?|"
        "What did the doctors find?",
    ),
    _frame(
        "My operation is {soon}.|They took the cast off {when}.|I go to physiotherapy because of {ill} now.",
        "How is the recovery?|When is the operation?",
        "The cast came off {when}.|It is {soon}, and I am {mood}.",
        "When is N's operation?|What treatment does N get?|When was the cast removed?|How is N "
        "recovering?",
    ),
    _frame(
        "I have taken up {craft}, and my first piece is crooked.|I made {art} {when}.|I sold {art} at "
        "{fair} {when}.",
        "Do you make anything with your hands?|Is that your own work?",
        "Yes, I do {craft}.|I made it {when}.",
        "What does N make?|What hobby does N have?|When did N make {art}?|What did N sell at the fair?|"
        "In what way is N creative?",
    ),
    _frame(
        "My {kin} gave me {gift} {when}.|For our anniversary I got {gift}.|I bought {gift} for my "
        "{kin}.",
        "Where did you get that?|What did they give you?",
        "{gift}, from my {kin}.|A present, I got it {when}.",
        "What present did N get?|From whom did N get {gift}?|What did N give away?|When did N receive a "
        "present?",
    ),
    _frame(
        "We walked to {place} {when} and slept under the open sky.|{place} with {friend} was the best "
        "day of the year.|I go to {place} when I have to think.",
        "What did you do at the weekend?|Do you like being outside?",
        "We were at {place}, with {friend}.|I slept at {place} {when}.",
        "Where did N go hiking?|With whom was N at {place}?|When did N camp?|Where does N go to think?|"
        "What does N enjoy in nature?",
    ),
    _frame(
        "My {kin} married {when}, and I was a witness.|My {kin} is having a baby {soon}.|{friend} and I "
        "are engaged since {when}!",
        "How is the family?|What are you celebrating?",
        "My {kin} married {when}.|We got engaged, {friend} and I!",
        "Who married in N's family?|When was the wedding?|To whom is N engaged?|Who is expecting a "
        "child?|What was N's part at the wedding?",
    ),
    _frame(
        "My {kin} died {when}.|It is {count} years now that my {kin} is gone.|I still dial my {kin}'s "
        "number, though the funeral was {when}.",
        "You are quiet today.|Is something wrong?",
        "My {kin} died {when}.|I miss my {kin}.",
        "Whom did N lose?|When did N's {kin} die?|Why is N sad?|Whose funeral was N at?",
    ),
    _frame(
        "{friend} and I split up {when}.|I have been seeing {friend} since {when}.|I met {friend} at "
        "{fair}, and we talked until {hour}.",
        "Are you with somebody?|How is {friend}?",
        "We split up {when}.|We met at {fair}.",
        "Is N in a relationship?|When did N separate?|How did N meet {friend}?|Who is {friend} to N?",
    ),
    _frame(
        "I drove {ride} into a ditch {when}, nobody was hurt.|I swapped my car for {ride}.|{ride} would "
        "not start {when}, so I walked.",
        "How did you get here?|Where is your car?",
        "On foot, it would not start.|I have {ride} now.",
        "What does N drive?|When did N have an accident?|What happened to N's vehicle?|How does N get "
        "around?",
    ),
    _frame(
        "We painted {room} in {shade} {when}.|Water came through the roof into {room} {when}.|{room} "
        "will be a workshop {soon}.",
        "How is the house?|What are you building?",
        "{room} is {shade} now.|There was water in {room} {when}.",
        "What colour is {room} at N's place?|What was damaged in N's house?|When did N paint?|What does N "
        "plan for {room}?",
    ),
    _frame(
        "One day I will {aim}.|I have promised my {kin} to {aim}.|This is the year in which I {aim}.",
        "What do you dream of?|What would you like to do before you are old?",
        "I want to {aim}.|I promised to {aim}.",
        "What is N's dream?|What did N promise?|What would N like to do one day?|What goal has N set?|"
        "What might N save money for?",
    ),
    _frame(
        "I am terrified of {fear}.|I got over my fear of {fear} {when}, with my {kin} beside me.|Since I "
        "was small, {fear} make my knees weak.",
        "Are you coming along?|Is there anything that scares you?",
        "No, I am afraid of {fear}.|{fear}. Do not laugh.",
        "What is N afraid of?|When did N overcome the fear?|Who helped N against the fear?|What should "
        "one spare N?",
    ),
    _frame(
        "I collect {heap}, about {count} hundred so far.|My {kin} began the collection of {heap}, and I "
        "go on with it.|I traded {count} of my {heap} {when}.",
        "What is in all those drawers?|Do you collect anything?",
        "{heap}, {count} hundred of them.|My {kin}'s {heap}.",
        "What does N collect?|How large is N's collection?|Who began the collection?|When did N trade "
        "something?",
    ),
    _frame(
        "I was at {fair} {when} with my {kin}.|I am one of those who run {fair} {soon}.|{fair} was "
        "rained off {when}.",
        "Where were you all day?|Is anything on in town?",
        "At {fair}, with my {kin}.|{fair} is {soon}, I help to run it.",
        "Which event did N go to?|When was N at {fair}?|What does N organise?|Who came to {fair} with "
        "N?|Why was {fair} cancelled?",
    ),
    _frame(
        "At {feast} we {custom}, as we always have.|My family comes together for {feast} in {town}.|This "
        "year {feast} was quiet, only my {kin} and I.",
        "How do you celebrate?|What do you do for {feast}?",
        "We {custom}.|With my {kin}, quietly.",
        "What does N's family do at {feast}?|Which custom does N keep?|Where does N spend {feast}?|With "
        "whom does N celebrate?",
    ),
    _frame(
        "I swear by {tool} since {when}.|{friend} showed me {tool}.|{tool} has changed how I get through "
        "the day.",
        "How do you manage all that?|Any tips?",
        "With {tool}.|{friend} showed me {tool}, try it.",
        "What helps N to keep order?|Who recommended something to N?|What does N use every day?|Since "
        "when does N use {tool}?",
    ),
    _frame(
        "I get up at {hour} and swim before work.|I am never in bed before {hour}.|My day begins with "
        "{count} cups of tea.",
        "When do you get up?|What does your day look like?",
        "At {hour}, and then I swim.|Late, I go to bed at {hour}.",
        "When does N get up?|What does N do before work?|What is N's daily routine?|When does N go to "
        "bed?|When would be a bad time to call N?",
    ),
    _frame(
        "I lost to {friend} at {game} {when}.|We play {game} on Thursdays, always {count} of us.|My {kin} "
        "taught me {game}.",
        "What do you play?|How was game night?",
        "{game}. {friend} won.|My {kin} taught me {game}.",
        "What game does N play?|Who beat N?|Who taught N to play?|What does N do on Thursdays?",
    ),
    _frame(
        "I speak {tongue} with my {kin}.|I have been learning {tongue} for {count} months.|Nobody at "
        "work knows that I dream in {tongue}.",
        "Which languages do you speak?|Was that {tongue}?",
        "{tongue}, with my {kin}.|Some {tongue}, I am learning it.",
        "Which languages does N know?|How long has N been learning {tongue}?|With whom does N speak "
        "{tongue}?|What is N's mother tongue?",
    ),
    _frame(
        "My {kin} works as a {job} in {town}.|My {kin} moves in with us {soon}.|I ring my {kin} in {town} "
        "every Sunday.",
        "How is your {kin}?|Have you got family nearby?",
        "Well, still a {job} in {town}.|My {kin} lives in {town}.",
        "What does N's {kin} do?|Where does N's {kin} live?|Who will live with N?|When does N call the "
        "{kin}?",
    ),
    _frame(
        "There are {count} of us at home, I am the youngest.|I have {count} children, all at school.|We "
        "have been married for {count} years {soon}.",
        "Do you have siblings?|Have you got a family?",
        "{count}, and I am the youngest.|{count} children.",
        "How many siblings does N have?|How many children does N have?|How long is N married?|Is N the "
        "eldest?",
    ),
    _frame(
        "I had words with my {kin} {when}, over money.|My {kin} and I do not speak since {when}.|{friend} "
        "let me down {when}, and I am still {mood}.",
        "Why the long face?|What did they do?",
        "I quarrelled with my {kin}.|{friend} let me down.",
        "With whom did N quarrel?|What was the quarrel about?|Since when do they not speak?|Who "
        "disappointed N?",
    ),
    _frame(
        "I opened a stall with {craft} {when}.|My little firm made money for the first time {when}.|{friend} "
        "and I start a business {soon}: we will sell {dish}.",
        "How is business?|What are you two up to?",
        "Good, we opened {when}.|We are going to sell {dish}.",
        "What business does N have?|When did N open the stall?|With whom does N start a business?|What "
        "will N sell?",
    ),
    _frame(
        "I see a therapist since {when}, and it does me good.|Writing three pages at {hour} keeps me "
        "calm.|I was so {mood} before the speech that I could not eat.",
        "How do you cope?|How are you, really?",
        "I see somebody since {when}.|I was {mood}, but it passed.",
        "What helps N when things are hard?|Since when does N see a therapist?|How did N feel before "
        "the speech?|What does N do against stress?",
    ),
    _frame(
        "I cut my hair off {when} and dyed the rest {shade}.|I wear nothing but {shade} these days.|I got "
        "a tattoo of {place} {when}.",
        "You look different!|New look?",
        "The hair is {shade} now.|A tattoo, since {when}.",
        "What did N do with the hair?|Which colour does N like?|When did N get a tattoo?|How did N "
        "change the looks?",
    ),
    _frame(
        "The landlord wants us out {soon}.|We signed for a flat with {room} in it {when}.|The rent has "
        "gone up to {sum}.",
        "How is the flat?|Are you moving?",
        "We have to be out {soon}.|We signed {when}.",
        "Why does N have to move?|When did N sign for the flat?|How much is N's rent?|What trouble does N "
        "have with the home?",
    ),
    _frame(
        "My talk at {fair} is {soon}.|The deadline for my project is {soon}, and I have {count} pages "
        "left.|I presented my work to {firm} {when}.",
        "What keeps you so busy?|How did the talk go?",
        "The deadline is {soon}.|I gave it {when}.",
        "When is N's deadline?|Where does N give a talk?|To whom did N present?|How much has N left to "
        "do?",
    ),
    _frame(
        "We had a power cut {when} and played cards by candlelight.|Our street was under water {when}.|A "
        "fox sat on my car {when}.",
        "What was going on at yours?|Anything exciting happen?",
        "A power cut, {when}.|The street was flooded.",
        "When did N have no power?|What happened in N's street?|Which animal did N see?|What did N do "
        "during the power cut?",
    ),
)
