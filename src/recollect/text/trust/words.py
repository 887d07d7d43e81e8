"""Words in many languages of which signs are made: see ``recollect.text.trust.signs``.

Each is a group of alternatives as a regular expression; line breaks are for the reader only.
"""

from __future__ import annotations

IGNORE = r"""\bignor(?:e|es|ing|iere|iert|ieren|ez|er|a|ad|ar|en|á)\b|\bzignoruj\w*|\bdisregard\b
|\bforget\b(?<!n't forget)(?<!not forget)(?<!never forget)|\boverrid(?:e|es|ing)\b|\bbypass\b
|\boverrule\b|\b(?:do not|don't|stop) follow(?:ing)?\b
|\bmissachte\w*|\bvergiss\b|\bvergessen\b|\bbeachte\b.{0,40}\bnicht\b|\boubli(?:e|ez|er)\b
|\bne (?:tiens|tenez) pas compte\b|\bne (?:suis|suivez) (?:pas|plus)\b|\bolvid(?:a|ad|e|en|ar)\b
|\bdescarta\w*|\besque(?:ce|ça|cer)\b|\bdesconsider\w+|\bdimentica\w*|\bnegeer\w*|\bvergeet\b
|\bzapomnij\b|\bpomiń\b|\bglöm\b|\bglem\b|\bunohda\b|игнорир\w+|забудь\w*|не обращай\w*|отмени\w*
|ігнору\w+|\byok say\w*|\bgörmezden gel\w*|\bunut\b|忽略|无视|無視|忘记|忘掉|不要理会|忘れ|従わない
|무시|잊어|따르지 마|تجاهل|انس(?:َ)? |अनदेखा|नज़रअंदाज़|भूल जा|\bbỏ qua\b|\bquên\b|\babaikan\b
|\blupakan\b|התעלם|αγνόησε|ละเว้น|เพิกเฉย|ไม่ต้องสนใจ"""
PRIOR = r"""\b(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial
|former)\b
|\b(?:all|any|every|your|system|safety)\b(?! (?:of )?(?:us|them|my|our)\b)
|\bvor(?:herig|ig|angegangen)\w*|\bbisherig\w*|\bobig\w*|\balle[nrs]?\b|\bdeine?\b|\bihre\b
|\bprécédent\w*|\bantérieur\w*|\bci-dessus\b|\btoutes?\b|\btes\b|\bvos\b|\banterior\w*
|\bprevi[ao]s?\b
|\btod[ao]s\b|\btus?\b|\bsus\b|\bsuas?\b|\bprecedent\w*|\btutt[ei]\b|\btue\b|\beerdere\b|\bvorige\b
|\bpoprzedni\w*|\bwszystkie\b|\btidigare\b|\btidligere\b|\baiemm\w+|предыдущ\w+|прежн\w+|все\b|всі\b
|попередн\w+|\bönceki\b|\btüm\b|之前|以前|先前|前面|上面|上述|所有|以上|これまで|すべて|全て|前の
|이전|위의
|모든|앞선|السابق\w*|جميع|كل |पिछले|पहले|सभी|\btrước\b|\btất cả\b|\bsebelumnya\b|\bsemua\b|הקודמ|כל
|προηγούμεν\w+|ก่อนหน้า|ทั้งหมด"""
INSTRUCTIONS = r"""\binstructions?\b|\bprompts?\b|\bguidelines?\b|\bdirectives?\b|\bdirections\b
|\bcommands?\b|\bprogramming\b|\brestrictions?\b|\bguardrails?\b|\bsafeguards?\b|\bconstraints?\b
|\bsafety (?:rules|measures|filters?|polic\w+)|\bsystem rules\b|\b(?:previous|prior|above) rules\b
|\ball (?:the |your |of your )?rules\b|\banweisung\w*|\binstruktion\w*|\bvorgaben\b|\bbefehle\b
|\bregeln\b|\bconsignes?\b|\brègles\b|\binstru[cç]\w+|\bdirectrices\b|\breglas\b|\bórdenes\b
|\bdiretrizes\b
|\bistruzion\w+|\bregole\b|\binstructies\b|\bregels\b|\bpolece\w+|\binstrukcj\w+|\binstruktion\w*
|\binstruksjon\w*|\bohje\w*|инструкц\w+|указани\w+|правила|команды|інструкц\w+|\btalimat\w*
|\bkomut\w*|指令|指示|说明|提示词|提示|命令|规则|規則|ルール|プロンプト|지시|명령|규칙|프롬프트
|تعليمات|أوامر|التوجيهات
|निर्देश|आदेश|\bhướng dẫn\b|\bchỉ dẫn\b|\binstruksi\b|\bperintah\b|הוראות|οδηγίες|คำสั่ง|คำแนะนำ"""

MODEL = r"""(?:ai|a\.i\.|llms?|language models?|ai (?:assistants?|agents?|models?|systems?)
|assistants?
|ai-assistants?|chat ?bots?|bots?|chatgpt|gpt(?:-?\d\w*)?|claude|gemini|copilot|agents?)"""

WITHOUT_TELLING = r"""\bwithout (?:telling|informing|notifying|alerting|asking)\b
|\bohne\b.{0,30}\bzu (?:sagen|informieren|fragen)"""
DO_NOT_TELL = r"""\b(?:do not|don't|never|must not)\s(?:ever\s)?(?:tell|inform|notify|mention|alert
|reveal|disclose|show|let)\b|\bsag\w* (?:es )?(?:dem|der)\b.{0,30}\bnicht
|\bne (?:le |la |l')?(?:dis|dites|préviens|prévenez|mentionne\w*|informe\w*)\b
|\bno (?:se )?(?:lo )?(?:digas|informes|menciones|avises|cuentes)\b
|\bnão (?:conte|diga|informe|mencione|avise)\b|\bnon (?:dirlo|dire|informare|menzionare)\b
|не (?:говори|сообщай|упоминай)\w*
|不要告诉|别告诉|不要告知|教えない|知らせない|말하지 마|알리지 마|لا تخبر|मत बताना|\bđừng (?:nói
|báo)\b|\bjangan (?:beri|kata)\w*"""
THE_USER = r"""\bthe (?:user|human|owner|operator|customer)s?\b|\b(?:benutzer|nutzer|anwender)\w*
|\butilisateur\w*|\busuari[oa]s?\b|\butente\b|пользовател\w+|用户|用戶|使用者|ユーザー|사용자
|المستخدم|उपयोगकर्ता
|\bngười dùng\b|\bpengguna\b"""

SECRETS = r"""\b(?:passwords?|credentials?|api[ _-]?keys?|secrets?|access tokens?|private keys?
|seed phrases?|ssh keys?|cookies?|chat history|conversation(?:s| history)?|system prompt
|environment variables|\.env|inbox|contact list|bank details|user(?:'s)? (?:data|emails?|messages?
|files?|address))\b
|\bpasswörter\b|\bkennwörter\b|\bzugangsdaten\b|\bmots? de passe\b|\bcontraseñas?\b|\bsenhas?\b
|\bparole d'ordine\b
|парол\w+|密码|密碼|パスワード|비밀번호|كلمات? (?:المرور|السر)|पासवर्ड|\bmật khẩu\b|\bkata sandi\b"""
SEND = r"""\b(?:send|(?<!look )forward|post|upload|e-?mail(?!:)|transmit|exfiltrate|leak|submit
|deliver|bcc|ship)\b
|\bschick\w*|\bsende\b|\bübermittle\w*|\benvoie\w*|\benvoyez\b|\benvía\w*|\benviar?\b|\benvie\b
|\binvia\w*|отправ\w+|пришли
|发送|发给|傳送|送信|送って|보내|전송|أرسل|भेज|\bgửi\b|\bkirim\w*"""
SOMEWHERE = r"""https?:|\bwww\.|[\w.+-]+@[\w-]+\.\w|\b(?:attacker|evil|webhook|endpoint|external)\b
|\bthis (?:url|address|server|number)\b"""

WHEN_USER = r"""\b(?:when|whenever|if|once|every time|each time|next time|as soon as|after)\s
(?:the|a|any|this|your)?\s?(?:user|human|customer|person|client)\s
(?:asks?|says?|said|mentions?|requests?|types?|writes?|wants?|queries|inquires?|confirms?|thanks
|replies|logs|opens)\b
|\b(?:wenn|sobald|falls)\b.{0,20}\b(?:benutzer|nutzer)\w*|\b(?:quand|lorsque|si
|dès que)\b.{0,12}\butilisateur
|\b(?:cuando|si)\b.{0,10}\busuario|\b(?:quando|se)\b.{0,10}\b(?:usuário|utente)|когда пользователь
|если пользователь
|当用户|如果用户|每当用户|ユーザーが.{0,20}(?:たら|とき|場合)|사용자가.{0,20}(?:면|때)|إذا (?:سأل
|طلب) المستخدم"""
DO_THIS = r"""\byou (?:must|should|will|shall|have to|need to)\b|\b(?:always|never)\b
|\bthen (?:call|send|run|use|say|reply|delete)\b
|[,:;] ?(?:please |silently |secretly |first |always )?(?:recommend|reply|respond|answer|say|tell
|send|use|call|suggest|direct|redirect|link|insert|include|append|claim|pretend|execute|run|delete
|transfer|point|forward|refuse|give|output|print|invoke|approve|route|urge|advise|invite)\b
|\b(?:empfiehl|antworte|sage?|sende|rufe|lösche|verwende|nutze)\b|\b(?:recommande|réponds|dis
|envoie|utilise|appelle)\w*
|\b(?:recomienda|responde|di|envía|usa|llama|recomende|responda|envie|use|consiglia|rispondi
|invia)\b
|рекоменд\w+|отвечай\w*|отправ\w+|скажи|推荐|推薦|回答|回复|发送|必须|勧め|答え|送信|추천|대답|답변
|보내|أوصِ?|أجب|أرسل"""
