"""Footnotes of a document: those that it defines itself, and the sources of the session to which its markers refer.

A marker is `[1]`, `[2, 3]`, `[1-3]`, `[^1]`, or one in the wide brackets of Chinese, as in an answer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from footnote.documents.tree import Block, Hyperlink, Inline, NoteMark, Paragraph, PlainText
from footnote.sandbox.jobs import SourceNote

_NUMBER = r"\^?[0-9０-９]{1,9}"
_ITEM = rf"{_NUMBER}(?:\s?[-–—~～]\s?{_NUMBER})?"
_BODY = rf"\s?{_ITEM}(?:\s?[,;、，；]\s?{_ITEM})*\s?"
_MARKER = re.compile(rf"\[({_BODY})\]|【({_BODY})(?:†[^】\n]{{0,80}})?】|［({_BODY})］")
_RANGE = re.compile(r"\s?[-–—~～]\s?")
_MAX_RANGE = 20
_INDEXED = re.compile(r"(?:^|[^\w])(?:[^\W_]*+_\w*+|[a-z]\d*|arr|argv|args|buf|idx|lst|ptr|str|tmp|vec|xs)$")
_SOURCES_HEADING = re.compile(
    r"\W*(?:\d+\W+)?(?:sources?|references?|citations?|footnotes?|bibliography|works cited|"
    r"nguồn(?: tham khảo| trích dẫn| tin)?|tài liệu tham khảo|tham khảo|chú thích|trích dẫn|"
    r"(?:信息|资料|資料|参考|參考|引用)?(?:来源|來源)|参考(?:资料|文献|链接)?|參考(?:資料|文獻)|引用|注释|脚注|出处|"
    r"参考文献|出典|참고 ?문헌|출처)\W*$",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\s*[\[［【]\^?[0-9０-９]{1,9}[\]］】]")
_NUMBERED = tuple(re.compile(rf"{kind}-(\d{{1,9}})$") for kind in ("source", "note-link", "note"))
_MAX_URL_CHARS = 90
PROOF_NOTE = "proof-"
"""Begins the key of a note about a statement that is marked; the rest of the key is its label."""
_DAY = 10

_DATE_PHRASES = {
    "en": ("published {}", "read {}", ", "),
    "vi": ("đăng ngày {}", "đọc ngày {}", ", "),
    "zh-Hans": ("发布于 {}", "读取于 {}", "，"),
    "zh-Hant": ("發布於 {}", "讀取於 {}", "，"),
    "ja": ("公開日 {}", "閲覧日 {}", "、"),
    "ar": ("نُشر في {}", "قُرئ في {}", "، "),
    "ko": ("게시일 {}", "열람일 {}", ", "),
}


def is_sources_heading(heading: str) -> bool:
    """Whether a heading introduces a list of sources, whose numbers are not references."""
    return _SOURCES_HEADING.match(heading) is not None


def is_source_entry(paragraph: str) -> bool:
    """Whether a line is an entry of a list of sources, with its number and URL."""
    return _ENTRY.match(paragraph) is not None and "http" in paragraph


def number_notes(notes: Iterable[str]) -> dict[str, int]:
    """The numbers of notes, by their keys. Sources keep their numbers of the session, since the text may list them by
    these; the document's own notes keep theirs unless a source has them; all others get the next ones."""
    keys = tuple(notes)
    numbers: dict[str, int] = {}
    used: set[int] = set()
    for kind in _NUMBERED:
        for key in keys:
            if (found := kind.match(key)) and (number := int(found[1])) not in used and number:
                numbers[key] = number
                used.add(number)
    last = max(used, default=0)
    for key in keys:
        if key not in numbers:
            last += 1
            numbers[key] = last
    return {key: numbers[key] for key in keys}


def label_notes(notes: Iterable[str]) -> dict[str, str]:
    """What is printed as the marks of notes, by their keys: numbers, and the labels of notes about statements."""
    keys = tuple(notes)
    numbers = number_notes(key for key in keys if not is_proof_note(key))
    return {key: key.removeprefix(PROOF_NOTE) if is_proof_note(key) else str(numbers[key]) for key in keys}


def is_proof_note(key: str) -> bool:
    return key.startswith(PROOF_NOTE)


class Notes:
    """Collects the notes of a document in the order of their first mark."""

    def __init__(self, sources: Mapping[int, SourceNote], language: str) -> None:
        self._sources = sources
        self._date_phrases = _DATE_PHRASES.get(language, _DATE_PHRASES["en"])
        self._definitions: dict[str, tuple[Block, ...]] = {}
        self._referenced: dict[str, tuple[Block, ...] | None] = {}

    def define(self, label: str, content: tuple[Block, ...]) -> None:
        """Adds a note that the document defines. The first definition of a label counts."""
        self._definitions.setdefault(label, content)

    def mark(self, label: str, content: tuple[Block, ...] | None = None) -> NoteMark:
        """Refers to a note that the document defines, perhaps later; or to this one."""
        key = f"note-{label}"
        self._referenced.setdefault(key, content)
        return NoteMark(key)

    def referenced_notes(self) -> dict[str, tuple[Block, ...]]:
        """The notes with a reference."""
        return {
            key: self._definitions.get(key.removeprefix("note-"), ()) if content is None else content
            for key, content in self._referenced.items()
        }

    def unreferenced_notes(self) -> Iterator[tuple[str, tuple[Block, ...]]]:
        """The notes that are defined but never referred to."""
        return (
            (label, content) for label, content in self._definitions.items() if f"note-{label}" not in self._referenced
        )

    def link_markers(self, text: str, note_labels: frozenset[str]) -> Iterator[Inline]:
        """A text with its markers as references. Markers that refer to nothing stay text. `note_labels` are those of
        the document's own notes, to which `[^1]` may refer, but never `[1]`."""
        at = 0
        for found in _MARKER.finditer(text) if "[" in text or "【" in text or "［" in text else ():
            if found.group().startswith("[") and _INDEXED.search(text[max(at, found.start() - 40) : found.start()]):
                continue
            numbers = _numbers(next(body for body in found.groups() if body))
            marks = [
                (number, self._source_mark(number, note_labels if own else frozenset())) for number, own in numbers
            ]
            if not any(mark for _, mark in marks):
                continue
            yield from linkify(text[at : found.start()].rstrip(" "))
            for number, mark in marks:
                yield mark or PlainText(f"[{number}]")
            at = found.end()
        yield from linkify(text[at:])

    def _source_mark(self, number: int, note_labels: frozenset[str]) -> NoteMark | None:
        if str(number) in note_labels:
            return self.mark(str(number))
        source = self._sources.get(number)
        if source is None:
            return None
        key = f"source-{number}"
        if key not in self._referenced:
            self._referenced[key] = (self._source_note(source),)
        return NoteMark(key)

    def _source_note(self, source: SourceNote) -> Paragraph:
        """Title, URL and dates. The URL is shown as text too, for print."""
        published, read, comma = self._date_phrases
        title = " ".join(source.title.split()) or source.url
        if not source.url.startswith(("http://", "https://")):
            content: list[Inline] = [PlainText(title)]
        else:
            content = [Hyperlink(source.url, (PlainText(title),))]
            visible = source.url if len(source.url) <= _MAX_URL_CHARS else urlsplit(source.url).netloc
            if title != source.url:
                content += [PlainText(". "), Hyperlink(source.url, (PlainText(visible),))]
        dates = [
            words.format(day[:_DAY]) for words, day in ((published, source.published), (read, source.fetched_at)) if day
        ]
        if dates:
            content.append(PlainText(f" ({comma.join(dates)})"))
        return Paragraph(tuple(content))


_END = r"[^\s<>\"`\u3000-\u303f\uff00-\uff65{}|\\^]"
_URL = re.compile(
    rf"(?<![\w/])https?://{_END}{{3,2000}}"
    rf"|(?<![\w/@.:-])(?P<www>www\.[a-z0-9-]{{1,63}}\.{_END}{{2,2000}})"
    r"|(?<![\w/@.:+%-])(?P<mail>[a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24})(?![\w@-])",
    re.IGNORECASE,
)
_AFTER = ".,;:!?'*_~"


def linkify(text: str) -> Iterator[Inline]:
    """A text with its URLs as links."""
    at = 0
    for found in _URL.finditer(text) if "://" in text or "www." in text or "@" in text else ():
        url = found.group().rstrip(_AFTER)
        while url.endswith((")", "]")) and url.count(url[-1]) > url.count("(["[url[-1] == "]"]):
            url = url[:-1].rstrip(_AFTER)
        if len(url) <= len("https://") and not found["mail"]:
            continue
        if found.start() > at:
            yield PlainText(text[at : found.start()])
        scheme = "mailto:" if found["mail"] else "https://" if found["www"] else ""
        yield Hyperlink(f"{scheme}{url}", (PlainText(url),))
        at = found.start() + len(url)
    if text[at:]:
        yield PlainText(text[at:])


def _numbers(body: str) -> tuple[tuple[int, bool], ...]:
    """The numbers of a marker, each with whether it was written as a note (`^1`)."""
    found: list[tuple[int, bool]] = []
    for item in re.split("[,;、，；]", body):
        own = "^" in item
        ends = [int(number.strip().lstrip("^")) for number in _RANGE.split(item.strip())]
        if len(ends) == 2 and 0 < ends[1] - ends[0] <= _MAX_RANGE:
            ends = list(range(ends[0], ends[1] + 1))
        found += ((number, own) for number in ends)
    # `[0, 1]` is an interval.
    return () if len(found) > 1 and any(number == 0 for number, _ in found) else tuple(dict.fromkeys(found))
