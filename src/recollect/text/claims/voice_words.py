"""How people mark that the next words are not theirs: in English, German, French, Spanish and
Chinese."""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_PLEASE = r"(?:(?:please|pls|plz|hey|ok|okay|now|just|so)[, ]+)*"
_ASKING = r"(?:(?:can|could|would|will) (?:you|u)(?: please| pls)? |i (?:want|need) you to |help me (?:to )?)?"
_WORK = (
    r"(?:translate|re-?write|rephrase|re-?word|proof-?read|summari[sz]e|paraphrase|shorten|condense"
    r"|improve|polish|correct|edit|fix|check|format|convert|simplify|expand|extend|continue|complete"
    r"|finish|turn|make|clean up|tidy up|tl;?dr|analy[sz]e|grade|mark|annotate|transcribe|parse"
    r"|draft|write|compose|generate|reply|respond|answer|explain|read|review|rate|critique|tag"
    r"|classify|extract|label|quote|repeat|say|spell|punctuate|use|put|add|compare|evaluate|judge"
    r"|fill in|act|role-?play|play|imagine|pretend|suppose|create|invent|describe)"
)
_ARBEIT = (
    r"(?:übersetze?n?|formuliere?n?|schreib\w*|korrigiere?n?|kürze?n?|fasse?|verbessere?n?|prüfe?n?"
    r"|mach\w*|lies|antworte?n?|beantworte?n?|erkläre?n?|ergänze?n?|setze?n?|verfasse?n?)"
)
_TRAVAIL = (
    r"(?:tradui[st]\w*|corrige\w*|résume\w*|reformule\w*|améliore\w*|réécri\w*|raccourci\w*|écri\w*"
    r"|relis|vérifie\w*|complète\w*|continue\w*|rédige\w*|mets)"
)
_TRABAJO = (
    r"(?:traduc\w*|tradúce\w*|corrige\w*|corríge\w*|resum\w*|reescrib\w*|mejor\w*|acort\w*|revis\w*"
    r"|escrib\w*|redact\w*|complet\w*|reformul\w*|continú\w*)"
)
_GONGZUO = r"(?:请|帮我?|麻烦|你?能不能|可以)*(?:把|将)?.{0,12}(?:翻译|改写|润色|总结|概括|修改|改成|缩短|续写|写一|检查|校对|改得|扩写)"

# A task for a writer: what follows it is the text to work on.
TASK = _any(
    rf"\A\W*{_PLEASE}{_ASKING}{_WORK}\b",
    rf"\A\W*(?:kannst du|könntest du|können sie|bitte)? ?(?:mir )?(?:das |den |die |diesen |folgenden )*(?:\w+ )?{_ARBEIT}\b",
    rf"\A\W*(?:tu peux|peux-tu|pouvez-vous|s'il te plaît)? ?{_TRAVAIL}\b",
    rf"\A\W*(?:puedes|podrías|por favor)? ?{_TRABAJO}\b",
    rf"\A\W*{_GONGZUO}",
)
_TEXT = (
    r"(?:text|mail|e-?mail|letter|message|note|post|tweet|thread|comment|review|story|poem|song"
    r"|lyrics?|verse|haiku|essay|article|paragraph|sentence|passage|section|excerpt|extract|chapter"
    r"|draft|speech|toast|bio|profile|cv|resume|résumé|cover letter|ad|advert|listing|caption|quote"
    r"|transcript|script|dialogue|scene|minutes|report|summary|abstract|statement|testimonial"
    r"|reply|answer|response|chat|conversation|log|record|entry|table|json|csv|yaml|sql|query|data"
    r"|snippet|config|code|example|sample|fixture|test data|template|form|exam|quiz|exercise|homework"
    r"|recipe|blog|newsletter|announcement|press release|invitation|job ad|job posting|guest book"
    r"|voicemail|auto-?reply|out of office|diary|journal|monologue|joke|riddle|prompt|persona"
    r"|character|narrator|novel|screenplay|play|film|movie|book|interview|podcast|article|wiki"
    r"|complaint|ticket|bug report|application|horoscope|fortune cookie|sign|poster|t-?shirt"
    r"|slide|deck|brief|plot|fanfic|fiction|linkedin|reddit|facebook|twitter|instagram|airbnb"
    r"|tinder|bumble|hinge|whatsapp|slack message|forum|website|page|paper|newspaper|user story"
    r"|vows|eulogy|obituary|motto|tagline|slogan|tattoo)"
)
_TEXTE = (
    r"(?:Text|Mail|E-Mail|Brief|Nachricht|Bewertung|Lebenslauf|Gedicht|Lied|Geschichte|Satz|Beispiel"
    r"|Anzeige|Inserat|Rede|Aufsatz|Absatz|Zitat|Beitrag|Kommentar|Rezension|Steckbrief|Formular"
    r"|Protokoll|Bewerbung|Rollenspiel|Roman|Kapitel|Szene|Antwort|Rückmeldung)"
)
_TEXTES = (
    r"(?:textes?|mail|courriel|lettre|message|avis|témoignage|poème|chanson|histoire|phrase|exemple"
    r"|annonce|discours|paragraphe|citation|commentaire|article|extrait|CV|formulaire|roman"
    r"|chapitre|scène|réponse|jeu de rôle)"
)
_TEXTOS = (
    r"(?:textos?|correo|carta|mensaje|reseña|poema|canción|historia|frase|ejemplo|anuncio|discurso"
    r"|párrafo|cita|comentario|artículo|extracto|currículum|formulario|novela|capítulo|escena"
    r"|respuesta|juego de rol|presentación)"
)
_WENBEN = "(?:邮件|信|短信|消息|文章|段落|这段话|这句话|点评|评论|简历|诗|歌词|小说|故事|例句|例子|广告|公告|帖子|对话|聊天记录|演讲|采访|作文|台词|自我介绍|表格)"

# A word for a text, and what makes it the announcement of one.
LEAD = _any(
    rf"\b(?:this|the|these|following|here'?s|here is|here are|another|an?|from|of|for|my \w+'s|got this|saw this"
    rf"|copied|pasted?|forwarded|extract|poem|quote)\b[^:]{{0,60}}?\b{_TEXT}s?\b",
    rf"\A\W*(?:\w+ ){{0,3}}{_TEXT}s?\b[^.!?]{{0,50}}\Z",
    r"\b(?:says|said|writes|wrote|reads|goes|posted|texted|tweeted|states|claims|sent (?:me|us)|told me)\s*(?:as follows|this|the following)?\W*\Z",
    r"\b(?:copied|pasted|quoted|quoting|transcribed|ocr|scanned) (?:from|this|below)?",
    r"\b(?:e\.?g\.?|i\.?e\.?|for example|for instance|example|z\.? ?B\.?|zum Beispiel|par exemple|exemple|por ejemplo|ejemplo|例如|比如|例句)\b",
    r"\A\W*(?:test(?:ing)?|sample|input|output|prompt|q|a|expected|fixture|case)(?: \d+)?\Z|\btest data\b|\bsample data\b|\bdummy\b|\blorem\b",
    rf"\b(?:dies\w*|der|die|das|folgende\w*|aus|bei)\b[^:]{{0,40}}?\b\w*{_TEXTE}\w*\b",
    rf"\A\W*\w*{_TEXTE}\w*\b[^.!?]{{0,40}}\Z",
    rf"\b(?:ce|cet|cette|le|la|les|suivant\w*|voici|extrait|un|une)\b[^:]{{0,40}}?\b{_TEXTES}\b",
    rf"\A\W*{_TEXTES}\b[^.!?]{{0,40}}\Z",
    rf"\b(?:est[ea]|el|la|siguiente|aquí|un|una)\b[^:]{{0,40}}?\b{_TEXTOS}\b",
    rf"\A\W*{_TEXTOS}\b[^.!?]{{0,40}}\Z",
    rf"(?:这|那|以下|下面|这条|这封|转发|一)[^：:]{{0,12}}{_WENBEN}|\A{_WENBEN}|{_WENBEN}\Z",
)
# A wish about "this": the text stands beside it.
DEICTIC_TASK = _any(
    rf"\b{_WORK}\b(?: (?:the|to|me|up|on|in|for|a|an|and|more|less|it|grammar|spelling|tone|typos?|reply|answer|response)\b)*"
    rf" (?:this|these|that|the following|below|(?:the|that|this) (?:\w+ )?{_TEXT})\b",
    rf"\b(?:this|that|the|these) (?:\w+ )?{_TEXT}\b[^.]*[?]",
    rf"\b(?:is|does|do|are|was|sounds?|looks?|what|who|which|how|why|where|should|would)\b[^.?]{{0,50}}\b(?:this|that|these)\b(?: (?:sound|look|real|ok|right|wrong|mean|have|any good|true|spam|phishing|legit|note|one))[^.]*\Z",
    r"\bwho'?s right\b|\bwhat (?:do|should|would|can|could) (?:i|you|we) (?:comment|reply|answer|respond|write(?: back)?|say(?: back| to (?:this|that|them|him|her))?|cook for them)\b",
    r"\bhow (?:do|should|would|can|could) (?:i|you|we) (?:answer|reply|respond)\b",
    rf"\b(?:das|diesen|diese|dieses|den|die|folgende\w*) (?:\w+ ){{0,3}}?{_ARBEIT}\b|\bist das so\b|\bwas (?:antworte|schreibe?) ich\b",
    rf"\b{_TRAVAIL}(?:-\w+)? (?:ceci|ça|ce|cet|cette|le|la) ?|\bje (?:lui |leur )?(?:réponds?|propose) quoi\b|\bqu'est-ce que je réponds\b",
    rf"\b{_TRABAJO} (?:esto|este|esta)\b|\bqué (?:le|les) (?:contesto|respondo|digo)\b",
    "(?:这封信|这段话|这句话|这条|这个|怎么回|如何回复|怎么回复|帮我回).{0,12}(?:怎么|如何|回|真的|吗|翻译|改|润色)?",
)
# Somebody else is named as the one who speaks.
ATTRIBUTED = _any(
    r"\b(?:he|she|they|somebody|someone|some (?:guy|girl|woman|man|dude|kid|lady|person)|people|everyone|nobody|a (?:guy|man|woman|friend|colleague|client|customer|user|student|kid|girl|boy)"
    r"|(?:my|our|the|a|an|his|her|their) (?:[\w'-]+ ){0,3}?[\w'-]+|[A-Z]\w+(?: [A-Z]\w+)?)"
    r" (?:just |once |then |always |also |had |has )?(?:says?|said|writes?|wrote|texts?|texted|goes|went|asks?|asked|replied|replies|posted|tweeted|claims?|claimed|shouts?|shouted|yelled|answered|told (?:me|us|him|her|them)|put (?:this|up)|sent (?:me|us|this))\b[^.!?:]{0,40}\Z",
    r"\b(?:mein\w*|unser\w*|der|die|das|ein\w*|jemand|er|sie) (?:\w+ )?(?:schreibt|schrieb|sagt|sagte|meint|meinte|fragt|fragte|postet|hat geschrieben)\b[^.!?:]{0,30}\Z",
    r"\b(?:m'écrit|m'a écrit|écrit|a écrit|dit|a dit|disait|raconte|demande)\b[^.!?:]{0,30}\Z",
    r"\b(?:me escribe|me escribió|escribe|escribió|dice|dijo|cuenta|pregunta)\b[^.!?:]{0,30}\Z",
    "(?:写道|说|写着|发来|留言|回复|问)\\s*\\Z",
)
# Alone before a colon they speak, if first-person words follow.
WROTE = _any(
    r"\W*(?:me|you|him|her|them|someone|somebody|(?:some|the|my|our|a|an|that|this) (?:[\w'-]+ ){0,4}?(?:guy|girl|woman|man|dude|kid|lady|person|neighbou?r|friend|boss|mum|mom|dad|mother|father|sister|brother|colleague|client|customer|user|student|teacher|ex|driver|narrator|hero|heroine|protagonist|caller|poster|wall|sign|fan|bot|assistant|landlord|landlady|aunt|uncle|cousin|wife|husband|son|daughter)\b[^:]{0,30})\Z",
)
FORWARDED = _any(
    r"^[^\n]{0,60}\b(?:forwarded|fwd|original|weitergeleitete?|transféré|reenviad[oa])[ -]*(?:message|mail|e-?mail|nachricht|mensaje|from|von)?\b[^\n]{0,60}",
    r"^\W*(?:-{2,}|_{2,}|={2,})\s*\w[^\n]{2,60}(?:-{2,}|_{2,}|={2,})",
    r"^\W*(?:on|am|le|el) [^\n]{4,60}\b(?:wrote|schrieb|a écrit|escribió)\s*:",
    r"转发(?:的)?(?:邮件|消息|信息)?\s*[:：]?",
)
FORWARDED = re.compile(FORWARDED.pattern, re.IGNORECASE | re.MULTILINE)
HEADER = re.compile(
    r"^\W*(?:from|to|cc|bcc|subject|sent|date|re|fwd?|von|an|betreff|gesendet|datum|de|à|objet|envoyé|para"
    r"|asunto|enviado|发件人|收件人|主题)\s*[:：]\s*\S[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
GREETING = re.compile(
    r"\W*(?:dear|hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings|to whom it may concern"
    r"|hallo|guten (?:tag|morgen|abend)|liebe[rs]?|sehr geehrte[rs]?|moin|servus|bonjour|bonsoir|salut"
    r"|ch(?:er|ère|ers|ères)|hola|buen[oa]s (?:días|tardes|noches)|querid[oa]s?|estimad[oa]s?|各位|亲爱的|尊敬的|你好|您好)\b"
    r"[^\n.!?]{0,40}?[,!，！:]",
    re.IGNORECASE,
)
SIGN_OFF = re.compile(
    r"(?:^|[.!?\n]\s*)(?:(?:with |my |all my |lots of |much )?(?:love|best|cheers|regards|best regards|kind regards|warm regards|best wishes"
    r"|yours(?: truly| sincerely| faithfully)?|sincerely|hugs|xoxo|kisses|take care|thanks(?: again)?|many thanks|respectfully)"
    r"|(?:viele|liebe|beste|herzliche|schöne|mit freundlichen) gr(?:ü|ue)(?:ß|ss)en?|lg|vg|mfg|gruß"
    r"|cordialement|bien à vous|amicalement|bises|bisous|à bientôt|saludos|un abrazo|un saludo|atentamente|besos)"
    r",?[ \t]*\n?[ \t]*[A-Z][\w.]*(?: [A-Z][\w.]*){0,2}(?: x+)?\s*(?:\Z|\n)",
    re.IGNORECASE | re.MULTILINE,
)
# Documents by their first line.
DOCUMENT = _any(
    r"\W*(?:chapter|kapitel|chapitre|capítulo|prologue|epilogue|act|scene|scène|escena|szene|verse|chorus|refrain|stanza|int\.|ext\.|fade in) ?(?:\d+|[ivxlc]+\b|one|two|three|:|\.)",
    r"\W*(?:minutes|agenda|memo|transcript|lebenslauf|curriculum vitae|résumé|resume|cv|steckbrief|protokoll|press release|abstract|job description|stellenanzeige|offre d'emploi|会议纪要|简历)\b[^\n.!?]{0,40}(?:\n|:)",
    r"第.{1,3}章",
)
# A game or a supposition: all that follows belongs to it.
FRAME = _any(
    r"\W*(?:(?:ok(?:ay)?|so|hey|please|now|right|alright|well|let's play)[,:.! ]+)*(?:(?:can|could|would) you )?(?:imagine|pretend|suppose|supposing|hypothetical\w*|let's (?:say|pretend|imagine|suppose|assume)|assume|assuming"
    r"|role-?play\w*|in (?:this|my|the|a) (?:\w+ )?(?:scenario|story|novel|game|dream|fantasy|script|play|fiction|book|campaign|universe)|for (?:my|the|a) (?:\w+ )?(?:novel|story|character|screenplay|script|play|game|campaign|fanfic|short story|book)"
    r"|my (?:\w+ )?(?:character|protagonist|persona|avatar|oc|npc|hero|heroine|villain|narrator)\b|what if|say (?:i'm|i am|i have|i had|i live|i work|we|my)\b|once upon a time|dear diary|act as|you are (?:now )?(?:a|an|my|the)\b|from now on you are"
    r"|in my dream|last night i dream(?:t|ed)|i dream(?:t|ed)|i had a dream)\b",
    r"\W*(?:stell dir vor|angenommen|nehmen wir an|tu so|rollenspiel|in meinem roman|für meinen roman|imagine|imaginons|supposons|suppose que|fais comme si|jeu de rôle|dans mon roman|imagina|supón|supongamos|finge|juego de rol|en mi novela)\b",
    r"\W*(?:假设|假如|想象|假装|角色扮演|扮演|如果)",
)
JOKE = _any(
    r"\b(?:just kidding|only kidding|i'm kidding|(?<!am i )kidding|jk|j/k|just joking|only joking|i'm joking|not really|april fools?|sarcasm|as if|in my dreams|i wish)\b\W*(?:\Z|[.!\n)])",
    r"(?:\s|\A)/s\b",
    r"\b(?:war nur (?:ein )?(?:spaß|witz)|nur spaß|kleiner scherz|je (?:rigole|plaisante)|c'est une blague|es broma|es una broma|estoy bromeando)\b|开玩笑|逗你(?:玩)?的",
)
PUZZLE = _any(
    r"\bhow (?:many|much|old|far|long|fast)\b[^.?]{0,40}\b(?:left|remain|do (?:i|we) have(?: now| left)?|does (?:he|she|\w+) have|are there|in total|altogether)\b[^.?]*\?",
    r"\bwhat (?:is|are) the (?:odds|probability|chances?|total|sum|answer|average)\b",
    r"\b(?:finish the joke|knock knock|walks? into a bar|riddle)\b",
)
# A line in which somebody speaks: "[10:02] Kofi: ...", "<mira> ...", "Agent: ...".
SPOKEN_LINE = re.compile(
    r"\s*(?:\d{1,2}[.)]\s*)?(?:[\[(]?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[ap]m)?[\])]?[ ,-]*)?(?:<[\w .-]{1,30}>|[\w][\w .'-]{0,24}(?: \([^)]{1,20}\))?:)\s+\S",
    re.IGNORECASE,
)
LOG_LINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d{1,2}:\d\d(?::\d\d)?\]? ?(?:-|<|\w[\w .-]{0,20}:)|\[?\d{1,2}[./]\d{1,2}[./]\d{2,4},? \d{1,2}:\d\d"
    r"|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b|<[\w-]{1,20}> \S)"
)
CODE_LINE = re.compile(
    r"[{\[]\s*\"[\w-]+\"\s*:|\"[\w-]+\"\s*:\s*[\"\[{\d]|\A\s*(?:--|//|#!|/\*|\*/|<!--)|\A\s*#(?=\s*\w+\s*[=:])"
    r"|\b(?:INSERT INTO|SELECT .{1,80} FROM|UPDATE \w+ SET|CREATE TABLE|DELETE FROM)\b"
    r"|=>|\bassert\b.*[=(]|\b(?:def|function|const|let|var|return|print|console\.log|expect|render|echo)\b[^.]{0,80}[({=]"
    r"|\w+\([^)]*[\"'][^)]*\)|\w+ ?= ?[\"'\[{]|;\s*\Z|\A\s*\w+,\w+,\w+|\A\s*\|.*\|\s*\Z|</?\w+>"
)
