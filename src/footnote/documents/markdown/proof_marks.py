"""The proof of a document: statements that their sources do not support are marked, with notes that say why.

The parser has labelled the text of these statements. A statement may begin in one part of a line and end in another,
and go through several paragraphs or cells: each part of it is marked, and its note follows the last one.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.markdown.inlines import plain_text
from footnote.documents.markdown.notes import PROOF_NOTE
from footnote.documents.tree import (
    Block,
    Break,
    Bullets,
    Code,
    Document,
    Emphasis,
    Heading,
    Hyperlink,
    Inline,
    Item,
    Marked,
    Maths,
    NoteMark,
    Numbers,
    Paragraph,
    PlainText,
    Quotation,
    Strike,
    Strong,
    Table,
    TreeImage,
    walk,
)
from footnote.protocol.sources import Citation, ProofCounts, Verdict
from footnote.sandbox.jobs import DoubtfulStatement

_SIGNS: Mapping[Verdict, str] = {
    "partial": "◐",
    "contradicted": "✗",
    "unsupported": "○",
    "uncited": "?",
    "unread": "◌",
}
"""They tell the verdicts apart where colours are not printed or not seen."""
MAX_NOTES = 3_000
"""Further statements share a note that only says the verdict: each note takes the typesetter a millisecond, and more of
them more than that each."""
_MAX_QUOTE_CHARS = 400
_MAX_REASONS = 3
"""Citations of one statement that its note goes into."""


def mark_statements(
    document: Document, statements: Sequence[DoubtfulStatement], texts: Sequence[str], sources: Collection[int]
) -> Document:
    """Marks the labelled text of a document. `texts` are the statements as they were written, for those of which the
    document shows no text of its own; `sources` are the numbers that there are."""
    marker = _Marker(document, statements, sources)
    blocks = marker.mark_blocks(document.blocks)
    unplaced = [Paragraph((PlainText(f"“{_shorten(texts[at])}”"), marker.note_mark(at))) for at in marker.unplaced()]
    notes = {key: marker.mark_note(content) for key, content in document.notes.items()}
    return replace(document, blocks=(*blocks, *unplaced), notes=notes | marker.notes)


class _Marker:
    def __init__(self, document: Document, statements: Sequence[DoubtfulStatement], sources: Collection[int]) -> None:
        self._statements = statements
        self._sources = sources
        self._words = _words(document.language)
        self._left = Counter(_labels(document.blocks))
        """How many parts of each statement are still to come."""
        self._left_in_notes = Counter(label for content in document.notes.values() for label in _labels(content))
        self._keys: dict[tuple[Verdict, str], str] = {}
        self.notes: dict[str, tuple[Block, ...]] = {}
        self._in_note = False

    def unplaced(self) -> list[int]:
        placed = self._left.keys() | self._left_in_notes.keys()
        return [at for at in range(len(self._statements)) if at not in placed]

    def note_mark(self, statement: int) -> NoteMark:
        """Statements with the same verdict for the same reason share a note."""
        doubtful = self._statements[statement]
        is_short = len(self._keys) >= MAX_NOTES
        reason = self._words.heads[doubtful.verdict] if is_short else self._words.explain(doubtful, self._sources)
        key = self._keys.get((doubtful.verdict, reason))
        if key is None:
            key = f"{PROOF_NOTE}{_SIGNS[doubtful.verdict]}{_letters(len(self._keys))}"
            self._keys[doubtful.verdict, reason] = key
            self.notes[key] = (Paragraph((PlainText(reason),)),)
        return NoteMark(key)

    def mark_note(self, content: tuple[Block, ...]) -> tuple[Block, ...]:
        """A note of the document itself. Notes have no notes, so that the reasons stand in its text."""
        self._left, self._in_note = self._left_in_notes, True
        return self.mark_blocks(content)

    def mark_blocks(self, blocks: Iterable[Block]) -> tuple[Block, ...]:
        return tuple(map(self._block, blocks))

    def _block(self, block: Block) -> Block:
        match block:
            case Paragraph(content) | Heading(content=content):
                return replace(block, content=self._line(content))
            case Quotation(content):
                return Quotation(self.mark_blocks(content))
            case Bullets(items=items) | Numbers(items=items):
                return replace(block, items=tuple(map(self._item, items)))
            case Table(head=head, rows=rows):
                return replace(block, head=self._row(head), rows=tuple(map(self._row, rows)))
            case _:
                return block

    def _item(self, item: Item) -> Item:
        return replace(item, content=self.mark_blocks(item.content))

    def _row(self, row: Sequence[tuple[Inline, ...]]) -> tuple[tuple[Inline, ...], ...]:
        return tuple(map(self._line, row))

    def _line(self, content: tuple[Inline, ...]) -> tuple[Inline, ...]:
        if not any(True for _ in _labels(content)):
            return content
        marked, ended = self._inlines(content)
        return (*marked, *self._note_marks(ended))

    def _inlines(self, content: Sequence[Inline], *, in_link: bool = False) -> tuple[list[Inline], list[int]]:
        """The marked content, and the statements that end at its end: their notes follow the marks of sources that
        come behind them, and stand outside of links."""
        marked: list[Inline] = []
        ended: list[int] = []
        for part in content:
            if not (isinstance(part, NoteMark) or in_link):
                marked += self._note_marks(ended)
                ended = []
            label = _common_label(part)
            if label is not None:
                _append_marked(marked, part, self._statements[label].verdict)
                self._left[label] -= sum(1 for _ in _labels((part,)))
                ended += [] if self._left[label] else [label]
            elif isinstance(part, Emphasis | Strong | Strike | Hyperlink):
                inner, inner_ended = self._inlines(part.content, in_link=in_link or isinstance(part, Hyperlink))
                marked.append(replace(part, content=tuple(inner)))
                ended += inner_ended
            else:
                marked.append(part)
        return marked, ended

    def _note_marks(self, statements: Iterable[int]) -> list[Inline]:
        if not self._in_note:
            return [self.note_mark(statement) for statement in statements]
        reasons = (
            f"{_SIGNS[doubtful.verdict]} {self._words.explain(doubtful, self._sources)}"
            for doubtful in (self._statements[statement] for statement in statements)
        )
        return [PlainText(f" [{reason}]") for reason in reasons]


def _labels(parts: Iterable[Block | Inline]) -> Iterator[int]:
    return (
        part.statement
        for part in walk(tuple(parts))
        if isinstance(part, PlainText | Code) and part.statement is not None
    )


def _common_label(part: Inline) -> int | None:
    """The statement to which all text of a part belongs; None: it has other text as well, or a note."""
    if isinstance(part, NoteMark | Break | Maths | TreeImage):
        return None
    leaves = [leaf for leaf in walk((part,)) if isinstance(leaf, PlainText | Code | NoteMark)]
    labels = {None if isinstance(leaf, NoteMark) else leaf.statement for leaf in leaves}
    return labels.pop() if len(labels) == 1 else None


def _append_marked(marked: list[Inline], part: Inline, verdict: Verdict) -> None:
    last = marked[-1] if marked else None
    if isinstance(last, Marked) and last.verdict == verdict:
        marked[-1] = Marked((*last.content, part), verdict)
    else:
        # A full stop behind a footnote is not underlined alone.
        has_words = any(map(str.isalnum, plain_text((part,))))
        marked.append(Marked((part,), verdict) if has_words else part)


def _letters(number: int) -> str:
    """a, b, …, z, aa, ab, …: source notes have numbers."""
    letters = ""
    number += 1
    while number:
        number, last = divmod(number - 1, 26)
        letters = chr(ord("a") + last) + letters
    return letters


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_QUOTE_CHARS else f"{flat[:_MAX_QUOTE_CHARS].rstrip()}…"


# What notes say --------------------------------------------------------------------------------------------------


class _Words(Struct, frozen=True):
    """Sentences in the language of a document. `{n}` is the number of a source, `{text}` a quotation of its page or of
    the statement."""

    verdicts: Mapping[Verdict, str]
    """With a count, as in `3 partly supported`."""
    one_statement: str
    statements: str
    heads: Mapping[Verdict, str]
    missing: str
    says: str
    otherwise: str
    nothing: str
    nearest: str
    unread: str
    unread_link: str
    no_source: str
    suggestion: str
    between: str = " "
    comma: str = ", "
    brackets: str = " ({})"
    stop: str = "."

    def explain(self, doubtful: DoubtfulStatement, sources: Collection[int]) -> str:
        """Why a statement is marked."""
        reasons = dict.fromkeys(
            reason
            for citation in doubtful.citations[:_MAX_REASONS]
            for reason in (
                self._reasons(citation)
                if not citation.number or citation.number in sources
                else [self.no_source.format(n=citation.number)]
            )
        )
        return self.between.join((self.heads[doubtful.verdict], *reasons))

    def _reasons(self, citation: Citation) -> Iterator[str]:
        number, quote = citation.number, _shorten(citation.quote or "")
        match citation.verdict:
            case "contradicted" if quote:
                yield self.otherwise.format(n=number, text=quote)
            case "unsupported":
                sentence = self.nearest if quote else self.nothing
                yield sentence.format(n=number, text=quote)
            case "unread":
                sentence = self.unread if number else self.unread_link
                yield sentence.format(n=number, text=_shorten(citation.marker))
            case "uncited" if citation.suggestion is not None and quote:
                yield self.suggestion.format(n=citation.suggestion, text=quote)
            case "partial" | "supported":
                if citation.missing:
                    yield self.missing.format(n=number, text=_shorten(citation.missing))
                if quote:
                    yield self.says.format(n=number, text=quote)
            case _:
                pass

    def count(self, counts: ProofCounts) -> str:
        number = counts.statements
        listed = (
            verdict_words.format(f"{count:,}") + (self.brackets.format(_SIGNS[verdict]) if verdict in _SIGNS else "")
            for verdict, verdict_words in self.verdicts.items()
            if (count := getattr(counts, verdict))
        )
        return (self.one_statement if number == 1 else self.statements).format(
            f"{number:,}"
        ) + f"{self.comma.join(listed)}{self.stop}"


def proof_line(counts: ProofCounts, language: str) -> str:
    """How many statements were judged, and with which verdicts; it also explains the signs. Empty: there was none."""
    return _words(language).count(counts) if counts.statements else ""


def _words(language: str) -> _Words:
    return _WORDS.get(language) or _WORDS.get(language.partition("-")[0]) or _WORDS["en"]


_WORDS: Mapping[str, _Words] = {
    "en": _Words(
        verdicts={
            "supported": "{} supported",
            "partial": "{} partly supported",
            "contradicted": "{} contradicted",
            "unsupported": "{} not supported",
            "uncited": "{} without a source",
            "unread": "{} with a source that was not read",
        },
        one_statement="{} statement was checked against its source: ",
        statements="{} statements were checked against their sources: ",
        heads={
            "partial": "Partly supported.",
            "contradicted": "Contradicted.",
            "unsupported": "Not supported.",
            "uncited": "No source is given.",
            "unread": "Not checked.",
        },
        missing="Source {n} does not say “{text}”.",
        says="Source {n} says: “{text}”",
        otherwise="Source {n} says otherwise: “{text}”",
        nothing="Nothing in source {n} says this.",
        nearest="Source {n} does not say this; its nearest passage: “{text}”",
        unread="Source {n} was not read.",
        unread_link="The page was not read: {text}",
        no_source="There is no source {n}.",
        suggestion="Source {n} says it: “{text}”",
    ),
    "vi": _Words(
        verdicts={
            "supported": "{} có căn cứ",
            "partial": "{} có căn cứ một phần",
            "contradicted": "{} trái với nguồn",
            "unsupported": "{} không có căn cứ",
            "uncited": "{} không dẫn nguồn",
            "unread": "{} dẫn nguồn chưa đọc",
        },
        one_statement="Đã đối chiếu {} nhận định với nguồn: ",
        statements="Đã đối chiếu {} nhận định với nguồn: ",
        heads={
            "partial": "Có căn cứ một phần.",
            "contradicted": "Trái với nguồn.",
            "unsupported": "Không có căn cứ.",
            "uncited": "Không dẫn nguồn.",
            "unread": "Chưa kiểm tra.",
        },
        missing="Nguồn {n} không nói “{text}”.",
        says="Nguồn {n} viết: “{text}”",
        otherwise="Nguồn {n} viết khác: “{text}”",
        nothing="Nguồn {n} không có đoạn nào nói điều này.",
        nearest="Nguồn {n} không nói điều này; đoạn gần nhất: “{text}”",
        unread="Nguồn {n} chưa được đọc.",
        unread_link="Trang này chưa được đọc: {text}",
        no_source="Không có nguồn {n}.",
        suggestion="Nguồn {n} nói điều này: “{text}”",
    ),
    "zh": _Words(
        verdicts={
            "supported": "{} 条有依据",
            "partial": "{} 条部分有依据",
            "contradicted": "{} 条与来源矛盾",
            "unsupported": "{} 条没有依据",
            "uncited": "{} 条未注明来源",
            "unread": "{} 条的来源未读取",
        },
        one_statement="已与来源核对 {} 条陈述：",
        statements="已与来源核对 {} 条陈述：",
        heads={
            "partial": "部分有依据。",
            "contradicted": "与来源矛盾。",
            "unsupported": "没有依据。",
            "uncited": "未注明来源。",
            "unread": "未核对。",
        },
        missing="来源 {n} 没有提到“{text}”。",
        says="来源 {n} 写道：“{text}”",
        otherwise="来源 {n} 的说法不同：“{text}”",
        nothing="来源 {n} 中没有这样的内容。",
        nearest="来源 {n} 没有这样说；最接近的段落：“{text}”",
        unread="来源 {n} 未被读取。",
        unread_link="该网页未被读取：{text}",
        no_source="没有来源 {n}。",
        suggestion="来源 {n} 有此说法：“{text}”",
        between="",
        comma="，",
        brackets="（{}）",
        stop="。",
    ),
    "zh-Hant": _Words(
        verdicts={
            "supported": "{} 條有依據",
            "partial": "{} 條部分有依據",
            "contradicted": "{} 條與來源矛盾",
            "unsupported": "{} 條沒有依據",
            "uncited": "{} 條未註明來源",
            "unread": "{} 條的來源未讀取",
        },
        one_statement="已與來源核對 {} 條陳述：",
        statements="已與來源核對 {} 條陳述：",
        heads={
            "partial": "部分有依據。",
            "contradicted": "與來源矛盾。",
            "unsupported": "沒有依據。",
            "uncited": "未註明來源。",
            "unread": "未核對。",
        },
        missing="來源 {n} 沒有提到「{text}」。",
        says="來源 {n} 寫道：「{text}」",
        otherwise="來源 {n} 的說法不同：「{text}」",
        nothing="來源 {n} 中沒有這樣的內容。",
        nearest="來源 {n} 沒有這樣說；最接近的段落：「{text}」",
        unread="來源 {n} 未被讀取。",
        unread_link="該網頁未被讀取：{text}",
        no_source="沒有來源 {n}。",
        suggestion="來源 {n} 有此說法：「{text}」",
        between="",
        comma="，",
        brackets="（{}）",
        stop="。",
    ),
}
