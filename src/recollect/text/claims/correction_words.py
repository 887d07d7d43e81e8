"""How people say that they said something wrong: in English, German, French, Spanish, Chinese."""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_SEP = r"(?:\s*[,.!:;，。：！\-–—]+\s*|\s+|\Z)"
# Words before the new value.
MARK = _any(
    r"\W*(?:no+(?:,? no+)+|no+(?=\s*[,.!:;–—-])|no(?= (?:wait|i mean|i meant|it's|it is|sorry|actually|the)\b)|nope|nah|sorry(?: sorry)?|oops|whoops|ups|wait(?: no)?|hang on|hold on|actually|correction|corrected|erratum|edit"
    r"|typo|scratch that|strike that|my (?:mistake|bad|error|fault)|i (?:actually |really |of course )?meant(?: to (?:say|write|type|put))?|i mean|i (?:should have said|should say|misread(?: it| that)?|misspoke|mistyped|miswrote|misremembered)"
    r"|e+r+m?|u+h*m+|u+h+|h+m+|ah+|argh|ugh|d'?oh|oh(?: (?:no|wait|dear))?|well|let me (?:rephrase|correct|fix)(?: that| myself)?|i (?:got|had|wrote|typed|said|put|made) (?:that|it|this) (?:wrong|incorrectly|badly|backwards|the wrong way round)"
    r"|i was wrong|that(?:'s| is| was)(?: all)? (?:wrong|not right|incorrect|not true|not quite right|a typo|a mistake|a lie)|wrong|not (?:quite|exactly|entirely)(?: (?:true|right|correct))?|or rather|rather|make that|make it|autocorrect|excuse me|pardon(?: me)?|apologies|silly me|brain fart|brain fog|my brain|fat fingers?"
    r"|you got (?:that|it) wrong(?: because i did)?|i (?:was )?(?:lied|lying)|forget (?:that|it|what i said)|ignore that|disregard that|on second thought|technically|to be (?:precise|exact)|strictly speaking|small correction|quick correction|slight correction|little correction|one correction|update|spelling|spelled wrong|misspelled(?: that| it)?)" + _SEP,
    r"\W*(?:nein(?=\s*[,.!:;–—-])|nee(?=\s*[,.!:;–—-])|quatsch|blödsinn|moment(?: mal)?|korrektur|berichtigung|ich (?:meinte|meine|wollte sagen|hab mich (?:vertan|vertippt|verschrieben))|entschuldigung|entschuldige|sorry|ups|hoppla|tippfehler|vertippt|das stimmt nicht|stimmt nicht|falsch|doch nicht|eigentlich|genauer gesagt|besser gesagt|vielmehr|ach nein|ach)" + _SEP,
    r"\W*(?:non(?=\s*[,.!:;–—-])|pardon|désolée?|oups|correction|je (?:voulais dire|veux dire|me suis trompée?)|en fait|plutôt|erratum|coquille|faute de frappe|c'est faux|erreur|attends?|enfin|excuse[sz]?(?:-moi)?|mince|zut)" + _SEP,
    r"\W*(?:no(?=\s*[,.!:;–—-])|perdón|perdona|perdone|disculpa|ups|quise decir|quería decir|me equivoqué|me he equivocado|en realidad|mejor dicho|corrección|errata|digo|espera|no es así|está mal|mentira|bueno)" + _SEP,
    r"\W*(?:不对|不是的|错了|写错了|说错了|打错了|搞错了|更正|纠正|我是说|我的意思是|抱歉|不好意思|对不起|其实|应该是|口误|等等|哦不|啊不)[，,：:。！\s]*",
)
# A whole clause before a colon that says so.
LEAD = re.compile(
    r"[^:\n]{0,80}\b(?:wrong|mistaken?|mixed? (?:\w+ )?up|mix it up|typo|correct|fix|rephrase|misspoke|meant|not true|confused"
    r"|vertan|falsch|trompée?|equivoqu\w+|sorry)\b[^:\n]{0,60}:\s+",
    re.IGNORECASE,
)
# Words after it.
TRAILING = _any(
    r",?\s*(?:i mean(?:t)?|i meant to say|sorry|my (?:mistake|bad)|let me (?:fix|correct) that|scratch that|correction|oops|obviously|of course|actually|typo|i meant|pardon|perdón|désolée?|entschuldigung|natürlich|meinte ich|je voulais dire|quise decir)(?=\s*[.!,]|\s*\Z)[.!]*(?=\s*\Z|,|\s)",
    r"\s+(?:it's|it is|he's|she's|they're) called\s*\Z",
    r"(?<=\w)\*\s*\Z",
)
_V = r"[^\s,.;:!?，。][^,;:!?，。\n]{0,60}?"
NOT_THEN_NEW = _any(
    rf"(?:\A|[\s,.])(?:it's |its |it is |that's |he's |she's |we're |i'm |es ist |das ist |c'est |es )?(?:not|nicht|pas|kein\w*) (?P<old>{_V})(?:,? (?:but(?: rather)?|sondern|mais|sino)(?: (?:in|at|it's|actually))?|[,.;:]| [-–—])\s*(?:i looked it up: |i checked: |it's |it is |rather |actually |she's |he's |in |at )?(?P<new>{_V})(?=[,.;:!?]|\Z)",
    r"不是(?P<old2>[^，,。是]{1,10})[，,。]?(?:而)?是(?P<new2>[^，,。]{1,12})",
)
NEW_NOT_OLD = _any(
    rf"(?:\A|[.:,] )(?:it's |its |it is |that's |es ist |das ist |c'est |es |make that |i said |i mean(?:t)? )?(?P<new>{_V})(?:[,.!]* (?:and |und |et |y )?(?:not|instead of|rather than)|, (?:und |et |y )?(?:nicht|pas|no)) (?P<old>{_V})(?=[,.;:!?]|\Z)",
    r"是(?P<new2>[^，,。是]{1,12})[，,]?不是(?P<old2>[^，,。]{1,10})",
)
SAID_MEANT = _any(
    rf"\bi (?:said|wrote|typed|put|told you) (?P<old>{_V}),? (?:but )?(?:i )?(?:meant|it's|it is|should (?:be|have been)|she's coming at|he's coming at|it starts at|the \w+ is)(?: to (?:say|write))? (?P<new>{_V})(?=[,.;:!?]|\Z)",
    rf"\bi (?:said|wrote|told you) (?P<old2>{_V}),? but (?:it's |it is |she's |he's |they're |we're |i'm |\w+ (?:is|are) )(?:\w+ing )?(?:at |in |on |with )?(?P<new2>{_V})(?=[,.;:!?]|\Z)",
)
WRONG = _any(
    rf"\A(?P<old>{_V}) (?:is|was|'s) (?:wrong|a typo|incorrect|not right|the old one|out of date)[,.;:]?\s*(?:it's |it is |it should be |should be |she's |he's |they're |that's )?(?P<new>{_V})(?=[,.;:!?]|\Z)",
)
FORGET = _any(
    rf"\b(?:forget|ignore|drop|scrap|never mind) (?P<old>{_V})[,.;:].*?(?:mine (?:is|are)|it's|it is|i take|i use|i have|the right one is|should be) (?P<new>{_V})(?=[,.;:!?]|\Z)",
)
# "She's ...", "it is ...": the value follows.
PRONOUN_CLAUSE = _any(
    r"(?:(?:and|but|so|now) )?(?:it'?s|it is|it was|it IS|(?:that|it|this) should(?: have been| be| read| say)|should be|that'?s|that is|this one'?s|this one is|she'?s|she is|he'?s|he is|they'?re|they are|its|(?:her|his|its|their|the|my) (?:real |full |right |correct )?(?:name|number|address|date|title)(?:'s| is)|mine (?:is|are)|it has|she has|he has|she was|he was|it starts|it takes place)(?: (?:actually|called|named|really|spelled|spelt|now))* ",
    r"(?:es ist|das ist|er ist|sie ist|er heißt|sie heißt|es heißt|es sind|das war|sie wohnt) ",
    r"(?:c'est|ce sont|il est|elle est|il s'appelle|elle s'appelle|c'était) ",
    r"(?:es|son|se llama|está|era) ",
    r"(?:是|叫|应该是|改成)",
)
SPELLED = _any(
    r",?\s*(?:spelled |spelt |written |geschrieben )?(?:with|without|mit|ohne|avec|sans|con|sin) (?:an?|one|two|the|einem?|un|une|una) (?:\w|double \w|[a-z]{1,2})(?: (?:at the end|in the middle|not a \w|at the start|instead of \w))*(?=\W|\Z)",
    r",?\s*(?:double|one|two|no) [a-z]\b(?=\W*\Z)",
)
REASON = _any(
    r"\b(?:wrong|mistake|typo|autocorrect|mixed up|mix|confus\w+|obviously|of course|technically|silly|brain|sorry|oops|i missed|read that again|the last one|the one before|the old one|used to be)\b",
)
COMMENT = _any(
    r",?\s*(?:autocorrect\b.*|not my day\b.*|still writing\b.*|brain f\w+\b.*|i missed one\b.*|dyslexia\b.*|who am i kidding\b.*|he'd (?:be|kill)\b.*|she'd\b.*|don't ask\b.*|as (?:usual|always)\b.*|obviously|technically|of course|this time\b.*|now that i think\b.*|what am i saying\b.*|long day\b.*|haha\b.*|lol\b.*|like i said\b.*|silly me\b.*)\Z",
)
FILLER = _any(
    r"\A(?:it's|it is|that's|rather|actually|just|only|but|and|then|of course|obviously|sondern|mais|sino|i meant?|i said|es ist|c'est|called|named|no|sorry|the one|als|ist|est|es)\s+(?=\S)",
    r"\s*,?\s+(?:i mean(?:t)?|sorry|actually|obviously|of course|technically|please|instead|though|now|then|again|pardon|perdón|natürlich|bitte|是的|one)\Z",
)
# A statement of its own.
CLAUSE = re.compile(
    r"(?:I|[Ww]e|[Mm]y|[Oo]ur|I'm|I've|[Ww]e're|[Tt]he \w+|[Ii]ch|[Ww]ir|[Mm]eine?|[Jj]e|[Jj]'\w+|[Mm]on|[Mm]a"
    r"|[Nn]ous|[Mm]i|[Tt]engo|[Ss]oy|[Vv]ivo|[Tt]rabajo|[Ss]e llama)\b ?\S+ ?\S*|我\S+"
)
STRICT = _any(
    r"\W*(?:no|nope|nein|non|sorry|oops|whoops|correction|korrektur|corrección|typo|actually|wait|hang on|eigentlich|en fait|en realidad|perdón|perdona|pardon|entschuldigung|das stimmt nicht|that's wrong|that's not right|that is wrong|that's incorrect|wrong|falsch|scratch that|strike that|my mistake|my bad|quatsch|me equivoqué|不对|错了|更正)\s*[,.!:;，。：-]+\s*",
    r"\W*(?:i meant|i mean|i meant to say)[,:]? (?=(?:i|we|my|our)\b)",
)
BARE_VERBS = re.compile(
    r"\b(?:is|are|was|were|am|have|has|had|do|does|did|will|would|can|could|should|want|need|think|know"
    r"|like|love|go|get|make|see|say|tell|thanks?|please|yes|yeah|ok|okay|cool|great|nice|good|why|what"
    r"|who|how|when|where|also|too|and|plus|mostly|i|you|we|they|let's|ist|sind|habe|est|suis|tengo)\b",
    re.IGNORECASE,
)
OWN_CLAUSE = re.compile(r"(?:(?:and|but|so|now) )?(?:we'?re|we are|i'?m|i am) ", re.IGNORECASE)
SUBJECT = re.compile(
    r"\b(?:i'?m|i am|i|we'?re|we are|we|it'?s|it is|it|he'?s|she'?s|they'?re|he|she|they|you|that'?s|that"
    r"|this|there|is|are|was|do|does|did|am|not|have|has|ich|bin|ist|je|suis|c'est|es|soy)\b",
    re.IGNORECASE,
)
HINT = _any(r"\b(?:not|nicht|pas|meant|meinte|forget|told you|said|wrong|mistake|typo)\b")
