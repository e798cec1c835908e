"""What the reader takes from a conversation: the question, what the tools of this turn found, and what came before.

The artifact of a tool is foreign JSON here: parts that do not have the expected form are left out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from footnote.models.reader.question import MAX_QUERY_LENGTH, Subject, parse_message
from footnote.protocol.files import Attached, split_attachments
from footnote.protocol.messages import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage
from footnote.protocol.sources import Disagreement, EvidencePassage, Passage, ProviderTry, Source, disagreements_in
from footnote.protocol.tools import Locale

SEARCH_TOOL, READ_TOOL, WRITE_TOOL = "web_search", "read_page", "write_file"
"""The tools that the reader can call."""
LIBRARY_PROVIDER = "library"
"""The provider that searches the stored pages when no other provider answers."""

MAX_ITEMS = 100
"""Items of one kind that are read from an artifact."""
MAX_PASSAGE_LENGTH = 20_000
"""A longer passage cannot be read as a quotation."""
MAX_ERROR_LENGTH = 2_000

T = TypeVar("T", bound=Struct)


class ReaderHit(Struct, frozen=True, kw_only=True):
    """The result of one search or of one page. `question` is the question behind it, `query` the query or address.
    `passages` are short quotations for people, `evidence` the longer passages for a model."""

    tool: str
    query: str
    question: str
    passages: tuple[Passage, ...] = ()
    evidence: tuple[EvidencePassage, ...] = ()
    sources: tuple[Source, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    tries: tuple[ProviderTry, ...] = ()
    error: str = ""

    @property
    def heading(self) -> str:
        """The question that was searched for, or the title of the page that was read."""
        title = next((source.title for source in self.sources if source.title), "")
        return title or self.query if self.tool == READ_TOOL else self.question

    @property
    def is_from_library(self) -> bool:
        """Whether the library answered because the other providers did not."""
        return len(self.tries) > 1 and self.tries[-1].provider == LIBRARY_PROVIDER

    @property
    def failed_providers(self) -> tuple[str, ...]:
        """The providers that failed, if the library answered in their place."""
        failed = (attempt.provider for attempt in self.tries[:-1] if attempt.outcome != "empty")
        return tuple(dict.fromkeys(failed)) if self.is_from_library else ()


def parse_hits(results: Iterable[tuple[ToolCall, ToolResultMessage]]) -> tuple[ReaderHit, ...]:
    """A hit for each search; of a search that was repeated, the last result."""
    found: dict[tuple[str, str], ReaderHit] = {}
    for call, result in results:
        hit = _parse_hit(call, result)
        found[hit.tool, hit.query] = hit
    return tuple(found.values())


def _parse_hit(call: ToolCall, result: ToolResultMessage) -> ReaderHit:
    query = stripped_text(call.arguments.get("query")) or stripped_text(call.arguments.get("url"))
    artifact: dict[str, Any] = result.artifact or {}
    sources = tuple(source for source in _convert_items(artifact.get("sources"), Source) if source.number is not None)
    numbers = {source.number for source in sources}
    passages = tuple(
        passage
        for passage in _convert_items(artifact.get("passages"), Passage)
        if passage.number in numbers and 0 < len(passage.text.strip()) <= MAX_PASSAGE_LENGTH
    )
    receipt = artifact.get("receipt")
    tries = (
        _convert_items(cast("dict[str, Any]", receipt).get("providers"), ProviderTry)
        if isinstance(receipt, dict)
        else ()
    )
    return ReaderHit(
        tool=call.name,
        query=query,
        question=stripped_text(call.arguments.get("prompt")) or query,
        passages=passages,
        evidence=tuple(
            passage
            for passage in _convert_items(artifact.get("evidence"), EvidencePassage)
            if passage.number in numbers and passage.text.strip()
        ),
        sources=sources,
        disagreements=tuple(disagreements_in(artifact)),
        tries=tuple(tries),
        error=stripped_text(result.text)[:MAX_ERROR_LENGTH] if result.is_error else "",
    )


def _convert_items(values: Any, kind: type[T]) -> Iterator[T]:
    """The values that have the form of `kind`; the others are left out."""
    for value in cast("list[Any]", values)[:MAX_ITEMS] if isinstance(values, list | tuple) else []:
        try:
            yield msgspec.convert(value, kind)
        except (msgspec.ValidationError, UnicodeError, RecursionError):
            continue


def stripped_text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


# The turn -------------------------------------------------------------------------------------------------------------

_FOOTNOTE = re.compile(r"\[(\d{1,4})\]")
_INSTRUCTIONS = re.compile(r"\A<instructions>\n.*?\n</instructions>\n\n(?=\S)", re.DOTALL)
"""Instructions that a client of a compatible API puts before its question. The reader only quotes and ignores them."""

_PATH = re.compile(r"(?<![\w/:.-])/[\w./-]+\.(?:md|txt)(?![\w/])", re.IGNORECASE)
"""The path of a text file in the workspace."""
_LEADS_TO_PATH = re.compile(
    r"(?:\b(?:in|into|to|as|at|vào|ra|thành|tại)|保存到|保存为|存为|写入|写到|到|为|至)?"
    r"(?:\s{1,9}(?:the\s{1,9})?(?:file|tệp))?$",
    re.IGNORECASE,
)
"""The words that introduce a path: `save it to the file`."""
_MAX_LEAD_LENGTH = 40


class ReaderTurn(Struct, frozen=True):
    """`results` are the calls of this turn with their results, in order; `history` are the messages before the turn.
    `attached` are the files of the question, `path` is where it wants the report to be."""

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
    at = max((at for at, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
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
    """The text before a path, without the words and spaces that introduce it."""
    text = text.rstrip()
    start = max(0, len(text) - _MAX_LEAD_LENGTH)
    lead = _LEADS_TO_PATH.search(text, start)
    return text[: lead.start()].rstrip() if lead else text


def find_subject(history: Sequence[Message]) -> Subject | None:
    """What was last searched for, by whichever model, or else the last question that needed a search."""
    end = len(history)
    for at in range(len(history) - 1, -1, -1):
        message = history[at]
        if not isinstance(message, UserMessage):
            continue
        if subject := _subject_of_exchange(split_attachments(message.text)[0], history[at + 1 : end]):
            return subject
        end = at
    return None


def previous_locale(history: Sequence[Message]) -> Locale | None:
    """The language of the last message of the user that has words."""
    questions = (
        parse_message(split_attachments(message.text)[0])
        for message in reversed(history)
        if isinstance(message, UserMessage)
    )
    return next((question.locale for question in questions if question.has_words), None)


def paths_in(messages: Sequence[Message]) -> frozenset[str]:
    """The paths of files of the session that occur in its messages."""
    named = [
        call.arguments.get("file_path")
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.calls
    ]
    written = [
        message.artifact.get("path")
        for message in messages
        if isinstance(message, ToolResultMessage) and message.artifact
    ]
    return frozenset(path for path in [*named, *written] if isinstance(path, str))


def _pair_results(messages: Sequence[Message]) -> tuple[tuple[ToolCall, ToolResultMessage], ...]:
    calls = {call.id: call for message in messages if isinstance(message, AssistantMessage) for call in message.calls}
    results = [message for message in messages if isinstance(message, ToolResultMessage)]
    return tuple((calls[result.tool_call_id], result) for result in results if result.tool_call_id in calls)


def _subject_of_exchange(question: str, answer: Sequence[Message]) -> Subject | None:
    results = _pair_results(answer)
    queries = [
        query
        for call, _ in results
        if call.name == SEARCH_TOOL and (query := stripped_text(call.arguments.get("query")))
    ]
    if queries:
        return Subject(queries[-1][:MAX_QUERY_LENGTH], tuple(_cited_titles(results, answer)))
    parsed = parse_message(question)
    return Subject(parsed.parts[-1][:MAX_QUERY_LENGTH]) if parsed.kind == "search" and parsed.parts else None


def _cited_titles(results: Sequence[tuple[ToolCall, ToolResultMessage]], messages: Sequence[Message]) -> Iterator[str]:
    """Titles of the sources of an answer, in the order in which it cites them."""
    titles = {source.number: source.title for hit in parse_hits(results) for source in hit.sources}
    text = "\n".join(message.text for message in messages if isinstance(message, AssistantMessage))
    for number in dict.fromkeys(int(digits) for digits in _FOOTNOTE.findall(text)):
        if title := titles.get(number):
            yield title
