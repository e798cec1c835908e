"""What to do next, by rule: search, read, write a report, or answer. It follows from the conversation alone."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

from msgspec import Struct

from footnote.models.base import Context
from footnote.models.reader import report
from footnote.models.reader.answer import Writing, answer
from footnote.models.reader.conversation import Turn, locale_before, paths_in, subject_of, turn_of
from footnote.models.reader.findings import READ, SEARCH, WRITE, Finding
from footnote.models.reader.query import LONGEST_PROMPT, Search, is_telling, searches
from footnote.models.reader.question import Question, understand
from footnote.models.reader.words import WORDS, Words
from footnote.protocol.messages import AssistantMessage, Message
from footnote.protocol.tools import ToolSpec

WRITING_TRIES = 2


class Say(Struct, frozen=True):
    text: str


class Request(Struct, frozen=True):
    """A tool call to be made."""

    name: str
    arguments: dict[str, Any]


Reply: TypeAlias = Say | tuple[Request, ...]


def reply_to(context: Context) -> Reply:
    turn = turn_of(context.messages)
    question = understand(turn.question, turn.attached.addresses)
    words = WORDS[question.locale if question.has_words else locale_before(turn.earlier) or question.locale]
    tools = {tool.name: tool for tool in context.tools}
    findings = turn.findings
    if not findings:
        reply = _first(question, turn, tools, words)
    elif again := _without_freshness(turn, findings, tools):
        reply = again
    elif question.wants_report and (writing := _writing(turn, findings, tools, words)):
        reply = writing
    else:
        written = _written(turn) if question.wants_report else None
        text = answer(findings, words, report=written, unable=question.unable, unasked=question.unasked > 0)
        reply = Say(text)
    if not isinstance(reply, Say):
        return reply
    told = f"{_named(words.unread, turn)}\n\n" if turn.attached.others and findings else ""
    return Say(_noted(told + reply.text, words, turn.earlier))


def _first(question: Question, turn: Turn, tools: Mapping[str, ToolSpec], words: Words) -> Reply:
    """The first step of a turn: small talk is answered, everything else is looked for. What is asked of a file that
    nobody can read is not looked for elsewhere."""
    if turn.attached.others and not question.urls:
        return Say(_named(words.only_unread, turn))
    if question.kind != "search":
        return Say(words.direct[question.kind])
    if question.urls and READ in tools:
        prompt = " ".join(" ".join(question.parts).split())
        wished = {"prompt": prompt[:LONGEST_PROMPT] if is_telling(prompt) else None}
        return tuple(_call(tools[READ], {"url": url}, wished) for url in question.urls)
    if SEARCH not in tools:
        return Say(words.search_off)
    subject = subject_of(turn.earlier)
    wanted = searches(question.parts, subject)
    if not wanted and question.urls:
        wanted = tuple(Search(url, url) for url in question.urls)
    elif not wanted and subject:
        wanted = (Search(subject.query, subject.query),)
    if not wanted:
        return Say(words.no_subject)
    return tuple(
        _call(tools[SEARCH], {"query": one.query}, {"prompt": one.prompt, "freshness": one.freshness}) for one in wanted
    )


def _without_freshness(turn: Turn, findings: Iterable[Finding], tools: Mapping[str, ToolSpec]) -> tuple[Request, ...]:
    """A search of the last days that came to nothing, once more without that limit."""
    if SEARCH not in tools or any(finding.passages or finding.error for finding in findings):
        return ()
    tried = [call.arguments for call, _ in turn.answered if call.name == SEARCH]
    if not all("freshness" in arguments for arguments in tried):
        return ()
    return tuple(Request(SEARCH, {key: value for key, value in one.items() if key != "freshness"}) for one in tried)


def _writing(
    turn: Turn, findings: tuple[Finding, ...], tools: Mapping[str, ToolSpec], words: Words
) -> tuple[Request, ...]:
    """The call that writes the report; none if it is written, or cannot be."""
    tried = turn.writings
    found = tuple(finding for finding in findings if finding.passages)
    if WRITE not in tools or not found or len(tried) >= WRITING_TRIES:
        return ()
    title = name = report.title_of(found, words)
    taken = paths_in(turn.earlier)
    if tried:
        call, result = tried[-1]
        path = str(call.arguments.get("file_path"))
        # An error that does not name the file is not about its name.
        if not result.is_error or path.strip("/") not in result.text:
            return ()
        name, taken = "", taken | {path}
    path = turn.path if turn.path and not tried else report.path_of(name, taken)
    return (Request(WRITE, {"file_path": path, "content": report.report(title, found, words)}),)


def _written(turn: Turn) -> Writing:
    if not turn.writings:
        return Writing(impossible=True)
    call, result = turn.writings[-1]
    if result.is_error:
        return Writing(error=result.text)
    return Writing(path=str((result.artifact or {}).get("path") or call.arguments.get("file_path")))


def _call(tool: ToolSpec, needed: dict[str, Any], wished: Mapping[str, Any]) -> Request:
    """A call with what the tool needs, and of the rest what its schema knows."""
    known: Any = tool.input_schema.get("properties")
    names = frozenset(cast("dict[str, Any]", known)) if isinstance(known, dict) else frozenset[str]()
    return Request(tool.name, needed | {name: value for name, value in wished.items() if value and name in names})


def _named(sentence: str, turn: Turn) -> str:
    """About the files that nothing can be quoted from."""
    names = (path.rpartition("/")[2] for path in turn.attached.others)
    return sentence.format(files=", ".join(f"`{name}`" for name in names))


def _noted(text: str, words: Words, earlier: Iterable[Message]) -> str:
    """With the note on what this model is, unless the session has it already."""
    said = "\n".join(message.text for message in earlier if isinstance(message, AssistantMessage))
    return text if any(one.note in said for one in WORDS.values()) else f"{text}\n\n{words.note}"
