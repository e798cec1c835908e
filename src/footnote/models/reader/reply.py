"""What to do next, by rule: search, read, write a report, or answer. It follows from the conversation alone."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

from msgspec import Struct

from footnote.models.base import Context
from footnote.models.reader import answer
from footnote.models.reader.answer import ReaderAnswer, compose_answer
from footnote.models.reader.conversation import ReaderTurn, find_subject, parse_turn, paths_in, previous_locale
from footnote.models.reader.findings import READ_TOOL, SEARCH_TOOL, WRITE_TOOL, ReaderHit
from footnote.models.reader.messages import MESSAGES, ReaderMessages
from footnote.models.reader.query import MAX_PROMPT_LENGTH, ReaderSearch, build_searches, has_topic
from footnote.models.reader.question import ReaderQuestion, parse_question
from footnote.protocol.messages import AssistantMessage, Message
from footnote.protocol.tools import ToolSpec

MAX_WRITE_TRIES = 2


class ReaderText(Struct, frozen=True):
    text: str


class Request(Struct, frozen=True):
    """A tool call to be made."""

    name: str
    arguments: dict[str, Any]


Reply: TypeAlias = ReaderText | tuple[Request, ...]


def reply_to(context: Context) -> Reply:
    turn = parse_turn(context.messages)
    question = parse_question(turn.question, turn.attached.addresses)
    words = MESSAGES[question.locale if question.has_words else previous_locale(turn.history) or question.locale]
    tools = {tool.name: tool for tool in context.tools}
    findings = turn.hits
    if not findings:
        reply = _first_step(question, turn, tools, words)
    elif again := _without_freshness(turn, findings, tools):
        reply = again
    elif question.wants_report and (writing := _report_request(turn, findings, tools, words)):
        reply = writing
    else:
        written = _report_outcome(turn) if question.wants_report else None
        text = compose_answer(
            findings, words, report=written, unsupported=question.unsupported, has_more_parts=question.extra_parts > 0
        )
        reply = ReaderText(text)
    if not isinstance(reply, ReaderText):
        return reply
    told = f"{_with_file_names(words.unread, turn)}\n\n" if turn.attached.others and findings else ""
    return ReaderText(_with_note(told + reply.text, words, turn.history))


def _first_step(
    question: ReaderQuestion, turn: ReaderTurn, tools: Mapping[str, ToolSpec], messages: ReaderMessages
) -> Reply:
    """The first step of a turn: small talk is answered, everything else is looked for. What is asked of a file that
    nobody can read is not looked for elsewhere."""
    if turn.attached.others and not question.urls:
        return ReaderText(_with_file_names(messages.only_unread, turn))
    if question.kind != "search":
        return ReaderText(messages.direct[question.kind])
    if question.urls and READ_TOOL in tools:
        prompt = " ".join(" ".join(question.parts).split())
        wished = {"prompt": prompt[:MAX_PROMPT_LENGTH] if has_topic(prompt) else None}
        return tuple(_tool_request(tools[READ_TOOL], {"url": url}, wished) for url in question.urls)
    if SEARCH_TOOL not in tools:
        return ReaderText(messages.search_off)
    subject = find_subject(turn.history)
    wanted = build_searches(question.parts, subject)
    if not wanted and question.urls:
        wanted = tuple(ReaderSearch(url, url) for url in question.urls)
    elif not wanted and subject:
        wanted = (ReaderSearch(subject.query, subject.query),)
    if not wanted:
        return ReaderText(messages.no_subject)
    return tuple(
        _tool_request(tools[SEARCH_TOOL], {"query": one.query}, {"prompt": one.prompt, "freshness": one.freshness})
        for one in wanted
    )


def _without_freshness(
    turn: ReaderTurn, hits: Iterable[ReaderHit], tools: Mapping[str, ToolSpec]
) -> tuple[Request, ...]:
    """A search of the last days that came to nothing, once more without that limit."""
    if SEARCH_TOOL not in tools or any(finding.passages or finding.error for finding in hits):
        return ()
    tried = [call.arguments for call, _ in turn.results if call.name == SEARCH_TOOL]
    if not all("freshness" in arguments for arguments in tried):
        return ()
    return tuple(
        Request(SEARCH_TOOL, {key: value for key, value in one.items() if key != "freshness"}) for one in tried
    )


def _report_request(
    turn: ReaderTurn, hits: tuple[ReaderHit, ...], tools: Mapping[str, ToolSpec], messages: ReaderMessages
) -> tuple[Request, ...]:
    """The call that writes the report; none if it is written, or cannot be."""
    tried = turn.write_results
    found = tuple(finding for finding in hits if finding.passages)
    if WRITE_TOOL not in tools or not found or len(tried) >= MAX_WRITE_TRIES:
        return ()
    title = name = answer.report_title(found, messages)
    taken = paths_in(turn.history)
    if tried:
        call, result = tried[-1]
        path = str(call.arguments.get("file_path"))
        # An error that does not name the file is not about its name.
        if not result.is_error or path.strip("/") not in result.text:
            return ()
        name, taken = "", taken | {path}
    path = turn.path if turn.path and not tried else answer.report_path(name, taken)
    return (Request(WRITE_TOOL, {"file_path": path, "content": answer.compose_report(title, found, messages)}),)


def _report_outcome(turn: ReaderTurn) -> ReaderAnswer:
    if not turn.write_results:
        return ReaderAnswer(is_impossible=True)
    call, result = turn.write_results[-1]
    if result.is_error:
        return ReaderAnswer(error=result.text)
    return ReaderAnswer(path=str((result.artifact or {}).get("path") or call.arguments.get("file_path")))


def _tool_request(tool: ToolSpec, required: dict[str, Any], optional: Mapping[str, Any]) -> Request:
    """A call with what the tool needs, and of the rest what its schema knows."""
    known: Any = tool.input_schema.get("properties")
    names = frozenset(cast("dict[str, Any]", known)) if isinstance(known, dict) else frozenset[str]()
    return Request(tool.name, required | {name: value for name, value in optional.items() if value and name in names})


def _with_file_names(sentence: str, turn: ReaderTurn) -> str:
    """About the files that nothing can be quoted from."""
    names = (path.rpartition("/")[2] for path in turn.attached.others)
    return sentence.format(files=", ".join(f"`{name}`" for name in names))


def _with_note(text: str, messages: ReaderMessages, history: Iterable[Message]) -> str:
    """With the note on what this model is, unless the session has it already."""
    said = "\n".join(message.text for message in history if isinstance(message, AssistantMessage))
    return text if any(one.note in said for one in MESSAGES.values()) else f"{text}\n\n{messages.note}"
