"""What a reader needs of a conversation: the question, what this turn has found so far, what came before."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from footnote.models.reader.findings import READ_TOOL, SEARCH_TOOL, WRITE_TOOL, ReaderHit, parse_hits, stripped_text
from footnote.models.reader.query import MAX_QUERY_LENGTH, Subject
from footnote.models.reader.question import parse_question
from footnote.protocol.attachments import Attached, split_attachments
from footnote.protocol.messages import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage
from footnote.protocol.tools import Locale

_FOOTNOTE = re.compile(r"\[(\d{1,4})\]")
_INSTRUCTIONS = re.compile(r"\A<instructions>\n.*?\n</instructions>\n\n(?=\S)", re.DOTALL)
"""What a client of another API says of the answers that it wants stands before its question. A reader only quotes."""

_PATH = re.compile(r"(?<![\w/:.-])/[\w./-]+\.(?:md|txt)(?![\w/])", re.IGNORECASE)
"""A path of a text in the workspace."""
_LEADS_TO_PATH = re.compile(
    r"(?:\b(?:in|into|to|as|at|vào|ra|thành|tại)|保存到|保存为|存为|写入|写到|到|为|至)?"
    r"(?:\s{1,9}(?:the\s{1,9})?(?:file|tệp))?$",
    re.IGNORECASE,
)
"""The words before a path that belong to it: `save it to the file`."""
_MAX_LEAD_LENGTH = 40


class ReaderTurn(Struct, frozen=True):
    """`answered` are the calls of this turn with their results, in order; `earlier` is what was said before it.
    `attached` are the files that come with the question, `path` is where it wants a report to be."""

    question: str
    results: tuple[tuple[ToolCall, ToolResultMessage], ...]
    history: tuple[Message, ...]
    attached: Attached = Attached()
    path: str | None = None

    @property
    def hits(self) -> tuple[ReaderHit, ...]:
        return parse_hits((call, result) for call, result in self.results if call.name in (SEARCH_TOOL, READ_TOOL))

    @property
    def write_results(self) -> tuple[tuple[ToolCall, ToolResultMessage], ...]:
        return tuple((call, result) for call, result in self.results if call.name == WRITE_TOOL)


def parse_turn(messages: Sequence[Message]) -> ReaderTurn:
    """The turn in progress: it begins with the last message of the user."""
    at = max((at for at, said in enumerate(messages) if isinstance(said, UserMessage)), default=-1)
    question, attached = split_attachments(_INSTRUCTIONS.sub("", messages[at].text)) if at >= 0 else ("", Attached())
    named = _PATH.search(question)
    if named is not None:
        question = _strip_path_lead(question[: named.start()]) + question[named.end() :]
    return ReaderTurn(
        question,
        _pair_results(messages[at + 1 :]),
        tuple(messages[: max(at, 0)]),
        attached,
        named.group() if named else None,
    )


def _strip_path_lead(text: str) -> str:
    """What stands before a path, without the words and spaces that lead to it."""
    text = text.rstrip()
    start = max(0, len(text) - _MAX_LEAD_LENGTH)
    lead = _LEADS_TO_PATH.search(text, start)
    return text[: lead.start()].rstrip() if lead else text


def find_subject(history: Sequence[Message]) -> Subject | None:
    """What was last looked for: by a search, whichever model made it, or by a question that was answered without."""
    end = len(history)
    for at in range(len(history) - 1, -1, -1):
        said = history[at]
        if not isinstance(said, UserMessage):
            continue
        if subject := _subject_of_exchange(split_attachments(said.text)[0], history[at + 1 : end]):
            return subject
        end = at
    return None


def previous_locale(history: Sequence[Message]) -> Locale | None:
    """The language in which the user last wrote."""
    asked = (
        parse_question(split_attachments(said.text)[0]) for said in reversed(history) if isinstance(said, UserMessage)
    )
    return next((question.locale for question in asked if question.has_words), None)


def paths_in(messages: Sequence[Message]) -> frozenset[str]:
    """Files that the session has, as far as the messages tell."""
    named = [
        call.arguments.get("file_path")
        for said in messages
        if isinstance(said, AssistantMessage)
        for call in said.calls
    ]
    kept = [said.artifact.get("path") for said in messages if isinstance(said, ToolResultMessage) and said.artifact]
    return frozenset(path for path in [*named, *kept] if isinstance(path, str))


def _pair_results(messages: Sequence[Message]) -> tuple[tuple[ToolCall, ToolResultMessage], ...]:
    calls = {call.id: call for said in messages if isinstance(said, AssistantMessage) for call in said.calls}
    results = [said for said in messages if isinstance(said, ToolResultMessage)]
    return tuple((calls[result.tool_call_id], result) for result in results if result.tool_call_id in calls)


def _subject_of_exchange(question: str, answer: Sequence[Message]) -> Subject | None:
    answered = _pair_results(answer)
    queries = [
        query
        for call, _ in answered
        if call.name == SEARCH_TOOL and (query := stripped_text(call.arguments.get("query")))
    ]
    if queries:
        return Subject(queries[-1][:MAX_QUERY_LENGTH], tuple(_cited_titles(answered, answer)))
    asked = parse_question(question)
    return Subject(asked.parts[-1][:MAX_QUERY_LENGTH]) if asked.kind == "search" and asked.parts else None


def _cited_titles(results: Sequence[tuple[ToolCall, ToolResultMessage]], messages: Sequence[Message]) -> Iterator[str]:
    """Titles of the sources of an answer, in the order in which it cites them."""
    titles = {source.number: source.title for finding in parse_hits(results) for source in finding.sources}
    text = "\n".join(said.text for said in messages if isinstance(said, AssistantMessage))
    for number in dict.fromkeys(int(digits) for digits in _FOOTNOTE.findall(text)):
        if title := titles.get(number):
            yield title
