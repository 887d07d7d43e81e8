"""What a speaker asks for outright: to remember something, to behave in some way, or what they
settled on. In five languages, and kept in their own words where rewriting could go wrong."""

from __future__ import annotations

import re

from recollect.text.claims.lessons import Claim, Lesson
from recollect.text.claims.rewrite import dated, framed, trimmed
from recollect.text.claims.sentences import Sentence
from recollect.text.claims.statements import Said, entities_in
from recollect.text.dates.expressions import time_spans

_REMEMBER = re.compile(
    r"(?:(?:please|pls|also|and|so|ok|okay|hey|fyi),? )*(?:can you |could you |i want you to "
    r"|i'd like you to |you should |do )?(?:please )?(?:"
    r"(?:remember|note|keep in mind|bear in mind|don't forget|do not forget|memorize|take note"
    r"|make a note|for the record|save|store)(?: this| the following)?(?:,? that |: ?| - )"
    r"|(?:remember|note|don't forget),? (?=(?:I|my|we|our|the)\b)"
    r"|fyi[,:]? (?=(?:I|my|we|our|the)\b))(?P<en>.{4,})"
    r"|(?:bitte )?(?:merke? dir|denke? daran|vergiss nicht|notiere?)(?: bitte)?(?:,? dass |: ?"
    r"|, )(?P<de>.{4,})"
    r"|(?:s'il te plaît,? )?(?:souviens-toi|rappelle-toi|n'oublie pas|note|notez|retiens)(?: bien)?"
    r"(?: que | qu'| ?: ?)(?P<fr>.{4,})"
    r"|(?:por favor,? )?(?:recuerda|acuérdate|no olvides|ten en cuenta|anota"
    r"|apunta)(?: de)?(?: que |: ?)(?P<es>.{4,})"
    r"|(?:请|請|麻烦)?(?:你)?(?:帮我)?(?:记住|記住|记得|别忘了|记一下"
    r"|记下)(?:这个)?[，,：: ]?(?P<zh>.{3,})",
    re.IGNORECASE | re.DOTALL,
)
_STANDING_EN = (
    r"(?:always|never|from now on|in (?:the )?future|going forward|from here on|every time|whenever"
    r"|by default|until further notice)"
)
_VERBS_EN = (
    r"(?:(?:please |don't |do not |stop )?(?:answer|answering|reply|replying|respond|responding"
    r"|write|use"
    r"|using|address|call|refer|format|cite|translate|include|avoid|summari[sz]e)|(?:give|send"
    r"|show|tell|ask|remind)"
    r" me|keep (?:your|answers|replies|responses|it short)|speak|talk to me|explain)"
)
_REQUEST = re.compile(
    rf"(?:please |ok,? |okay,? |and )?(?:{_STANDING_EN},? ){{1,2}}(?:please )?{_VERBS_EN}\b.+"
    rf"|(?:please )?{_VERBS_EN}\b.* {_STANDING_EN}\b.*"
    r"|(?:please )?(?:answer|reply|respond|speak|talk)(?: to me)? (?:only )?(?:in (?:English|German"
    r"|French|Spanish|Chinese|Italian|Japanese|Portuguese|Russian|Dutch|bullet points"
    r"|short sentences)|briefly|concisely)\b.*"
    r"|(?:please |just |you can )?call me [A-Z]\w+\b.*"
    rf"|(?:I want you to|I'd like you to|I need you to|you should"
    rf"|you must) (?:please )?{_STANDING_EN} .+"
    r"|(?:bitte )?(?:(?:ab jetzt|von (?:jetzt|nun) an|ab sofort|künftig|in zukunft),? (?:bitte )?)?"
    r"(?:antworte|schreibe?|nenne?|sprich|verwende|benutze|gib|mach|sage?|fasse?)\b.*\b(?:immer"
    r"|nie|niemals|ab jetzt|künftig|stets|auf deutsch|auf englisch|in zukunft|mich)\b.*"
    r"|(?:bitte )?(?:ab jetzt|von (?:jetzt|nun) an|ab sofort|künftig|in zukunft),? .*\b(?:antworte"
    r"|schreibe?|nenne?|sprich|verwende|benutze|gib|mach)\b.*"
    r"|(?:(?:désormais|dorénavant|à partir de maintenant|à l'avenir),? )?(?:réponds|répondez|écris"
    r"|écrivez|utilise|utilisez|parle|parlez|sois|donne)(?:-moi)?\b.*\b(?:toujours|jamais|désormais"
    r"|dorénavant|en français|en anglais|maintenant)\b.*"
    r"|(?:désormais|dorénavant|à partir de maintenant|à l'avenir),? (?:réponds|répondez|écris"
    r"|utilise|parle)\b.+"
    r"|(?:a partir de ahora|de ahora en adelante|siempre),? (?:por favor,? )?(?:responde|contesta"
    r"|escribe|usa|habla|llámame)\b.+|(?:por favor,? )?(?:responde|contesta|escribe|usa"
    r"|habla)(?:me)?\b.*\b(?:siempre|nunca|en español)\b.*"
    r"|(?:请|请你)?(?:以后|从现在起|从现在开始|今后).{0,6}(?:回答|回复|用|叫我|称呼|说|写|不要"
    r"|别).*|(?:请|请你)?(?:一直|总是|永远|始终|都)用.{1,8}(?:回答|回复|写).*",
    re.IGNORECASE,
)
_CALLED = re.compile(r"\b[Cc]all me (?P<name>[A-Z]\w+)")
_ANSWERS_IN = re.compile(
    r"\b(?:answer|reply|respond|write|speak|talk|antworte|schreibe?|sprich|réponds|répondez|parle"
    r"|responde|contesta|habla)\b.*?\b(?:in|auf|en) (?P<language>[^\W\d_]{4,12})\b"
    r"|用(?P<zh>[\u3400-\u9fff]{2})(?:回答|回复)",
    re.IGNORECASE,
)
_TONGUES = {
    word: tongue
    for tongue, words in {
        "english": "english englisch anglais inglés 英文 英语",
        "german": "german deutsch allemand alemán 德语 德文",
        "french": "french französisch français francés 法语 法文",
        "spanish": "spanish spanisch espagnol español 西班牙语",
        "chinese": "chinese chinesisch chinois chino 中文 汉语",
        "italian": "italian italienisch italien italiano",
        "japanese": "japanese japanisch japonais japonés 日语 日文",
        "portuguese": "portuguese portugiesisch portugais portugués",
        "russian": "russian russisch russe ruso 俄语",
        "dutch": "dutch niederländisch néerlandais neerlandés",
    }.items()
    for word in words.split()
}
_DECISION = re.compile(
    r"(?:(?:ok|okay|so|alright|right|yes|then|good|great|fine|anyway),? )*(?:"
    r"(?:let's|let us) (?P<pick>(?:go with|use|stick with|switch to|pick|choose|adopt"
    r"|keep using) .+)"
    r"|we(?:'ll| will| are going to|'re going to) (?P<will>(?:go with|use|stick with|switch to"
    r"|migrate to|adopt|drop) .+)"
    r"|we(?:'ve| have)? (?:finally |just |now )?(?:decided|agreed) (?P<decided>(?:to|on|against"
    r"|that|not to) .+)"
    r"|we(?:'ve| have)? (?:finally |just )?(?P<chose>(?:chose|chosen|settled on|opted for"
    r"|went with) .+)|(?:the |our )?(?:final )?decision(?: is)?:? (?:to )?(?P<noun>.{4,}))",
    re.IGNORECASE,
)
_DECISION_ELSEWHERE = re.compile(
    r"\bwir haben (?:uns (?:für|gegen|dafür)|beschlossen|entschieden)"
    r"|\bwir haben .{2,60} (?:beschlossen|entschieden)\b"
    r"|\bwir (?:nehmen|verwenden|nutzen|bleiben bei) (?:ab jetzt|jetzt|nun)?\b.*[A-Z]"
    r"|\b(?:nous avons|on a) (?:décidé|choisi|opté)|\bon (?:va utiliser|part sur)\b"
    r"|\b(?:hemos|habemos) (?:decidido|elegido|optado)|\bdecidimos\b|\bvamos a usar\b"
    r"|我们(?:已经|最后|最终)?(?:决定|选择了|选定|就用)",
    re.IGNORECASE,
)
_POINTED = re.compile(r"\b(?:it|this|that|them|you|your|these|those)\b", re.IGNORECASE)
# "Remember that you are loved" is a kind word, nothing to keep.
_ADVICE = re.compile(
    r"(?:I'm (?:always )?here|I am here|I believe|you|you're|your|it|it's|there|there's|this|that"
    r"|life|every|everyone|we all|\w+ing)\b",
    re.IGNORECASE,
)
_ADVISED = re.compile(r"\byour?\b(?! (?:told|asked|promised))", re.IGNORECASE)
_PERSONAL = re.compile(r"\b(?:I|me|my|mine|we|us|our|you|your|I'm|I've)\b")


def remembered(text: str) -> str:
    """What a sentence asks to remember; empty if it asks for nothing of that kind."""
    found = _REMEMBER.match(text)
    content = next((part.strip() for part in found.groups() if part), "") if found else ""
    return "" if _ADVICE.match(content) or _ADVISED.search(content) else content


def remembered_as_said(content: str, said: Said) -> Lesson:
    """The lesson of "remember that ..." where no rule reads what follows."""
    spans = time_spans(content, said.at)
    if _PERSONAL.search(content) or not content.isascii():
        text = framed(content, said.speaker, spans, verb="asked to remember")
    else:
        words = dated(content.rstrip(" ."), spans)
        text = f"{words[:1].upper()}{words[1:]}."
    return Lesson(
        text=text,
        messages=(said.message,),
        confidence=0.95,
        importance=0.9,
        tags=("remember",),
        entities=entities_in(text, None, said.speaker),
    )


def request_in(sentence: Sentence, said: Said) -> Lesson | None:
    """A standing wish about how the assistant should behave."""
    if sentence.question or len(sentence.text) > 240:
        return None
    text = sentence.text.strip()
    if not _REQUEST.match(text):
        return None
    return Lesson(
        text=framed(text, said.speaker, verb="asks"),
        messages=(said.message,),
        type="user_request",
        claim=_request_claim(text, said),
        confidence=0.9,
        importance=0.85,
        tags=("request",),
        entities=(said.speaker.name,) if said.speaker.name else (),
    )


def _request_claim(text: str, said: Said) -> Claim | None:
    if found := _CALLED.search(text):
        return _exclusive(said, "called", found["name"].casefold())
    if found := _ANSWERS_IN.search(text):
        tongue = _TONGUES.get((found["language"] or found["zh"]).casefold())
        if tongue:
            return _exclusive(said, "answers-in", tongue)
    return None


def _exclusive(said: Said, slot: str, value: str) -> Claim:
    return Claim(subject=said.speaker.key, slot=slot, value=value, exclusive=True)


def decision_in(sentence: Sentence, said: Said) -> Lesson | None:
    """What a group settled on."""
    if sentence.question:
        return None
    found = _DECISION.match(sentence.text)
    if found is None:
        if not _DECISION_ELSEWHERE.search(sentence.text):
            return None
        return _decided(
            framed(sentence.text, said.speaker, time_spans(sentence.text, said.at)), said
        )
    kind, words = next((name, part) for name, part in found.groupdict().items() if part)
    words = trimmed(words)
    if _POINTED.search(words) or len(words.split()) < 2 or _PERSONAL.search(words):
        return None
    words = dated(words, time_spans(words, said.at))
    start = "It was decided" if kind == "decided" else "Decision:"
    return _decided(f"{start} {words}.", said)


def _decided(text: str, said: Said) -> Lesson:
    return Lesson(
        text=text,
        messages=(said.message,),
        confidence=0.8,
        importance=0.7,
        tags=("decision",),
        entities=entities_in(text, None, said.speaker),
    )
