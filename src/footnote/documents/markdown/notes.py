"""Footnotes of a document: those that it defines itself, and the sources of the session that its markers name.

A marker is `[1]`, `[2, 3]`, `[1-3]`, `[^1]`, or one in the wide brackets of Chinese, as in an answer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from footnote.documents.tree import Block, Inline, Link, NoteMark, Paragraph, Text
from footnote.sandbox.jobs import SourceNote

_NUMBER = r"\^?[0-9０-９]{1,9}"
_ITEM = rf"{_NUMBER}(?:\s?[-–—~～]\s?{_NUMBER})?"
_BODY = rf"\s?{_ITEM}(?:\s?[,;、，；]\s?{_ITEM})*\s?"
_MARKER = re.compile(rf"\[({_BODY})\]|【({_BODY})(?:†[^】\n]{{0,80}})?】|［({_BODY})］")
_RANGE = re.compile(r"\s?[-–—~～]\s?")
_LONGEST_RANGE = 20
_INDEXED = re.compile(r"(?:^|[^\w])(?:[^\W_]*+_\w*+|[a-z]\d*|arr|argv|args|buf|idx|lst|ptr|str|tmp|vec|xs)$")
_LISTING = re.compile(
    r"\W*(?:\d+\W+)?(?:sources?|references?|citations?|footnotes?|bibliography|works cited|"
    r"nguồn(?: tham khảo| trích dẫn| tin)?|tài liệu tham khảo|tham khảo|chú thích|trích dẫn|"
    r"(?:信息|资料|資料|参考|參考|引用)?(?:来源|來源)|参考(?:资料|文献|链接)?|參考(?:資料|文獻)|引用|注释|脚注|出处|"
    r"参考文献|出典|참고 ?문헌|출처)\W*$",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\s*[\[［【]\^?[0-9０-９]{1,9}[\]］】]")
_NUMBERED = tuple(re.compile(rf"{kind}-(\d{{1,9}})$") for kind in ("source", "note-link", "note"))
_LONGEST_ADDRESS = 90
_DAY = 10

_PUBLISHED_AND_READ = {
    "en": ("published {}", "read {}", ", "),
    "vi": ("đăng ngày {}", "đọc ngày {}", ", "),
    "zh-Hans": ("发布于 {}", "读取于 {}", "，"),
    "zh-Hant": ("發布於 {}", "讀取於 {}", "，"),
    "ja": ("公開日 {}", "閲覧日 {}", "、"),
    "ar": ("نُشر في {}", "قُرئ في {}", "، "),
    "ko": ("게시일 {}", "열람일 {}", ", "),
}


def lists_sources(heading: str) -> bool:
    """Whether what stands under it is a list of sources, whose numbers are no marks."""
    return _LISTING.match(heading) is not None


def is_entry(paragraph: str) -> bool:
    """Whether it is an entry of a list of sources: its number, and its address."""
    return _ENTRY.match(paragraph) is not None and "http" in paragraph


def numbers_of(notes: Iterable[str]) -> dict[str, int]:
    """The numbers that notes have, by their keys. Sources keep those of the session, since the text may list them by
    those; the document's own notes keep theirs where no source has them; all others get the next ones."""
    keys = tuple(notes)
    numbers: dict[str, int] = {}
    taken: set[int] = set()
    for kind in _NUMBERED:
        for key in keys:
            if (found := kind.match(key)) and (number := int(found[1])) not in taken and number:
                numbers[key] = number
                taken.add(number)
    last = max(taken, default=0)
    for key in keys:
        if key not in numbers:
            last += 1
            numbers[key] = last
    return {key: numbers[key] for key in keys}


class Notes:
    """Collects the notes of a document in the order of their first mark."""

    def __init__(self, sources: Mapping[int, SourceNote], language: str) -> None:
        self._sources = sources
        self._words = _PUBLISHED_AND_READ.get(language, _PUBLISHED_AND_READ["en"])
        self._defined: dict[str, tuple[Block, ...]] = {}
        self._marked: dict[str, tuple[Block, ...] | None] = {}

    def define(self, label: str, content: tuple[Block, ...]) -> None:
        """A definition of the document's own. The first one of a label holds."""
        self._defined.setdefault(label, content)

    def mark(self, label: str, content: tuple[Block, ...] | None = None) -> NoteMark:
        """Refers to a note that the document defines, perhaps later; or to this one."""
        key = f"note-{label}"
        self._marked.setdefault(key, content)
        return NoteMark(key)

    def noted(self) -> dict[str, tuple[Block, ...]]:
        """The notes that were referred to."""
        return {
            key: self._defined.get(key.removeprefix("note-"), ()) if content is None else content
            for key, content in self._marked.items()
        }

    def unmarked(self) -> Iterator[tuple[str, tuple[Block, ...]]]:
        """What was defined but never referred to."""
        return ((label, content) for label, content in self._defined.items() if f"note-{label}" not in self._marked)

    def marked(self, text: str, defined: frozenset[str]) -> Iterator[Inline]:
        """A text with its markers as marks. Those that name nothing stay as they are. `defined`: the labels of the
        document's own notes, which `[^1]` may mean, but never `[1]`."""
        at = 0
        for found in _MARKER.finditer(text) if "[" in text or "【" in text or "［" in text else ():
            if found.group().startswith("[") and _INDEXED.search(text[max(at, found.start() - 40) : found.start()]):
                continue
            numbers = _numbers(next(body for body in found.groups() if body))
            marks = [(number, self._cited(number, defined if own else frozenset())) for number, own in numbers]
            if not any(mark for _, mark in marks):
                continue
            yield from words(text[at : found.start()].rstrip(" "))
            for number, mark in marks:
                yield mark or Text(f"[{number}]")
            at = found.end()
        yield from words(text[at:])

    def _cited(self, number: int, defined: frozenset[str]) -> NoteMark | None:
        if str(number) in defined:
            return self.mark(str(number))
        source = self._sources.get(number)
        if source is None:
            return None
        key = f"source-{number}"
        if key not in self._marked:
            self._marked[key] = (self._source_note(source),)
        return NoteMark(key)

    def _source_note(self, source: SourceNote) -> Paragraph:
        """Title, address and dates. The address is shown too, for those who read on paper."""
        published, read, comma = self._words
        title = " ".join(source.title.split()) or source.url
        if not source.url.startswith(("http://", "https://")):
            content: list[Inline] = [Text(title)]
        else:
            content = [Link(source.url, (Text(title),))]
            shown = source.url if len(source.url) <= _LONGEST_ADDRESS else urlsplit(source.url).netloc
            if title != source.url:
                content += [Text(". "), Link(source.url, (Text(shown),))]
        dates = [
            words.format(day[:_DAY]) for words, day in ((published, source.published), (read, source.fetched_at)) if day
        ]
        if dates:
            content.append(Text(f" ({comma.join(dates)})"))
        return Paragraph(tuple(content))


_END = r"[^\s<>\"`\u3000-\u303f\uff00-\uff65{}|\\^]"
_URL = re.compile(
    rf"(?<![\w/])https?://{_END}{{3,2000}}"
    rf"|(?<![\w/@.:-])(?P<www>www\.[a-z0-9-]{{1,63}}\.{_END}{{2,2000}})"
    r"|(?<![\w/@.:+%-])(?P<mail>[a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24})(?![\w@-])",
    re.IGNORECASE,
)
_AFTER = ".,;:!?'*_~"


def words(text: str) -> Iterator[Inline]:
    """A text, with the addresses in it as links."""
    at = 0
    for found in _URL.finditer(text) if "://" in text or "www." in text or "@" in text else ():
        url = found.group().rstrip(_AFTER)
        while url.endswith((")", "]")) and url.count(url[-1]) > url.count("(["[url[-1] == "]"]):
            url = url[:-1].rstrip(_AFTER)
        if len(url) <= len("https://") and not found["mail"]:
            continue
        if found.start() > at:
            yield Text(text[at : found.start()])
        scheme = "mailto:" if found["mail"] else "https://" if found["www"] else ""
        yield Link(f"{scheme}{url}", (Text(url),))
        at = found.start() + len(url)
    if text[at:]:
        yield Text(text[at:])


def _numbers(body: str) -> tuple[tuple[int, bool], ...]:
    """The numbers of a marker, and of each whether it was written as that of a note (`^1`)."""
    found: list[tuple[int, bool]] = []
    for item in re.split("[,;、，；]", body):
        own = "^" in item
        ends = [int(number.strip().lstrip("^")) for number in _RANGE.split(item.strip())]
        if len(ends) == 2 and 0 < ends[1] - ends[0] <= _LONGEST_RANGE:
            ends = list(range(ends[0], ends[1] + 1))
        found += ((number, own) for number in ends)
    # `[0, 1]` is an interval.
    return () if len(found) > 1 and any(number == 0 for number, _ in found) else tuple(dict.fromkeys(found))
