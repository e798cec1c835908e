# ruff: noqa: RUF001 - the punctuation of Chinese is meant
"""The phrases by which a request is recognised: a table for each language.

Requests are often mixed ("please" before a Vietnamese question), so the tables of all languages are used together.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.protocol.tools import Locale

Talk: TypeAlias = Literal["about", "conversation", "thanks", "farewell", "remark", "greeting"]
TALKS: tuple[Talk, ...] = ("about", "conversation", "thanks", "farewell", "remark", "greeting")
"""The most important first: `hello, who are you?` is a question about the assistant."""


class Phrases(Struct, frozen=True, kw_only=True):
    """The phrases of one language. Every entry is a piece of a regular expression."""

    talk: Mapping[Talk, tuple[str, ...]]
    """Small talk: a whole clause, in small letters and without diacritics, since many people write without them."""

    lead: tuple[str, ...]
    tail: tuple[str, ...]
    """Courtesy before and after a question, which says nothing about its subject."""

    report: tuple[str, ...]
    """A whole request for a report; the group `topic` is its subject."""
    summary: tuple[str, ...]
    rewrite: tuple[str, ...]
    compose: tuple[str, ...]
    """Beginnings of requests that quotations cannot fulfil."""
    arithmetic: tuple[str, ...]
    """Words that turn figures into a calculation."""
    arithmetic_fillers: tuple[str, ...]

    today: tuple[str, ...]
    week: tuple[str, ...]
    month: tuple[str, ...]
    changes_daily: tuple[str, ...]
    """Subjects of which `today` means this day; elsewhere it often means `nowadays`."""

    question_words: tuple[str, ...]
    follow_ups: tuple[str, ...]
    """Beginnings of a question that continues the one before it."""
    pronouns: tuple[str, ...]
    """Pronouns and other references to something that was named before."""
    stop_words: tuple[str, ...]
    """Words that a search query can leave out."""


# English --------------------------------------------------------------------------------------------------------------

_EN_ASKED_TO = (
    r"(?:tell|explain|describe|find|search|look|write|draft|give|show|summari[sz]e|help|check|let|make|prepare|"
    r"create|report|research|read|translate|rewrite|compile|produce|generate)"
)
_EN_QUESTION_WORD = r"(?:what|who|where|when|why|how|which|whose)"
_EN_ON = r"(?:on|about|regarding|concerning|covering|of|for)"
_EN_KIND = r"(?: (?!on\b|about\b|of\b|for\b)[\w-]+)"
_EN_MAKE = r"(?:write|draft|prepare|create|make|produce|compile|generate|put together)(?: me| us)?"
_EN_REPORT = r"(?:report|document|essay|article|briefing|dossier|white ?paper|memo|write-?up|summary|overview|file)"
_EN_TEXT = r"(?:text|sentences?|paragraphs?|grammar|essay|letter|e-?mail|message|code)"
_EN_ANSWER = r"(?:it|this|that|the (?:last )?answer|your (?:last )?answer)"
_EN_ALONE = r"(?: please)?[.!]{0,3}$"
"""The end of a request that names nothing to look up."""
_EN_PLACE = (
    r"(?:one|city|country|place|company|person|man|woman|team|book|film|movie|event|war|river|law|language|town)"
)

_ENGLISH = Phrases(
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
        rf"(?:could|can|would|will) (?:you|u)(?: please| kindly)?(?= {_EN_ASKED_TO}\b)|could you please",
        r"i(?: (?:want|need|would like|wish)|'d like) to (?:know|learn|understand|find out|hear)(?: more)?(?: about)?",
        r"i(?: am|'m) (?:looking for|interested in|curious about)(?: (?:information|info) (?:on|about))?",
        rf"i (?:was )?wonder(?:ing)?(?= {_EN_QUESTION_WORD}\b)|what (?:do you know|can you tell me) about",
        r"do you (?:know|have (?:any )?(?:information|info) (?:on|about))",
        r"tell (?:me|us)(?: (?:more|something|everything|all|a bit))?(?: about)?|let me know(?: about)?|show me",
        r"give (?:me|us)(?: (?:some|more|any|the))?(?: (?:information|info|details|facts|data))?(?: (?:on|about))?",
        r"(?:do (?:a|some) )?(?:web )?search(?: the (?:web|internet)| online)?(?: for| about| on)(?= )",
        r"search (?:the (?:web|internet)|online)|look (?:up|for)|find (?:out|me)(?: about)?",
        r"find (?:information|info|sources|pages) (?:on|about|for)|research(?= (?:the|on|into|about|how|why)\b)",
        r"explain(?: to (?:me|us))?(?= )|describe(?= )",
        r"help me (?:to )?(?:find(?: out)?|understand|learn)(?: about)?",
        (
            r"(?:hi|hello|hey)(?: there| footnote)?"
            rf"(?= (?:{_EN_QUESTION_WORD}|is|are|do|does|did|can|could|please|tell)\b)"
        ),
    ),
    tail=(r"please|thanks|thank you|for me|with (?:sources|citations|references|footnotes)",),
    report=(
        (
            rf"{_EN_MAKE}(?: an?| the| one)?{_EN_KIND}{{0,3}}? {_EN_REPORT}\b"
            rf"(?:{_EN_KIND}{{0,4}}? {_EN_ON}\b)?[:,]?(?P<topic>.*)"
        ),
        (
            rf"(?:i (?:need|want|would like)|i'd like|give (?:me|us))(?: an?| the){_EN_KIND}{{0,2}}?"
            rf" (?:report|document|file)\b(?: {_EN_ON}\b)?[:,]?(?P<topic>.*)"
        ),
        r"(?:an? )?(?:(?:short|brief|detailed|full|long|research|quick) ){0,2}report (?:on|about)\b(?P<topic>.+)",
        r"write (?:something |a text )?(?:about|on)\b(?P<topic>.+)",
        (
            rf"(?!(?:{_EN_QUESTION_WORD}|is|are|do|does|did|can)\b)(?P<topic>.+?)"
            r"(?<![,;.])(?<! and)(?<! then)(?:[,;.]| and| then)++"
            r"(?: please)? (?:write|make|create|prepare|save)(?: me)?(?: (?:it|this|that|the (?:result|answer)s?))?"
            rf"(?: down| up)?(?: (?:as|in|into|to))?(?: an?)?{_EN_KIND}{{0,2}}? (?:report|file|document)"
            r"(?: (?:about|on|of) (?:it|this|that))?"
        ),
    ),
    summary=(
        r"summari[sz]e(?= |$)|sum up|tl;?dr(?: of| for)?",
        r"(?:give|make)(?: me| us)? an? (?:(?:short|brief|quick) )?(?:summary|overview|outline) (?:of|on|about)",
    ),
    rewrite=(
        r"(?:translate|rewrite|rephrase|paraphrase|proofread|refactor|debug)\b|convert \d",
        rf"(?:make|keep) {_EN_ANSWER} (?:\w+er|brief|more \w+|less \w+){_EN_ALONE}",
        rf"(?:shorten|simplify|expand(?: on)?)(?: {_EN_ANSWER})?{_EN_ALONE}|(?:shorter|longer|simpler){_EN_ALONE}",
        rf"(?:answer|reply|respond|say (?:it|that)|repeat (?:it|that)) in \w+{_EN_ALONE}",
        rf"(?:continue|go on|keep going|carry on){_EN_ALONE}",
        (
            r"(?:correct|edit|fix|improve|shorten|polish|reformat|summari[sz]e) (?:this|that|my|the following|these)"
            rf" (?:\w+ ){{0,2}}?{_EN_TEXT}\b"
        ),
    ),
    compose=(
        (
            r"(?:write|compose|draft|create|generate|make(?: up)?|tell|give|show)(?: me| us)?"
            r"(?: an?| some| the| another)?(?: [\w-]+){0,2}? "
            r"(?:poem|story|song|haiku|joke|letter|e-?mail|speech|code|function|script|program|"
            r"lyrics|slogan|tweet|cv|resume|riddle)s?\b"
        ),
        r"(?:role-?play|pretend|act as|imagine (?:you|that you)|brainstorm)\b",
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
    question_words=(rf"\b{_EN_QUESTION_WORD}\b",),
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
        rf"\b(?:that|this|these|those)(?: {_EN_PLACE}s?)?(?=[?.!]*$)",
    ),
    stop_words=(
        r"a|an|the|and|or|but|if|so|of|in|on|at|to|for|from|by|with|about|into|over|under|between|as|than|then",
        r"is|are|was|were|be|been|being|am|do|does|did|done|has|have|had|having|can|could|will|would|should|may|might",
        r"must|what|who|whom|whose|which|when|where|why|how|there|here|it|its|he|she|they|them|their|his|her|him|this",
        r"that|these|those|i|me|my|we|our|you|your|not|no|yes|any|some|many|much|more|most|very|just|also|please|tell",
        r"give|show|find|out|up|one|s|t",
    ),
)

# Vietnamese -----------------------------------------------------------------------------------------------------------

_VI_ME = r"(?:tôi|mình|em|anh|chị|chúng tôi|tui)"
_VI_FOR_ME = rf"(?: (?:giúp|cho|hộ) {_VI_ME})?"
_VI_ONE = r"(?: (?:một|1|thành|bản|bài|cái))*"
_VI_REPORT = (
    r"(?:báo cáo|(?:bản|bài) (?:tóm tắt|tổng hợp)|tài liệu|bài viết|bài(?! thơ| hát| văn| toán| tập)|bản tin|"
    r"tổng quan|tiểu luận|tệp|file)"
)
_VI_KIND = (
    r"(?: (?:ngắn gọn|ngắn|chi tiết|tóm tắt|đầy đủ|nghiên cứu|tổng quan|phân tích|đánh giá|khoa học|nhỏ|dài)){0,3}"
)

_VIETNAMESE = Phrases(
    talk={
        "about": (
            r"(?:vay |the )?(?:ban|may|cau|em|anh) la (?:ai|gi|cai gi)(?: vay| the| a)?",
            r"(?:ban|cau|em) (?:ten|ten la) (?:gi|la gi)|ten (?:ban|cua ban) la gi|ai (?:tao|lam) ra ban",
            r"(?:ban|cau|em) (?:co the |biet )?(?:lam|giup)(?: duoc| toi)?(?: nhung)? gi(?: cho toi)?(?: khong)?",
            r"(?:ban|em) hoat dong (?:nhu )?the nao|ban co phai (?:la )?(?:ai|nguoi|robot|bot)(?: khong)?",
            r"ban (?:la|dung) mo hinh (?:gi|nao)|(?:hay )?(?:tu )?gioi thieu ve (?:ban|minh|ban than)",
            r"giup (?:toi|minh|em)(?: voi)?|huong dan su dung",
        ),
        "conversation": (
            r"(?:toi|minh|em|chung ta) (?:vua|da|moi) (?:hoi|noi|ban)(?: ve)?(?: nhung)? (?:gi|dieu gi)\b.*",
            r"(?:tom tat|nhac lai|tong ket) (?:lai )?(?:cuoc (?:tro chuyen|hoi thoai|noi chuyen)|cau tra loi)\b.*",
            r"noi lai(?: di| xem| lan nua)?",
        ),
        "thanks": (
            r"(?:xin |rat |da |ok |vang )?cam on(?: (?:ban|anh|chi|em|nhieu|rat nhieu|lam|a|nhe|nha|footnote))*",
            r"(?:thank|thanks|tks)(?: (?:ban|nhieu|nhe|nha))*",
        ),
        "farewell": (r"(?:tam biet|bai bai|bye|chao tam biet|hen gap lai|chuc ngu ngon)(?: (?:ban|nhe|nha|a))*",),
        "remark": (
            r"ok|oke|duoc|duoc roi|tot|tot lam|hay qua|hay lam|tuyet|tuyet voi|vang|uh|um|khong|dung|dung roi|dong y",
            r"hieu roi|toi hieu roi|ro roi|xin loi|thoi|khong sao",
        ),
        "greeting": (
            r"(?:xin )?chao(?: (?:ban|anh|chi|em|cau|moi nguoi|footnote|buoi (?:sang|chieu|toi)))*|a ?lo|hi|hello",
            r"(?:ban|em|anh|chi) (?:co )?khoe khong|dao nay (?:ban )?the nao|rat vui duoc (?:gap|lam quen).{0,20}",
        ),
    },
    lead=(
        r"(?:xin |làm ơn |vui lòng )?hãy(?= )|xin vui lòng|vui lòng|làm ơn|xin (?=cho)|nhờ bạn",
        (
            rf"(?:bạn |anh |chị |em )?(?:có thể |hãy )?(?:cho|nói cho|kể cho) {_VI_ME} (?:biết|hỏi|nghe|xem|xin)"
            r"(?: (?:thêm|rằng))?(?: (?:về|thông tin về))?"
        ),
        rf"bạn có (?:thể|biết)(?: (?:giúp|cho) {_VI_ME})?(?= )",
        rf"{_VI_ME} (?:muốn|cần) (?:biết|tìm hiểu|hỏi|tìm)(?: thêm)?(?: về)?",
        rf"(?:tìm kiếm|tra cứu|tìm hiểu|tìm){_VI_FOR_ME} (?:về|thông tin về|thông tin|trên mạng)(?= )",
        rf"(?:tìm kiếm|tra cứu){_VI_FOR_ME}(?= )|tìm (?:giúp|cho|hộ) {_VI_ME}",
        rf"(?:giúp|cho) {_VI_ME} (?:tìm hiểu|tìm|hiểu)(?: về)?|(?:giải thích|giới thiệu){_VI_FOR_ME}(?: về)?(?= )",
    ),
    tail=(rf"(?:giúp|cho|hộ) {_VI_ME}(?: với| nhé| nha| ạ)*|(?-i:nhé|nha|ạ)|(?:xin )?cảm ơn(?: bạn)?(?: nhiều)?",),
    report=(
        (
            rf"(?:(?:viết|lập|soạn|soạn thảo|làm|tạo|chuẩn bị|xây dựng|tổng hợp){_VI_FOR_ME}"
            rf"|{_VI_ME} (?:cần|muốn(?: có)?))"
            rf"{_VI_ONE} {_VI_REPORT}{_VI_KIND}(?: (?:về|liên quan đến|nói về|với chủ đề|chủ đề))?\b:?(?P<topic>.*)"
        ),
        r"viết (?:gì đó )?về\b(?P<topic>.+)",
        (
            r"(?P<topic>.+?)(?<![,;.])(?<! rồi)(?<! và)(?<! sau đó)(?:[,;.]| rồi| và| sau đó)++"
            r" (?:viết|lập|lưu|làm|ghi|tổng hợp)(?: lại| nó)*"
            rf"(?: (?:thành|vào|ra))?{_VI_ONE} (?:báo cáo|tệp|file|tài liệu)(?: về (?:nó|điều đó|việc đó))?"
        ),
    ),
    summary=(rf"(?:tóm tắt|tóm lược|tổng hợp){_VI_FOR_ME}(?: (?:ngắn gọn|ngắn|nội dung|thông tin))*(?: về)?",),
    rewrite=(
        rf"(?:phiên )?dịch (?:sang|câu|đoạn|từ này|giúp|hộ|giùm|văn bản|bài|ra tiếng|cho {_VI_ME})",
        (
            r"(?:trả lời|nói|giải thích)(?: lại)? (?:bằng tiếng \w+|(?:ngắn gọn|ngắn|chi tiết|đơn giản|dài)(?: hơn)?)"
            r"(?: đi| nhé| giúp tôi)?[.!]{0,3}$"
        ),
        r"(?:tiếp tục|nói tiếp|viết tiếp)(?: đi| nhé)?[.!]{0,3}$",
        r"viết lại\b|(?:sửa|chỉnh sửa|chỉnh)(?: lại| giúp)? (?:câu|đoạn|bài|lỗi|chính tả|văn bản|ngữ pháp)",
    ),
    compose=(
        (
            rf"(?:viết|làm|sáng tác|soạn|kể|tạo){_VI_FOR_ME}(?: (?:một|bài|câu|cái|bức|đoạn|lá|1))* "
            r"(?:thơ|truyện|chuyện|bài hát|thư|email|mã|code|hàm|chương trình|bài văn|lời bài hát)\b"
        ),
    ),
    arithmetic=(r"tính|cộng|trừ|nhân|chia|bằng (?:bao nhiêu|mấy)",),
    arithmetic_fillers=(r"là (?:bao nhiêu|mấy)|kết quả|của",),
    today=(r"\b(?:hôm nay|sáng nay|chiều nay|tối nay)\b",),
    week=(r"\btuần (?:này|qua|vừa qua)\b",),
    month=(r"\btháng (?:này|qua|vừa qua)\b",),
    changes_daily=(
        r"\b(?:tin|thời tiết|nhiệt độ|giá|cổ phiếu|chứng khoán|tỷ giá|tỉ giá|vàng|xăng|vn-?index|kết quả|tỷ số)\b",
        r"\b(?:tỉ số|trận|lịch|xổ số|xảy ra|sự kiện|bão)\b",
    ),
    question_words=(r"\b(?:gì|ai|đâu|bao nhiêu|khi nào|tại sao|vì sao|nào|bao giờ|mấy|bao lâu)\b",),
    follow_ups=(r"(?:(?:thế|vậy) )?còn\b|(?:thế|vậy)(?: thì)?\b|và\b|nhưng\b|ngoài ra\b",),
    pronouns=(
        r"\b(?:nó|(?:ông|bà|anh|cô|chị|cậu) (?:ấy|ta)|(?:nơi|chỗ) (?:đó|đấy|này|ấy)|đấy)\b",
        r"(?<!trong )(?<!do )(?<!sau )(?<!khi )\bđó\b|(?<!dòng )\bhọ\b(?! tên| hàng| và tên)",
        r"(?<!công )(?<!quần )(?<!dân )\bchúng\b(?! ta| tôi)",
        r"\b(?:nước|công ty|đội|người|cuốn sách|bộ phim|thành phố|việc|sự kiện) (?:này|ấy)\b",
    ),
    stop_words=(
        r"là|gì|nào|ai|ở|đâu|bao|nhiêu|lâu|giờ|mấy|có|không|của|và|các|những|một|được|bị|cho|trong|với|về|thì|mà|như",
        r"thế|tại|sao|vì|khi|đã|đang|sẽ|từ|đến|này|đó|đấy|kia|ấy|hay|hoặc|nó|họ|ra|vào|rồi|cũng|do|để|bởi|theo|hãy|xin",
        r"tôi|bạn|mình|biết|còn|vậy|nhưng|ngoài|ta|ông|bà|phải|làm|điều|việc|rằng",
    ),
)

UNACCENTED_VIETNAMESE = (
    r"\b(?:la (?:gi|ai)|bao (?:nhieu|gio|lau|xa)|o dau|nhu the nao|tai sao|vi sao|khi nao|may gio|mau gi|nam nao|"
    r"cho toi|hom nay)\b"
)
"""Vietnamese without diacritics, left out by the author or not needed in these words."""

# Chinese --------------------------------------------------------------------------------------------------------------

_ZH_YOU = r"(?:你|您)"
_ZH_WHAT = r"(?:什么|啥)"
_ZH_MAKE = (
    r"(?:写|撰写|编写|起草|生成|制作|整理|准备|出具|出|做|创建|给我|我(?:需要|想要|要))(?:出|成|个)?"
    r"(?:一|1)?(?:份|篇|个)?"
)
_ZH_KIND = r"(?:(?:简短|简单|简要|详细|完整|全面|深入|短|长|调查|调研|研究|分析|总结|综合|介绍|市场)(?:性)?的?){0,3}"
_ZH_REPORT = r"(?:报告|文档|文章|综述|简报|总结|材料|论文|文件|小结)"

_CHINESE = Phrases(
    talk={
        "about": (
            rf"(?:那)?{_ZH_YOU}(?:到底|究竟)?是(?:谁|什么|啥|哪位)(?:啊|呀|呢)?|谁(?:创造|开发|制作)了你",
            rf"{_ZH_YOU}(?:叫|的名字(?:是|叫)){_ZH_WHAT}(?:名字)?|(?:怎么|如何)称呼{_ZH_YOU}",
            rf"{_ZH_YOU}(?:能|会|可以)(?:够)?(?:帮我)?(?:做|干)?(?:些|点)?{_ZH_WHAT}(?:事|事情)?(?:呢)?",
            rf"{_ZH_YOU}(?:是)?(?:怎么|如何)(?:工作|运作|使用|用)的?|(?:你|这个)(?:怎么|如何)用",
            rf"{_ZH_YOU}是(?:不是)?(?:一个|个)?(?:ai|人工智能|机器人|真人|人类|人|chatgpt|claude|deepseek)(?:吗)?",
            rf"{_ZH_YOU}(?:是|用的是|使用的是)(?:什么|哪个|哪种)(?:大)?模型|(?:请)?(?:做个|做一下)?自我介绍(?:一下)?",
            r"(?:请)?介绍(?:一下)?你自己|帮助|帮帮我|救命",
        ),
        "conversation": (
            rf"我(?:们)?(?:刚才|刚刚|之前|上次|前面)?(?:都)?(?:问|说|聊|谈)(?:了|过|的是)(?:些)?(?:{_ZH_WHAT}|哪些)(?:问题)?",
            r"(?:总结|概括|回顾)(?:一下)?(?:我们的?|这次|这段)?(?:对话|聊天|谈话)(?:内容|记录)?",
            r"(?:请)?(?:再说|重复|再讲)(?:一遍|一次|一下)",
        ),
        "thanks": (r"(?:好的?|非常|十分|太|多)?(?:谢谢|感谢|谢了|谢)(?:你|您|啦|了|大家|啊)?(?:的(?:帮助|回答))?",),
        "farewell": (r"(?:再见|拜拜|拜|回头见|下次见|回见|晚安)(?:啦|了)?",),
        "remark": (
            r"好|好的|好吧|好啊|行|可以|嗯+|哦+|噢|对|对的|是|是的|不|不是|没有|不用了|没事|算了|明白|明白了|知道了|懂了",
            r"了解|收到|不错|很好|太好了|真棒|厉害|太棒了|哈哈+|抱歉|对不起",
        ),
        "greeting": (
            r"(?:你|您|大家)好(?:啊|呀|哇|吗)?|嗨|嘿|哈[喽啰罗]|早|早上好|早安|上午好|中午好|下午好|晚上好|在吗|在不在",
            r"(?:最近)?(?:怎么样|过得好吗)|很高兴认识你|测试(?:一下)?",
        ),
    },
    lead=(
        r"请问(?:一下)?|请(?:你|您)|请(?=[帮给告搜查找写介解总概说讲列描整])|麻烦(?:你|您)?(?:帮我)?",
        rf"{_ZH_YOU}?(?:能不能|能否|可不可以|可以|能)(?=帮|告诉|给我|介绍|解释|查|搜|写)|(?:帮|替)我|帮忙",
        rf"{_ZH_YOU}知道(?=.+吗)|(?:我)?(?:想|要|想要)(?:知道|了解|查|问)(?:一下)?(?:关于)?|告诉我(?:关于)?",
        r"跟我说说|给我(?:讲讲|说说|介绍(?:一下)?|查(?:一下)?|搜(?:一下)?|找(?:一下)?)|(?:讲讲|说说|讲一下|说一下)",
        r"(?:搜索|搜|查询|查找|查|找|介绍|解释|说明|描述|科普|了解)一下(?:关于)?",
        r"(?:上网|在网上)(?:搜索|搜|查|查找)(?:一下)?|查找(?:关于)?|查询(?=.{2})",
        r"搜索(?!引擎|算法|结果|框|栏|功能|树|广告|技术|服务|排名|指数|量)(?:关于)?",
        r"(?:解释|介绍)(?!器|学|权|变量|信|人|性|费)(?=.{2})(?:关于)?|关于(?=[^,，]{2,12}$)",
    ),
    tail=(r"谢谢(?:你|您)?|好吗|可以吗|行吗",),
    report=(
        rf"{_ZH_MAKE}{_ZH_KIND}(?:关于|有关)?(?P<topic>.{{0,120}}?)的?{_ZH_KIND}{_ZH_REPORT}",
        rf"{_ZH_MAKE}{_ZH_KIND}{_ZH_REPORT}[,，:：、]?(?:内容|主题)?(?:关于|有关|介绍|是)?[:：]?(?P<topic>.+)",
        rf"{_ZH_MAKE}{_ZH_KIND}(?:关于|有关)(?P<topic>.+?)的{_ZH_KIND}{_ZH_REPORT}[,，:：;；。].*",
        rf"(?:就|针对|关于|围绕|以)(?P<topic>.+?)(?:为(?:主题|题))?[,，]?{_ZH_MAKE}{_ZH_KIND}{_ZH_REPORT}",
        (
            r"(?P<topic>.+?)(?<![,，;；并再])(?<!并且)(?<!然后)(?<!最后)(?:[,，;；]|并且?|然后|再|最后)++(?:把(?:它|结果|内容))?(?:写|整理|生成|保存|做|汇总)(?:成|为|出|到|进)"
            rf"(?:一)?(?:份|篇|个)?{_ZH_REPORT}(?:里|中)?"
        ),
    ),
    summary=(r"(?:总结|概括|概述|归纳)(?!性|会|报告)(?:一下)?(?:关于)?",),
    rewrite=(
        r"(?:翻译|改写|润色|校对|修改|改正)(?:一下|下面|以下|这|成|[:：“\"‘'])",
        r"(?:把|将).+?(?:翻译|改写|译|改)(?:成|为)",
        r"(?:请)?用\w{1,4}(?:回答|说|重说)(?:一下|一遍)?[。！.!]{0,3}$|(?:简短|详细|简单)(?:一点|点|些)[。！.!]{0,3}$",
        r"(?:请)?(?:继续|接着说|接着写)[。！.!]{0,3}$",
    ),
    compose=(
        (
            r"(?:写|作|创作|编|讲|说)(?:一|个|1)?(?:首|个|篇|封|段|则)?(?!.*(?:报告|文章))[^?？]{0,20}?"
            r"(?:诗|故事|歌词|歌曲|情书|邮件|代码|函数|程序|笑话|作文|小说)$"
        ),
        r"用\s?[A-Za-z][A-Za-z+#]{0,15}\s?(?:写|编|实现)",
    ),
    arithmetic=(r"计算|算一下|等于(?:多少|几)|[加减乘除]",),
    arithmetic_fillers=(r"是(?:多少|几)|以|的",),
    today=(r"今天|今日|今晚|今早",),
    week=(r"(?:本|这|这个|最近一)(?:周|星期|礼拜)",),
    month=(r"本月|这个月|最近一个月",),
    changes_daily=(
        r"新闻|天气|气温|价|股|汇率|黄金|比特币|比分|比赛|赛程|行情|大盘|彩票|开奖|发生|头条|地震|台风|路况",
    ),
    question_words=(r"什么|谁|哪|多少|几|怎么|为什么|如何",),
    follow_ups=(
        r"那么|那(?![里儿个位座家部本件不曲英坡霸拉])|还有|另外|此外|而且|然后",
        r"(?=[^?？]{1,10}呢[?？]{0,9}+$)(?!.*(?:什么|谁|哪|多少|怎|如何|几))",
    ),
    pronouns=(r"它|(?<![其吉])他|她|(?:那|这)(?:里|儿|个|位|座|家|部|本|件)|该(?:国|市|公司|地区|片|书|人)",),
    stop_words=(
        r"(?:是在|是|在|有)?(?:为什么|怎么样|怎么|怎样|如何|什么时候|什么|哪里|哪儿|哪些|哪个|哪|谁|多少|多久)",
        r"几(?=[个年月人次])|是否|是不是|有没有|请问|这个|那个|这里|那里|那么|还有|它们|他们|她们|它|她|他|一个|一些|以及",
        r"[的了吗呢啊呀吧是]",
    ),
)

# All languages --------------------------------------------------------------------------------------------------------

PHRASES: Mapping[Locale, Phrases] = {"en": _ENGLISH, "vi": _VIETNAMESE, "zh": _CHINESE}


def _collect(select: Callable[[Phrases], tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(piece for phrases in PHRASES.values() for piece in select(phrases))


LEAD, TAIL = _collect(lambda phrases: phrases.lead), _collect(lambda phrases: phrases.tail)
REPORT, SUMMARY = _collect(lambda phrases: phrases.report), _collect(lambda phrases: phrases.summary)
REWRITE, COMPOSE = _collect(lambda phrases: phrases.rewrite), _collect(lambda phrases: phrases.compose)
ARITHMETIC, ARITHMETIC_FILLERS = (
    _collect(lambda phrases: phrases.arithmetic),
    _collect(lambda phrases: phrases.arithmetic_fillers),
)
TODAY, CHANGES_DAILY = _collect(lambda phrases: phrases.today), _collect(lambda phrases: phrases.changes_daily)
WEEK, MONTH = _collect(lambda phrases: phrases.week), _collect(lambda phrases: phrases.month)
QUESTION_WORDS, FOLLOW_UPS, PRONOUNS = (
    _collect(lambda phrases: phrases.question_words),
    _collect(lambda phrases: phrases.follow_ups),
    _collect(lambda phrases: phrases.pronouns),
)

CLAUSE_ENDS = r",.!?;:，。！？；：、…\n"
SENTENCE_ENDS = "?？.!。！ \n"
PAUSES = ",:，： \n"
FULL_STOPS = ".!。！ "
QUESTION_MARKS = ("?", "？")
CLOSING = "\"'”’»)）」』"
OUTSIDE_URL = r"\s<>\"“”‘’，。；！？、（）【】《》「」|"
"""Punctuation of all languages, as the inside of a character class."""

_HAN = "\u3400-\u9fff"


@cache
def anywhere_pattern(pieces: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the pieces, anywhere in a text."""
    return re.compile("|".join(pieces), re.IGNORECASE)


@cache
def prefix_pattern(pieces: tuple[str, ...]) -> re.Pattern[str]:
    """One of the pieces as whole words with the punctuation after it, for `match`."""
    return re.compile(rf"(?:{'|'.join(pieces)})(?:(?<=[{_HAN}])|(?!\w))[{PAUSES}]*", re.IGNORECASE)


@cache
def suffix_pattern(pieces: tuple[str, ...]) -> re.Pattern[str]:
    """One of the pieces as the last words with the punctuation before it, for `search`."""
    pause = rf"(?:(?<![{PAUSES}])[{PAUSES}]++)?"
    whole = rf"{pause}(?:(?<!\w)|(?=[{_HAN}]))(?:{'|'.join(pieces)})(?P<end>[{SENTENCE_ENDS}]*+)$"
    return re.compile(whole, re.IGNORECASE)
