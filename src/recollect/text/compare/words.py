"""The words that ``duplicates`` knows: data only, all folded (lower case, without accents).

English is covered best. In other languages the negators and a few dates and numbers are known;
everything else there is told apart by the rule that unmatched words on both sides differ.
"""

from __future__ import annotations


def _groups(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split()) for line in text.strip().splitlines())


def _numbered(text: str, start: int) -> dict[str, int]:
    """Lines of words in rising order; alternatives of one number are joined by "/"."""
    return {
        word: number
        for line in text.strip().splitlines()
        for number, words in enumerate(line.split(), start)
        for word in words.split("/")
    }


UNITS = _numbered(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen",
    0,
)
FOREIGN_UNITS = _numbered(
    """
    zwei drei vier funf sechs sieben acht neun zehn elf zwolf
    deux trois quatre cinq six sept huit neuf dix onze douze
    dos tres cuatro cinco seis siete ocho nueve diez once doce
    due tre quattro cinque sei sette otto nove dieci undici dodici
    dois/duas tres quatro cinco seis sete oito nove dez onze doze
    два/две три четыре пять шесть семь восемь девять десять одиннадцать двенадцать
    """,
    2,
)
# Everyday words of other languages that happen to be numbers elsewhere.
for _ambiguous in ("once", "elf", "six", "due"):
    FOREIGN_UNITS.pop(_ambiguous)
TENS = {
    word: 10 * number
    for word, number in _numbered(
        "twenty thirty forty fifty sixty seventy eighty ninety", 2
    ).items()
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
ORDINALS = _numbered(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 1
)
AMOUNTS = frozenset("half double triple twice thrice dozen dozens quarter pair couple".split())

DATES = {
    word: line[0]
    for line in _groups(
        """
        monday mon montag lundi lunes lunedi segunda
        tuesday tue tues dienstag mardi martes martedi terca
        wednesday wed mittwoch mercredi miercoles mercoledi quarta
        thursday thu thur thurs donnerstag jeudi jueves giovedi quinta
        friday fri freitag vendredi viernes venerdi sexta
        saturday samstag sonnabend samedi sabado sabato
        sunday sonntag dimanche domingo domenica
        january jan januar janvier enero gennaio janeiro
        february feb februar fevrier febrero febbraio fevereiro
        march marz marzo marco
        april apr avril abril aprile
        may
        june jun juni juin junio giugno junho
        july jul juli juillet julio luglio julho
        august aug aout agosto
        september sep sept septembre septiembre settembre setembro
        october oct oktober octobre octubre ottobre outubro
        november nov novembre noviembre novembro
        december dec dezember decembre diciembre dicembre dezembro
        today heute hoy aujourd'hui oggi hoje сегодня
        yesterday gestern hier ayer ieri ontem вчера
        tomorrow morgen demain manana domani amanha завтра
        tonight
        morning
        afternoon
        noon midday
        evening
        night
        midnight
        weekend
        spring
        summer
        autumn
        winter
        daily
        weekly
        monthly
        yearly annually
        hourly
        """
    )
    for word in line
}
# Also plain words: dates only when written with a capital.
CAPITAL_DATES = frozenset("may march mon sat sun jan fri wed hier segunda terca sexta".split())

NEGATORS = frozenset(
    """
    not no never none nobody nothing nowhere neither nor without cannot nope hardly barely scarcely
    seldom rarely stop stops stopped stopping quit quits ceased fail fails failed failing refuse
    refuses refused deny denies denied lack lacks lacked lacking avoid avoids avoided absent except
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder
    ne n' pas jamais rien personne aucun aucune sans guere
    nunca jamas nada nadie ningun ninguna ninguno sin tampoco
    non mai niente nessun nessuno nessuna senza neanche nemmeno neppure
    nao nenhum nenhuma ninguem sem nem
    не ни нет никогда ничего никто без нельзя
    niet geen nooit niks inte aldrig ej ikke nie nigdy bez degil yok hayir
    لا ليس لم لن غير بدون לא אין בלי नहीं नही मत
    """.split()
)
# Characters and endings that negate in scripts without blanks.
DENSE_NEGATORS = tuple(
    """不 没 沒 無 无 非 未 别 別 莫 勿 否 ない なかっ なく ません ぬ
    안 못 않 없 아니 말 ไม่ มิ""".split()
)
DENSE_NUMERALS = frozenset("零一二三四五六七八九十百千万億亿两兩半")
# Particles, politeness and emphasis: may be missing or different. 非 also negates, which is
# looked at before.
DENSE_FILLERS = frozenset(
    "非的了啊呀吧呢嘛哦很真也就还又常地得はがをもねよでます은는이가을를요ๆครับค่ะ"
)
DENSE_QUESTIONS = ("吗", "嗎", "ですか", "ますか", "까", "ไหม", "หรือไม่")

# Each changes what is claimed to be the case; one text may not have it without the other.
MODALS = {
    word: line[0]
    for line in _groups(
        """
        may might maybe perhaps possibly probably likely potentially
        must mandatory required obligatory
        should ought
        can could able
        will shall 'll
        would 'd
        want wants wanted wish wishes wished hope hopes hoped
        plan plans planned intend intends intended
        try tries tried trying attempt attempts attempted
        consider considers considered considering
        need needs needed
        if unless whether
        only solely exclusively
        almost nearly
        former formerly previously ex
        pretend pretends pretended fake supposedly allegedly
        think thinks thought believe believes believed guess seems seem appears
        darf durfen kann konnen muss mussen soll sollen vielleicht wenn falls nur fast
        peut-etre doit peut seulement presque
        quizas debe puede solo casi
        forse deve puo quasi
        talvez pode apenas quase
        может должен возможно только почти
        """
    )
    for word in line
}

# Words of different columns contradict each other; "/" joins equals.
OPPOSITES = _groups(
    """
    like/love/enjoy/prefer/adore dislike/hate/detest/loathe
    before/until after/since
    enable disable
    on/onto/atop off under/beneath/below/underneath beside/behind
    in/inside/into/within/indoors/indoor out/outside/outdoors/outdoor
    up/upward/upwards/upstairs/uphill down/downward/downwards/downstairs/downhill
    over/above under/below/beneath/underneath
    to/toward/towards/at from/away
    front/ahead behind/back
    near/close/nearby/beside far/away/distant
    with without
    for against/from
    with against
    and or
    or but
    because although/despite
    open/opened close/closed/shut
    buy/purchase sell
    morning evening/night
    day night
    always/constantly never/sometimes/occasionally/rarely
    often/frequently/usually rarely/seldom/sometimes
    all/every/each/everyone/everything/both some/none/few/several/most/many
    many/much/most few/little
    more less/fewer
    most least
    left right
    increase/raise/rise/grow decrease/reduce/lower/fall/drop/shrink
    first last
    true false
    right/correct wrong/incorrect
    allow/permit/accept deny/forbid/reject/block/refuse/prohibit
    man/men/boy/guy woman/women/girl/lady
    boy/boys girl/girls
    he/him/his she/her/hers
    father/dad mother/mom/mum
    son daughter
    brother sister
    husband wife
    uncle aunt
    king queen
    male female
    mr mrs/ms
    start/begin stop/end/finish
    arrive/come depart/leave/go
    enter leave/exit
    push pull
    win lose
    pass fail
    give take
    send receive
    lend borrow
    add remove
    create/build/make delete/destroy
    install uninstall
    lock unlock
    connect disconnect
    show hide
    save waste/delete
    good/great/best bad/terrible/worst
    better worse
    big/large/huge/tall small/little/tiny/short
    long short
    high low
    hot/warm cold/cool
    wet dry
    old/elderly young/new
    early/earlier late/later
    fast/quick/quickly slow/slowly
    hard/difficult easy/simple
    hard soft
    heavy light
    dark light/bright
    full empty
    rich poor
    strong weak
    clean dirty
    happy/glad sad/unhappy
    safe dangerous
    cheap expensive
    public private
    single married
    alive/live dead
    present absent
    success/succeed failure/fail
    north south
    east west
    black white
    top bottom
    even odd
    import export
    input output
    upload download
    maximum/max minimum/min
    minor major
    sit/sitting stand/standing/lie/lying
    sleep/asleep awake/wake
    sink float
    remember forget
    support/agree oppose/disagree
    """
)

# Words that say the same, irregular forms included: the base, the past, the participle, others.
EQUALS = _groups(
    """
    be is are am was were been being
    begin began begun start started
    break broke broken
    bring brought
    build built
    buy bought purchase purchased
    catch caught
    choose chose chosen pick
    come came
    draw drew drawn
    drink drank drunk
    drive drove driven
    eat ate eaten
    fall fell fallen
    feed fed
    fight fought
    find found
    fly flew flown
    forget forgot forgotten
    freeze froze frozen
    give gave given
    go went gone goes
    grow grew grown
    hold held
    keep kept
    know knew known
    leave left
    lose lost
    make made
    meet met
    pay paid
    ride rode ridden
    run ran
    say said says
    see saw seen
    sell sold
    send sent
    shake shook shaken
    shine shone
    sing sang sung
    sit sat
    sleep slept
    speak spoke spoken talk talked
    spend spent
    stand stood
    steal stole stolen
    swim swam swum
    take took taken
    teach taught
    tear tore torn
    tell told
    throw threw thrown
    wear wore worn
    win won
    write wrote written
    child children kid kids
    woman women lady ladies
    man men guy guys
    person people someone somebody persons
    mouse mice
    foot feet
    tooth teeth
    knife knives
    big large
    small little
    fast quick rapid rapidly
    car automobile
    bike bicycle
    phone telephone
    photo photograph picture
    jump leap
    movie film
    mom mum mother
    dad father
    near close nearby beside
    towards toward
    over above
    under beneath below underneath
    sofa couch
    garbage trash rubbish
    flat apartment
    job work
    dwell live reside
    answer reply
    ask request
    allow permit
    help assist
    show display
    fix repair
    sick ill
    happy glad
    afraid scared
    rock stone
    street road
    shop store
    gift present
    colour color
    favourite favorite
    grey gray
    organise organize
    centre center
    okay ok
    tv television
    usa us
    """
)

FUNCTION_WORDS = frozenset(
    """
    an a the this that these those there here it its and or but nor so then than too also as such
    i me my mine myself we us our ours you your yours he him his himself she her hers herself they
    them their theirs who whom whose which what when where why how of for by with at in on to from
    into onto off out up down over under above below between through during until since about
    be is are am was were been being have has had having do does did doing get gets got getting
    very really quite just still already currently now again ever even actually well please both
    one ones other another each every any some many few several most more less much all lot
    mr mrs ms dr inc corp ltd co
    der die das den dem des ein eine einen einem einer und oder ist sind war ich du er sie es wir
    ihr mein meine sein seine im am zu von mit auf fur hat habe haben
    le la les un une du des et ou est sont je tu il elle nous vous mon ma mes son sa ses au aux en
    dans avec pour sur de l' d' j' c' s' m' t' qu' que qui a ont
    el los las una y o es son mi su con para por en del al yo que se lo
    il lo gli i uno e di da che ho ha mio mia con per nel della
    os as um uma e ou eu meu minha seu sua com para por no na do da em
    и в на с я он она мы вы они это что мой моя его ее к у за от по из о
    't 're 've 'm 's
    """.split()
)
# May be missing on one side: they hardly change what is claimed.
FILLERS = frozenset("group piece kind sort type thing make set".split())

PERSONS = {
    word: line[0]
    for line in _groups(
        """
        i me my mine myself
        we us our ours ourselves
        you your yours yourself
        he him his himself
        she her hers herself
        they them their theirs themselves
        ich mich mir mein meine meinen meiner
        du dich dir dein deine deinen deiner
        """
    )
    for word in line
}
BE = frozenset("be is are am was were been being 's 're 'm get gets got getting".split())
HAVE = frozenset("have has had 've having".split())
PAST_AUXILIARIES = frozenset("was were had did".split())
PRESENT_AUXILIARIES = frozenset("is are am has have do does 's 're 'm 've".split())
IRREGULAR_PASTS = frozenset(
    """began broke brought built bought caught chose came drew drank drove ate fell fed fought found
    flew forgot froze gave went grew held kept knew lost made met paid rode ran said saw sold sent
    shook shone sang sat slept spoke spent stood stole swam took taught tore told threw wore won
    wrote""".split()
)
ARTICLES = frozenset("a an the my your his her its our their some".split())
PREPOSITIONS = frozenset("in on at during since for after before until from with by".split())
QUESTION_OPENERS = frozenset(
    """do does did is are was were can could will would should has have who what when where why
    how which whose""".split()
)
# Every pair of these that is not known to be equal differs: "through" against "past".
STRONG_PREPOSITIONS = frozenset(
    """before after under over above below behind inside outside off out from through past against
    toward towards away near far up down until since between without beneath onto into around
    across along beside""".split()
)
