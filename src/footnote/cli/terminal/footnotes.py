"""The footnotes below an answer: each source that it cites, with the passage that it rests on and the verdict."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from msgspec import Struct

from footnote.cli.terminal.cells import one_line
from footnote.cli.terminal.layout import Layout
from footnote.cli.terminal.lines import UNICODE, Line, StyledText
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

INDENT = 4
MAX_QUOTES = 2
QUOTE_CELLS = 160
REPEATED_CELLS = 48
"""Of a passage that stands in the answer itself, this much is enough to know it again."""

_blank = re.compile(r"[\s>]+")
_opening_marks = re.compile(r"^(?:[>*+#-]+\s+|\d+[.)]\s+)+")


class CitedFootnote(Struct, frozen=True):
    """A footnoted sentence. `repeats`: it is the passage, or part of it, word for word."""

    sentence: str
    citation: Citation
    is_verbatim: bool


def cited_sentences(text: str, citations: Iterable[Citation]) -> list[CitedFootnote]:
    """The footnoted sentences of a text."""
    squeezed = _blank.sub("", text)
    return [_cited_sentence(text[one.start : one.end], one, squeezed) for one in citations]


def _cited_sentence(sentence: str, citation: Citation, answer: str) -> CitedFootnote:
    bare = sentence.replace(f" {citation.marker}", "").replace(citation.marker, "")
    sentence = _opening_marks.sub("", bare.strip())
    said, quote = _blank.sub("", sentence), _blank.sub("", citation.quote or "")
    return CitedFootnote(sentence, citation, bool(quote) and (quote in answer or said in quote))


def evidence_lines(cited: Sequence[CitedFootnote], source: Source, layout: Layout) -> list[Line]:
    """How sentences that cite one source rest on it: its passages, then every verdict that is not `supported`."""
    passages = {one.citation.quote: one for one in cited if one.citation.verdict == "supported" and one.citation.quote}
    doubted = {
        (one.sentence, one.citation.verdict, one.citation.quote): one
        for one in cited
        if one.citation.verdict != "supported"
    }
    rows: list[Line] = []
    if cited and source.status in ("snippet", "failed"):
        rows += layout.rows((StyledText(f"({layout.messages.only_snippet})", "doubtful"),), first=INDENT, indent=INDENT)
    for one in list(passages.values())[:MAX_QUOTES]:
        rows += layout.rows((StyledText(_quote(one, layout)),), first=INDENT, indent=INDENT + 1)
    if (more := len(passages) - MAX_QUOTES) > 0:
        told = layout.pluralize(more, layout.messages.one_more_passage, layout.messages.more_passages)
        rows += layout.rows((StyledText(told, "dim"),), first=INDENT, indent=INDENT)
    for one in doubted.values():
        rows += _doubt(one, layout)
    return rows


def _quote(one: CitedFootnote, layout: Layout) -> str:
    return layout.quote(one.citation.quote or "", REPEATED_CELLS if one.is_verbatim else QUOTE_CELLS)


def _doubt(one: CitedFootnote, layout: Layout) -> list[Line]:
    words = layout.messages
    if one.citation.verdict == "partial":
        head, passage = StyledText(f"~ {words.partial}: ", "doubtful"), words.page_says
    else:
        mark = "✗" if layout.symbols is UNICODE else "x"
        head, passage = StyledText(f"{mark} {words.unsupported}: ", "bad"), words.nearest
    sentence = StyledText(layout.quote(one.sentence, QUOTE_CELLS))
    rows = layout.rows((head, sentence), first=INDENT, indent=INDENT + 2)
    if one.citation.quote:
        rows += layout.rows(
            (StyledText(f"{passage}: ", "dim"), StyledText(_quote(one, layout), "dim")),
            first=INDENT + 2,
            indent=INDENT + 4,
        )
    return rows


def missing_source_lines(number: int, layout: Layout) -> list[Line]:
    """What is said of a footnote that has nothing behind it."""
    return layout.rows((StyledText(f"[{number}] {layout.messages.no_source}", "bad"),), indent=INDENT)


class Footnotes:
    """Fed every event of a run."""

    def __init__(self) -> None:
        self._texts: dict[int, list[str]] = {}
        self._cited: dict[int, list[CitedFootnote]] = {}
        self._sources: dict[int | str, Source] = {}
        self._earlier: dict[int, Source] = {}

    def add_earlier_sources(self, sources: Iterable[Source]) -> None:
        """Sources that the session had before: they can be cited, and need not be."""
        self._earlier |= {source.number: source for source in sources if source.number is not None}

    def feed(self, event: Event) -> None:
        match event:
            case BlockDelta(index, TextGrowth(text)) | BlockStart(index, TextBlock(text)):
                self._texts.setdefault(index, []).append(text)
            case BlockDelta(index, CitationsGrowth(citations)):
                cited = cited_sentences("".join(self._texts.get(index, ())), citations)
                self._cited.setdefault(index, []).extend(cited)
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
        """A page that was read once was read, also if a later search only found it again."""
        key = source.url if source.number is None else source.number
        known = self._sources.get(key)
        if known is None or known.status != "read":
            self._sources[key] = source

    def sentences_by_number(self) -> dict[int, list[CitedFootnote]]:
        """The footnoted sentences, by the number of their source."""
        by_number: dict[int, list[CitedFootnote]] = {}
        for one in chain.from_iterable(self._cited.values()):
            by_number.setdefault(one.citation.number, []).append(one)
        return dict(sorted(by_number.items()))

    def source(self, number: int) -> Source | None:
        return self._sources.get(number) or self._earlier.get(number)

    def lines(self, layout: Layout) -> list[Line]:
        """The list, or nothing if there was nothing to cite."""
        by_number = self.sentences_by_number()
        rows = layout.rows((StyledText(layout.messages.sources),)) if by_number else []
        for number, cited in by_number.items():
            source = self.source(number)
            rows += missing_source_lines(number, layout) if source is None else _entry(number, source, cited, layout)
        return [*rows, *self._uncited(by_number, layout)]

    def _uncited(self, cited: dict[int, list[CitedFootnote]], layout: Layout) -> list[Line]:
        count = sum(key not in cited for key in self._sources)
        if not count:
            return []
        words = layout.messages
        told = (words.one_uncited, words.more_uncited) if cited else (words.one_none_cited, words.none_cited)
        return layout.rows((StyledText(layout.pluralize(count, *told), "dim"),))


def _entry(number: int, source: Source, cited: Sequence[CitedFootnote], layout: Layout) -> list[Line]:
    return [
        *layout.rows((StyledText(f"[{number}] {title_of(source)}"),), indent=INDENT),
        layout.url_line(source.url, first=INDENT),
        *evidence_lines(cited, source, layout),
    ]


def title_of(source: Source) -> str:
    return one_line(source.title) or one_line(source.domain or source.url)
