"""Documents that are text already: prose, markdown, JSON, tables."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, cast

from footnote.documents.extract import MAX_CHARACTERS, ExtractedPage, UnreadableDocument
from footnote.documents.media import Kind

MAX_ROWS = 5_000

_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufeff\ufffe\uffff]")
_LINE_ENDS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_EMPTY_LINES = re.compile(r"\n{4,}")
_HEADING = re.compile(
    r"(?:^#[ \t]++(?P<marked>[^\n]++)$)|(?:^(?P<underlined>[^\s#][^\n]{0,150})\n=++[ \t]*+$)", re.MULTILINE
)
_FRONT_MATTER = re.compile(r"\A---\n(.{0,5000}?)\n---\n", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*+(\S.*)$", re.MULTILINE)
_CODE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_DELIMITERS = ",;\t|"
_MAX_TITLE_CHARS = 120


def read(kind: Kind, text: str) -> ExtractedPage:
    """A document of any kind but HTML, XML, PDF and Office; also HTML without tags."""
    text = clean_text(text)
    if not text.strip():
        raise UnreadableDocument("empty", "there is no text in it")
    return _READERS.get(kind, _text)(text)


def clean_text(text: str) -> str:
    """With uniform line ends, and without control characters, which would move the cursor of a terminal."""
    text = _CONTROL.sub("", _LINE_ENDS.sub("\n", text)).replace("\f", "\n\n")
    text = text.encode("utf-8", "replace").decode("utf-8")  # JSON may contain lone surrogates
    text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n\n\n", text).strip("\n")


def _text(text: str) -> ExtractedPage:
    first = text.lstrip().partition("\n")[0].strip()
    return _build_result(text, "text/plain", first if len(first) <= _MAX_TITLE_CHARS else "")


def _markdown(text: str) -> ExtractedPage:
    front = _FRONT_MATTER.match(text)
    front_title = _FRONT_TITLE.search(front[1]) if front else None
    found = _HEADING.search(_CODE.sub("", text[:MAX_CHARACTERS]))
    heading = (found["marked"] or "").rstrip(" \t#") or found["underlined"] or "" if found else ""
    title = front_title[1].strip().strip("\"'") if front_title else heading
    if front and front_title:
        text = text[front.end() :].lstrip("\n")
    return _build_result(text, "text/markdown", title.strip())


def _json(text: str) -> ExtractedPage:
    """With a line for each value, so that a passage can be quoted; unchanged if it is invalid or JSON Lines."""
    try:
        value = json.loads(text)
        formatted = clean_text(json.dumps(value, ensure_ascii=False, indent=2))
    except (ValueError, RecursionError):
        return _build_result(text, "application/json", "")
    facts = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    title = facts.get("title") or facts.get("name")
    return _build_result(
        formatted, "application/json", title if isinstance(title, str) and len(title) <= _MAX_TITLE_CHARS else ""
    )


def _csv(text: str) -> ExtractedPage:
    return _table(text, "text/csv", detect_delimiter(text))


def _tsv(text: str) -> ExtractedPage:
    return _table(text, "text/tab-separated-values", "\t")


def _table(text: str, media_type: str, delimiter: str) -> ExtractedPage:
    rows = list(islice(read_rows(text, delimiter), MAX_ROWS + 2))
    if not rows or max(map(len, rows)) < 2:
        return _build_result(text, media_type, "")
    width = min(max(map(len, rows)), 200)
    lines = [f"| {' | '.join(_cell(cell) for cell in (*row, *[''] * (width - len(row)))[:width])} |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    table = _build_result("\n".join(lines[: MAX_ROWS + 2]), media_type, "")
    return ExtractedPage(text=table.text, media_type=media_type, cut=table.cut or len(rows) > MAX_ROWS + 1)


def read_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    # An unclosed quotation mark makes the rest one cell, and `csv` raises an error for cells beyond its limit.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from (row for row in reader if any(row))
    except csv.Error:
        rest = text.split("\n")[reader.line_num :]
        yield from (line.split(delimiter) for line in rest if line.strip())


def detect_delimiter(text: str) -> str:
    """Files with decimal commas use semicolons."""
    head = text.partition("\n")[0]
    return max(_DELIMITERS, key=head.count)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _build_result(text: str, media_type: str, title: str) -> ExtractedPage:
    cut = len(text) > MAX_CHARACTERS
    return ExtractedPage(text=text[:MAX_CHARACTERS].rstrip(), title=title, media_type=media_type, cut=cut)


_READERS: dict[Kind, Callable[[str], ExtractedPage]] = {
    Kind.MARKDOWN: _markdown,
    Kind.JSON: _json,
    Kind.CSV: _csv,
    Kind.TSV: _tsv,
}
