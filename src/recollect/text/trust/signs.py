"""Signs that a text wants to steer a model: what they are called and how to see them.

A sign is a pattern, or several groups of words that must meet in one sentence; the groups hold
the words of many languages. A *strong* sign does not occur in what tools and pages ordinarily
say; the others are only reason enough to doubt a statement that somebody wants remembered.
Everything is matched against folded text: lower case, plain letters, single blanks. Every gap is
bounded, so that no text takes more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from recollect.text.trust.words import (
    DO_NOT_TELL,
    DO_THIS,
    IGNORE,
    INSTRUCTIONS,
    MODEL,
    PRIOR,
    SECRETS,
    SEND,
    SOMEWHERE,
    THE_USER,
    WHEN_USER,
    WITHOUT_TELLING,
)

SENTENCE_CHARACTERS_MAX = 160  # how far apart the words of one sign may stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    reason: str
    groups: tuple[str, ...]
    strong: bool = False


ORDERS = "gives orders to the model"
POSES = "poses as a system message"
ADDRESSES = "speaks to the model instead of stating something"
TOOLS = "names tools or commands to run"
LEAKS = "asks to give away secrets"
PLANTS = "wants to be remembered or repeated by the model"
TRIGGERS = "tells the model what to do on a later occasion"
GRANTS = "hands out permissions"
CONCEALS = "wants to be kept from the user"

SIGNS: tuple[Sign, ...] = (
    Sign(reason=ORDERS, strong=True, groups=(IGNORE, PRIOR, INSTRUCTIONS)),
    Sign(
        reason=ORDERS,
        strong=True,
        groups=(
            r"""\b(?:ignore|disregard|forget)\s(?:everything|all|anything|whatever)\s(?:that\s)?
            (?:above|before this|you(?:'ve| have| were)\s(?:been\s)?(?:told|instructed|taught
            |learned)|i said before|said above|prior to this)
            |\b(?:ignore|disregard)\sthe\s(?:above|system|developer)\b(?:\s(?:text|and|message
            |prompt|instructions?))?[\s.,:;]
            |\byou\sare\s(?:now\s)?no\slonger\s(?:bound|restricted|limited|required|an?\s(?:ai
            |assistant))
            |\byou\sare\snow\s(?:\w+\s){0,3}(?:unrestricted|unfiltered|jailbroken|uncensored|dan\b
            |in\s(?:developer|debug|god|admin|jailbreak)\smode)
            |\b(?:do\sanything\snow|jailbreak\smode|developer\smode\s(?:is\s)?(?:enabled|activated
            |output))\b
            |\bpretend\s(?:that\s)?you\s(?:have|had|are)\s(?:no\s|not\s
            |un)(?:\w+\s){0,2}(?:restrict|rules|guideline|filter|limit|bound)
            |\bsystem:\s?(?:you|ignore|from\snow|new|always|never|override|do\snot
            |the\s(?:assistant|user|model))\b""",
        ),
    ),
    Sign(
        reason=POSES,
        strong=True,
        groups=(
            r"""<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|begin_of_text
            |start_header_id|eot_id|end|start)\|>
            |\[/?inst\]|<</?sys>>|</?(?:system[_-]?(?:prompt|message|reminder|instructions?)?
            |developer[_-]?message|assistant_instructions?)>
            |[\[(*#=-]{1,4}\s?(?:system|admin|developer)\s(?:message|prompt|override|instructions?
            |notice|directive)\s?[\])*#=:-]
            |\bsystem\s(?:override|instructions?|directive|prompt)\s?:|\b(?:begin|end|start\sof
            |end\sof)\s(?:the\s)?(?:system|developer)\s(?:prompt|message|instructions?)\b
            |\bnew\s(?:system|developer)\s(?:prompt|instructions?|message|rules?)\b""",
        ),
    ),
    Sign(
        reason=LEAKS,
        strong=True,
        groups=(
            r"""\b(?:reveal|print|show|repeat|output|leak|disclose|display|expose|dump|quote|recite
            |return|write\sout|tell\s(?:me|us)|give\s(?:me|us))\b.{0,40}
            \b(?:your|the)\s(?:\w+\s){0,2}(?:system\sprompt|system\smessage|system\sinstructions?
            |initial\s(?:instructions?|prompt)|hidden\s(?:instructions?|prompt)|instructions\sabove
            |prompt\sverbatim)""",
        ),
    ),
    Sign(reason=LEAKS, strong=True, groups=(SEND, SECRETS, SOMEWHERE)),
    Sign(
        reason=ADDRESSES,
        strong=True,
        groups=(
            r"""\b(?:if|when|since|because|as)\syou(?:'re|\sare)\s(?:an?\s|the\s)?(?:ai
            |artificial\sintelligence|(?:large\s)?language\smodel|llm|ai\s(?:assistant|agent|model
            |system)|chatbot|automated\s(?:agent|system|assistant))
            (?:\s(?:assistant|agent|model|system|crawler))?(?:,|:|\s(?:and|or|that|reading
            |processing|summari[sz]ing|parsing|browsing|you|please|then|with|must|tasked)\b)
            |\b(?:attention|notice|note|instructions?|message|memo|important)[:,!]?\s(?:to
            |for)?\s?(?:all\s|any\s|the\s|every\s)*(?:ai|llms?|language\smodels?|ai\s(?:agents?
            |assistants?|models?|systems?|crawlers?)|chatbots?)(?:\s(?:agents?|assistants?|models?
            |systems?|reading\sthis|processing\sthis))*\s?[:!,-]
            |\b(?:ai|llm|language\smodel|assistant|agent|chatbot)s?\s(?:reading|processing|parsing
            |summari[sz]ing|indexing)\sthis\b""",
        ),
    ),
    Sign(reason=CONCEALS, strong=True, groups=(DO_NOT_TELL, THE_USER)),
    Sign(
        reason=PLANTS,
        strong=True,
        groups=(
            r"""\b(?:save|store|write|add|commit|persist|record|keep|put|insert|enter|log|remember
            |memori[sz]e)\b.{0,50}\b(?:to|in|into)\s(?:your|the\s(?:agent|assistant|ai|model
            |bot)(?:'s)?)\s(?:\S+\s){0,2}(?:memory|memories)\b
            |\bupdate\syour\s(?:long[- ]term\s)?(?:memory|memories|instructions)\b
            |\b(?:copy|repeat|include|reproduce|propagate|append|carry|insert|embed|preserve
            |restate)\s(?:this|these|the\s(?:above|following
            |present))\s(?:\w+\s){0,2}(?:instructions?|rules?|directives?|text|note|notice|message
            |paragraph|sentence)\b.{0,40}\b(?:every|each|all|any|future|verbatim|summar\w+)""",
        ),
    ),
    # From here on: enough to doubt a statement, not to doubt what a tool printed.
    Sign(
        reason=ORDERS,
        groups=(
            r"""\bfrom\snow\son\b[^.!?]{0,12}\b(?:you|always|never|ignore|respond|answer|reply|act|refer
            |call|the\s(?:assistant|ai|agent|model|bot)|only)\b
            |\b(?:henceforth|hereafter|going\sforward|starting\snow
            |effective\simmediately),?\s(?:you|always|never|the\s(?:assistant|ai|agent|model
            |bot))\b
            |\byou\s(?:must|will|shall|are\sto)\snow\b
            |\byour\s(?:new|real|true|actual|only)\s(?:task|instructions?|goal|mission|objective
            |role|purpose|persona|identity|rules?)\s(?:is|are|:)
            |\byou\sare\snow\s(?:an?|the|in|my|acting|operating|called|known)\b
            |\bact\sas\s(?:if\syou\sare\s)?(?:an?\s)?(?:un\w+|root|admin\w*|developer\smode|dan)\b
            |\bnew\s(?:instructions?|directives?|orders?|rules?)\s?:|\b(?:enter|enable|activate
            |switch\sto)\s(?:developer|debug|god|admin|jailbreak|unrestricted|dan
            |maintenance)\smode\b
            |\b(?:follow|obey|comply\swith|execute)\s(?:these|the\sfollowing|my|only\smy
            |the\snext)\s(?:\w+\s)?(?:instructions?|orders?|commands?|directives?)
            |\bsystem\sprompt\b|\bprompt\sinjection\b|\bhidden\sinstructions?\b""",
        ),
    ),
    Sign(
        reason=ORDERS,
        groups=(
            r"""\bab (?:jetzt|sofort)\b|\bvon nun an\b|\bà partir de maintenant\b|\bdésormais\b
            |\bdorénavant\b|\ba partir de (?:ahora|agora)\b|\bde (?:ahora|agora) en adelante\b
            |\bd'ora in (?:poi|avanti)\b|\bvanaf nu\b|\bod teraz\b|с этого момента|отныне|впредь
            |\bbundan sonra\b|\bşu andan itibaren\b|从现在(?:起|开始)|從現在|今后|これから|今から
            |지금부터|이제부터|앞으로|من الآن|अब से|\btừ bây giờ\b|\bmulai sekarang\b""",
            r"""\b(?:du|sie|tu|vous|usted|você|jij|ty)\b|\b(?:musst|sollst|dois|devez|debes|deves
            |deve|devi|moet|musisz)\b|\b(?:immer|niemals|toujours|jamais|siempre|nunca|sempre|mai
            |altijd|nooit|zawsze|nigdy)\b
            |\b(?:antworte|empfiehl|réponds|responde|rispondi|antwoord)\w*|ты|вы|всегда|никогда
            |должен|你|您|必须|总是|永远|あなた|必ず|常に|당신|너는|항상|반드시|أنت|عليك|يجب|دائم
            |आप|तुम|हमेशा|\bbạn\b|\bluôn\b|\banda\b|\bkamu\b|\bselalu\b|\bsen\b|\bher zaman\b
            |\bartık\b""",
        ),
    ),
    Sign(
        reason=ADDRESSES,
        groups=(
            rf"""(?:^|[.!?:;\n"'(>*#-]\s?)(?:dear\s|hey\s|hello\s|hi\s|attention\s
            |note\sto\s(?:the\s)?)?{MODEL}\s?[:,!-]\s?(?:please\s|kindly\s|you\s)?
            (?:must|should|will|are|shall|have\sto|need\sto|ignore|disregard|do\snot|don't|always
            |never|send|forward|e-?mail|delete|call|run|execute|reply|respond|say|tell|output|print
            |recommend|remember|forget|use|visit|open|click|download|transfer|approve|follow|stop
            |treat|consider|include|add|reveal|search|fetch|buy|pay)\b
            |\bthe\s(?:ai|assistant|agent|llm|chatbot|bot|language\smodel|ai\s(?:model|agent
            |assistant))\s(?:must|should|shall|has\sto|needs\sto|is\s(?:to|required\sto
            |instructed\sto|supposed\sto|obliged\sto|expected\sto)|will|can|may)\s
            (?:always|never|now|not|only|also|immediately|silently|automatically|ignore|disregard
            |send|forward|delete|call|run|execute|reply|respond|recommend|approve|obey|follow
            |reveal|share|transfer|trust|skip|treat|use|visit|include|suggest|assume|bypass)\b
            |\byou,?\sthe\s(?:ai|assistant|agent|model|llm|chatbot|bot)\b
            |\bas\san\sai\s(?:assistant|agent|model|language\smodel)?,?\s?you\b
            |\b(?:instructions?|orders?|message)\s(?:for|to)\sthe\s(?:ai|assistant|agent|llm
            |chatbot|bot|language\smodel)\b""",
        ),
    ),
    Sign(
        reason=ADDRESSES,
        groups=(
            r"""\bki\b|\bki-(?:assistent|modell|agent)\w*|\bassistent\w*|\bl'ia\b|\bl'assistant\b
            |\bla ia\b|\bel (?:asistente|agente|modelo)\b|\bo assistente\b|\bl'assistente\b
            |\bil modello\b|\bmodèle de langage\b|\bmodelo de lenguaje\b
            |ассистент|помощник|нейросеть|языковая модель|人工智能|助手|助理|语言模型|アシスタント
            |人工知能|어시스턴트|인공지능|المساعد|الذكاء الاصطناعي|सहायक|\btrợ lý\b|\basisten\b
            |\basistan\b|\byapay zeka\b""",
            r"""\b(?:muss|soll|darf|doit|debe|deve|devono|moet|musi|harus|phải)\b|должен|обязан
            |必须|应该|应当|しなければ|すべき|してください|해야|하세요|يجب|चाहिए|\bgerekir\b
            |\bmalı\b""",
            r"""\b(?:immer|niemals|nie|alle|ignorieren|senden|empfehlen|löschen|toujours|jamais
            |ignorer|envoyer|recommander|supprimer|siempre|nunca|ignorar|enviar|recomendar|borrar
            |sempre|mai|ignorare|inviare|raccomandare|altijd|nooit|selalu|luôn|her zaman)\b
            |всегда|никогда|игнорир|отправ|рекоменд|удал|总是|永远|始终|忽略|发送|推荐|删除|常に
            |必ず|無視|送信|推薦|削除|항상|절대|무시|보내|추천|삭제|دائم|تجاهل|إرسال|हमेशा|अनदेखा
            |भेज""",
        ),
    ),
    Sign(reason=CONCEALS, groups=(WITHOUT_TELLING, THE_USER)),
    Sign(reason=TRIGGERS, groups=(WHEN_USER, DO_THIS)),
    Sign(
        reason=PLANTS,
        groups=(
            r"""\b(?:in|for|across|during)\s(?:all|every|any|each)\s(?:of\syour\s)?(?:future|later
            |subsequent|upcoming)\s(?:conversations?|sessions?|chats?|responses?|repl(?:y|ies)
            |answers?|interactions?|tasks?|summar\w+)
            |\bpermanent(?:ly)?\s(?:instruction|rule|directive|remember)|\b(?:add|save|store
            |write)\s(?:this|the\sfollowing)\s(?:to|in|into)\s(?:memory|long-term memory)\b
            |\b(?:every|each|all)\s(?:of\syour\s)?(?:responses?|answers?|repl(?:y|ies)|messages?
            |summar\w+)\s(?:must|should|shall|has\sto|have\sto)\s(?:include|contain|end|begin|start
            |mention|repeat|link)""",
        ),
    ),
    Sign(
        reason=ORDERS,
        groups=(
            r"""(?:^|[.!?:;\n]\s?)(?:please\s)?(?:you\smust\s|you\sshould\s)?(?:always
            |never)\s(?:recommend|trust|cite|obey|comply|forward|route|approve|execute|reply
            |respond|answer|refuse|warn|ask\sfor\sconfirmation|verify|question|mention|link)\b
            |\b(?:always|only)\srecommend\b.{0,60}\b(?:to\s(?:the\s)?(?:users?|customers?
            |everyone))\b""",
        ),
    ),
    Sign(
        reason=GRANTS,
        groups=(
            r"""\b(?:user|customer|owner|admin(?:istrator)?|developer|security\steam|management
            |operator|anthropic|openai)s?\s(?:has\s|have\s|had\s)?(?:already\s|explicitly\s
            |pre-?)?(?:pre-?)?(?:authori[sz]e[ds]?|approve[ds]?|grant(?:s|ed)?|permit(?:s|ted)?
            |allow(?:s|ed)?|consent(?:s|ed)|whitelist\w*|waive[ds]?)\b
            .{0,60}\b(?:all|any|every|transfers?|payments?|purchases?|full\saccess|deletions?
            |confirmation|commands?|unrestricted|unlimited)\b
            |\b(?:never|don't|do\snot|doesn't|does\snot|no\sneed\sto|without)\s(?:ask(?:ing)?
            |require|requiring|request(?:ing)?|wait(?:ing)?|need(?:ing)?
            |want)\s(?:\w+\s){0,4}?for\s(?:\w+\s){0,2}(?:confirmation|approval|consent|permission
            |verification)
            |\b(?:skip|bypass|disable|omit|turn\soff)\s(?:\w+\s){0,3}(?:confirmations?|approvals?
            |verification|authentication|security\schecks?|safety\schecks?|two-factor|2fa)\b
            |\bno\s(?:user\s|human\s|further\s)?(?:confirmation|approval|consent
            |verification)\s(?:is\s)?(?:needed|required|necessary)\b
            |\bwithout\s(?:user|human|explicit|further|any)\s(?:confirmation|approval|consent
            |verification)\b
            |\b(?:the\s)?(?:agent|assistant|ai|bot|model)\shas\s(?:full|root|admin\w*
            |unrestricted)\s(?:\w+\s)?(?:access|rights|permissions?|privileges?)""",
        ),
    ),
    Sign(
        reason=TOOLS,
        groups=(
            r"""\b(?:use|call|invoke|run|execute|trigger|launch|issue)\s(?:the\s|your\s|this\s
            |a\s)?(?:mcp\s|internal\s)?[`'"“]?(?:\w+\.)?(?:[a-z]+_)+[a-z]+[`'"”]?(?:\s?\(|\s(?:tool
            |function|command|action|api|plugin|method|endpoint|with|to|on|and|for|now
            |immediately)\b|\s?[.!:]?\s?$)
            |\b(?:use|call|invoke|trigger)\s(?:the|your)\s(?:e-?mail|browser|search|shell|terminal
            |payments?|file|filesystem|calendar|memory|http|web|database|sql|bank\w*|slack|python
            |wallet|transfer|purchase|delete|admin)\s(?:\w+\s)?(?:tool|function|plugin|connector
            |mcp\sserver|api)\b
            |\b(?:call|invoke|run|execute)\s(?:the\s)?(?:tool|function|plugin|command)(?::\s?
            |\s)[`'"“]\w
            |<(?:tool_call|function_call|invoke|tool_use|antml:\w+)[\s>]|\b(?:tool_calls?
            |function_call)['"]?\s?:\s?[\[{]""",
        ),
    ),
    Sign(
        reason=TOOLS,
        groups=(
            r"""\b(?:curl|wget|iwr|invoke-webrequest)\b[^|\n]{0,200}\|\s?(?:sudo\s)?(?:ba|z|da
            |k)?sh\b|\b(?:ba|z)?sh\s(?:-c\s)?["'<$(\s]{1,4}(?:curl|wget)\b
            |\bpowershell\b.{0,80}\s-e(?:nc|ncodedcommand)?\s|\bbase64\s(?:-d
            |--decode)\b.{0,60}\|\s?(?:ba)?sh\b|\bcertutil\b.{0,30}-urlcache|/dev/tcp/
            |\bnc\s-[a-z]*e\b
            |\brm\s-[a-z]*r[a-z]*\s(?:--no-preserve-root\s)?["']?[~/*.$]|\bchmod\s(?:\+x
            |777)\b.{0,80}(?:;|&&)|\bmkfs\.|\bdd\sif=.{0,40}\sof=/dev/
            |\b(?:os\.system|subprocess\.\w+|__import__|child_process\.exec\w*|runtime\.getruntime
            |eval|exec)\(|\bdrop\s(?:table|database)\b|\bdelete\sfrom\s\w+\s?(?:;|where\s1)
            |\bjavascript:[a-z]|\bdata:text/html""",
        ),
    ),
    Sign(
        reason=LEAKS,
        groups=(
            r"""!\[[^\]\n]{0,200}\]\(https?://[^)\n?]{0,200}\?[^)\n]{0,200}(?:data|secret|token
            |user|history|conversation|chat|key|leak|exfil|[{<$\[])[^)\n]{0,200}\)
            |\b(?:append|include|attach|add|put|encode)\b.{0,60}\b(?:conversation|chat\shistory
            |user(?:'s)?\s(?:data|name|e-?mail)|secrets?|passwords?|api\skeys?)\b.{0,60}\b(?:url
            |link|image|query|parameter)\b""",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Group:
    """The alternatives of a group, arranged so that a search is quick: those that begin a word
    are tried at the beginnings of words only, those with foreign letters in foreign text only."""

    ascii: tuple[re.Pattern[str], ...]
    wide: tuple[re.Pattern[str], ...]

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        for pattern in self.ascii if text.isascii() else (*self.ascii, *self.wide):
            yield from pattern.finditer(text)

    def found_in(self, text: str) -> bool:
        return any(True for _ in self.finditer(text))


@cache
def compiled(group: str) -> Group:
    """Line breaks in a group are for the reader only; a blank may be a line break in the text."""
    written = re.sub(r"\n\s*", "", group).replace(" ", r"\s")
    alternatives = _alternatives(written)
    wide = [one for one in alternatives if _needs_foreign_letters(one)]
    return Group(
        ascii=_arranged([one for one in alternatives if one not in wide]), wide=_arranged(wide)
    )


def _needs_foreign_letters(alternative: str) -> bool:
    if alternative.isascii():
        return False
    choice = re.search(r"[|?\[]", alternative) is not None
    return not (choice and re.search("[A-Za-z]", re.sub(r"\\.", "", alternative)))


def _alternatives(pattern: str) -> list[str]:
    """What stands between the bars that are in no parenthesis or class."""
    parts = [""]
    depth = 0
    for piece in re.findall(r"\\.|\[(?:\\.|[^\]\\])*\]|.", pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _arranged(alternatives: list[str]) -> tuple[re.Pattern[str], ...]:
    words = [one.removeprefix(r"\b") for one in alternatives if one.startswith(r"\b")]
    others = [one for one in alternatives if not one.startswith(r"\b")]
    patterns = [rf"\b(?:{'|'.join(words)})"] if words else []
    patterns += ["|".join(others)] if others else []
    return tuple(map(re.compile, patterns))


def sign_in(folded: str, *, strong: bool) -> Sign | None:
    """The first sign that a folded text shows."""
    for sign in SIGNS:
        if (sign.strong or not strong) and _shows(folded, sign.groups):
            return sign
    return None


_STOP = re.compile(r"[.!?\n](?=\s|$)|[。！？]")


def _shows(text: str, groups: tuple[str, ...]) -> bool:
    first, *others = groups
    if not others:
        return compiled(first).found_in(text)
    for match in compiled(first).finditer(text):
        sentence = _sentence_around(text, match.start(), match.end())
        if all(compiled(group).found_in(sentence) for group in others):
            return True
    return False


def _sentence_around(text: str, start: int, end: int) -> str:
    low = max(0, start - SENTENCE_CHARACTERS_MAX)
    high = min(len(text), end + SENTENCE_CHARACTERS_MAX)
    for stop in _STOP.finditer(text, low, start):
        low = stop.end()
    stop_after = _STOP.search(text, end, high)
    return text[low : stop_after.start() if stop_after else high]
