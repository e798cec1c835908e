"""The last words of a turn: the passages that match best, quoted and footnoted, or what was tried in vain."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import Literal

from msgspec import Struct

from footnote.models.reader.findings import SEARCH_TOOL, ReaderHit
from footnote.models.reader.messages import ReaderMessages
from footnote.models.reader.phrases import SENTENCE_ENDS
from footnote.protocol.receipts import Passage, ProviderTry
from footnote.protocol.sources import Source
from footnote.text.quotation import blockquote, escape_inline, markdown_link

MAX_NAME_LENGTH = 60


def report_title(hits: Sequence[ReaderHit], messages: ReaderMessages) -> str:
    """What was searched for; of a page that was read, its own title."""
    first = hits[0]
    title = (first.query if first.tool == SEARCH_TOOL else first.heading).rstrip(SENTENCE_ENDS)
    return title[:1].upper() + title[1:] if title else messages.report_title


def report_path(title: str, existing: Collection[str]) -> str:
    """A path that no file of the session has. Letters of every script stay; nothing else of a title does."""
    letters = unicodedata.normalize("NFC", title.lower())
    kept = "".join(letter if unicodedata.category(letter)[0] in "LMN" else "-" for letter in letters)
    name = re.sub(r"-+", "-", kept)[:MAX_NAME_LENGTH].strip("-") or "report"
    paths = (f"/{name}.md" if number == 1 else f"/{name}-{number}.md" for number in count(1))
    return next(path for path in paths if path not in existing)


def compose_report(title: str, hits: Sequence[ReaderHit], messages: ReaderMessages) -> str:
    sections = _sections_by_question(hits) if len(hits) > 1 else _sections_by_source(hits)
    blocks = [f"# {escape_inline(title)}", f"*{messages.report_note}*"]
    for heading, passages in sections:
        blocks += [f"## {escape_inline(heading)}", *(blockquote(one.text, one.number) for one in passages)]
    sources = {source.number: source for finding in hits for source in finding.sources}
    listed = "\n".join(_source_line(source, messages) for _, source in sorted(sources.items()))
    return "\n\n".join([*blocks, f"## {messages.sources}", listed]) + "\n"


def _sections_by_question(hits: Iterable[ReaderHit]) -> list[tuple[str, Sequence[Passage]]]:
    return [(finding.heading, finding.passages) for finding in hits if finding.passages]


def _sections_by_source(hits: Iterable[ReaderHit]) -> list[tuple[str, Sequence[Passage]]]:
    """A section for each source that is quoted, in the order of its best passage."""
    titles = {source.number: source.title or source.url for finding in hits for source in finding.sources}
    passages: dict[int, list[Passage]] = {}
    for finding in hits:
        for one in finding.passages:
            passages.setdefault(one.number, []).append(one)
    return [(titles[number], found) for number, found in passages.items()]


def _source_line(source: Source, messages: ReaderMessages) -> str:
    facts = [
        escape_inline(source.domain),
        messages.published.format(date=escape_inline(source.published[:10])) if source.published else "",
        messages.read.format(date=escape_inline(source.fetched_at[:10]))
        if source.fetched_at and source.status == "read"
        else "",
        messages.not_read if source.status in ("snippet", "failed") else "",
    ]
    return " · ".join(
        [f"- [{source.number}] {markdown_link(source.title or source.url, source.url)}", *filter(None, facts)]
    )


MAX_PASSAGES_EACH = 3
MAX_PASSAGES = 6
MAX_PAGES = 5


class ReaderAnswer(Struct, frozen=True):
    """What became of a report: it stands at `path`, or `error` says why it could not be written."""

    path: str = ""
    error: str = ""
    is_impossible: bool = False


def compose_answer(
    hits: Sequence[ReaderHit],
    messages: ReaderMessages,
    *,
    report: ReaderAnswer | None = None,
    unsupported: Literal["summarise", "rewrite"] | None = None,
    has_more_parts: bool = False,
) -> str:
    chosen = _choose_passages(hits)
    blocks = _offline_notice(hits, chosen, messages)
    blocks += [_opening_line(hits, chosen, messages, report, unsupported)] if any(chosen) else []
    for finding, passages in zip(hits, chosen, strict=True):
        if finding.passages and not passages:
            continue
        blocks += [f"**{escape_inline(finding.heading)}**"] if len(hits) > 1 else []
        blocks += [blockquote(one.text, one.number) for one in passages] or _no_result_blocks(finding, messages)
        blocks += _disagreement_notes(finding, passages, messages)
    excerpts = _excerpt_numbers(hits, chosen)
    if excerpts and len(excerpts) < len({one.number for passages in chosen for one in passages}):
        blocks.append(messages.some_excerpts.format(numbers=", ".join(map(str, excerpts))))
    return "\n\n".join([*blocks, *([messages.unasked] if has_more_parts else [])])


def _choose_passages(hits: Sequence[ReaderHit]) -> list[list[Passage]]:
    """The passages to quote of each finding, in the tool's order: one of each in turn until there are enough."""
    chosen: list[list[Passage]] = [[] for _ in hits]
    for rank in range(MAX_PASSAGES_EACH):
        for finding, passages in zip(hits, chosen, strict=True):
            if rank < len(finding.passages) and sum(map(len, chosen)) < MAX_PASSAGES:
                passages.append(finding.passages[rank])
    return chosen


def _offline_notice(
    hits: Sequence[ReaderHit], chosen: Iterable[Sequence[Passage]], messages: ReaderMessages
) -> list[str]:
    """That the web could not be asked or had nothing, if a quotation comes from the library in its place."""
    quoted = [finding for finding, passages in zip(hits, chosen, strict=True) if passages]
    providers = dict.fromkeys(provider for finding in quoted for provider in finding.failed_providers)
    if providers:
        return [messages.from_library.format(providers=escape_inline(", ".join(providers)))]
    return [messages.nothing_on_the_web] if any(finding.is_from_library for finding in quoted) else []


def _opening_line(
    hits: Sequence[ReaderHit],
    chosen: Iterable[Sequence[Passage]],
    messages: ReaderMessages,
    report: ReaderAnswer | None,
    unsupported: Literal["summarise", "rewrite"] | None,
) -> str:
    """One line that is honest about what follows."""
    quoted = [one for passages in chosen for one in passages]
    first = [messages.unable[unsupported]] if unsupported else []
    if report and report.error:
        first.append(messages.report_failed.format(error=escape_inline(report.error)))
    elif report and report.is_impossible:
        first.append(messages.report_impossible)
    if report and report.path:
        return messages.space.join([*first, messages.report_written.format(path=escape_inline(report.path))])
    if len(_excerpt_numbers(hits, [quoted])) == len({one.number for one in quoted}):
        return messages.space.join([*first, messages.excerpts])
    return messages.space.join([*first, messages.passage if len(quoted) == 1 else messages.passages])


def _disagreement_notes(hit: ReaderHit, passages: Sequence[Passage], messages: ReaderMessages) -> list[str]:
    """That sources contradict each other, where more than one side of it is quoted."""
    quoted = {one.number for one in passages}
    sides = (sorted({value.number for value in one.values} & quoted) for one in hit.disagreements)
    return [messages.disagree.format(numbers=", ".join(map(str, numbers))) for numbers in sides if len(numbers) > 1]


def _excerpt_numbers(hits: Sequence[ReaderHit], chosen: Iterable[Sequence[Passage]]) -> list[int]:
    """Numbers of quoted sources whose page was not read: a search engine's excerpt is quoted instead."""
    sources = [source for finding in hits for source in finding.sources]
    read = {source.number for source in sources if source.status not in ("snippet", "failed")}
    return sorted({one.number for passages in chosen for one in passages} - read)


def _no_result_blocks(hit: ReaderHit, messages: ReaderMessages) -> list[str]:
    """What was tried, why it came to nothing, and what to do next."""
    if hit.error:
        # An address in backticks stays as the user wrote it.
        said = messages.search_failed if hit.tool == SEARCH_TOOL else messages.page_failed
        query = escape_inline(hit.query) if hit.tool == SEARCH_TOOL else "".join(hit.query.split()).replace("`", "%60")
        reasons = [f"- {escape_inline(line)}" for line in hit.error.splitlines() if line.strip()]
        return [said.format(query=query), "\n".join(reasons)]
    blocks = [messages.nothing.format(query=escape_inline(hit.query))]
    if hit.tries:
        blocks.append("\n".join([messages.tried, *(f"- {_describe_try(one, messages)}" for one in hit.tries)]))
    if hit.sources:
        pages = [f"- {markdown_link(one.title or one.url, one.url)}" for one in hit.sources[:MAX_PAGES]]
        blocks += [messages.pages_found, "\n".join(pages)]
    return [*blocks, messages.other_words]


def _describe_try(one: ProviderTry, messages: ReaderMessages) -> str:
    said = messages.outcomes.get(one.outcome, one.outcome)
    return escape_inline(f"{one.provider}: {said} ({one.reason})" if one.reason else f"{one.provider}: {said}")
