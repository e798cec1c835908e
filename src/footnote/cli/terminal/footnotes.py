"""The footnotes below an answer: each cited source with the passages that support the answer, and every doubtful
verdict, in three languages."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from msgspec import Struct

from footnote.cli.terminal.lines import UNICODE, Line, StyledText, Symbols, as_text, one_line, truncate, wrap
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    CitationsGrowth,
    Event,
    RoundRestart,
    TextBlock,
    TextGrowth,
)
from footnote.protocol.events import ToolResultBlock as Result
from footnote.protocol.sources import Citation, Source, sources_in
from footnote.protocol.tools import Locale

INDENT = 4
MAX_QUOTES = 2
MAX_WITHOUT_SOURCE = 5
QUOTE_CELLS = 160
REPEATED_CELLS = 48
"""A passage that the answer itself quotes is shortened to this."""

_blank = re.compile(r"[\s>]+")
_opening_marks = re.compile(r"^(?:[>*+#-]+\s+|\d+[.)]\s+)+")


class FootnoteMessages(Struct, frozen=True):
    """What is written about sources. `{count}` stands for a number of 2 or more."""

    sources: str
    partial: str
    unsupported: str
    contradicted: str
    uncited: str
    suggested: str
    unread: str
    one_more_statement: str
    more_statements: str
    page_says: str
    lacking: str
    nearest: str
    no_source: str
    only_snippet: str
    one_more_passage: str
    more_passages: str
    one_uncited: str
    more_uncited: str
    one_none_cited: str
    none_cited: str


MESSAGES: dict[Locale, FootnoteMessages] = {
    "en": FootnoteMessages(
        sources="Sources:",
        partial="partly supported",
        unsupported="not supported",
        contradicted="contradicted",
        uncited="without a footnote",
        suggested="source [{number}] says so",
        unread="a page that was not read",
        one_more_statement="and 1 more statement",
        more_statements="and {count} more statements",
        page_says="the page says",
        lacking="not there",
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
    "vi": FootnoteMessages(
        sources="Nguồn:",
        partial="chỉ có căn cứ một phần",
        unsupported="không có căn cứ",
        contradicted="trái với nguồn",
        uncited="không có chú thích nguồn",
        suggested="nguồn [{number}] có nói",
        unread="trang chưa được đọc",
        one_more_statement="và 1 câu nữa",
        more_statements="và {count} câu nữa",
        page_says="trang viết",
        lacking="không có ở đó",
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
    "zh": FootnoteMessages(
        sources="来源：",  # noqa: RUF001 - a Chinese colon
        partial="部分有依据",
        unsupported="没有依据",
        contradicted="与来源矛盾",
        uncited="没有脚注",
        suggested="来源 [{number}] 有此内容",
        unread="未读过的页面",
        one_more_statement="另有 1 句",
        more_statements="另有 {count} 句",
        page_says="原文",
        lacking="原文没有",
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
    """The width, symbols and language of the lines below an answer. `columns` None: nothing is wrapped, because the
    reader of a pipe wraps lines itself."""

    def __init__(self, columns: int | None = None, symbols: Symbols = UNICODE, locale: Locale = "en") -> None:
        self.columns = columns
        self.symbols = symbols
        self.messages = MESSAGES[locale]
        self.locale: Locale = locale

    def rows(self, line: Line, *, first: int = 0, indent: int = 0) -> list[Line]:
        """The rows of a line: the first indented by `first`, the others by `indent`."""
        if self.columns is None:
            return [(StyledText(" " * first), *line)] if first else [line]
        return wrap(line, self.columns, first=first, indent=indent)

    def url_line(self, url: str, *, first: int = 0) -> Line:
        """Never wrapped here: a terminal that wraps a URL itself still knows where it ends."""
        return (StyledText(" " * first), StyledText(as_text((StyledText(url),)), "dim"))

    def quote(self, text: str, cells: int) -> str:
        """Foreign text between quotation marks, shortened to that many cells."""
        opening, closing = ("“", "”") if self.symbols is UNICODE else ('"', '"')
        return f"{opening}{truncate(one_line(text), cells, self.symbols.ellipsis)}{closing}"

    @property
    def cross(self) -> str:
        return "✗" if self.symbols is UNICODE else "x"

    def pluralize(self, count: int, one: str, more: str) -> str:
        return one if count == 1 else more.format(count=count)


class CitedFootnote(Struct, frozen=True):
    """A sentence with its footnote. `is_verbatim`: it repeats the passage, or part of it, word for word."""

    sentence: str
    citation: Citation
    is_verbatim: bool


def cited_sentences(text: str, citations: Iterable[Citation]) -> list[CitedFootnote]:
    """The footnoted sentences of a text."""
    squeezed = _blank.sub("", text)
    return [_cited_sentence(text[citation.start : citation.end], citation, squeezed) for citation in citations]


def _cited_sentence(sentence: str, citation: Citation, answer: str) -> CitedFootnote:
    marker = citation.marker if citation.verdict != "unread" or citation.number else ""
    bare = sentence.replace(f" {marker}", "").replace(marker, "") if marker else sentence
    sentence = _opening_marks.sub("", bare.strip())
    claim, quote = _blank.sub("", sentence), _blank.sub("", citation.quote or "")
    return CitedFootnote(sentence, citation, bool(quote) and (quote in answer or claim in quote))


def evidence_lines(cited: Sequence[CitedFootnote], source: Source, layout: Layout) -> list[Line]:
    """The evidence of one source for the sentences that cite it: passages, then every verdict but `supported`."""
    passages = {
        note.citation.quote: note for note in cited if note.citation.verdict == "supported" and note.citation.quote
    }
    doubted = {
        (note.sentence, note.citation.verdict, note.citation.quote): note
        for note in cited
        if note.citation.verdict != "supported"
    }
    rows: list[Line] = []
    if cited and source.status in ("snippet", "failed"):
        rows += layout.rows((StyledText(f"({layout.messages.only_snippet})", "doubtful"),), first=INDENT, indent=INDENT)
    for note in list(passages.values())[:MAX_QUOTES]:
        rows += layout.rows((StyledText(_quote(note, layout)),), first=INDENT, indent=INDENT + 1)
    if (more := len(passages) - MAX_QUOTES) > 0:
        message = layout.pluralize(more, layout.messages.one_more_passage, layout.messages.more_passages)
        rows += layout.rows((StyledText(message, "dim"),), first=INDENT, indent=INDENT)
    for note in doubted.values():
        rows += _doubt_lines(note, layout)
    return rows


def _quote(note: CitedFootnote, layout: Layout) -> str:
    return layout.quote(note.citation.quote or "", REPEATED_CELLS if note.is_verbatim else QUOTE_CELLS)


def _doubt_lines(note: CitedFootnote, layout: Layout) -> list[Line]:
    messages = layout.messages
    if note.citation.verdict == "partial":
        head, passage = StyledText(f"~ {messages.partial}: ", "doubtful"), messages.page_says
    else:
        is_contradicted = note.citation.verdict == "contradicted"
        name = messages.contradicted if is_contradicted else messages.unsupported
        head = StyledText(f"{layout.cross} {name}: ", "bad")
        passage = messages.page_says if is_contradicted else messages.nearest
    sentence = StyledText(layout.quote(note.sentence, QUOTE_CELLS))
    rows = layout.rows((head, sentence), first=INDENT, indent=INDENT + 2)
    if note.citation.quote:
        rows += layout.rows(
            (StyledText(f"{passage}: ", "dim"), StyledText(_quote(note, layout), "dim")),
            first=INDENT + 2,
            indent=INDENT + 4,
        )
    if note.citation.verdict == "partial" and note.citation.missing:
        lacking = StyledText(f"{messages.lacking}: {note.citation.missing}", "dim")
        rows += layout.rows((lacking,), first=INDENT + 2, indent=INDENT + 4)
    return rows


def missing_source_lines(number: int, layout: Layout) -> list[Line]:
    """The line for a footnote whose source does not exist."""
    return layout.rows((StyledText(f"[{number}] {layout.messages.no_source}", "bad"),), indent=INDENT)


def without_source_lines(cited: Sequence[CitedFootnote], layout: Layout) -> list[Line]:
    """The statements without a footnote, and those with a link to a page that was not read."""
    messages = layout.messages
    rows: list[Line] = []
    for note in cited[:MAX_WITHOUT_SOURCE]:
        is_link = note.citation.verdict == "unread"
        head = StyledText(f"{layout.cross} {messages.unread if is_link else messages.uncited}: ", "doubtful")
        suggestion = note.citation.suggestion
        more = f" ({messages.suggested.format(number=suggestion)})" if suggestion else ""
        sentence = layout.quote(note.sentence, QUOTE_CELLS)
        rows += layout.rows((head, StyledText(sentence), StyledText(more, "dim")), indent=2)
        if is_link:
            rows.append(layout.url_line(note.citation.marker, first=2))
    if (count := len(cited) - MAX_WITHOUT_SOURCE) > 0:
        message = layout.pluralize(count, messages.one_more_statement, messages.more_statements)
        rows += layout.rows((StyledText(message, "dim"),), indent=2)
    return rows


class Footnotes:
    """Fed every event of a run."""

    def __init__(self) -> None:
        self._texts: dict[int, list[str]] = {}
        self._cited: dict[int, list[CitedFootnote]] = {}
        self._sources: dict[int | str, Source] = {}
        self._earlier: dict[int, Source] = {}

    def add_earlier_sources(self, sources: Iterable[Source]) -> None:
        """Sources of earlier turns: the answer may cite them, and they are not counted as uncited."""
        self._earlier |= {source.number: source for source in sources if source.number is not None}

    def feed(self, event: Event) -> None:
        match event:
            case BlockDelta(index, TextGrowth(text)) | BlockStart(index, TextBlock(text)):
                self._texts.setdefault(index, []).append(text)
            case BlockDelta(index, CitationsGrowth(citations)):
                # Verdicts after a second look replace those by text.
                self._cited[index] = list(cited_sentences("".join(self._texts.get(index, ())), citations))
            case BlockStart(content_block=Result(artifact=dict(artifact))):
                for source in sources_in(artifact):
                    self._add_source(source)
            case RoundRestart(from_index):
                for index in [index for index in self._texts if index >= from_index]:
                    del self._texts[index]
                    self._cited.pop(index, None)
            case _:
                pass

    def _add_source(self, source: Source) -> None:
        """A page that was read counts as read, also if a later search only finds it again."""
        key = source.url if source.number is None else source.number
        known = self._sources.get(key)
        if known is None or known.status != "read":
            self._sources[key] = source

    def sentences_by_number(self) -> dict[int, list[CitedFootnote]]:
        """The footnoted sentences, by the number of their source."""
        by_number: dict[int, list[CitedFootnote]] = {}
        for note in chain.from_iterable(self._cited.values()):
            by_number.setdefault(note.citation.number, []).append(note)
        return dict(sorted(by_number.items()))

    def source(self, number: int) -> Source | None:
        return self._sources.get(number) or self._earlier.get(number)

    def lines(self, layout: Layout, *, counts_uncited: bool = True) -> list[Line]:
        """The list of cited sources, and how many more were found, unless a report cites them."""
        by_number = self.sentences_by_number()
        without_source = [note for note in by_number.get(0, ()) if note.citation.verdict in ("uncited", "unread")]
        if len(without_source) == len(by_number.get(0, ())):
            by_number.pop(0, None)
        rows = layout.rows((StyledText(layout.messages.sources),)) if by_number else []
        for number, cited in by_number.items():
            source = self.source(number)
            rows += missing_source_lines(number, layout) if source is None else _entry(number, source, cited, layout)
        uncited = self._uncited(by_number, layout) if counts_uncited else []
        return [*rows, *uncited, *without_source_lines(without_source, layout)]

    def _uncited(self, cited: dict[int, list[CitedFootnote]], layout: Layout) -> list[Line]:
        count = sum(key not in cited for key in self._sources)
        if not count:
            return []
        messages = layout.messages
        forms = (
            (messages.one_uncited, messages.more_uncited) if cited else (messages.one_none_cited, messages.none_cited)
        )
        return layout.rows((StyledText(layout.pluralize(count, *forms), "dim"),))


def _entry(number: int, source: Source, cited: Sequence[CitedFootnote], layout: Layout) -> list[Line]:
    return [
        *layout.rows((StyledText(f"[{number}] {title_of(source)}"),), indent=INDENT),
        layout.url_line(source.url, first=INDENT),
        *evidence_lines(cited, source, layout),
    ]


def title_of(source: Source) -> str:
    return one_line(source.title) or one_line(source.domain or source.url)
