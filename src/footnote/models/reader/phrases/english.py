"""How English speakers put things."""

from footnote.models.reader.phrases.table import Phrases

_ASKED_TO = (
    r"(?:tell|explain|describe|find|search|look|write|draft|give|show|summari[sz]e|help|check|let|make|prepare|"
    r"create|report|research|read|translate|rewrite|compile|produce|generate)"
)
_QUESTION_WORD = r"(?:what|who|where|when|why|how|which|whose)"
_ON = r"(?:on|about|regarding|concerning|covering|of|for)"
_KIND = r"(?: (?!on\b|about\b|of\b|for\b)[\w-]+)"
_MAKE = r"(?:write|draft|prepare|create|make|produce|compile|generate|put together)(?: me| us)?"
_REPORT = r"(?:report|document|essay|article|briefing|dossier|white ?paper|memo|write-?up|summary|overview|file)"
_TEXT = r"(?:text|sentences?|paragraphs?|grammar|essay|letter|e-?mail|message|code)"
_PLACE = r"(?:one|city|country|place|company|person|man|woman|team|book|film|movie|event|war|river|law|language|town)"

ENGLISH = Phrases(
    talk={
        "about": (
            r"(?:who|what) (?:exactly )?are (?:you|u)(?: exactly| really)?",
            r"what(?:'s| is) your name|what should i call you|who (?:made|built|created) you",
            r"what (?:can|do|could) you do(?: for me)?|what are you (?:able to do|good (?:at|for))",
            r"how (?:do|can|could) you (?:work|help(?: me)?)|how does (?:this|it) work|how do i use (?:you|this)",
            r"are you (?:an? )?(?:ai|bot|robot|chatbot|human|person|machine|real|llm|language model)",
            r"are you (?:chatgpt|gpt|claude|gemini)|(?:which|what) (?:ai )?model (?:are you|do you use|is this)",
            r"(?:please )?(?:introduce|describe) yourself|tell me (?:more )?about yourself|(?:please )?help(?: me)?",
        ),
        "conversation": (
            r"what did (?:i|you|we) (?:just |already )?(?:ask|say|talk about|discuss|write)\b.*",
            r"what was my (?:last|first|previous) (?:question|message)",
            r"(?:summari[sz]e|recap|sum up|repeat) (?:our|this|the) (?:conversation|chat|discussion|talk)(?: so far)?",
            r"(?:please )?(?:repeat|say) (?:that|it|your (?:last )?answer)(?: again)?",
        ),
        "thanks": (
            (
                r"(?:many |ok |okay |great |perfect )?(?:thanks|thank (?:you|u)|thx|ty|cheers)"
                r"(?: (?:a lot|so much|very much|again|anyway|for (?:your|the) (?:help|answer)|for that|footnote))*"
            ),
        ),
        "farewell": (
            r"(?:ok )?(?:bye|bye bye|goodbye|good night|see (?:you|ya)(?: later| soon| tomorrow)?|take care)",
        ),
        "remark": (
            r"ok|okay|yes|yep|yeah|no|nope|sure|right|exactly|(?:very |that(?:'s| is) )?(?:good|great|nice|cool|fine)",
            r"perfect|awesome|wow|amazing|well done|good job|got it|i see|understood|never ?mind|that helps(?: a lot)?",
            r"haha+|lol|hm+|sorry",
        ),
        "greeting": (
            r"(?:hi|hello|hey|hiya|howdy|greetings|yo)(?: (?:there|again|all|everyone|footnote|friend|you))?",
            r"good (?:morning|afternoon|evening|day)|how (?:are|r) (?:you|u)(?: (?:doing|today))*|how is it going",
            r"what's up|nice to meet you|bonjour|hola|hallo|ciao|salut|test|testing|ping",
        ),
    },
    lead=(
        r"please|kindly|pls|plz",
        rf"(?:could|can|would|will) (?:you|u)(?: please| kindly)?(?= {_ASKED_TO}\b)|could you please",
        r"i(?: (?:want|need|would like|wish)|'d like) to (?:know|learn|understand|find out|hear)(?: more)?(?: about)?",
        r"i(?: am|'m) (?:looking for|interested in|curious about)(?: (?:information|info) (?:on|about))?",
        rf"i (?:was )?wonder(?:ing)?(?= {_QUESTION_WORD}\b)|what (?:do you know|can you tell me) about",
        r"do you (?:know|have (?:any )?(?:information|info) (?:on|about))",
        r"tell (?:me|us)(?: (?:more|something|everything|all|a bit))?(?: about)?|let me know(?: about)?|show me",
        r"give (?:me|us)(?: (?:some|more|any|the))?(?: (?:information|info|details|facts|data))?(?: (?:on|about))?",
        r"(?:do (?:a|some) )?(?:web )?search(?: the (?:web|internet)| online)?(?: for| about| on)(?= )",
        r"search (?:the (?:web|internet)|online)|look (?:up|for)|find (?:out|me)(?: about)?",
        r"find (?:information|info|sources|pages) (?:on|about|for)|research(?= (?:the|on|into|about|how|why)\b)",
        r"explain(?: to (?:me|us))?(?= )|describe(?= )",
        r"help me (?:to )?(?:find(?: out)?|understand|learn)(?: about)?",
        rf"(?:hi|hello|hey)(?: there| footnote)?(?= (?:{_QUESTION_WORD}|is|are|do|does|did|can|could|please|tell)\b)",
    ),
    tail=(r"please|thanks|thank you|for me|with (?:sources|citations|references|footnotes)",),
    report=(
        rf"{_MAKE}(?: an?| the| one)?{_KIND}{{0,3}}? {_REPORT}\b(?:{_KIND}{{0,4}}? {_ON}\b)?[:,]?(?P<topic>.*)",
        (
            rf"(?:i (?:need|want|would like)|i'd like|give (?:me|us))(?: an?| the){_KIND}{{0,2}}?"
            rf" (?:report|document|file)\b(?: {_ON}\b)?[:,]?(?P<topic>.*)"
        ),
        r"(?:an? )?(?:(?:short|brief|detailed|full|long|research|quick) ){0,2}report (?:on|about)\b(?P<topic>.+)",
        r"write (?:something |a text )?(?:about|on)\b(?P<topic>.+)",
        (
            rf"(?!(?:{_QUESTION_WORD}|is|are|do|does|did|can)\b)(?P<topic>.+?)"
            r"(?<![,;.])(?<! and)(?<! then)(?:[,;.]| and| then)++"
            r"(?: please)? (?:write|make|create|prepare|save)(?: me)?(?: (?:it|this|that|the (?:result|answer)s?))?"
            rf"(?: down| up)?(?: (?:as|in|into|to))?(?: an?)?{_KIND}{{0,2}}? (?:report|file|document)"
            r"(?: (?:about|on|of) (?:it|this|that))?"
        ),
    ),
    summary=(
        r"summari[sz]e(?= |$)|sum up|tl;?dr(?: of| for)?",
        r"(?:give|make)(?: me| us)? an? (?:(?:short|brief|quick) )?(?:summary|overview|outline) (?:of|on|about)",
    ),
    rewrite=(
        r"(?:translate|rewrite|rephrase|paraphrase|proofread)\b",
        (
            r"(?:correct|edit|fix|improve|shorten|polish|reformat|summari[sz]e) (?:this|that|my|the following|these)"
            rf" (?:\w+ ){{0,2}}?{_TEXT}\b"
        ),
    ),
    compose=(
        (
            r"(?:write|compose|draft|create|generate|make(?: up)?|tell)(?: me| us)?(?: an?| some| the| another)?"
            r"(?: [\w-]+){0,2}? (?:poem|story|song|haiku|joke|letter|e-?mail|speech|code|function|script|program|"
            r"lyrics|slogan|tweet|cv|resume|riddle)s?\b"
        ),
    ),
    arithmetic=(r"\b(?:calculate|compute|plus|minus|times|divided by|multiplied by|equals?)\b",),
    arithmetic_fillers=(r"\b(?:what is|what's|how much is|of|by|the)\b",),
    today=(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b",),
    week=(r"\b(?:this|the past|the last) week\b(?! of\b)",),
    month=(r"\b(?:this|the past|the last) month\b(?! of\b)",),
    changes_daily=(
        r"\b(?:today's|news|headlines?|weather|forecast|temperature|prices?|stocks?|shares?|rates?|index|gold|oil)\b",
        r"\b(?:bitcoin|crypto|scores?|match(?:es)?|games?|results?|fixtures?|traffic|lottery|happen(?:s|ed|ing)?)\b",
        r"\b(?:announced?|earthquake|storm|open)\b",
    ),
    question_words=(rf"\b{_QUESTION_WORD}\b",),
    follow_ups=(
        r"(?:and|but|or|also|then|so|plus)\b|(?:what|how) about\b",
        r"(?=(?:in|for|from|since|before|after|during|until) (?:\w++ ?){1,4}+\?++$)",
    ),
    pronouns=(
        (
            r"\b(?:its?|they|them|their|he|him|his|she|hers?)\b"
            r"(?! (?:true|possible|legal|illegal|safe|necessary|better|important|takes?|rain|snow|is|was)\b)"
        ),
        r"(?<!is )(?<!are )(?<!was )(?<!were )\bthere\b(?! (?:is|are|was|were)\b)|\bthe (?:same|former|latter)\b",
        rf"\b(?:that|this|these|those)(?: {_PLACE}s?)?(?=[?.!]*$)",
    ),
    stop_words=(
        r"a|an|the|and|or|but|if|so|of|in|on|at|to|for|from|by|with|about|into|over|under|between|as|than|then",
        r"is|are|was|were|be|been|being|am|do|does|did|done|has|have|had|having|can|could|will|would|should|may|might",
        r"must|what|who|whom|whose|which|when|where|why|how|there|here|it|its|he|she|they|them|their|his|her|him|this",
        r"that|these|those|i|me|my|we|our|you|your|not|no|yes|any|some|many|much|more|most|very|just|also|please|tell",
        r"give|show|find|out|up|one|s|t",
    ),
)
