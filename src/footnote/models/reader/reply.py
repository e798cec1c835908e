"""What the reader does next, by rule: search, read a page, write a report, or answer. It depends on the conversation
alone.

The answer is composed of the passages that match best, quoted and footnoted, or lists the attempts that failed.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct

from footnote.models.base import Context
from footnote.models.reader.conversation import (
    READ_TOOL,
    SEARCH_TOOL,
    WRITE_TOOL,
    ReaderHit,
    ReaderTurn,
    find_subject,
    parse_turn,
    paths_in,
    previous_locale,
)
from footnote.models.reader.messages import MESSAGES, ReaderMessages
from footnote.models.reader.phrases import SENTENCE_ENDS
from footnote.models.reader.question import (
    MAX_PROMPT_LENGTH,
    ReaderQuestion,
    ReaderSearch,
    build_searches,
    has_topic,
    parse_message,
)
from footnote.protocol.messages import AssistantMessage, Message
from footnote.protocol.sources import Passage, ProviderTry, Source, published_day
from footnote.protocol.tools import ToolSpec
from footnote.text.markdown import blockquote, escape_inline, markdown_link

MAX_WRITE_TRIES = 2
MAX_PASSAGES_EACH = 3
MAX_PASSAGES = 6
MAX_PAGES = 5
MAX_NAME_LENGTH = 60


class ReaderText(Struct, frozen=True):
    text: str


class ToolRequest(Struct, frozen=True):
    """A tool call to be made."""

    name: str
    arguments: dict[str, Any]


class ReportOutcome(Struct, frozen=True):
    """The outcome of a report: its `path`, or the `error` for which it could not be written. `is_impossible`: no tool
    can write it in this turn."""

    path: str = ""
    error: str = ""
    is_impossible: bool = False


Reply: TypeAlias = ReaderText | tuple[ToolRequest, ...]


def reply_to(context: Context) -> Reply:
    """The next step of a turn: tool calls, or the answer that ends it."""
    turn = parse_turn(context.messages)
    question = parse_message(turn.question, turn.attached.addresses)
    messages = MESSAGES[question.locale if question.has_words else previous_locale(turn.history) or question.locale]
    tools = {tool.name: tool for tool in context.tools}
    hits = turn.hits
    if not hits:
        reply = _first_step(question, turn, tools, messages)
    elif retries := requests_without_freshness(turn, hits, tools):
        reply = retries
    elif question.wants_report and (report := _report_request(turn, hits, tools, messages)):
        reply = report
    else:
        outcome = _report_outcome(turn) if question.wants_report else None
        text = compose_answer(
            hits, messages, report=outcome, unsupported=question.unsupported, has_more_parts=question.extra_parts > 0
        )
        reply = ReaderText(text)
    if not isinstance(reply, ReaderText):
        return reply
    notice = f"{_with_file_names(messages.unread, turn)}\n\n" if turn.attached.others and hits else ""
    return ReaderText(_with_note(notice + reply.text, messages, turn.history))


def _first_step(
    question: ReaderQuestion, turn: ReaderTurn, tools: Mapping[str, ToolSpec], messages: ReaderMessages
) -> Reply:
    """The first step of a turn: small talk is answered, everything else is searched for. A question about an attached
    file that cannot be read is not searched for elsewhere."""
    if turn.attached.others and not question.urls:
        return ReaderText(_with_file_names(messages.only_unread, turn))
    if question.kind != "search":
        return ReaderText(messages.direct[question.kind])
    if requests := lookup_requests(question, turn, tools):
        return requests
    return ReaderText(messages.no_subject if SEARCH_TOOL in tools else messages.search_off)


def lookup_requests(
    question: ReaderQuestion, turn: ReaderTurn, tools: Mapping[str, ToolSpec]
) -> tuple[ToolRequest, ...]:
    """The searches for a question, or the pages that it names; none if there is nothing to look up, or no tool for
    it."""
    if question.kind != "search":
        return ()
    if question.urls and READ_TOOL in tools:
        prompt = " ".join(" ".join(question.parts).split())
        optional = {"prompt": prompt[:MAX_PROMPT_LENGTH] if has_topic(prompt) else None}
        return tuple(_tool_request(tools[READ_TOOL], {"url": url}, optional) for url in question.urls)
    if SEARCH_TOOL not in tools:
        return ()
    subject = find_subject(turn.history)
    searches = build_searches(question.parts, subject)
    if not searches and question.urls:
        searches = tuple(ReaderSearch(url, url) for url in question.urls)
    elif not searches and subject:
        searches = (ReaderSearch(subject.query, subject.query),)
    return tuple(
        _tool_request(
            tools[SEARCH_TOOL], {"query": search.query}, {"prompt": search.prompt, "freshness": search.freshness}
        )
        for search in searches
    )


def requests_without_freshness(
    turn: ReaderTurn, hits: Iterable[ReaderHit], tools: Mapping[str, ToolSpec]
) -> tuple[ToolRequest, ...]:
    """Repeats a search of the last days that found nothing without that limit."""
    if SEARCH_TOOL not in tools or any(hit.passages or hit.error for hit in hits):
        return ()
    tried = [call.arguments for call, _ in turn.results if call.name == SEARCH_TOOL]
    if not all("freshness" in arguments for arguments in tried):
        return ()
    return tuple(
        ToolRequest(SEARCH_TOOL, {key: value for key, value in arguments.items() if key != "freshness"})
        for arguments in tried
    )


def _report_request(
    turn: ReaderTurn, hits: tuple[ReaderHit, ...], tools: Mapping[str, ToolSpec], messages: ReaderMessages
) -> tuple[ToolRequest, ...]:
    """The call that writes the report; none if it is written already or cannot be written."""
    tried = turn.write_results
    found = tuple(hit for hit in hits if hit.passages)
    if WRITE_TOOL not in tools or not found or len(tried) >= MAX_WRITE_TRIES:
        return ()
    title = name = report_title(found, messages)
    existing = paths_in(turn.history)
    if tried:
        call, result = tried[-1]
        path = str(call.arguments.get("file_path"))
        # Another name does not help against an error that does not mention the file.
        if not result.is_error or path.strip("/") not in result.text:
            return ()
        name, existing = "", existing | {path}
    path = turn.path if turn.path and not tried else report_path(name, existing)
    return (ToolRequest(WRITE_TOOL, {"file_path": path, "content": compose_report(title, found, messages)}),)


def _report_outcome(turn: ReaderTurn) -> ReportOutcome:
    if not turn.write_results:
        return ReportOutcome(is_impossible=True)
    call, result = turn.write_results[-1]
    if result.is_error:
        return ReportOutcome(error=result.text)
    return ReportOutcome(path=str((result.artifact or {}).get("path") or call.arguments.get("file_path")))


def _tool_request(tool: ToolSpec, required: dict[str, Any], optional: Mapping[str, Any]) -> ToolRequest:
    """A call with the required arguments and those optional ones that the schema of the tool has."""
    known: Any = tool.input_schema.get("properties")
    names = frozenset(cast("dict[str, Any]", known)) if isinstance(known, dict) else frozenset[str]()
    return ToolRequest(
        tool.name, required | {name: value for name, value in optional.items() if value and name in names}
    )


def _with_file_names(sentence: str, turn: ReaderTurn) -> str:
    """A sentence with the names of the attached files that cannot be quoted."""
    names = (path.rpartition("/")[2] for path in turn.attached.others)
    return sentence.format(files=", ".join(f"`{name}`" for name in names))


def _with_note(text: str, messages: ReaderMessages, history: Iterable[Message]) -> str:
    """A text with the note on what this model is, unless an answer of the session has it already."""
    answers = "\n".join(message.text for message in history if isinstance(message, AssistantMessage))
    return text if any(each.note in answers for each in MESSAGES.values()) else f"{text}\n\n{messages.note}"


# The answer --------------------------------------------------------------------------------------------------


def compose_answer(
    hits: Sequence[ReaderHit],
    messages: ReaderMessages,
    *,
    report: ReportOutcome | None = None,
    unsupported: Literal["summarise", "rewrite"] | None = None,
    has_more_parts: bool = False,
) -> str:
    chosen = choose_passages(hits)
    blocks = _offline_notice(hits, chosen, messages)
    blocks += [_opening_line(hits, chosen, messages, report, unsupported)] if any(chosen) else []
    for hit, passages in zip(hits, chosen, strict=True):
        if hit.passages and not passages:
            continue
        blocks += [f"**{escape_inline(hit.heading)}**"] if len(hits) > 1 else []
        blocks += [blockquote(passage.text, passage.number) for passage in passages] or _no_result_blocks(hit, messages)
        blocks += _disagreement_notes(hit, passages, messages)
    excerpts = _excerpt_numbers(hits, chosen)
    if excerpts and len(excerpts) < len({passage.number for passages in chosen for passage in passages}):
        blocks.append(messages.some_excerpts.format(numbers=", ".join(map(str, excerpts))))
    return "\n\n".join([*blocks, *([messages.unasked] if has_more_parts else [])])


def choose_passages(hits: Sequence[ReaderHit]) -> list[list[Passage]]:
    """The passages to quote of each hit, in the tool's order: one of each in turn until there are enough."""
    chosen: list[list[Passage]] = [[] for _ in hits]
    for rank in range(MAX_PASSAGES_EACH):
        for hit, passages in zip(hits, chosen, strict=True):
            if rank < len(hit.passages) and sum(map(len, chosen)) < MAX_PASSAGES:
                passages.append(hit.passages[rank])
    return [[*passages, *_other_sides(hit, passages)] for hit, passages in zip(hits, chosen, strict=True)]


def _other_sides(hit: ReaderHit, chosen: Sequence[Passage]) -> list[Passage]:
    """The passages that contradict a chosen one: there is always room for both sides."""
    quoted = {(passage.number, passage.start) for passage in chosen}
    sides = [{(value.number, value.quote_start) for value in each.values} for each in hit.disagreements]
    missing = {place for places in sides if places & quoted for place in places - quoted}
    return [passage for passage in hit.passages if (passage.number, passage.start) in missing]


def _offline_notice(
    hits: Sequence[ReaderHit], chosen: Iterable[Sequence[Passage]], messages: ReaderMessages
) -> list[str]:
    """A notice that the web could not be searched or had nothing, if a quotation comes from the library instead."""
    quoted = [hit for hit, passages in zip(hits, chosen, strict=True) if passages]
    providers = dict.fromkeys(provider for hit in quoted for provider in hit.failed_providers)
    if providers:
        return [messages.from_library.format(providers=escape_inline(", ".join(providers)))]
    return [messages.nothing_on_the_web] if any(hit.is_from_library for hit in quoted) else []


def _opening_line(
    hits: Sequence[ReaderHit],
    chosen: Iterable[Sequence[Passage]],
    messages: ReaderMessages,
    report: ReportOutcome | None,
    unsupported: Literal["summarise", "rewrite"] | None,
) -> str:
    """One line that says what follows, and what could not be done."""
    quoted = [passage for passages in chosen for passage in passages]
    first = [messages.unable[unsupported]] if unsupported else []
    if report and report.error:
        first.append(messages.report_failed.format(error=escape_inline(report.error)))
    elif report and report.is_impossible:
        first.append(messages.report_impossible)
    if report and report.path:
        return messages.space.join([*first, messages.report_written.format(path=escape_inline(report.path))])
    if len(_excerpt_numbers(hits, [quoted])) == len({passage.number for passage in quoted}):
        return messages.space.join([*first, messages.excerpts])
    return messages.space.join([*first, messages.passage if len(quoted) == 1 else messages.passages])


def _disagreement_notes(hit: ReaderHit, passages: Sequence[Passage], messages: ReaderMessages) -> list[str]:
    """Notes that sources contradict each other, if more than one side is quoted."""
    quoted = {passage.number for passage in passages}
    notes: list[str] = []
    for each in hit.disagreements:
        days = {value.number: published_day(value.published) for value in each.values if value.number in quoted}
        if len(days) > 1:
            sides = (f"{number} ({day})" if day else str(number) for number, day in sorted(days.items()))
            notes.append(messages.disagree.format(numbers=", ".join(sides)))
    return notes


def _excerpt_numbers(hits: Sequence[ReaderHit], chosen: Iterable[Sequence[Passage]]) -> list[int]:
    """Numbers of quoted sources whose page was not read: a search engine's excerpt is quoted instead."""
    sources = [source for hit in hits for source in hit.sources]
    read = {source.number for source in sources if source.status not in ("snippet", "failed")}
    return sorted({passage.number for passages in chosen for passage in passages} - read)


def _no_result_blocks(hit: ReaderHit, messages: ReaderMessages) -> list[str]:
    """What was tried, why it came to nothing, and what to do next."""
    if hit.error:
        # An address in backticks stays as the user wrote it.
        sentence = messages.search_failed if hit.tool == SEARCH_TOOL else messages.page_failed
        query = escape_inline(hit.query) if hit.tool == SEARCH_TOOL else "".join(hit.query.split()).replace("`", "%60")
        reasons = [f"- {escape_inline(line)}" for line in hit.error.splitlines() if line.strip()]
        return [sentence.format(query=query), "\n".join(reasons)]
    blocks = [messages.nothing.format(query=escape_inline(hit.query))]
    if hit.tries:
        blocks.append("\n".join([messages.tried, *(f"- {_describe_try(attempt, messages)}" for attempt in hit.tries)]))
    if hit.sources:
        pages = [f"- {markdown_link(source.title or source.url, source.url)}" for source in hit.sources[:MAX_PAGES]]
        blocks += [messages.pages_found, "\n".join(pages)]
    return [*blocks, messages.other_words]


def _describe_try(attempt: ProviderTry, messages: ReaderMessages) -> str:
    outcome = messages.outcomes.get(attempt.outcome, attempt.outcome)
    reason = f" ({attempt.reason})" if attempt.reason else ""
    return escape_inline(f"{attempt.provider}: {outcome}{reason}")


# The report --------------------------------------------------------------------------------------------------


def report_title(hits: Sequence[ReaderHit], messages: ReaderMessages) -> str:
    """The query of the search; for a page that was read, its own title."""
    first = hits[0]
    title = (first.query if first.tool == SEARCH_TOOL else first.heading).rstrip(SENTENCE_ENDS)
    return title[:1].upper() + title[1:] if title else messages.report_title


def report_path(title: str, existing: Collection[str]) -> str:
    """A path that no file of the session has. Letters of every script stay; nothing else of a title does."""
    letters = unicodedata.normalize("NFC", title.lower())
    slug = "".join(letter if unicodedata.category(letter)[0] in "LMN" else "-" for letter in letters)
    name = re.sub(r"-+", "-", slug)[:MAX_NAME_LENGTH].strip("-") or "report"
    paths = (f"/{name}.md" if number == 1 else f"/{name}-{number}.md" for number in count(1))
    return next(path for path in paths if path not in existing)


def compose_report(title: str, hits: Sequence[ReaderHit], messages: ReaderMessages) -> str:
    sections = _sections_by_question(hits) if len(hits) > 1 else _sections_by_source(hits)
    blocks = [f"# {escape_inline(title)}", f"*{messages.report_note}*"]
    for heading, passages in sections:
        blocks += [f"## {escape_inline(heading)}", *(blockquote(passage.text, passage.number) for passage in passages)]
    sources = {source.number: source for hit in hits for source in hit.sources}
    listed = "\n".join(source_line(source, messages) for _, source in sorted(sources.items()))
    return "\n\n".join([*blocks, f"## {messages.sources}", listed]) + "\n"


def _sections_by_question(hits: Iterable[ReaderHit]) -> list[tuple[str, Sequence[Passage]]]:
    return [(hit.heading, hit.passages) for hit in hits if hit.passages]


def _sections_by_source(hits: Iterable[ReaderHit]) -> list[tuple[str, Sequence[Passage]]]:
    """A section for each source that is quoted, in the order of its best passage."""
    titles = {source.number: source.title or source.url for hit in hits for source in hit.sources}
    passages: dict[int, list[Passage]] = {}
    for hit in hits:
        for passage in hit.passages:
            passages.setdefault(passage.number, []).append(passage)
    return [(titles[number], found) for number, found in passages.items()]


def source_line(source: Source, messages: ReaderMessages) -> str:
    """The entry of a source in the list at the end of a report."""
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
