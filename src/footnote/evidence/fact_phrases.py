"""The phrases by which a sentence is recognised that needs no source: an opinion, an instruction, a greeting, a word
about the answer itself, a sum of its own.

The phrases of all languages are used together, because many sentences are too short to tell their language. A line of a
pattern is broken behind an alternative.
"""

import re
from typing import Final


def _pattern(lines: str) -> re.Pattern[str]:
    return re.compile("".join(line.strip() for line in lines.splitlines()), re.IGNORECASE)


OPENINGS: Final = _pattern(r"""
    (?:and|but|so|also|then|now|well|however|still|yet|overall|instead|otherwise|next|finally|first|second|third|
    firstly|secondly|lastly|afterwards|meanwhile|in short|in sum|to sum up|in summary|in conclusion|in general|
    generally|by the way|that said|for now|from there|step \d{1,2}|day \d{1,2}|tip|pro tip|note|
    tips?)\b[,:.]?\s{0,3}
    |(?:và|nhưng|tuy nhiên|sau đó|tiếp theo|cuối cùng|đầu tiên|trước tiên|trước hết|ngoài ra|nhìn chung|tóm lại|vậy|
    rồi|bước \d{1,2}|ngày \d{1,2}|mẹo|lưu ý|ghi chú)(?!\w)[,:.]?\s{0,3}
    |(?:但是?|不过|然而|然后|接着|接下来|最后|首先|其次|另外|此外|总之|总的来说|总体而言|综上所述?|那么|所以|第[一二三四五六七八九十\d]{1,2}步|步骤\s?\d{1,2}|提示|小贴士|
    注意)[,，:：]?\s{0,3}
""")
"""Words before the sentence proper, which say nothing about its kind."""

FIRST_PERSON: Final = _pattern(r"""
    i(?:'(?:m|ve|d|ll))?\b(?!\.)|my (?:view|opinion|guess|feeling|impression|advice|suggestion|recommendation|
    answer)\b
    |(?:let me|let us|let's|allow me|sorry|apologies|unfortunately,? (?:i|we)\b|no problem|of course[,!.]|sure[,!.])
    |we (?:recommend|suggest|advise|believe|think|feel|hope|would|could not|couldn't|did not find|searched)\b
    |(?:tôi|mình|em(?! gái| trai| bé| họ| dâu| rể)|
    chúng tôi (?:khuyên|đề xuất|cho rằng|nghĩ|tin|hy vọng|không tìm)|theo (?:tôi|mình|ý kiến))(?!\w)
    |(?:rất tiếc|xin lỗi|tiếc là)(?!\w)
    |(?:我(?!国|省|市|县|校|院|军|党)|本人|让我|个人(?:认为|觉得|而言|来说)|抱歉|对不起|很遗憾|不好意思|笔者)
""")
"""At the beginning of a sentence: what its author does, thinks or knows."""

OPINIONS: Final = _pattern(r"""
    \bi (?:think|believe|feel|find|would|guess|suppose|prefer|like|love|recommend|suggest|hope|doubt)\b|\bi'd\b
    |\bin my (?:view|opinion|experience)\b|\bif you ask me\b|\bto my mind\b|\bfor my taste\b|\bpersonally\b
    |\b(?:arguably|frankly|honestly|to be honest|hopefully|ideally)\b|\bit (?:seems|would seem|feels|
    looks) (?:to me|as if|like)\b
    |\bit (?:is|'s|would be) (?:better|best|worth|wise|fair|hard|easy|tempting|unfair|a shame|a pity)\b|
    \bdeserves?\b
    |\b(?:is|are|seems?|looks?) (?:well |hardly |really |not )?worth\b|\bhard to (?:beat|love|like|argue)\b
    |\bwould be (?:a|an|the|my)\b|\bwould (?:rather|prefer)\b|\bbetter off\b|\bno better (?:place|way|choice|time)\b
    |\b(?:should|ought to|had better)\b
    |(?<!\w)(?:theo (?:tôi|mình|ý kiến (?:của )?(?:tôi|mình)|quan điểm (?:của )?(?:tôi|mình))|tôi (?:nghĩ|cho rằng|
    tin|thấy|thích)|mình (?:nghĩ|thấy|thích)|có lẽ|có vẻ|dường như|thật ra mà nói|nói thật|đáng (?:để|tiếc|xem|thử|
    giá|ghé|mua|tin|đồng tiền)|
    (?<!trở )(?<!tạo )(?<!làm )(?<!dựng )(?<!cho )nên)(?!\w)
    |(?<!\w)(?:hơi quá|quá đắt|không đáng|xứng đáng|hy vọng|lẽ ra|giá như)(?!\w)
    |我(?:认为|觉得|想|相信|推荐|建议|喜欢|感觉|更|个人|倾向)|在我看来|依我看|个人(?:认为|觉得|看来|来说)|恐怕|值得(?:一|去|推荐|拥有|期待|购买|称赞|注意|信赖)|说实话|老实说|坦率地说|
    未免|实在是?太|看起来(?:似乎|像)|应该|应当|最好(?!的)|不妨|不如|有点(?:贵|可惜|遗憾)|令人(?:遗憾|惊叹|失望|印象深刻|愉快|难忘)
""")
"""Anywhere in a sentence."""

EVALUATIONS: Final = _pattern(r"""
    \b(?:is|are|was|were|looks?|feels?|seems?|remains?|makes?|offers?|has|have|feel|
    becomes?)(?: \w+){0,4}? (?:beautiful|wonderful|charming|lovely|impressive|elegant|ugly|boring|exciting|stunning|
    excellent|terrible|awful|great|good|bad|nice|best|better|worst|worse|finest|prettiest|nicest|fantastic|amazing|
    delightful|pleasant|disappointing|overrated|underrated|fascinating|magical|unforgettable|delicious|tasty|
    comfortable|convenient|attractive|perfect|ideal|wise|smart|sensible|clever|foolish|fun|friendlier|friendliest|
    livable|enjoyable|convincing|unconvincing|must-see|masterpiece|gem|bargain|overpriced|clumsy|graceful|romantic|
    relaxing|safe bet)\b
    |\bthe (?:most|least) (?:beautiful|charming|impressive|elegant|exciting|enjoyable|interesting|romantic|
    attractive|convincing|pleasant|sensible|comfortable|relaxing|fascinating|promising|appealing)\b
    |(?<!\w)(?:đẹp|tuyệt vời|tuyệt đẹp|thú vị|hấp dẫn|đáng yêu|quyến rũ|ấn tượng|(?<!dân )tệ|xấu|nhàm chán|ngon|
    dễ chịu|
    lý tưởng|tốt (?:nhất|hơn)|hay (?:nhất|hơn)|đáng nhớ|lãng mạn|thơ mộng|hoàn hảo|đáng sống|thông minh|hợp lý|
    khôn ngoan|duyên dáng)(?!\w)
    |(?:美丽|漂亮|迷人|精彩|有趣|出色|优秀|糟糕|无聊|难看|好吃|美味|舒适|舒服|理想|最好|更好|最佳|浪漫|完美|宜居|难忘|可爱|优雅|明智|合理|划算|好看|动人|壮观|令人惊叹|不错)
""")
"""The adjectives of a judgement of taste, as its predicate. They do not outweigh a date or an amount."""

ADVICE: Final = _pattern(r"""
    \byou(?:'ll)? (?:should|can|could|may|might|must|need to|have to|want to|will want)\b|\bmake sure\b
    |\bit (?:is|'s) (?:recommended|advisable|a good idea|important to|best to)\b|\bremember to\b
    |(?<!\w)bạn (?:nên|có thể|cần|phải|hãy)(?!\w)|(?:您|你)(?:可以|需要|应该|必须|最好|还可以|也可以)|务必|切记
""")
"""Anywhere in a sentence."""

INSTRUCTIONS: Final = _pattern(r"""
    (?:please|kindly|always|never|don't|do not|make sure|be sure|be careful|remember|keep in mind|try to|feel free|
    consider \w+ing|avoid|in order to|to (?:install|start|get|do|avoid|use|open|begin|update|check|run|build|change|
    enable|create|save|save money|book|reach))\b
    |(?:if|when|once|before|after|unless) (?:you|your)\b
    |you(?:'(?:re|ll|ve|d))?\b|your\b
    |(?:open|click|press|tap|select|choose|enter|type|go|run|install|download|copy|paste|save|set|add|remove|delete|
    create|use|check|visit|book|buy|take|bring|call|ask|send|read|write|see|look|turn|switch|put|place|mix|stir|
    heat|cook|bake|boil|pour|let|wait|leave|start|stop|begin|close|restart|update|upgrade|follow|compare|review|
    contact|keep|move|drag|drop|pick|try|test|verify|confirm|replace|repeat|spend|walk|head|order|ride|explore|
    catch|stay|eat|drink|avoid|plan|pay|sign|log|submit|upload|import|export|connect|insert|preheat|serve|cut|apply|
    submit|allow|consult|divide|multiply|subtract|enable|disable|configure|build|make|give|tell|note down|charge|
    rinse|store|wash|clean|dry|fill|freeze|
    hold|lock|measure|weigh|record|schedule|reserve|pack|wear|prepare|print|share|reboot|tighten|loosen|mount|attach|
    detach|unplug|plug|swap|sort|label|count|limit|reduce|increase|lower|raise|adjust|rotate|fold|sand|paint|water|
    plant|sow|prune|peel|chop|slice|season|whisk|sprinkle|drain|roll|knead|grill|fry|roast) (?:the|a|
    an|your|this|that|these|those|it|them|him|her|all|any|each|every|both|one|two|three|at least|no more|
    up (?!to\b)|into|onto|for (?:\d|a|about|at)|with the|out|from the|whether|if|how|only|again|carefully|down|off|
    back|over to|ahead|early|sure|some|more|less|enough|about \d|[`\"“(]|(?-i:[A-Z])|\d)
    |(?:go|head|walk|switch|scroll|navigate|log in|sign in|sign up|drive|travel|return|add up|connect) (?:to|into|
    through|from|along|via|for|on|with)\b
    |(?:hãy|xin hãy|vui lòng|đừng|nhớ|bạn|quý khách|anh/chị|để (?:cài|bắt đầu|mở|tránh|có thể|làm|đến)|nếu bạn|
    khi bạn|trước khi|không nên|cần phải)(?!\w)
    |(?:mở|nhấn|bấm|chọn|nhập|gõ|chạy|cài đặt|cài|tải|tải xuống|sao chép|dán|lưu|đặt|thêm|xóa|xoá|tạo|dùng|sử dụng|
    kiểm tra|ghé|mang|mang theo|gọi|hỏi|gửi|đọc|viết|xem|bật|tắt|trộn|khuấy|đun|nấu|nướng|luộc|đổ|chờ|đợi|khởi động|
    cập nhật|làm theo|so sánh|liên hệ|giữ|kéo|thử|xác nhận|thay|lặp lại|dành|đi bộ|đi dọc|đăng nhập|đăng ký|
    tham khảo|mua|rửa|cắt|ướp|sạc|tháo|lắp|rút|cắm|tưới|trồng|gọt|thái|rắc|chiên|ngâm|để nguội|đeo|mặc)\s(?!của\b|
    bán\b|ra\b|cửa\b|rộng\b|đầu\b|lại cửa\b)
    |(?:请|务必|不要|别|切勿|记得|注意(?!力|到)|确保|如果您|如果你|若您|若你|当您|当你|您|你|为了避免|建议|[把将](?!.{0,16}[了过]))
    |(?:打开|点击|单击|双击|按下|选择|输入|键入|运行|安装|下载|复制|粘贴|保存|设置|添加|删除|创建|使用|检查|访问|前往|预订|购买|带上|拨打|发送|阅读|查看|开启|关闭|加入|倒入|煮|烤|搅拌|
    等待|重启|更新|按照|比较|联系|保持|拖动|尝试|确认|替换|重复|登录|注册|提前|沿着|乘坐|参考|充电|清洗|擦干|插上|拔下|拧紧|切|炒|撒|浇水|戴上|穿上)(?!了|的|者|量|率|人|过|权|后的|
    数|额|于|前的)
""")
"""At the beginning of a sentence."""

GREETINGS: Final = _pattern(r"""
    (?:dear|hi|hello|hey|greetings|good (?:morning|afternoon|evening)|thanks(?! to\b)|thank you|many thanks|(?:best|
    kind|warm|with kind) (?:regards|wishes)|regards|sincerely|yours (?:sincerely|faithfully|truly)|cheers|welcome|
    happy to help|glad to help|great question|good question|have a (?:nice|great|good)|enjoy)\b
    |(?:xin chào|chào|kính gửi|kính thưa|thân gửi|trân trọng|thân mến|thân ái|cảm ơn|xin cảm ơn|chúc)(?!\w)
    |(?:你好|您好|大家好|尊敬的|亲爱的|此致|敬礼|谢谢|感谢(?:您|你|大家|阅读)|祝(?:您|你|大家|好)|顺颂|敬上|欢迎)
""")
"""At the beginning of a sentence, or of the signature below a letter."""

ABOUT_THE_TEXT: Final = _pattern(r"""
    (?:there is no text that i|the web could not be searched|the (?:web )?search(?:es)?|
    the report (?:is in|was written|could not)|
    this is footnote|put together by footnote|for answers in)
    |(?:đây là trình đọc|để có câu trả lời|báo cáo (?:nằm ở|được lưu)|không ghi được|
    do trình đọc|(?:việc |lần )?tìm kiếm)(?!\w)
    |(?:这是\s?footnote|无法(?:搜索|写入|读取)|网络搜索|搜索(?=[“"「失没])|报告(?:已写入|在)|由\s?footnote)
    |(?:here(?:'s| is| are)|below (?:is|are|you)|above (?:is|are)|as (?:shown|noted|mentioned|described|listed|
    said) (?:above|below|earlier))\b
    |(?:this|the|these|my|our) (?:(?:following|short|brief|present|first|second|last|next) )?(?:report|answer|
    summary|article|section|table|list|overview|document|page|text|note|memo|comparison|analysis|guide|figures|
    numbers|part|chapter|calculation|reply|draft)(?: (?:above|below))?,? (?:covers?|compares?|summari[sz]es?|
    describes?|looks? at|is about|lists?|explains?|answers?|gives?|contains?|uses?|draws? on|is based on|
    are based on|is (?:structured|organi[sz]ed|divided)|follows?|starts? with|ends? with|has|have|rests? on|
    relies on|rely on|deals? with|is meant|does not|do not|are taken from|comes? from|were taken|is limited|
    sums? up|presents?|come from|goes)\b
    |(?:the (?:following )?(?:table|list|figure|chart)s? (?:below|above)|the following (?:table|list|section|
    sections|figures|points|steps|chart)|in the (?:following|next) section)\b
    |(?:(?:no|none of the|neither|neither of the|one|some|two|three|both|all|most|several|the|these|my|
    other)(?: \w+)? (?:sources?|pages?|results?|search(?:es)?)(?: (?:i|that i|we) (?:read|found))?) (?:gives?|says?|
    mentions?|states?|agrees?|disagrees?|differs?|do not|does not|did not|names?|found|turned|contradict|say|
    covers?|confirms?|reports? (?:a|the) same|cites?)\b
    |(?:nothing (?:was|is|could be)|it (?:is|was) not possible|no (?:information|figures?|data|numbers?|
    evidence)(?: \w+){0,4} (?:was|were|could be|is|are) (?:found|given|available|stated))\b
    |you (?:asked|said|wrote|mentioned|told|gave|want|wanted|are asking)\b|as you (?:said|asked|wrote|mentioned)\b|
    your (?:question|text|message|file|request)\b
    |(?:báo cáo|bài viết|bài|phần|mục|bảng|danh sách|tài liệu|bản tóm tắt|câu trả lời|tổng quan|văn bản|
    bản)(?: (?:này|dưới đây|sau|sau đây|trên|trên đây|tiếp theo))+(?!\w)
    |(?:dưới đây|sau đây|trên đây|như (?:đã|bạn) (?:nêu|nói|hỏi|viết|đề cập)|bạn (?:hỏi|đã hỏi|muốn|cho biết|viết|
    nói))(?!\w)
    |(?:không có nguồn|không nguồn|các nguồn (?:này |trên |đều |không |khác )|hai nguồn|không tìm thấy|
    chưa tìm thấy|không có (?:thông tin|số liệu|dữ liệu))
    |(?:以下|下面|下表|下图|上表|上图|如下|如上|上述|本(?:报告|文|表|节|章|部分|篇|答案|总结|指南|文档)|这(?:份|篇|张|个)(?:报告|文章|表格?|总结|答案|文档|清单))(?!$)
    |(?:没有(?:任何)?(?:来源|资料|页面|信息|找到)|未(?:能)?找到|各来源|这些来源|两个来源|来源(?:之间|不一|均|都|中)|您(?:问|提到|想|要求|说)|你(?:问|提到|想|要求|说)|
    正如[您你])
""")
"""At the beginning of a sentence: what the answer is, what it has and what could not be found."""

TRANSITIONS: Final = _pattern(r"""
    (?:turning|moving on|back|on|over|now|coming|next up|next|up next|so much for|enough of|
    that brings)\b.{0,30}?(?:\bto\b|\bfor\b|[,:])
    |(?:bây giờ|tiếp theo|chuyển sang|quay lại|trở lại|còn về)(?!\w)
    |(?:接下来|再来看|再看|现在来看|现在看|下面|回到|转向|至于|先来看|先看|来看)
""")
"""At the beginning of a sentence that only leads to the next subject."""

LABELS: Final = _pattern(r"""
    (?:date|author|authors|prepared (?:by|for)|written by|last (?:updated|modified|checked)|updated|version|status|
    to|from|subject|cc|re|title|tags?|keywords?|contents|table of contents|word count|reading time|contact|phone|
    e-?mail|address|as of|session|model|figure|fig\.|image|photo|picture|caption|deadline|due|owner|assignee|
    attendees|participants|location|agenda) ?[:：]
    |(?:ngày|ngày lập|ngày viết|ngày cập nhật|tác giả|người lập|người viết|cập nhật(?: lần cuối)?|phiên bản|
    kính gửi|chủ đề|tiêu đề|từ khóa|mục lục|liên hệ|điện thoại|email|địa chỉ|hình|ảnh|người nhận|người gửi|thời hạn|
    hạn chót|thành phần|địa điểm) ?[:：]
    |(?:日期|作者|编制(?:人|日期)?|撰写(?:人|日期)?|(?:最后)?更新(?:时间|日期|于)?|版本|状态|收件人|发件人|主题|标题|关键词|目录|联系(?:人|方式)|电话|邮箱|地址|图|图片|
    截止(?:日期|时间)?|负责人|参会人|地点|制表) ?[:：]
""")
"""At the beginning of a line: facts about the text itself, such as its author and its date."""

HYPOTHESES: Final = _pattern(r"""
    (?:suppose|imagine|assume|assuming|say you|for example, (?:if|suppose|say)|let's say|pretend|picture|what if)\b
    |(?:giả sử|giả định|hãy tưởng tượng|ví dụ,? nếu|chẳng hạn,? nếu)(?!\w)
    |(?:假设|假如|假定|设想|想象一下|比如说?,?如果|例如,?如果)
""")
"""At the beginning of a sentence."""

SUMS: Final = _pattern(r"""
    \b(?:together|altogether|in total|total(?:s|ling|led)?|sum|combined|adds? up|makes|that is|that's|that makes|so|
    thus|hence|therefore|which means|meaning|equals?|differences?|differ|gap|average|mean|ratio|times|twice|
    double|half|
    triple|share of|increase of|decrease of|growth of|(?:rise|fall|drop) of|leaves?|remaining|
    (?:more|less|fewer|higher|lower|longer|shorter|older|younger|larger|smaller|bigger|cheaper|faster) than|
    (?:more|less) expensive|costs? (?=.{0,40}\b(?:more|less)\b)|years? (?:later|old|older|after|before)|apart|i\.e\.|
    percentage points?)\b|[=≈×÷]
    |(?<!\w)(?:tổng cộng|tổng|cộng lại|như vậy|tức là|nghĩa là|chênh lệch|trung bình|bình quân|gấp|còn lại|
    tương đương|
    (?:nhiều|ít|cao|thấp|dài|ngắn|đắt|rẻ|lớn|nhỏ) hơn|hơn kém|tỷ lệ|tỉ lệ|do đó|vì vậy|vậy là|suy ra)(?!\w)
    |(?:合计|总计|共计|总共|一共|加起来|相加|总和|相差|差距|差额|即|也就是说|因此|所以|等于|平均|人均|倍|剩余|剩下|相当于|约合|由此|增幅|降幅)
    |比.{1,20}?(?:多|少|高|低|贵|便宜|长|短|早|晚|大|小)
""")
"""Words that announce a number that was computed, or a conclusion."""

NUMBERED: Final = _pattern(r"""
    \b(?:step|section|sections|figure|fig\.|table|chapter|option|appendix|question|point|example|item|phase|source|
    sources|footnote|footnotes|note|part|reason|tip|scenario|case|line|row|column|slide|task|exercise|answer|
    paragraph)s? #?\d{1,3}(?:\.\d{1,2}){0,3}(?: ?(?:and|to|or|[-–,&]) ?\d{1,3})*
    |(?<!\w)(?:bước|phần|mục|hình|bảng|chương|câu hỏi|câu|ví dụ|nguồn|chú thích|phương án|lựa chọn|giai đoạn|điểm|
    bài|lý do|mẹo|trang|dòng|cột) \d{1,3}(?:\.\d{1,2}){0,3}(?: ?(?:và|đến|[-–,]) ?\d{1,3})*
    |(?:第\s?[\d一二三四五六七八九十]{1,3}\s?[步节章部条点项例题段行列页]分?|[图表例]\s?\d{1,3}|(?:步骤|来源|方案|选项|附录|问题|案例|情景|示例|
    脚注)\s?[\d一二三四五六七八九十]{1,3}(?:\s?[和、与至-]\s?\d{1,3})*)
    |^\s*\d{1,2}[.)、](?=\s)
""")
"""Numbers that count the parts of the text: `step 2`."""

COUNTED_PARTS: Final = _pattern(r"""
    \b(?:\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)(?: (?:main|major|key|important|different|possible|
    common|basic|simple|good|clear|big|other|broad))? (?:reasons?|ways?|approaches|options?|points?|steps?|factors?|
    parts?|questions?|things?|aspects?|types?|kinds?|categories|arguments?|tips?|examples?|sections?|sources?|
    causes|themes?|ideas|lessons|methods|phases|stages|sides|views|criteria|topics|areas|takeaways|findings|answers|
    scenarios|cases|results|pages|tables)\b
    |(?<!\w)(?:\d{1,2}|hai|ba|bốn|năm|sáu|bảy|tám|chín|mười) (?:lý do|cách|phương án|lựa chọn|điểm|bước|yếu tố|phần|
    câu hỏi|điều|khía cạnh|loại|nhóm|nguyên nhân|ví dụ|mẹo|nguồn|kết quả|giai đoạn|phương pháp|ý|quan điểm|tiêu chí|
    chủ đề|bài học)(?: (?:chính|quan trọng|khác nhau|cơ bản))?(?!\w)
    |(?:\d{1,2}|[两二三四五六七八九十])(?:个|种|点|条|大|项|步|类|方面)(?:主要|重要|不同|关键|核心)?(?:的)?(?:原因|方法|方式|方面|步骤|因素|部分|问题|类型|类别|要点|例子|
    来源|结果|阶段|建议|观点|理由|标准|主题|角度|选择|方案|教训|发现)?
""")
"""A number that counts what follows: `three reasons`."""

REPORTED: Final = _pattern(r"""
    \b(?:said|says|according to|argue[sd]?|report(?:s|ed)|announce[sd]?|warn(?:s|ed)|recommend(?:s|ed)|
    advis(?:es|ed)|stated?|claim(?:s|ed)|wrote|told|called|found that|concluded)\b
    |(?<!\w)(?:theo (?!tôi|mình|ý kiến)|cho biết|tuyên bố|khuyến cáo|nhận định|phát biểu)
    |(?:表示|指出|认为|宣布|报道|据|称|警告|呼吁)
""")
"""Anywhere in a sentence: the opinion is that of somebody who is named."""

COMMON_ACRONYMS: Final = frozenset(
    """
    ai am api app asap atm cd cli cpu css csv cv db diy dna dns dr dvd eta etc faq gdp gps gpu html
    http https id ide io ip it jpeg js json led llm ml nb ok os pc pdf php pm png pps ps q1 q2 q3 q4
    ram rest rna rsvp sdk sim sms sql ssd ssh ssl svg tbd tl tldr tls todo tv ui url usb ux vat vpn
    vs wifi xml yaml zip
    """.split()  # noqa: SIM905 - a table of words
)
"""Words in capitals that name nobody and nothing in particular."""
