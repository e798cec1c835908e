"""Documents that are text already: prose, markdown, JSON, tables."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, cast

from footnote.documents.extract.document import MAX_CHARACTERS, ExtractedPage, UnreadableDocument
from footnote.documents.extract.media_type import Kind

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
    """Of any kind but HTML, XML and PDF. HTML comes here when it has no tags."""
    text = clean_text(text)
    if not text.strip():
        raise UnreadableDocument("empty", "there is no text in it")
    return _READERS.get(kind, _text)(text)


def clean_text(text: str) -> str:
    """Lines end in one way, and nothing in it moves the cursor of a terminal."""
    text = _CONTROL.sub("", _LINE_ENDS.sub("\n", text)).replace("\f", "\n\n")
    text = text.encode("utf-8", "replace").decode("utf-8")  # JSON may hold halves of characters
    text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n\n\n", text).strip("\n")


def _text(text: str) -> ExtractedPage:
    first = text.lstrip().partition("\n")[0].strip()
    return _build_result(text, "text/plain", first if len(first) <= _MAX_TITLE_CHARS else "")


def _markdown(text: str) -> ExtractedPage:
    front = _FRONT_MATTER.match(text)
    named = _FRONT_TITLE.search(front[1]) if front else None
    found = _HEADING.search(_CODE.sub("", text[:MAX_CHARACTERS]))
    headed = (found["marked"] or "").rstrip(" \t#") or found["underlined"] or "" if found else ""
    title = named[1].strip().strip("\"'") if named else headed
    if front and named:
        text = text[front.end() :].lstrip("\n")
    return _build_result(text, "text/markdown", title.strip())


def _json(text: str) -> ExtractedPage:
    """With a line for each value, so that a passage of it can be quoted; as it stands if it is broken or many."""
    try:
        value = json.loads(text)
        shown = clean_text(json.dumps(value, ensure_ascii=False, indent=2))
    except (ValueError, RecursionError):
        return _build_result(text, "application/json", "")
    facts = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    title = facts.get("title") or facts.get("name")
    return _build_result(
        shown, "application/json", title if isinstance(title, str) and len(title) <= _MAX_TITLE_CHARS else ""
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
    kept = _build_result("\n".join(lines[: MAX_ROWS + 2]), media_type, "")
    return ExtractedPage(text=kept.text, media_type=media_type, cut=kept.cut or len(rows) > MAX_ROWS + 1)


def read_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    # An open quotation mark would make one cell of the rest, and `csv` refuses cells beyond its limit.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from (row for row in reader if any(row))
    except csv.Error:
        done = text.split("\n")[reader.line_num :]
        yield from (line.split(delimiter) for line in done if line.strip())


def detect_delimiter(text: str) -> str:
    """Half of the world separates with semicolons: the comma is in its numbers."""
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
