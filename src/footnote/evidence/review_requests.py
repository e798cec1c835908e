"""The request of a second look, and how its answer is read.

Statements and passages are data for the model that reads them: both stand between the marks of web text. Answers are
read kindly: whatever entry is whole counts, whatever stands around it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct

from footnote.evidence.page_index import PageIndex
from footnote.evidence.quotations import whole_sentences
from footnote.evidence.sources import Sources
from footnote.evidence.tokens import key_of
from footnote.protocol.sources import Citation
from footnote.text.boundary import NOTICE, escape_tags, wrap_web_text
from footnote.text.sentences import Span
from footnote.text.terms import terms

Opinion: TypeAlias = Literal["supports", "partly", "contradicts", "nothing"]


class ReviewedStatement(Struct, frozen=True):
    """A statement and one page that it cites. `found` are the passages of the page on which it may rest, the best
    first; `background` is shown where there is room."""

    id: int
    text: str
    number: int
    page: PageIndex
    found: tuple[Span, ...]
    background: Span


class ReviewAnswer(Struct, frozen=True):
    """What a model says of one statement."""

    id: int
    opinion: Opinion
    quotation: str = ""


# Passages ------------------------------------------------------------------------------------------------------------

_BACKGROUND = 1_500
"""How many characters of the beginning of a page are shown: all of a short one."""
_MAX_SENTENCES = 3
_MAX_PASSAGES = 3


def find_passages(text: str, page: PageIndex, citation: Citation, sources: Sources) -> tuple[tuple[Span, ...], Span]:
    """The passages of a page on which a statement may rest: those to which text and model pointed, and those that
    resemble it most; and the beginning of the page, for a translation, which resembles nothing."""
    found: list[Span] = []
    if citation.quote_start is not None and citation.quote_end is not None and citation.snapshot_id == page.snapshot_id:
        found.append(whole_sentences(page, Span(citation.quote_start, citation.quote_end)))
    pointed = sources.evidence(citation.passage) if citation.passage else None
    if pointed is not None and pointed.snapshot_id == page.snapshot_id:
        found.append(Span(pointed.start, pointed.end))
    keys = dict.fromkeys(key_of(term.text, page.language) for term in terms(text))
    weights = {key: page.weight(key) for key in keys}
    found += page.passages(weights, max_sentences=_MAX_SENTENCES, max_passages=_MAX_PASSAGES)
    length = len(page.text)
    end = length if length <= _BACKGROUND else page.text.rfind(" ", 0, _BACKGROUND) + 1 or _BACKGROUND
    return tuple(dict.fromkeys(found)), Span(0, end)


def _fit_passages(statement: ReviewedStatement, max_characters: int) -> list[Span]:
    """The best passages for a statement, in order and without overlap, of at most so many characters."""
    chosen: list[Span] = []
    left = max_characters
    for span in (*statement.found, statement.background):
        covered = sum(max(0, min(span.end, one.end) - max(span.start, one.start)) for one in chosen)
        if covered < span.end - span.start:
            cut = Span(span.start, min(span.end, span.start + left))
            left -= cut.end - cut.start - covered
            chosen = _merged([*chosen, cut])
        if left <= 0:
            break
    return chosen


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans, key=attrgetter("start", "end")):
        if merged and span.start <= merged[-1].end + 1:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


# The request ---------------------------------------------------------------------------------------------------------

SYSTEM_PROMPT = f"""You check statements against passages of the pages that they cite.

For each statement, find the place in the passages of its page that says most about it, and judge what it says:
- "supports": it says all of the statement, be it in other words or in another language, with the same numbers, dates,
  names, bounds and direction.
- "partly": it says a part of the statement.
- "contradicts": it says otherwise.
- "nothing": the passages do not say it. Do not guess, and do not use what you know from elsewhere.

Copy that place as a quotation: one to three sentences that follow each other, letter by letter as they stand in the
passage, in its own language, not translated, not shortened, not corrected. A quotation that is not on the page word
for word is worthless.

{NOTICE} The same holds for the statements.

Answer with JSON and nothing else, one entry a statement:
[{{"id": 1, "verdict": "supports", "quotation": "…"}}, {{"id": 2, "verdict": "nothing", "quotation": ""}}]"""

_SPACE = re.compile(r"\s+")


def review_prompt(statements: Sequence[ReviewedStatement], max_characters: int) -> str:
    """The statements by page, each page with the passages of all its statements, within so many characters."""
    by_page: dict[tuple[int, str], list[ReviewedStatement]] = {}
    for statement in statements:
        by_page.setdefault((statement.number, statement.page.snapshot_id), []).append(statement)
    share = max_characters // max(1, len(statements))
    parts: list[str] = []
    for (number, _), group in by_page.items():
        shown = _merged(span for one in group for span in _fit_passages(one, share))
        text = group[0].page.text
        passages = "\n…\n".join(text[span.start : span.end].strip() for span in shown)
        lines = "\n".join(f"{one.id}. {one_line(one.text)}" for one in group)
        parts.append(
            f"Page [{number}]\n{wrap_web_text(passages)}\nStatements about page [{number}]\n{wrap_web_text(lines)}"
        )
    return "\n\n".join(parts)


def one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def check_prompt(statement: ReviewedStatement, max_characters: int) -> str:
    """The form of models that were made for checking, such as Bespoke-MiniCheck. Line breaks are taken out: a page may
    not add a claim of its own."""
    text = statement.page.text
    spans = _fit_passages(statement, max_characters)
    document = " ".join(one_line(text[span.start : span.end]) for span in spans)
    return f"Document: {escape_tags(document)}\nClaim: {escape_tags(one_line(statement.text))}"


# The answer ----------------------------------------------------------------------------------------------------------

_MAX_ANSWER = 200_000
_JSON_BEGIN = re.compile(r"[\[{]")
_MAX_BEGINNINGS = 1_000
_KEY = re.compile(r"[\"'“”]?\b(id|statement|verdict|label|quotation|quote)[\"'“”]?\s?:")
_DIGITS = re.compile(r"\d{1,6}")
_OPINIONS: dict[str, Opinion] = {
    "support": "supports",
    "yes": "supports",
    "part": "partly",
    "contra": "contradicts",
    "refut": "contradicts",
    "nothing": "nothing",
    "none": "nothing",
    "no": "nothing",
    "not": "nothing",
    "neutral": "nothing",
    "unsupp": "nothing",
}
"""By how the word begins."""
_NAMES = {"statement": "id", "label": "verdict", "quote": "quotation"}


def read_answer(text: str, ids: Iterable[int]) -> dict[int, list[ReviewAnswer]]:
    """The entries of an answer by statement. One that says two things of a statement says nothing of it."""
    known = set(ids)
    answers: dict[int, list[ReviewAnswer]] = {}
    for fields in _entries(text[:_MAX_ANSWER]):
        answer = _to_answer(fields)
        if answer is not None and answer.id in known:
            answers.setdefault(answer.id, []).append(answer)
    return {id_: found for id_, found in answers.items() if len({one.opinion for one in found}) == 1}


def _to_answer(fields: Mapping[str, Any]) -> ReviewAnswer | None:
    number = _DIGITS.search(str(fields.get("id", "")))
    opinion = _opinion(str(fields.get("verdict", "")).strip().casefold())
    quotation = fields.get("quotation")
    if number is None or opinion is None:
        return None
    return ReviewAnswer(int(number[0]), opinion, quotation if isinstance(quotation, str) else "")


def _opinion(word: str) -> Opinion | None:
    for start, meant in _OPINIONS.items():
        if word.startswith(start):
            return meant
    return None


def _entries(text: str) -> Iterator[dict[str, Any]]:
    """The entries of an answer, whatever stands around them: those in JSON, and what can be read of the others."""
    found = list(_decoded_entries(text))
    yield from found
    ids = {str(fields.get("id")) for fields in found}
    yield from (fields for fields in _read_objects(text) if str(fields.get("id")) not in ids)


def _decoded_entries(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False)
    end = 0
    for begin in islice(_JSON_BEGIN.finditer(text), _MAX_BEGINNINGS):
        if begin.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            continue
        yield from _objects_in(value)


def _objects_in(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The entries in a decoded answer: a list of them, an object of them by id, or an object around either."""
    if isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _objects_in(one, depth + 1)
    elif isinstance(value, dict) and depth < 4:
        fields = {_NAMES.get(name, name): field for name, field in cast("dict[str, Any]", value).items()}
        if "verdict" in fields:
            yield fields
            return
        for name, field in fields.items():
            for one in _objects_in(field, depth + 1):
                yield {"id": name, **one}


def _read_objects(text: str) -> Iterator[dict[str, Any]]:
    """The whole objects of an answer that is no JSON: cut off, with commas too many, or with quotation marks inside a
    quotation."""
    for piece in text.split("{")[1:]:
        body, closed, _ = piece.rpartition("}")
        if closed:
            yield _read_fields(body.rstrip("}] \t\n"))


def _read_fields(body: str) -> dict[str, Any]:
    keys = list(_KEY.finditer(body))
    ends = [*(following.start() for following in keys[1:]), len(body)][: len(keys)]
    fields: dict[str, Any] = {}
    for key, end in zip(keys, ends, strict=True):
        fields.setdefault(_NAMES.get(key[1], key[1]), _read_string(body[key.end() : end]))
    return fields


def _read_string(written: str) -> str:
    value = written.strip().rstrip(",").rstrip()
    if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]:
        try:
            return json.loads(f'"{value[1:-1]}"', strict=False)
        except ValueError:
            return value[1:-1].replace('\\"', '"').replace("\\n", "\n")
    return value


def reads_yes(text: str) -> bool:
    """Whether a model for checking says Yes."""
    return text.strip().strip("\"'*.").casefold().startswith("yes")
