"""A report made of quotations: its name and its text."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from itertools import count

from footnote.language.quotation import blockquote, inline, link
from footnote.models.reader.findings import SEARCH, Finding
from footnote.models.reader.phrases import SENTENCE_ENDS
from footnote.models.reader.words import Words
from footnote.protocol.receipts import Passage
from footnote.protocol.sources import Source

LONGEST_NAME = 60


def title_of(findings: Sequence[Finding], words: Words) -> str:
    """What was searched for; of a page that was read, its own title."""
    first = findings[0]
    title = (first.query if first.tool == SEARCH else first.heading).rstrip(SENTENCE_ENDS)
    return title[:1].upper() + title[1:] if title else words.report_title


def path_of(title: str, taken: Collection[str]) -> str:
    """A path that no file of the session has. Letters of every script stay; nothing else of a title does."""
    letters = unicodedata.normalize("NFC", title.lower())
    kept = "".join(letter if unicodedata.category(letter)[0] in "LMN" else "-" for letter in letters)
    name = re.sub(r"-+", "-", kept)[:LONGEST_NAME].strip("-") or "report"
    paths = (f"/{name}.md" if number == 1 else f"/{name}-{number}.md" for number in count(1))
    return next(path for path in paths if path not in taken)


def report(title: str, findings: Sequence[Finding], words: Words) -> str:
    sections = _by_question(findings) if len(findings) > 1 else _by_source(findings)
    blocks = [f"# {inline(title)}", f"*{words.report_note}*"]
    for heading, passages in sections:
        blocks += [f"## {inline(heading)}", *(blockquote(one.text, one.number) for one in passages)]
    sources = {source.number: source for finding in findings for source in finding.sources}
    listed = "\n".join(_listed(source, words) for _, source in sorted(sources.items()))
    return "\n\n".join([*blocks, f"## {words.sources}", listed]) + "\n"


def _by_question(findings: Iterable[Finding]) -> list[tuple[str, Sequence[Passage]]]:
    return [(finding.heading, finding.passages) for finding in findings if finding.passages]


def _by_source(findings: Iterable[Finding]) -> list[tuple[str, Sequence[Passage]]]:
    """A section for each source that is quoted, in the order of its best passage."""
    titles = {source.number: source.title or source.url for finding in findings for source in finding.sources}
    passages: dict[int, list[Passage]] = {}
    for finding in findings:
        for one in finding.passages:
            passages.setdefault(one.number, []).append(one)
    return [(titles[number], found) for number, found in passages.items()]


def _listed(source: Source, words: Words) -> str:
    facts = [
        inline(source.domain),
        words.published.format(date=inline(source.published[:10])) if source.published else "",
        words.read.format(date=inline(source.fetched_at[:10])) if source.fetched_at and source.status == "read" else "",
        words.not_read if source.status in ("snippet", "failed") else "",
    ]
    return " · ".join([f"- [{source.number}] {link(source.title or source.url, source.url)}", *filter(None, facts)])
