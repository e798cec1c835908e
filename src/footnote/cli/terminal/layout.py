"""How lines of ours stand on stdout below an answer: how wide, with which signs, in which language."""

from msgspec import Struct

from footnote.cli.terminal.cells import one_line, truncate, wrap
from footnote.cli.terminal.lines import UNICODE, Line, StyledText, Symbols, as_text
from footnote.protocol.tools import Locale


class LayoutMessages(Struct, frozen=True):
    """What is said about sources. `{count}` stands for a number of 2 or more."""

    sources: str
    partial: str
    unsupported: str
    page_says: str
    nearest: str
    no_source: str
    only_snippet: str
    one_more_passage: str
    more_passages: str
    one_uncited: str
    more_uncited: str
    one_none_cited: str
    none_cited: str


MESSAGES: dict[Locale, LayoutMessages] = {
    "en": LayoutMessages(
        sources="Sources:",
        partial="partly supported",
        unsupported="not supported",
        page_says="the page says",
        nearest="nearest passage",
        no_source="no such source",
        only_snippet="only its search result was read",
        one_more_passage="and 1 more passage",
        more_passages="and {count} more passages",
        one_uncited="1 more source was found and is not cited.",
        more_uncited="{count} more sources were found and are not cited.",
        one_none_cited="1 source was found; the answer does not cite it.",
        none_cited="{count} sources were found; the answer cites none of them.",
    ),
    "vi": LayoutMessages(
        sources="Nguồn:",
        partial="chỉ có căn cứ một phần",
        unsupported="không có căn cứ",
        page_says="trang viết",
        nearest="đoạn gần nhất",
        no_source="không có nguồn này",
        only_snippet="chỉ đọc được phần trích trong kết quả tìm kiếm",
        one_more_passage="và 1 đoạn nữa",
        more_passages="và {count} đoạn nữa",
        one_uncited="Còn 1 nguồn được tìm thấy nhưng không được trích dẫn.",
        more_uncited="Còn {count} nguồn được tìm thấy nhưng không được trích dẫn.",
        one_none_cited="Đã tìm thấy 1 nguồn; câu trả lời không trích dẫn nguồn này.",
        none_cited="Đã tìm thấy {count} nguồn; câu trả lời không trích dẫn nguồn nào.",
    ),
    "zh": LayoutMessages(
        sources="来源：",  # noqa: RUF001 - a Chinese colon
        partial="部分有依据",
        unsupported="没有依据",
        page_says="原文",
        nearest="最接近的段落",
        no_source="没有这个来源",
        only_snippet="只读到搜索结果中的摘要",
        one_more_passage="另有 1 段",
        more_passages="另有 {count} 段",
        one_uncited="另有 1 个来源未被引用。",
        more_uncited="另有 {count} 个来源未被引用。",
        one_none_cited="找到 1 个来源，回答没有引用。",  # noqa: RUF001 - a Chinese comma
        none_cited="找到 {count} 个来源，回答一个也没有引用。",  # noqa: RUF001 - a Chinese comma
    ),
}


class Layout:
    """`columns` None: nothing is wrapped, because what reads a pipe wraps by itself."""

    def __init__(self, columns: int | None = None, symbols: Symbols = UNICODE, locale: Locale = "en") -> None:
        self.columns = columns
        self.symbols = symbols
        self.messages = MESSAGES[locale]

    def rows(self, line: Line, *, first: int = 0, indent: int = 0) -> list[Line]:
        """The line on its rows: the first indented by `first`, the others by `indent`."""
        if self.columns is None:
            return [(StyledText(" " * first), *line)] if first else [line]
        return wrap(line, self.columns, first=first, indent=indent)

    def url_line(self, url: str, *, first: int = 0) -> Line:
        """Never wrapped by us: a terminal that wraps it by itself still knows where it ends."""
        return (StyledText(" " * first), StyledText(as_text((StyledText(url),)), "dim"))

    def quote(self, text: str, cells: int) -> str:
        """Somebody's words between quotation marks, shortened to that many cells."""
        opening, closing = ("“", "”") if self.symbols is UNICODE else ('"', '"')
        return f"{opening}{truncate(one_line(text), cells, self.symbols.ellipsis)}{closing}"

    def pluralize(self, count: int, one: str, more: str) -> str:
        return one if count == 1 else more.format(count=count)
