"""Does a statement say that something is over, or is otherwise now?

The words alone do not say what the change is about; that is for whoever compares it with what is
known (``lifecycle.merge.changes``). A cue is strong if it says a change by itself ("sold",
"switched to"), and weak if a statement may have it without any change ("now", "new").
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from recollect.text.claims.clauses import expanded

ChangeKind = Literal["", "ends", "changes", "may change"]


class Change(NamedTuple):
    """``kind`` is "" where nothing changes; ``cue`` are the words that say it."""

    kind: ChangeKind
    cue: str = ""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_ENDS = _any(
    r"\bno longer\b",
    r"\b(?:not|never|n't)\b.{0,60}?\b(?:any ?more|any longer)\b|\bany ?more\b",
    r"\bno more \w+|\bno \w+ (?:any ?more|since|for me)\b",
    r"\b(?:gave|given|giving|give) up\b|\bquit(?:ting)?\b|\bresigned\b|\bhanded in (?:my|our|his|her|their) notice\b|\bgave (?:in )?(?:my |our )?notice\b",
    r"\b(?:have |has |had )?(?:stopped|ceased)\b|\bcan stop\b|\bstop(?:ped)? (?:using|taking|doing|going|having|being)\b",
    r"\bdropped (?:out|the|my|our|it|that|all)\b|\bcancel+ed\b|\bcalled off\b|\bended\b|\bcame to an end\b|\bscrapped\b|\bunsubscribed\b|\bdiscontinued\b",
    r"\b(?:is|are|was|were) (?:now |finally |officially |all |long )?(?:over|gone|history|dead|done with|behind (?:me|us)|no more|finished for good)\b",
    r"\bsold\b|\bgot rid of\b|\bgave away\b|\bgave .{1,30} away\b|\bhanded .{1,30} back\b|\breturned (?:the|my|our|it)\b|\bwent back to the\b|\bthrew (?:out|away)\b|\bscrapped\b|\bparted (?:ways )?with\b|\brehomed\b|\bdonated\b",
    r"\b(?:was|were|got|been|had) (?:\w+ ){0,3}stolen\b|\bwrote off\b|\btotal+ed\b",
    r"\bbr(?:oke|oken|eak) up\b|\bsplit up\b|\b(?:have|has|had|we|and i|and me) split\b|\bseparated\b|\bdivorced?\b|\bex(?:-| )(?:husband|wife|boyfriend|girlfriend|partner)\b|\bcalled (?:it|things) off\b|\bdumped\b|\bended things\b",
    r"\bdied\b|\bpassed (?:away|on)\b|\bput (?:down|to sleep)\b|\bis dead\b|\bcrossed the rainbow\b|\bdidn't make it\b|\bdid not make it\b|\blost (?:our|my|him|her|the) (?:\w+ )?(?:dog|cat|pet|mother|father|mum|mom|dad|rabbit|horse|job|gran\w*)\b|\b(?:fox|hawk|badger|thief|thieves|burglars?) (?:got|took|killed|stole)\b",
    r"\bleft (?:the|my|our|his|her|their|[A-Z]\w+|for good|school|work)\b|\bhas left\b|\b\w+ left(?=[,.;!]|\Z| for\b| in\b| last\b| at the end)|\bhave left\b|\bmoved (?:out|away)\b|\blet (?:\w+ ){1,3}go\b|\blaid off\b|\b(?:was|were|got|been) (?:fired|sacked|let go|made redundant|laid off|axed)\b|\bfired me\b|\bsacked me\b|\bmade redundant\b|\bshut down\b|\bclosed down\b|\bwent bust\b|\bfolded\b|\blost my job\b",
    r"\b(?:pulled|backed|dropped|bowed|opted) out\b|\boutgr[eo]w\w*\b|\bgr[eo]wn? out of\b|\b(?:gone|went|gone right) off\b|\bgot (?:boring|tired of|sick of|over)\b|\bhealed\b|\brecovered from\b|\bcured\b|\bfree of\b|\bin remission\b|\bwithout (?:aids|crutches|a stick|glasses|them)\b",
    r"\bretired\b|\bdisbanded\b|\bdissolved\b|\bdecommissioned\b|\bdeprecated\b|\bexpired\b|\bran out\b|\bfell through\b|\bwent home\b|\bis history\b|\bkicked (?:out|the habit)\b|\bno \w+ing since\b|\bput .{1,30} on hold\b|\bon hold\b|\bpaused\b|\blapsed\b|\bdeleted my\b|\bditched\b",
    r"\b(?:stepped|stood|gone) down\b|\bclosed (?:my|our|the|down|his|her|their)\b|\btook (?:me|us|him|her|them) off\b|\b(?:came|come|went|gone|am|is|are|been|got) off (?:the |my )?(?!to\b|on\b)\w+|\bdisband\w*\b|\bshaved\b|\bran (?:away|off)\b|\bescaped\b|\bvanished\b|\bdisappeared\b|\bburn(?:ed|t) down\b|\bcrashed\b|\bwrecked\b|\bbroke (?:down|beyond|for good)\b|\bmy \w+ broke\b|\bremoved\b|\btook .{1,30} (?:down|out|off|apart)\b|\btook (?:down|out) the\b|\btore (?:down|out)\b|\bdemolished\b|\buninstalled\b|\bdeactivated\b|\bblocked\b|\bunfriended\b|\bfell (?:out|apart)\b|\bfailed (?:the|my|our)\b|\bflunked\b|\bbow(?:ed)? out\b|\bwithdr[ae]wn?\b|\bbroke (?:it |things )?off\b|\bphased out\b|\bsunset\b|\babolished\b|\bbanned\b|\bovercame\b|\bgot over\b|\bkilled\b|\bburied\b|\bcremated\b|\b(?:did not|didn't|not) survive\b|\bnot survive\b|\bhanded (?:in|over)\b|\bturned in\b|\bterminated\b|\brevoked\b|\bhad to (?:stop|sell|quit|give|rehome|let|leave|drop|close|cancel|end)\b|\bworn? out\b|\bwore out\b|\bkaput\b|\bdefended my\b|\bcan (?:not|'t) .{1,30} any ?more\b|\b(?:after all)\b|\bturns out\b|\bcut ties\b|\bcut off\b|\bno contact\b|\bkicked\b|\bgave .{1,20} the boot\b|\bwe're done\b|\bout of a job\b|\bout of work\b|\bthrough with\b|\bover it\b|\bmade peace\b",
    r"\bused to\b",
)
_CHANGES = _any(
    r"\bswitch(?:ed|ing)\b|\bchanged\b|\bswapped\b|\btraded\b|\breplaced\b|\brenamed\b|\brebranded\b|\bupgraded\b|\bdowngraded\b|\btransferred\b|\bmigrated\b|\bconverted to\b|\bported\b|\brewr(?:ote|itten)\b|\bfailed over\b|\btook over\b|\btaken over\b|\btakes over\b",
    r"\bmoved (?:\w+ )?(?:to|into|in|from|back|everything|over|house|the|our|my|up|down|on)\b|\brelocated\b|\bmade the move\b|\b(?:has|have|was|were|been|got) moved\b|\bmoving (?:in|into)\b",
    r"\b(?:got|been|was|were) promoted\b|\bpromoted\b|\bdemoted\b|\breorg\b",
    r"\b(?:raised|bumped|increased|upped|cut|lowered|reduced|shortened|extended|pushed|brought|put|set|doubled|halved|slashed)\b.{1,60}? (?:to|from|up to|down to|back to|forward to|at) ",
    r"\b(?:postponed|rescheduled|delayed|slipped|pushed back|brought forward|moved|put off|shifted)\b.{0,30}\b(?:to|until|by|for)\b",
    r"\bturned (?:\d+|thirty|forty|fifty|sixty|seventy|eighty|twenty|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|one|two|three|four|five|six|seven|eight|nine)\b|\b\w+(?:st|nd|rd|th) birthday\b|\b(?:seventh|sixth|fifth|fourth|third|second|first|eighth|ninth|tenth) birthday\b",
    r"\b(?:became|become|becoming)\b|\bgot (?:re)?married\b|\b(?:re)?married (?:on|in|last|yesterday|at)\b|\bgot engaged\b|\bsaid yes\b|\btied the knot\b|\bgot (?:back )?together\b|\bseeing someone\b|\bin a relationship\b|\bdating\b",
    r"\bas of (?:today|now|last|this|next|\w+ \d|monday|tuesday|wednesday|thursday|friday|january|february|march|april|may|june|july|august|september|october|november|december)\b|\bfrom now on\b|\bstarting (?:today|tomorrow|monday|next|in|from)\b|\bfor good\b|\brather than\b|\binstead(?: of)?\b|\bdown to \w+|\bback to \w+",
    r"\bdecided (?:to|on|against)\b|\bis now\b|\bare now\b|\bam now\b|\bnow (?:i|we|my|our|it|he|she|they)\b",
    r"\b(?:was|were|been|is|just) born\b|\barrived\b.{0,40}\b(?:baby|girl|boy|twins)\b|\bbaby .{0,30}arrived\b|\bour (?:second|third|fourth|fifth|newest)\b|\bhad (?:a|our|the|my) (?:baby|son|daughter|twins|second|third|first)\b|\bgave birth\b",
    r"\b(?:have|has|'ve) started \w+ing\b|\bhas been (?:replaced|renamed|moved|changed|raised|cut|extended|cancel+ed)\b|\bwent (?:vegan|vegetarian|freelance|part[- ]time|full[- ]time|back|remote|solo|private|public|up|down|over) ?\b|\b(?:took|accepted|found|landed|got|start(?:ed|ing)?) (?:a|an|the|my) (?:\w+ )?(?:job|position|role|offer|post|placement|apprenticeship)\b|\b(?:and \w+|we) (?:are|got|have been) (?:engaged|married|divorced|separated)\b|\b(?:come|grown|learned|started) to (?:love|like|hate|enjoy)\b|\bgot into\b|\bpulled (?:forward|ahead|back)\b|\b(?:rose|fell|dropped|climbed|grew|shrank|shrunk|jumped) to\b|\bput in (?:a|an|the)\b|\binstalled\b|\bdyed\b|\bcut (?:my|his|her|their) hair\b|\bgave (?:the|my|our) .{1,30} to\b|\bpassed (?:my|the|his|her) (?:\w+ )?(?:test|exam|licen[cs]e)\b|\b(?:learned|learnt) (?:to|how)\b|\bturning \d+\b|\bjust turned\b|\bhad (?:a|her|his) (?:boy|girl|baby)\b|\bextension\b|\ba raise\b|\bgot a raise\b|\blost weight\b|\bto replace\b|\bmoved up\b|\bsettled (?:in|down|on)\b|\bwent with\b|\bopted for\b|\bour own\b|\ba different\b|\bup to \d\b|\bgained\b|\bimproved\b|\bworsened\b|\bmade (?:partner|manager|captain|director)\b|\belected\b|\bappointed\b|\bsucceeded\b|\badopted\b.{0,30}\bfor (?:keeps|good)\b|\bgot a (?:new|different)\b|\bbought (?:a|an|our) (?:new|house|flat|place|apartment)\b|\bmoved on to\b|\bgraduated\b|\bcame out of\b|\bjoined\b|\bsigned with\b|\bsigned up with\b",
)
_MAY = _any(
    r"\bnow\b|\bnowadays\b|\bthese days\b|\bsince\b|\bagain\b|\A\W*new\b|\b(?:my|our|his|her|their|a|have|has|got) new\b|\bnewly\b|\bfinally\b|\bstarted\b|\bbegan\b|\bjust got\b|\bmeanwhile\b|\bby now\b|\bthis year\b|\bthis month\b|\bafter (?:the|my|our)\b|\bhired\b|\bfor (?:two|three|four|five|six|a few|\d+) (?:days|weeks|months)\b",
)
_ENDS_ELSEWHERE = _any(
    r"\bnicht mehr\b|\bkeine?[nmrs]? .{0,30}\bmehr\b|\bgekündigt\b|\bgetrennt\b|\bgeschieden\b|\bgestorben\b|\bverstorben\b|\btot\b|\beingeschläfert\b|\bverkauft\b|\baufgehört\b|\baufgegeben\b|\babgeschafft\b|\babgesagt\b|\bgeklaut\b|\bgestohlen\b|\bweggelaufen\b|\babgebrochen\b|\bkaputt\b|\bausgetreten\b|\babgemeldet\b|\bgeschlossen\b|\babgesetzt\b|\bschließt\b|\bstillgelegt\b|\baufgelöst\b|\bvorbei\b|\bausgezogen\b|\bentlassen\b|\bin rente\b|\bpensioniert\b|\bschluss\b|\bbeendet\b|\babgegeben\b|\bfällt (?:aus|weg)\b|\bverloren\b",
    r"\bne .{1,40}\bplus\b|\bn'.{1,40}\bplus\b|\bplus (?:de|d'|du|jamais)\b|\bpas .{0,30}\bplus\b|\bquitté\b|\bdémissionné\b|\bvendue?s?\b|\bmort[es]*\b|\bdécédée?\b|\bfini\b|\barrêtée?\b|\brompu\b|\bséparée?s?\b|\bdivorcée?s?\b|\bannulée?\b|\bcassée?\b|\bfermée?\b|\bperdue?\b|\bjeté\w*\b|\bdonnée?\b|\bsupprimée?\b|\benfuie?\b|\bterminée?\b|\bvirée?\b|\blicenciée?\b|\bà la retraite\b|\bprendre sa retraite\b|\bvolée?\b|\brésiliée?\b|\babandonnée?\b",
    r"\bya no\b|\bdejé\b|\bdejamos\b|\bdejó\b|\bhe dejado\b|\bvendí\b|\bvendimos\b|\bhe vendido\b|\bmurió\b|\bha muerto\b|\bfalleció\b|\bme divorcié\b|\bdivorciad[oa]s?\b|\bseparad[oa]s?\b|\brompimos\b|\bse acabó\b|\bterminamos\b|\bme jubilé\b|\bjubilad[oa]\b|\bcancel\w+\b|\bme echaron\b|\bdespidieron\b|\bquitaron\b|\bdi de baja\b|\brenuncié\b|\brobaron\b|\bse escapó\b|\bcerró\b|\bcerramos\b|\bperdí\b|\brompió\b|\bdejaron\b|\bdejado de\b|\babandoné\b",
    "不再|不.{1,8}了|没.{0,6}了(?!解)|辞职|离职|分手|离婚|卖(?:了|掉)|去世|死了|走了|取消|戒(?:了|掉)|退休|停了|戒烟|戒酒|坏了|不见了|跑了|被裁|失业|分居|关门|倒闭|退掉|丢了|被偷|关了|结束了|不干了|放弃",
)
_CHANGES_ELSEWHERE = _any(
    r"\b(?:um)?gezogen\b|\bgewechselt\b|\bumgestellt\b|\bumbenannt\b|\bverschoben\b|\bverlegt\b|\bgeworden\b|\bstatt(?:dessen)?\b|\bab (?:jetzt|sofort|nun|kommende\w*|nächste\w*)\b|\bin einer beziehung\b|\bzusammen\b|\bmittlerweile\b|\binzwischen\b|\bgeheiratet\b|\bverlobt\b|\bgeboren\b|\bersetzt\b|\berhöht\b|\bgesenkt\b|\bgetauscht\b|\bbefördert\b|\bumgestiegen\b",
    r"\bme suis (?:mari|fianc|sépar|inscrit|install|mis)\w*\b|\bdéménagée?s?\b|\bemménagée?s?\b|\bchangée?s?\b|\bpassée? à\b|\bpasse (?:à|au|en)\b|\bremplacée?\b|\brenommée?\b|\breportée?\b|\bdéplacée?\b|\bvient d'avoir\b|\bviens d'avoir\b|\bdésormais\b|\bdorénavant\b|\bà la place\b|\bdevenue?\b|\bmariée?s?\b|\bnée?\b|\bpromue?\b|\bpassée?s? (?:chez|de)\b",
    r"\bme he mudado\b|\btengo (?:novi[oa]|pareja) desde\b|\bme (?:he )?mud\w+\b|\bnos mudamos\b|\bcambi\w+\b|\bpas(?:é|amos|ó|a) (?:a|al)\b|\bcumpl(?:í|ió|e|o)\b|\ben vez de\b|\ben lugar de\b|\ba partir de\b|\bme casé\b|\bnos casamos\b|\bnació\b|\breempla\w+\b|\baplaz\w+\b|\bahora\b|\bascendieron\b|\bsustitu\w+\b",
    r"搬(?:到|家|去|进)|换(?:成|了|到|工作)|改(?:到|成|用|名|为|在)|升(?:职|为|到)|结婚了|订婚|出生|生了|满.{1,4}岁|变成|现在(?:是|在|用|住|叫|开)|转(?:到|为|去)|推迟|提前|调到|[一二三四五六七八九十\d]岁了|有了|开始(?:用|学|做)|找到",
)
_MAY_ELSEWHERE = _any(
    r"\bjetzt\b|\bnun\b|\bseit\b|\bneue[rsnm]?\b|\bwieder\b|\bmaintenant\b|\bdepuis\b|\bnouve(?:au|lle)\b|\bde nouveau\b|\bdesde\b|\bnuev[oa]\b|\botra vez\b",
    "现在|新的|又",
)


@lru_cache(maxsize=4000)
def change_in(text: str) -> Change:
    """What a statement says about what was so before it."""
    words = expanded(text)
    for kind, patterns in _KINDS:
        for pattern in patterns:
            if found := pattern.search(words):
                return Change(kind, found[0])
    return Change("")


_KINDS: tuple[tuple[ChangeKind, tuple[re.Pattern[str], ...]], ...] = (
    ("ends", (_ENDS, _ENDS_ELSEWHERE)),
    ("changes", (_CHANGES, _CHANGES_ELSEWHERE)),
    ("may change", (_MAY, _MAY_ELSEWHERE)),
)
