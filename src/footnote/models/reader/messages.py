# ruff: noqa: RUF001 - the punctuation of Chinese is meant
"""The reader's own sentences, in each language of the product."""

from collections.abc import Mapping

from msgspec import Struct

from footnote.protocol.tools import Locale


class ReaderMessages(Struct, frozen=True, kw_only=True):
    """`note` is added to one answer of a session. `direct` are the answers to messages that need no search."""

    space: str = " "
    """The separator of two sentences."""
    note: str
    direct: Mapping[str, str]
    unread: str
    """Nothing can be quoted from `files`: precedes an answer without them."""
    only_unread: str
    """The same, as the whole answer."""
    search_off: str
    no_subject: str

    passages: str
    passage: str
    unable: Mapping[str, str]
    """What was requested and cannot be done by quoting; the passages follow."""
    from_library: str
    """The web could not be searched: what follows is from the library."""
    nothing_on_the_web: str
    """The web search found nothing: what follows is from the library, too."""
    excerpts: str
    some_excerpts: str
    disagree: str
    unasked: str

    nothing: str
    tried: str
    outcomes: Mapping[str, str]
    other_words: str
    pages_found: str
    search_failed: str
    page_failed: str

    report_written: str
    report_failed: str
    report_impossible: str
    report_note: str
    report_title: str
    sources: str
    published: str
    read: str
    not_read: str


_EN = ReaderMessages(
    note=(
        "*This is Footnote's built-in reader: it quotes pages and does not reason. For answers in a model's own words, "
        "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama.*"
    ),
    direct={
        "greeting": "Hello! What would you like to know? I search for pages about it and quote what fits best.",
        "thanks": "You are welcome. What else would you like to know?",
        "remark": "All right. What would you like to know next?",
        "farewell": "Goodbye!",
        "about": (
            "I am Footnote's built-in reader. I search for pages that fit your question, read them and quote the "
            "passages that match best; each footnote opens the page as I read it. Give me a link and I read that page. "
            "Ask for a report and I put the quotations into a file."
        ),
        "conversation": "I only quote pages and cannot talk about our conversation. All of it stands above.",
        "blank": "I read text, and found no question in your message. What would you like to know?",
        "rewrite": (
            "I cannot translate or rewrite a text: I only quote what stands on pages. "
            "Ask me for facts, or give me a link to read."
        ),
        "compose": (
            "I cannot write something of my own: I only quote what stands on pages. "
            "Ask me for facts, or for a report made of quotations."
        ),
        "calculate": "I cannot calculate: I only quote what stands on pages. Ask me for facts instead.",
    },
    unread="There is no text that I could quote in {files}. What follows was found without it.",
    only_unread="There is no text that I could quote in {files}. Ask again without it, and I will search.",
    search_off=(
        "Web search is switched off for this agent, so I have nothing to quote from. "
        "To switch it on, set `webSearch.enabled` to `true` for this agent in `agents.json`."
    ),
    no_subject="What should the report be about? Name the subject, for example: write a report on tidal power.",
    passages="The passages that match best, word for word from the pages:",
    passage="The passage that matches best, word for word from the page:",
    unable={
        "summarise": "I cannot summarise in words of my own.",
        "rewrite": "I cannot translate or rewrite.",
    },
    from_library=(
        "The web could not be searched ({providers}), so this comes from the library: pages read before, your own "
        "files and Footnote's documentation."
    ),
    nothing_on_the_web=(
        "The web search found nothing, so this comes from the library: pages read before, your own files and "
        "Footnote's documentation."
    ),
    excerpts="None of these pages could be read. This is what the search engine shows of them:",
    some_excerpts="Not read, and quoted as the search engine shows it: source {numbers}.",
    disagree="These sources contradict each other, so both sides are quoted: {numbers}.",
    unasked="I look for three questions at a time. Please ask again for the others.",
    nothing="I found nothing that fits “{query}”.",
    tried="Tried:",
    outcomes={
        "results": "results",
        "empty": "no results",
        "blocked": "blocked",
        "error": "error",
        "skipped": "skipped",
    },
    other_words="Other words may help, or a link to a page that I should read.",
    pages_found="These pages were found, but no passage in them fits:",
    search_failed="The search for “{query}” failed:",
    page_failed="The page `{query}` could not be read:",
    report_written="The report is in {path}. From it, word for word from the pages:",
    report_failed="The report could not be written: {error}",
    report_impossible="I cannot write a file in this turn, so here is what the report would be made of.",
    report_note=(
        "Put together by Footnote's built-in reader. Everything below is quoted word for word from the sources at the "
        "end; nothing is added and nothing is concluded."
    ),
    report_title="Report",
    sources="Sources",
    published="published {date}",
    read="read {date}",
    not_read="not read, only what the search engine shows of it",
)

_VI = ReaderMessages(
    note=(
        "*Đây là trình đọc có sẵn của Footnote: nó trích nguyên văn các trang chứ không suy luận. Để có câu trả lời do "
        "mô hình viết, hãy đặt ANTHROPIC_API_KEY hoặc OPENAI_API_KEY, hoặc chạy Ollama.*"
    ),
    direct={
        "greeting": "Xin chào! Bạn muốn biết điều gì? Tôi sẽ tìm các trang liên quan và trích những đoạn phù hợp nhất.",
        "thanks": "Không có gì ạ. Bạn còn muốn biết điều gì nữa không?",
        "remark": "Vâng. Bạn muốn biết tiếp điều gì?",
        "farewell": "Tạm biệt bạn!",
        "about": (
            "Tôi là trình đọc có sẵn của Footnote. Tôi tìm các trang phù hợp với câu hỏi, đọc chúng và trích những "
            "đoạn khớp nhất; mỗi chú thích mở ra đúng trang tôi đã đọc. Bạn gửi liên kết thì tôi đọc trang đó. Bạn cần "
            "báo cáo thì tôi gom các đoạn trích vào một tệp."
        ),
        "conversation": "Tôi chỉ trích dẫn các trang, không bàn về cuộc trò chuyện được. Nội dung vẫn còn ở phía trên.",
        "blank": "Tôi chỉ đọc được chữ và chưa thấy câu hỏi nào. Bạn muốn biết điều gì?",
        "rewrite": (
            "Tôi không dịch hay viết lại văn bản được, vì tôi chỉ trích những gì có trên các trang. "
            "Bạn hãy hỏi về một thông tin, hoặc gửi liên kết để tôi đọc."
        ),
        "compose": (
            "Tôi không tự sáng tác được, vì tôi chỉ trích những gì có trên các trang. "
            "Bạn hãy hỏi về một thông tin, hoặc yêu cầu một báo cáo gồm các đoạn trích."
        ),
        "calculate": "Tôi không tính toán được, vì tôi chỉ trích những gì có trên các trang. Bạn hãy hỏi điều khác.",
    },
    unread="Tôi không đọc được văn bản nào để trích trong {files}. Phần sau đây được tìm mà không dùng tệp đó.",
    only_unread="Tôi không đọc được văn bản nào để trích trong {files}. Hãy hỏi lại không kèm tệp, tôi sẽ tìm kiếm.",
    search_off=(
        "Trợ lý này chưa bật tìm kiếm web nên tôi không có gì để trích dẫn. "
        "Để bật, hãy đặt `webSearch.enabled` thành `true` cho trợ lý này trong `agents.json`."
    ),
    no_subject="Báo cáo viết về chủ đề gì ạ? Bạn hãy nêu chủ đề, ví dụ: viết báo cáo về điện thủy triều.",
    passages="Những đoạn phù hợp nhất, trích nguyên văn từ các trang:",
    passage="Đoạn phù hợp nhất, trích nguyên văn từ trang:",
    unable={
        "summarise": "Tôi không tự tóm tắt bằng lời của mình được.",
        "rewrite": "Tôi không dịch hay viết lại được.",
    },
    from_library=(
        "Không tìm được trên web ({providers}), nên phần này lấy từ thư viện: các trang đã đọc trước đây, tệp của bạn "
        "và tài liệu của Footnote."
    ),
    nothing_on_the_web=(
        "Tìm kiếm trên web không có kết quả, nên phần này lấy từ thư viện: các trang đã đọc trước đây, tệp của bạn và "
        "tài liệu của Footnote."
    ),
    excerpts="Không đọc được trang nào trong số này. Đây là phần mà công cụ tìm kiếm hiển thị:",
    some_excerpts="Chưa đọc được trang, chỉ trích phần mà công cụ tìm kiếm hiển thị: nguồn {numbers}.",
    disagree="Các nguồn sau mâu thuẫn với nhau nên cả hai phía đều được trích: {numbers}.",
    unasked="Mỗi lần tôi chỉ tìm cho ba câu hỏi. Bạn vui lòng hỏi lại những câu còn lại.",
    nothing="Tôi không tìm thấy gì phù hợp với “{query}”.",
    tried="Đã thử:",
    outcomes={
        "results": "có kết quả",
        "empty": "không có kết quả",
        "blocked": "bị chặn",
        "error": "lỗi",
        "skipped": "bỏ qua",
    },
    other_words="Bạn thử dùng từ khóa khác, hoặc gửi liên kết tới trang cần đọc.",
    pages_found="Đã tìm thấy các trang này nhưng không có đoạn nào phù hợp:",
    search_failed="Tìm kiếm “{query}” không thành công:",
    page_failed="Không đọc được trang `{query}`:",
    report_written="Báo cáo nằm ở {path}. Trích từ báo cáo, nguyên văn từ các trang:",
    report_failed="Không ghi được báo cáo: {error}",
    report_impossible="Lượt này tôi không ghi tệp được, nên đây là những đoạn mà báo cáo sẽ gồm.",
    report_note=(
        "Do trình đọc có sẵn của Footnote tổng hợp. Mọi nội dung dưới đây đều trích nguyên văn từ các nguồn ở cuối; "
        "không thêm và không suy diễn gì."
    ),
    report_title="Báo cáo",
    sources="Nguồn",
    published="đăng ngày {date}",
    read="đọc ngày {date}",
    not_read="chưa đọc được, chỉ có phần công cụ tìm kiếm hiển thị",
)

_ZH = ReaderMessages(
    space="",
    note=(
        "*这是 Footnote 内置的阅读器：它只引用网页原文，不做推理。想要模型撰写的回答，请设置 ANTHROPIC_API_KEY 或 "
        "OPENAI_API_KEY，或者启动 Ollama。*"
    ),
    direct={
        "greeting": "你好！想了解什么？我会查找相关网页，并引用其中最相符的段落。",
        "thanks": "不客气。还想了解什么？",
        "remark": "好的。接下来想了解什么？",
        "farewell": "再见！",
        "about": (
            "我是 Footnote 内置的阅读器。我会查找与问题相关的网页，阅读后引用最相符的段落；"
            "每个脚注都能打开我读到的原文。发来链接，我就读那个网页；需要报告，我就把引文整理成一个文件。"
        ),
        "conversation": "我只会引用网页，无法谈论我们的对话。全部内容都在上方。",
        "blank": "我只能读文字，没有在消息里看到问题。想了解什么？",
        "rewrite": "我无法翻译或改写文字，只能引用网页上的内容。请问我一个事实，或者发来要读的链接。",
        "compose": "我无法自己创作，只能引用网页上的内容。请问我一个事实，或者让我做一份由引文组成的报告。",
        "calculate": "我无法计算，只能引用网页上的内容。请问我一个事实。",
    },
    unread="我无法从 {files} 中读到可引用的文字。以下内容并未使用该文件。",
    only_unread="我无法从 {files} 中读到可引用的文字。请不附该文件再问一次，我就会去搜索。",
    search_off=(
        "这个智能体没有开启网页搜索，所以我没有可引用的内容。"
        "要开启它，请在 `agents.json` 中把该智能体的 `webSearch.enabled` 设为 `true`。"
    ),
    no_subject="报告要写什么主题？请说明主题，例如：写一份关于潮汐能的报告。",
    passages="以下是最相符的段落，均为网页原文：",
    passage="以下是最相符的段落，为网页原文：",
    unable={
        "summarise": "我无法用自己的话总结。",
        "rewrite": "我无法翻译或改写。",
    },
    from_library="无法搜索网络（{providers}），以下内容来自资料库：以前读过的网页、你的文件和 Footnote 的文档。",
    nothing_on_the_web="网络搜索没有结果，以下内容来自资料库：以前读过的网页、你的文件和 Footnote 的文档。",
    excerpts="这些网页都没能读取。以下是搜索引擎显示的摘录：",
    some_excerpts="以下来源没能读取，引用的是搜索引擎显示的摘录：{numbers}。",
    disagree="以下来源说法相互矛盾，双方均已引用：{numbers}。",
    unasked="我一次最多查三个问题，其余的请再问一次。",
    nothing="没有找到与“{query}”相符的内容。",
    tried="已尝试：",
    outcomes={"results": "有结果", "empty": "没有结果", "blocked": "被拦截", "error": "出错", "skipped": "跳过"},
    other_words="可以换个说法，或者发来要读的网页链接。",
    pages_found="找到了以下网页，但其中没有相符的段落：",
    search_failed="搜索“{query}”失败：",
    page_failed="无法读取网页 `{query}`：",
    report_written="报告已写入 {path}。以下摘自报告，均为网页原文：",
    report_failed="无法写入报告：{error}",
    report_impossible="这一轮我无法写文件，以下是报告会用到的内容。",
    report_note="由 Footnote 内置的阅读器整理。以下内容均逐字引自文末列出的来源，没有添加，也没有推断。",
    report_title="报告",
    sources="来源",
    published="发布于 {date}",
    read="读取于 {date}",
    not_read="未能读取，只有搜索引擎显示的摘录",
)

MESSAGES: Mapping[Locale, ReaderMessages] = {"en": _EN, "vi": _VI, "zh": _ZH}
