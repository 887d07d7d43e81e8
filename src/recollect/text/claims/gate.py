"""Is a turn worth learning from? Quick heuristics, before anything is read closely."""

from __future__ import annotations

import re

from recollect.text.claims.values import Gated
from recollect.types import Message

LONG_PASTE_CHARACTERS = 6000
SHORT_CHARACTERS = 60
NO_WORDS = "no words"

_LETTER = re.compile(r"[^\W\d_]")
_SMALL_TALK = re.compile(
    r"(?:[^\w\u3400-\u9fff]*\b(?:hi|hello|hey|hiya|yo|thanks|thank you|thx|ty|cheers|ok|okay|k|kk"
    r"|yes|no|yep|yeah|yup|nope|sure"
    r"|cool|great|nice|perfect|awesome|wow|bye|goodbye|see you|see ya|good (?:morning|night"
    r"|evening|afternoon|day|job|luck)"
    r"|lol|haha+|hehe+|rofl|lmao|hmm+|um+|uh+|oh|ah|got it|sounds good|makes sense|no problem"
    r"|no worries|you're welcome"
    r"|welcome|well done|exactly|right|correct|indeed|agreed|understood|alright|fine|done|please"
    r"|sorry|a lot|so much"
    r"|very much|that's|it's|that|was|is|this|really|very|helpful|good|amazing|lovely|great work"
    r"|go on|continue|next|stop|how are you"
    r"|what's up|for|your|the|help|everything|all|again|there|everyone|friend|then|too|talk|to|you"
    r"|soon|later|take|care|have|a|day"
    r"|hallo|moin|servus|danke|dankeschön|bitte|ja|nein|gut|super|toll|prima|alles|klar|tschüss"
    r"|guten|morgen|tag|abend|schön|sehr|dir"
    r"|ihnen|vielen|dank|das|hat|geholfen|genau|stimmt|passt|bonjour|salut|merci|beaucoup|oui|non"
    r"|d'accord|parfait|c'est|bien|au revoir"
    r"|bonne|soirée|journée|super|top|très|de rien|coucou|hola|gracias|muchas|muchísimas|sí|vale"
    r"|perfecto|genial|adiós|buenos|buenas"
    r"|días|tardes|noches|de|nada|por|todo|muy|bien|estupendo|claro)\b)+[^\w\u3400-\u9fff]*\Z"
    r"|(?:[^\w]*(?:你好|您好|谢谢|谢谢你|多谢|好的|好|嗯|哦|是的|对|不客气|再见|早上好|晚上好|晚安|哈+|没问题|知道了|明白了|可以|行|太好了|太棒了|了"
    r"|你|啊|呀))+[^\w]*\Z"
    r"|(?:[^\w]*(?:привет|спасибо|ок|да|нет|ciao|grazie|obrigad[oa]|olá|こんにちは|ありがとう"
    r"|はい))+[^\w]*\Z",
    re.IGNORECASE,
)
_CODE_LINE = re.compile(
    r"^\s*(?:[{}()\[\];]+|(?:def|class|import|from|return|if|for|while|const|let|var|function"
    r"|public|private|static"
    r"|#include|package|func|fn|use|using|SELECT|INSERT|UPDATE|CREATE|export|async|await|try|catch"
    r"|else|elif)\b.*"
    r"[:;{}()=]\s*|.*[;{}]\s*|<[^>]+>.*|\s*at [\w.$<>]+\(.*|File \".*|Traceback.*|[\w.]*(?:Error"
    r"|Exception)\b:.*"
    r"|\$ .*|>>> .*|\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE)\b.*"
    r"|[+\-]{1,3} ?[\w/.]+.*|\"[\w\-]+\": .*)$",
    re.MULTILINE,
)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SELF = re.compile(
    r"\b(?:I|i|me|my|mine|we|our|us|I'm|I've|ich|mein\w*|mir|mich|wir|uns\w*|je|j'|mon|ma|mes|moi"
    r"|nous|notre|yo|mi|mis|me|nos"
    r"|nuestr[oa]|vivo|soy|tengo|trabajo|hemos)\b|我|remember|always|never|from now on|merk|immer"
    r"|souviens|rappelle|toujours|recuerda|siempre|记住|以后",
    re.IGNORECASE,
)
_WEIGHTY = re.compile(
    r"\b(?:remember|don't forget|always|never|from now on|allergic|my name|i live|i moved|birthday"
    r"|decided|actually"
    r"|correction|i meant|prefer|favou?rite|i hate|i love|deadline|merk dir|ab jetzt|allergisch"
    r"|heiße|wohne|lieblings\w*"
    r"|rappelle-toi|m'appelle|habite|préfér\w*|recuerda|me llamo|vivo|favorit[oa])\b"
    r"|记住|我叫|住在|过敏|最喜欢",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[.!。！\n]")


def gate(message: Message) -> Gated:
    """Whether to learn from the message. Corrections, tastes, requests and facts pass; what is
    no statement of a person does not. See ``Gated``."""
    reason = _not_a_person(message) or _no_text(message.text)
    if reason:
        return Gated(skip=reason, importance=0.0)
    text = message.text.strip()
    if _is_small_talk(text):
        return Gated(skip="small talk", importance=0.0)
    if len(text) > LONG_PASTE_CHARACTERS:
        return Gated(skip="long paste", sure=False, importance=0.2)
    if _is_code(text):
        return Gated(skip="code or log", importance=0.1)
    if _is_only_question(text):
        return Gated(skip="question", sure=not _SELF.search(text), importance=0.2)
    if message.role == "assistant":
        return Gated(sure=False, importance=0.3)
    return Gated(sure=bool(_SELF.search(text)), importance=_importance(text))


def _not_a_person(message: Message) -> str:
    if message.role in ("system", "developer"):
        return "instructions of the application"
    if message.role in ("tool", "function") or message.source in ("tool", "web", "file"):
        return "not said by a person"
    return ""


def _no_text(text: str) -> str:
    if not text.strip():
        return "empty"
    return "" if _LETTER.search(text[:LONG_PASTE_CHARACTERS]) else NO_WORDS


def _is_small_talk(text: str) -> bool:
    return len(text) <= SHORT_CHARACTERS and bool(_SMALL_TALK.match(text))


def _is_code(text: str) -> bool:
    prose = _FENCED.sub("", text) if "```" in text else text
    if not _LETTER.search(prose):
        return True
    lines = [line for line in prose.splitlines() if line.strip()]
    if len(lines) < 3:
        return False
    code = sum(1 for line in lines[:200] if len(line) < 500 and _CODE_LINE.match(line))
    return code * 2 > min(len(lines), 200)


def _is_only_question(text: str) -> bool:
    """One question and nothing else."""
    return text.endswith(("?", "？")) and not _MARKS.search(text.rstrip("?？!"))


def _importance(text: str) -> float:
    if _WEIGHTY.search(text):
        return 0.8
    return 0.5 if _SELF.search(text) else 0.3
