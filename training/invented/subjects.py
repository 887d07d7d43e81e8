"""Things that somebody keeps coming back to, with requests about them and wishes that hold for
every such request. Of ``INTENTS`` the requests are not here: CLINC150 has them."""

from __future__ import annotations

from typing import NamedTuple


class Subject(NamedTuple):
    names: tuple[str, ...]  # after "whenever I ask about ..."
    wishes: tuple[str, ...]  # what was said once and holds since
    requests: tuple[str, ...] = ()


def _subject(names: str, wishes: str, requests: str = "") -> Subject:
    return Subject(*(tuple(filter(None, text.split("|"))) for text in (names, wishes, requests)))


SUBJECTS: tuple[Subject, ...] = (
    _subject(
        "software libraries|the packages in my project|dependencies",
        "I pin exact versions, so name the version of everything.|I avoid anything with a GPL "
        "licence.|We only use what the standard library offers if that is at all possible.",
        "Which tools does the billing service rely on?|What would I need to install for the image "
        "upload?|How do I read YAML files here?|Is there something ready-made for retrying web "
        "calls?|What does our scraper import at the moment?",
    ),
    _subject(
        "code examples|anything with code|programming snippets",
        "I write Rust at work, not Python.|Type hints everywhere, please, I lose track without.|"
        "Code without comments is easier for me to read.|Tabs, never spaces.",
        "How would I sort these orders by date?|Show me how to open a socket.|Can you write the "
        "function that splits the invoice lines?|How do I stop two jobs running at once?|I need a "
        "small script that renames my photos.",
    ),
    _subject(
        "databases|queries|the schema of our tables",
        "We run PostgreSQL, not MySQL.|I want to see the query plan with every query.|Column names "
        "are in snake case here.|Never suggest deleting rows, we only mark them.",
        "How can I find customers without an order?|The report takes a minute, what can be done?|"
        "What is the best way to store opening hours?|How should I clean up duplicates?|Could you "
        "add a field for the phone number?",
    ),
    _subject(
        "the design of our website|colours and fonts|the look of the app",
        "Contrast matters to me, my father is nearly blind.|I dislike rounded corners.|Our brand "
        "colour is a dark teal.|Everything must work on a phone first.",
        "What could the start page look like?|Suggest a layout for the price list.|How do I make "
        "the sign-up form nicer?|Which picture fits on top?|The menu feels crowded, any ideas?",
    ),
    _subject(
        "testing|unit tests|how to test things",
        "We use table-driven tests and no mocks.|Every bug gets a test before its fix.|Coverage "
        "numbers do not interest me, edge cases do.",
        "How can I be sure the tax calculation is right?|What should I check before the release?|"
        "The parser broke again, how do we keep that from happening?|Is there a way to try this "
        "without the real payment service?",
    ),
    _subject(
        "deployments|servers|where our things run",
        "Nothing goes live on a Friday.|We host in Frankfurt because of the data protection "
        "rules.|I only know systemd, leave containers out of it.|Costs above 50 a month need my "
        "boss.",
        "When should we ship the new checkout?|How do I get this onto the machine?|The service "
        "fell over last night, what now?|Which provider would you take for the backup?|How do we "
        "roll this out to everybody?",
    ),
    _subject(
        "security|passwords|keeping our accounts safe",
        "Two factors everywhere, no exceptions.|I do not trust browser password stores.|Explain "
        "attacks in plain words, I am no expert.",
        "How should the team share the login for the printer portal?|Is it fine to click this "
        "link?|What do I do with the API key?|Somebody got a strange mail, what next?",
    ),
    _subject(
        "spreadsheets|my tables of numbers|Excel",
        "My Excel is in German, so use German function names.|No macros, they are blocked here.|I "
        "like formulas explained piece by piece.",
        "How do I add up the hours per project?|Which formula finds the newest entry?|Can I colour "
        "the rows that are late?|How do I compare two lists?",
    ),
    _subject(
        "statistics|data analysis|the numbers from the survey",
        "Show me the spread and not only the average.|R is what I use.|I never trust a p-value by "
        "itself.|Round to one decimal.",
        "Do the two groups differ?|How many people should we ask?|What can I conclude from the "
        "customer ratings?|How do I draw this so that it is honest?",
    ),
    _subject(
        "emails|mail to clients|messages I send for work",
        "I sign with my first name only.|Keep it to three sentences.|My clients are formal, so "
        "address them by title.|No exclamation marks, ever.",
        "Help me tell the supplier that we are late.|Write to Mrs. Berg about the invoice.|How do "
        "I turn this offer down politely?|Draft a note to the whole department.|Could you answer "
        "the landlord for me?",
    ),
    _subject(
        "reports|summaries|documents for my boss",
        "Bullet points, at most seven.|She reads only the first paragraph, so put the decision "
        "there.|Numbers go in a table.|A summary has to fit on one page.",
        "Put together what we know about the delays.|How should the quarterly write-up look?|"
        "Condense these notes for me.|What goes into the project review?|Prepare the handover.",
    ),
    _subject(
        "presentations|slides|talks I have to give",
        "One thought per slide.|I speak without notes, so give me keywords only.|No stock photos.|"
        "I am nervous in front of people, add a pause after each part.",
        "Structure my pitch for the investors.|How do I open the talk at the conference?|What "
        "could I show about the pilot?|I have ten minutes on Thursday, what do I say?",
    ),
    _subject(
        "meetings|appointments at work|scheduling calls",
        "Nothing before ten in the morning.|Wednesdays are kept free for deep work.|Half an hour "
        "is the most I sit through.|I am in the Lisbon time zone.",
        "When can we talk with the agency?|Find a slot for the interview.|Set something up with "
        "Hanna and her team.|Can you move the weekly?|When would the workshop fit?",
    ),
    _subject(
        "my novel|the story I am writing|fiction",
        "Past tense and first person throughout.|My heroine is called Ilva and never lies.|I hate "
        "flashbacks.|Keep violence off the page.",
        "How could chapter nine begin?|Describe the harbour at night.|Give me a scene where the "
        "brothers meet again.|What might she find in the attic?|How do I end it?",
    ),
    _subject(
        "poems|verses|lyrics",
        "Rhymes put me off.|Four lines are enough.|I love the sea in a poem, and rain.",
        "Write something for my aunt's seventieth.|A few lines about leaving home, please.|Can you "
        "put this feeling into words?|I need a text for the card.",
    ),
    _subject(
        "grammar|my English|corrections of my texts",
        "British spelling, please.|Mark every change and say why.|Do not make it sound like a "
        "lawyer.|I mix up since and for, watch for that.",
        "Could you look over this paragraph?|Is this sentence right?|Polish my application.|How do "
        "I say this more naturally?|Check the text for the flyer.",
    ),
    _subject(
        "learning Spanish|my language lessons|vocabulary",
        "Answer me in Spanish first, then in English.|I am at the very beginning, so only the "
        "present tense.|I learn by whole sentences and not by lists.",
        "How do I order in a bar?|What does this sign mean?|Give me something to practise tonight.|"
        "Quiz me on yesterday's words.|How would I ask for the way?",
    ),
    _subject(
        "maths homework|exercises in mathematics|my algebra class",
        "Do not tell me the result, only the next step.|Drawings help me more than formulas.|I "
        "have to use the method from class, completing the square.",
        "I am stuck at x squared plus six x.|How do I find where the lines cross?|What is wrong "
        "with my solution?|Can we go over fractions again?",
    ),
    _subject(
        "exams|studying|my revision plan",
        "I concentrate for 25 minutes at most.|Evenings are for my daughter, so mornings only.|"
        "Old papers teach me more than textbooks.",
        "How do I get through anatomy until June?|What should I do today?|Make a plan for the "
        "last two weeks.|I failed the mock test, what now?",
    ),
    _subject(
        "history|questions about the past|dates and kings",
        "Always give the year.|Tell me what ordinary people ate and wore.|I want to know how sure "
        "historians are.",
        "Why did the Hanse fall apart?|What was life like in Pompeii?|Who built the wall in the "
        "north?|How did the plague reach Sicily?",
    ),
    _subject(
        "recipes|cooking|dinner ideas",
        "I have no oven, only two hotplates.|My son is allergic to nuts.|Grams and millilitres, I "
        "own no cups.|Nothing that takes over half an hour on weekdays.|We stopped eating meat.",
        "What can I make with leeks and potatoes?|Something warm for tonight?|How do you do a good "
        "curry?|Guests are coming on Saturday, what do I serve?|What goes with lentils?",
    ),
    _subject(
        "baking|cakes|bread",
        "Gluten makes me ill.|Less sugar than the recipe says, always.|I bake on a stone.|Butter, "
        "not margarine.",
        "I would like to surprise my colleagues with something sweet.|Why is my loaf so dense?|"
        "What could I bring to the school party?|How long does the dough rest?",
    ),
    _subject(
        "restaurants|eating out|places for lunch",
        "Loud places are no good, I wear a hearing aid.|There must be something vegan for Kira.|I "
        "sit outside whenever that is possible.|Not more than twenty a head.",
        "Where shall we go with the Danish guests?|Book a table near the station.|Is there a nice "
        "spot by the river?|What is good around the museum?",
    ),
    _subject(
        "coffee and tea|drinks|what to order at the bar",
        "No caffeine after noon.|Oat milk, I do not tolerate the other.|I gave up alcohol in "
        "spring.",
        "What could I drink while I work late?|Order something for me.|Which cocktail would suit "
        "the evening?|What do I offer the guests?",
    ),
    _subject(
        "flights|booking air travel|plane tickets",
        "Aisle seat, my knee needs it.|I do not change planes in less than 90 minutes.|Hand "
        "luggage only.|No departure before eight.",
        "How do I get to Oslo in May?|Find something cheap to Porto.|What is the quickest way to "
        "my sister in Chicago?|Which connection would you take on the 4th?",
    ),
    _subject(
        "hotels|where to stay|accommodation",
        "A fridge in the room is a must for my insulin.|Ground floor or a lift.|We travel with a "
        "large dog.|I would rather stay in a small guesthouse than in a chain.",
        "We need two nights in Ghent.|Where would you sleep near the fair?|Find us something at "
        "the coast for August.|Which of these three rooms is the right one?",
    ),
    _subject(
        "holidays|trips|travel plans",
        "I get seasick, so no boats.|Trains before planes.|Museums bore the children, nature does "
        "not.|I cannot stand the heat above thirty degrees.",
        "Where could we go in the autumn break?|Plan a long weekend for us.|What is worth seeing "
        "in Slovenia?|Ten days in July, any thoughts?|What should be on the way to Rome?",
    ),
    _subject(
        "packing|luggage|what to take along",
        "One bag of eight kilos is all I carry.|I am always cold.|Contact lenses, remind me of the "
        "fluid.",
        "What do I need for a week in Iceland?|Make a list for the camping trip.|Am I forgetting "
        "something for the wedding in Seville?",
    ),
    _subject(
        "directions|getting around town|the way to somewhere",
        "I use a wheelchair, so no stairs.|By bicycle, I sold the car.|I get lost with street "
        "names, give me landmarks.",
        "How do I reach the new clinic?|What is the best way to the stadium?|How long to the "
        "harbour from here?|I have to be at the town hall at nine.",
    ),
    _subject(
        "the car|repairs of my van|driving",
        "It is a diesel from 2009.|I do the work on it myself.|The garage in Elm Street cheated "
        "me, never that one.",
        "It makes a grinding noise when I brake.|When is the next service due?|Which oil do I "
        "need?|Something smells burnt, what could it be?",
    ),
    _subject(
        "training|workouts|exercise plans",
        "My left shoulder must not go above the head.|I have dumbbells at home and nothing else.|"
        "Running is out since the operation.|Twenty minutes, no more.",
        "How do I get stronger legs?|What can I do today?|Give me a routine for the week.|How do "
        "I lose the belly?|Is there something against a stiff back?",
    ),
    _subject(
        "diets|nutrition|what I should eat",
        "I fast until noon.|Dairy gives me a rash.|My doctor wants me to keep salt low.|Calories "
        "stress me, do not count them.",
        "What would be a good breakfast?|How do I get more protein?|Is rice all right for me?|I "
        "am hungry at night, what helps?",
    ),
    _subject(
        "health|symptoms|medical questions",
        "I take blood thinners, so check for interactions.|Tell me straight when I should see "
        "somebody.|No horror stories, I am a hypochondriac.|Herbal things do not convince me.",
        "I have had a headache since Monday.|What can I take for a cold?|My ankle is swollen, what "
        "now?|Is this mole something to worry about?",
    ),
    _subject(
        "sleep|my nights|going to bed",
        "I work shifts.|No pills.|My phone stays in the kitchen at night.",
        "I lie awake until three.|How can I feel rested?|Would a nap help?|What could I do in the "
        "evening to calm down?",
    ),
    _subject(
        "stress|my mood|feeling low",
        "Please listen first and do not give advice at once.|Meditation makes me more anxious.|"
        "Walking helps me most.|Talk to me like a friend and not like a doctor.",
        "Work is getting too much.|I snapped at the kids again.|How do I get through this week?|"
        "Everything feels grey today.",
    ),
    _subject(
        "money|my budget|saving",
        "I pay everything in cash.|A tenth of my wage goes to my parents.|I will not take on debt "
        "again.|Amounts in Swiss francs.",
        "Can I afford a new bicycle?|How do I put something aside for the winter?|Where does it "
        "all go each month?|Should I buy or rent the machine?",
    ),
    _subject(
        "investing|shares|my pension",
        "No weapons, no tobacco.|I lose sleep over risk.|Explain every foreign word.|I will not "
        "touch it for twenty years.",
        "What do I do with the inheritance?|Is now a good time to get in?|How should I spread "
        "it?|What about gold?",
    ),
    _subject(
        "taxes|my tax return|deductions",
        "I am self-employed in Austria.|I want the paragraph of the law with it.|My accountant has "
        "the last word, so phrase it as questions to her.",
        "Can I claim the desk?|What is due in March?|How do I handle the rent from the attic "
        "flat?|Does the course count?",
    ),
    _subject(
        "shopping|things to buy|gadgets",
        "Second-hand first.|I do not buy from Amazon.|It has to be repairable.|Nothing made of "
        "leather.",
        "I need new headphones.|Which vacuum cleaner would you take?|Where do I get a decent "
        "coat?|My kettle is broken, what should I replace it with?",
    ),
    _subject(
        "presents|gifts|birthdays",
        "We give time instead of things.|My limit is thirty.|Wrap nothing in plastic.|Dad has "
        "everything, so experiences only.",
        "What could I get for my brother-in-law?|Any idea for a silver wedding?|She turns eight "
        "on Sunday, help!|Something small for the teacher?",
    ),
    _subject(
        "my garden|plants|what to grow",
        "My balcony faces north.|No poison for slugs.|Half the beds belong to the bees.|I am away "
        "every other week, so nothing thirsty.",
        "What can I put into the ground in April?|The roses look sad.|How do I fill the empty "
        "corner?|Which herbs would work?",
    ),
    _subject(
        "the house|repairs at home|do-it-yourself",
        "I rent, so no holes in the wall.|The wiring is from 1950, hands off.|I own a drill and a "
        "saw, nothing more.|The neighbours complain about noise after six.",
        "How do I hang a shelf?|The tap drips.|What could I do with the dark hallway?|The floor "
        "creaks, how do I fix it?",
    ),
    _subject(
        "decorating|furniture|the new flat",
        "Nothing white, the dog is black.|I like it bare.|Wood, no metal.|Ceilings are two metres "
        "ten, keep that in mind.",
        "How should I set up the living room?|Which lamp fits over the table?|What colour for the "
        "bedroom?|Where could I put the books?",
    ),
    _subject(
        "smart home|lights and heating|devices at home",
        "Nothing that listens.|Everything must work without the internet.|Nineteen degrees, never "
        "more.",
        "Turn the place into something cosy for tonight.|How do I automate the blinds?|It is cold "
        "in here.|Which thermostat should I get?",
    ),
    _subject(
        "my children|parenting|the kids",
        "No screens before dinner in this house.|The little one is afraid of clowns.|We raise them "
        "in two languages.|Punishments are not our way.",
        "What can we do on a rainy afternoon?|He will not go to bed.|Ideas for the party?|How do "
        "I explain death to a four-year-old?",
    ),
    _subject(
        "my dog|pets|the cat",
        "She has a weak heart.|Only wet food, says the vet.|He bites when he is woken.|I train "
        "without a leash.",
        "He pulls all the time, what can I do?|How long can I leave her by herself?|What treats "
        "are all right?|We are moving, how do we make it easy for them?",
    ),
    _subject(
        "books|what to read|novels",
        "No sad endings at the moment.|I read on the train, so short chapters.|Women authors, I "
        "have catching up to do.|In translation is fine, abridged is not.",
        "What should I take to the beach?|I finished the last one, what next?|Something for the "
        "reading circle?|Which of these would I like?",
    ),
    _subject(
        "films|series|what to watch",
        "Subtitles, no dubbing.|Blood makes me faint.|Nothing longer than two hours.|My partner "
        "falls asleep in thrillers.",
        "What is on tonight?|Choose something for the four of us.|I am in the mood for something "
        "old.|Is the new one any good?",
    ),
    _subject(
        "music|songs|playlists",
        "Nothing with vocals while I work.|I collect records, streaming is not for me.|Anything "
        "but country.",
        "Put something on.|What could we play at the wedding?|I need music for the drive.|Find me "
        "a band like the one from yesterday.",
    ),
    _subject(
        "games|board games|what to play",
        "We are always five.|I cannot tell red from green.|No games that throw players out.|The "
        "rules have to fit in five minutes.",
        "What do we do on game night?|Which one should I buy for the holidays?|Something quick "
        "while the pizza is in the oven?",
    ),
    _subject(
        "photos|my camera|pictures",
        "I shoot on film.|Black and white only.|Never put faces of my pupils online.",
        "How do I catch the northern lights?|Which lens for the concert?|Can you help me sort the "
        "pictures from Crete?|My portraits come out flat.",
    ),
    _subject(
        "news|politics|what happens in the world",
        "Both sides, and who says so.|Nothing about celebrities.|Once a day is enough.|Sports "
        "results spoil my evening, leave them out.",
        "What did I miss this week?|Why are the farmers on the streets?|Explain the election over "
        "there.|Is the strike still on?",
    ),
    _subject(
        "science|how things work|physics and nature",
        "I am twelve, so explain it like that.|An experiment I can do at home is worth more than "
        "a text.|Sources, please.",
        "Why is the sky blue?|How do whales sleep?|What is inside a black hole?|How does the "
        "fridge get cold?",
    ),
    _subject(
        "law|contracts|my rights",
        "I live in Quebec.|Plain words.|Say clearly where you are not sure.|I have legal "
        "insurance, mention when to call them.",
        "Can the landlord just come in?|What does this clause mean?|They fired me by text "
        "message.|Do I have to pay the fine?",
    ),
    _subject(
        "my job search|applications|interviews",
        "Four days a week, not five.|I will not move.|My gap in 2021 is nobody's business.|Public "
        "sector only.",
        "Which of these openings suits me?|How do I answer the question about weaknesses?|Improve "
        "my profile.|What do I ask for as pay?",
    ),
    _subject(
        "my small business|customers|marketing",
        "No discounts, we never do that.|Our customers are over sixty.|I have no budget for ads.|"
        "We do not use social media.",
        "How do I get more people into the shop?|What could we offer in December?|Somebody left a "
        "bad review, what do I write?|Name the new product.",
    ),
    _subject(
        "weddings|the party|organising events",
        "The hall has no kitchen.|My mother and my father must not sit together.|Everything ends "
        "at eleven.|A third of the guests does not drink.",
        "Who sits where?|How should the evening go?|What do we still have to order?|Music, "
        "speeches, food: in which order?",
    ),
    _subject(
        "clothes|what to wear|outfits",
        "Wool itches.|I never wear heels.|Nothing with logos.|I am between sizes, so it has to "
        "stretch.",
        "What do I put on for the opera?|Which shoes go with the grey suit?|It is raining and I "
        "have an interview.|I need something for the christening.",
    ),
)

INTENTS: dict[str, Subject] = {
    "book_flight": _subject("flights", "Window seat, always.|I fly only with airlines that let me "
                            "change for free.|Departures after lunch, please."),
    "book_hotel": _subject("hotel rooms", "I need a quiet room away from the lift.|Free "
                           "cancellation or I do not book."),
    "car_rental": _subject("rental cars", "Automatic, I cannot drive a stick.|The smallest car "
                           "they have is fine.|Full insurance each time."),
    "restaurant_suggestion": _subject("restaurants", "I am on a halal diet.|We like it spicy.|"
                                      "Kids must be welcome."),
    "restaurant_reservation": _subject("booking a table", "There are always six of us.|Book under "
                                       "my wife's name.|Not before eight."),
    "meal_suggestion": _subject("what to eat", "I dislike anything with mushrooms.|Low carb until "
                                "summer.|My flatmate is vegan and I cook for both of us."),
    "recipe": _subject("recipes", "Write the steps as a numbered list.|Assume that I have a "
                       "pressure cooker.|Serve it for one."),
    "ingredient_substitution": _subject("replacing ingredients", "Soy is off limits for me.|It has "
                                        "to be something a corner shop sells."),
    "nutrition_info": _subject("nutrition", "Give it per 100 grams.|I am diabetic, so tell me the "
                               "sugar."),
    "travel_suggestion": _subject("sightseeing", "I travel with a toddler.|Free things first.|I "
                                  "am keen on architecture."),
    "weather": _subject("the weather", "Celsius.|I only care whether I can hang out the washing."),
    "exchange_rate": _subject("exchange rates", "My account is in Norwegian kroner.|Two decimals "
                              "are enough."),
    "measurement_conversion": _subject("units", "Metric, please, I never learned the others."),
    "translate": _subject("translations", "Use the formal form.|Add how it is pronounced.|"
                          "Brazilian Portuguese, not European."),
    "definition": _subject("what words mean", "One sentence and an example.|Tell me where the word "
                           "comes from as well."),
    "spelling": _subject("spelling", "I am dyslexic, so spell it in syllables."),
    "play_music": _subject("music", "Only jazz before breakfast.|Keep the volume down, the baby "
                           "sleeps.|Skip live recordings."),
    "update_playlist": _subject("my playlists", "No song twice.|The one called Focus is without "
                                "words."),
    "alarm": _subject("alarms", "I need two, ten minutes apart.|Never wake me on Sundays."),
    "timer": _subject("timers", "Warn me a minute before the end."),
    "reminder": _subject("reminders", "The evening before is best.|Send them to my watch and not "
                         "to my phone."),
    "todo_list": _subject("my tasks", "Sort them by how long they take.|Three at a time, or I "
                          "panic."),
    "shopping_list": _subject("groceries", "We buy from the market on Saturdays.|Organic eggs, "
                              "nothing else.|Put the frozen things last."),
    "calendar": _subject("my calendar", "My weeks begin on Sunday.|Private things are in green."),
    "schedule_meeting": _subject("meetings", "Video off by default.|Leave a quarter of an hour "
                                 "between two.|Afternoons only, I look after my mother till "
                                 "noon."),
    "pto_request": _subject("my days off", "August is blocked in our department.|I always take "
                            "the Friday after a bank holiday."),
    "directions": _subject("routes", "Avoid motorways, I am a learner.|On foot if it is under "
                           "half an hour."),
    "traffic": _subject("traffic", "I take the bridge, never the tunnel."),
    "uber": _subject("rides", "A car with a child seat.|Women drivers when there is the choice."),
    "gas": _subject("fuel", "Only the station by the church takes my card."),
    "oil_change_how": _subject("looking after the car", "I have no ramp and no pit.|Explain it "
                               "with part numbers."),
    "tire_change": _subject("tyres", "All-season tyres, I have no room for a second set."),
    "schedule_maintenance": _subject("the garage", "Mondays are my only free day.|The workshop "
                                     "of my cousin, wherever it is possible."),
    "insurance": _subject("insurance", "I have a disability card, so ask for the reduced rate."),
    "pay_bill": _subject("bills", "From the joint account.|Never before the 25th."),
    "transfer": _subject("transfers", "Ask me once more when it is above 500.|Always with a "
                         "reference."),
    "spending_history": _subject("spending", "Leave the rent out of it.|By week, not by month."),
    "improve_credit_score": _subject("my credit", "I will not open another card.|Be blunt."),
    "taxes": _subject("tax", "I moved abroad in May, so two countries count."),
    "vaccines": _subject("vaccinations", "I am allergic to egg white.|Needles scare me, be "
                         "gentle."),
    "international_visa": _subject("visas", "I hold a Ghanaian passport."),
    "carry_on": _subject("hand luggage", "I carry a violin."),
    "smart_home": _subject("lights and heating", "Red light only after nine.|The bedroom stays "
                           "cold."),
    "text": _subject("messages", "No emoji to my boss.|Sign them with an M."),
    "make_call": _subject("calls", "Use the mobile number, never the landline."),
    "tell_joke": _subject("jokes", "Nothing about mothers-in-law.|Puns, the worse the better."),
    "fun_fact": _subject("facts", "Space fascinates me.|Not about spiders."),
    "calories": _subject("calories", "Say it in kilojoules."),
    "cook_time": _subject("cooking times", "My oven runs hot, take ten degrees off.|I like meat "
                          "well done."),
    "food_last": _subject("keeping food", "I would rather throw it away than risk it."),
    "order": _subject("orders", "To the parcel shop, never to the door."),
    "next_holiday": _subject("holidays", "I follow the Orthodox calendar."),
    "date": _subject("dates", "Day first, then the month."),
    "time": _subject("the time", "In 24 hours, please."),
}  # fmt: skip
