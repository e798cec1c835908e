"""What a check of a text found, in words: the counts, and the statements that a reader should look at."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from footnote.evidence.footnoted import UNADDRESSED
from footnote.evidence.proof import BEST_FIRST, count_verdicts, statement_verdict
from footnote.evidence.unread_reasons import unread_reason
from footnote.protocol.sources import Citation, PageReport, Source, Verdict
from footnote.protocol.tools import Locale
from footnote.text.markdown import blockquote, escape_inline, markdown_link, markdown_to_text

MAX_LISTED = 20
"""The statements of one verdict that are listed; the file has all of them."""
MAX_STATEMENT_LENGTH = 400
_LISTED: tuple[Verdict, ...] = ("contradicted", "unsupported", "unread", "uncited")


class CheckWords(Struct, frozen=True):
    """`question` is that of the user, with the title of the text. `counts` begins the line of counts, `one` that of a
    single statement; `verdicts` are the words in it, `headings` those above the lists, `labels` those beside a
    statement."""

    question: str
    counts: str
    one: str
    verdicts: Mapping[Verdict, str]
    headings: Mapping[Verdict, str]
    labels: Mapping[Verdict, str]
    page_says: str
    lacking: str
    """Before what a passage that says a part of a statement does not say."""
    nothing: str
    no_links: str
    all_fine: str
    more: str
    file: str
    sources: str
    no_address: str
    read_on: str
    limit: str


WORDS: dict[Locale, CheckWords] = {
    "en": CheckWords(
        question="Check: {}",
        counts="{} statements: ",
        one="1 statement: ",
        verdicts={
            "supported": "{} supported",
            "partial": "{} partly supported",
            "contradicted": "{} contradicted",
            "unsupported": "{} not supported",
            "unread": "{} whose source could not be read",
            "uncited": "{} without a source",
        },
        headings={
            "contradicted": "The source says otherwise",
            "unsupported": "The source does not say it",
            "unread": "The source could not be read",
            "uncited": "Without a source",
        },
        labels={
            "supported": "supported",
            "partial": "partly supported",
            "contradicted": "contradicted",
            "unsupported": "not supported",
            "unread": "not read",
            "uncited": "no source",
        },
        page_says="the page says",
        lacking="not there",
        nothing="Nothing to check",
        no_links="The text has no statement with a link or a footnote.",
        all_fine="Every statement with a source is on its page, at least in part.",
        more="- … and {} more, which are marked in the file.",
        file="The text with all footnotes is in {}.",
        sources="Sources",
        no_address="the reference has no address",
        read_on="read {}",
        limit="not read: a check reads the first {} links",
    ),
    "vi": CheckWords(
        question="Kiểm tra: {}",
        counts="{} phát biểu: ",
        one="1 phát biểu: ",
        verdicts={
            "supported": "{} có căn cứ",
            "partial": "{} có căn cứ một phần",
            "contradicted": "{} trái với nguồn",
            "unsupported": "{} không có căn cứ",
            "unread": "{} có nguồn không đọc được",
            "uncited": "{} không dẫn nguồn",
        },
        headings={
            "contradicted": "Nguồn nói khác",
            "unsupported": "Nguồn không nói điều này",
            "unread": "Không đọc được nguồn",
            "uncited": "Không dẫn nguồn",
        },
        labels={
            "supported": "có căn cứ",
            "partial": "có căn cứ một phần",
            "contradicted": "trái với nguồn",
            "unsupported": "không có căn cứ",
            "unread": "không đọc được nguồn",
            "uncited": "không dẫn nguồn",
        },
        page_says="trang viết",
        lacking="không có ở đó",
        nothing="Không có gì để kiểm tra",
        no_links="Văn bản không có phát biểu nào kèm liên kết hoặc chú thích.",
        all_fine="Mọi phát biểu có nguồn đều có trên trang được dẫn, ít nhất một phần.",
        more="- … và {} phát biểu nữa, được đánh dấu trong tệp.",
        file="Văn bản với mọi chú thích nằm trong {}.",
        sources="Nguồn",
        no_address="mục tham khảo không có địa chỉ",
        read_on="đọc ngày {}",
        limit="không đọc: mỗi lần kiểm tra đọc {} liên kết đầu tiên",
    ),
    "zh": CheckWords(
        question="核查：{}",
        counts="{} 条陈述：",
        one="1 条陈述：",
        verdicts={
            "supported": "{} 条有据",
            "partial": "{} 条部分有据",
            "contradicted": "{} 条与来源矛盾",
            "unsupported": "{} 条无据",
            "unread": "{} 条的来源无法读取",
            "uncited": "{} 条没有来源",
        },
        headings={
            "contradicted": "来源的说法不同",
            "unsupported": "来源没有这样说",
            "unread": "来源无法读取",
            "uncited": "没有来源",
        },
        labels={
            "supported": "有据",
            "partial": "部分有据",
            "contradicted": "与来源矛盾",
            "unsupported": "无据",
            "unread": "来源未读取",
            "uncited": "没有来源",
        },
        page_says="原文",
        lacking="原文没有",
        nothing="没有可核查的内容",
        no_links="文本中没有带链接或脚注的陈述。",
        all_fine="每条有来源的陈述都能在其页面上找到，至少找到一部分。",
        more="- ……还有 {} 条，已在文件中标出。",
        file="带全部脚注的文本在 {}。",
        sources="来源",
        no_address="该参考条目没有地址",
        read_on="读取于 {}",
        limit="未读取：每次核查只读取前 {} 个链接",
    ),
}


class CheckedText(Struct, frozen=True):
    """A text with footnotes, and what was found of it. `reports` are those of its pages, by address."""

    text: str
    citations: tuple[Citation, ...]
    sources: tuple[Source, ...]
    reports: Mapping[str, PageReport]


class JudgedStatement(Struct, frozen=True):
    """A statement with its verdict, and the citations behind it."""

    text: str
    verdict: Verdict
    citations: tuple[Citation, ...]


def judged_statements(text: str, citations: Iterable[Citation]) -> tuple[JudgedStatement, ...]:
    """The statements of a text in order, each once."""
    groups: dict[tuple[int, int], list[Citation]] = {}
    for citation in citations:
        groups.setdefault((citation.start, citation.end), []).append(citation)
    return tuple(
        JudgedStatement(
            " ".join(markdown_to_text(text[start:end]).split()),
            statement_verdict(one.verdict for one in group),
            tuple(group),
        )
        for (start, end), group in sorted(groups.items())
    )


def check_report(checked: CheckedText, path: str, locale: Locale) -> str:
    """The report as markdown. The counts are a heading, which states nothing that would need a source itself."""
    words = WORDS[locale]
    statements = judged_statements(checked.text, checked.citations)
    parts = [f"## {counts_line(checked.citations, locale) or words.nothing}"]
    if not statements:
        parts.append(words.no_links)
    elif not any(one.verdict in _LISTED for one in statements):
        parts.append(words.all_fine)
    for verdict in _LISTED:
        parts += _section([one for one in statements if one.verdict == verdict], verdict, words)
    parts.append(words.file.format(f"`{path}`"))
    unread = [source for source in checked.sources if source.status != "read"]
    if unread:
        lines = [_unread_line(source, checked.reports, locale) for source in unread]
        parts += [f"### {words.sources}", "\n".join(lines)]
    return "\n\n".join(parts)


def counts_line(citations: Iterable[Citation], locale: Locale) -> str:
    """`41 statements: 36 supported, 2 contradicted`; empty if there are none."""
    words, counts = WORDS[locale], count_verdicts(citations)
    if not counts.statements:
        return ""
    beginning = words.one if counts.statements == 1 else words.counts.format(counts.statements)
    separator = "，" if locale == "zh" else ", "
    found = (words.verdicts[one].format(getattr(counts, one)) for one in BEST_FIRST if getattr(counts, one))
    return beginning + separator.join(found)


def _section(statements: Sequence[JudgedStatement], verdict: Verdict, words: CheckWords) -> Iterator[str]:
    if not statements:
        return
    yield f"### {words.headings[verdict]}"
    lines: list[str] = []
    for statement in statements[:MAX_LISTED]:
        footnotes = "".join(dict.fromkeys(f"[{one.number}]" for one in statement.citations if one.number))
        short = statement.text[:MAX_STATEMENT_LENGTH] + "…" * (len(statement.text) > MAX_STATEMENT_LENGTH)
        lines.append(f"- {escape_inline(short)} {footnotes}".rstrip())
        if verdict == "contradicted":
            lines += _quotation(statement)
    if len(statements) > MAX_LISTED:
        lines.append(words.more.format(len(statements) - MAX_LISTED))
    yield "\n".join(lines)


def _quotation(statement: JudgedStatement) -> Iterator[str]:
    """What the page says instead."""
    quoted = next((one for one in statement.citations if one.verdict == "contradicted" and one.quote), None)
    if quoted is not None and quoted.quote:
        yield from (f"  {line}" for line in blockquote(quoted.quote, quoted.number).split("\n"))


def _unread_line(source: Source, reports: Mapping[str, PageReport], locale: Locale) -> str:
    report = reports.get(source.url)
    reason = unread_reason(report, locale) if report else ""
    if source.url.startswith(UNADDRESSED):
        reason = WORDS[locale].no_address
    return f"- [{source.number}] {_link(source)}" + (f": {escape_inline(reason)}" if reason else "")


def source_list(sources: Iterable[Source], others: Iterable[str], heading: str, locale: Locale) -> str:
    """The list of sources at the end of a text, below the heading of its own list or one of ours. `others` are entries
    of its own list that nothing cites."""
    words = WORDS[locale]
    lines: list[str] = []
    for source in sources:
        is_read = source.status == "read" and source.fetched_at
        note = words.read_on.format(source.fetched_at[:10]) if is_read and source.fetched_at else ""
        lines.append(" · ".join(filter(None, (f"- [{source.number}] {_link(source)}", note))))
    lines += [f"- {escape_inline(one)}" for one in others]
    return "\n".join([heading or f"## {words.sources}", "", *lines]) if lines else ""


def _link(source: Source) -> str:
    if source.url.startswith(UNADDRESSED):
        return escape_inline(source.title)
    return markdown_link(source.title or source.url, source.url)
