"""What a guided model is asked in one turn: the question, the evidence that was found for it, and the prompts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from msgspec import Struct
from msgspec.structs import replace

from footnote.agent.guided_prompts import PROMPTS, GuidedPrompts
from footnote.agent.window import text_tokens
from footnote.evidence.pointers import plain_footnotes
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.models.base import Context
from footnote.models.reader.conversation import (
    READ_TOOL,
    SEARCH_TOOL,
    WRITE_TOOL,
    ReaderHit,
    ReaderTurn,
    parse_turn,
    paths_in,
    previous_locale,
)
from footnote.models.reader.question import ReaderQuestion, parse_message
from footnote.models.reader.reply import ToolRequest, choose_passages, lookup_requests
from footnote.protocol.files import split_attachments
from footnote.protocol.messages import Image, Part, UserMessage
from footnote.protocol.sources import EvidencePassage
from footnote.protocol.tools import Locale, ToolSpec
from footnote.text.boundary import unwrap_web_text, wrap_web_text
from footnote.text.languages import detect_language
from footnote.text.markdown import blockquote
from footnote.text.search_terms import content_terms

READ_FILE_TOOL = "read_file"
MIN_SHARED_TERMS = 0.2
"""The share of the terms of a question that a statement has if it answers it."""
MAX_SEARCHED_LENGTH = 1_500
"""A longer message is a text to work on, not a question to search for."""
MAX_EVIDENCE_TOKENS = 800
"""How much evidence one request of a model without tools has: such a model answers better from the best few passages
than from many, and reads them sooner."""


class NamedFile(Struct, frozen=True):
    path: str
    text: str


class GuidedTask(Struct, frozen=True):
    """One turn of a guided model: `message` is that of the user, `turn` what the reader makes of it.

    `evidence` is what was found in the turn, the best first; `files` are texts of files that the message names, by
    `named_files`. `max_evidence_tokens` is the limit for the evidence of one request.
    """

    message: str
    turn: ReaderTurn
    question: ReaderQuestion
    locale: Locale
    hits: tuple[ReaderHit, ...]
    evidence: tuple[EvidencePassage, ...]
    named_files: tuple[str, ...]
    files: tuple[NamedFile, ...]
    images: tuple[Part, ...]
    writes_report: bool
    max_evidence_tokens: int
    max_file_length: int
    """Characters of the files of one request: a quarter of the window or more, by the language."""

    @classmethod
    def of(cls, context: Context, window: int) -> "GuidedTask":
        turn = parse_turn(context.messages)
        question = parse_message(turn.question, turn.attached.addresses)
        locale = question.locale if question.has_words else previous_locale(turn.history) or question.locale
        hits = turn.hits
        evidence = tuple(_evidence_of(hits))
        asked = next((message for message in reversed(context.messages) if isinstance(message, UserMessage)), None)
        message = split_attachments(asked.text)[0].strip() if asked else ""
        can_write = any(tool.name == WRITE_TOOL for tool in context.tools)
        return cls(
            message=message,
            turn=turn,
            question=question,
            locale=locale,
            hits=hits,
            evidence=evidence,
            named_files=tuple(_named_files(message, turn, question)),
            files=tuple(
                NamedFile(str(call.arguments.get("file_path")), unwrap_web_text(result.text))
                for call, result in turn.results
                if call.name == READ_FILE_TOOL and not result.is_error
            ),
            images=tuple(part for part in (asked.content if asked else ()) if isinstance(part, Image)),
            writes_report=question.wants_report and can_write and bool(evidence) and not turn.write_results,
            max_evidence_tokens=min(MAX_EVIDENCE_TOKENS, window // 4),
            max_file_length=window,
        )

    @property
    def has_looked_up(self) -> bool:
        return any(call.name in (SEARCH_TOOL, READ_TOOL, READ_FILE_TOOL) for call, _ in self.turn.results)

    def lookups(self, tools: Mapping[str, ToolSpec]) -> tuple[ToolRequest, ...]:
        """The calls that the question needs first; none if the model can answer it as it is."""
        if self.images and not self.question.urls:
            return ()  # the question is about what the model sees
        if READ_FILE_TOOL in tools and self.named_files:
            return tuple(ToolRequest(READ_FILE_TOOL, {"file_path": path}) for path in self.named_files)
        if len(self.message) > MAX_SEARCHED_LENGTH or "```" in self.message:
            return ()
        return lookup_requests(self.question, self.turn, tools)

    @property
    def prompts(self) -> GuidedPrompts:
        return PROMPTS[self.locale]

    # Prompts ---------------------------------------------------------------------------------------------------------

    def answer_prompt(self) -> str:
        if self.evidence:
            instruction = self.prompts.answer
        else:
            instruction = self.prompts.answer_from_files if self.files else self.prompts.nothing_found
        return self._prompt(instruction, self.evidence)

    def section_prompt(self, heading: str, passages: Sequence[EvidencePassage]) -> str:
        """`heading` is empty for the summary at the beginning of the report."""
        instruction = self.prompts.report_section if heading else self.prompts.report_summary
        return self._prompt(instruction, passages, heading)

    def _prompt(self, instruction: str, passages: Sequence[EvidencePassage], heading: str = "") -> str:
        chosen = list(select_passages(self._with_sides_first(passages), self.max_evidence_tokens))
        # The id stands where the model should put it: small models copy a passage as it stands.
        listed = "\n\n".join(f"{passage.text} [{passage.id}]" for passage in chosen)
        contradicting = self._contradicting_numbers()
        parts = [
            *(f"{one.path}:\n{wrap_web_text(one.text[: self.max_file_length])}" for one in self.files),
            f"{self.prompts.passages}\n{wrap_web_text(listed)}" if listed else "",
            self.prompts.question.format(question=self.message),
            self.prompts.contradiction.format(numbers=contradicting) if contradicting else "",
            instruction.format(language=self._language_name(), id=chosen[0].id if chosen else "", heading=heading),
        ]
        return "\n\n".join(filter(None, parts))

    def _with_sides_first(self, passages: Sequence[EvidencePassage]) -> list[EvidencePassage]:
        """The passages with those first that contradict each other, so that a small limit has room for all sides. Of a
        long one only the quotation is left."""
        values = [value for hit in self.hits for each in hit.disagreements for value in each.values]
        sides: dict[tuple[str, int], EvidencePassage] = {}
        for value in values:
            for one in passages:
                if one.number == value.number and one.start <= value.quote_start and value.quote_end <= one.end:
                    is_long = text_tokens(one.text) * len(values) > self.max_evidence_tokens
                    sides.setdefault((one.id, one.start), replace(one, text=value.text) if is_long else one)
        return [*sides.values(), *(one for one in passages if (one.id, one.start) not in sides)]

    def _language_name(self) -> str:
        """For the English prompts, which also serve the languages that have none."""
        return "English" if detect_language(self.message) == "en" else "the language of the question"

    def _contradicting_numbers(self) -> str:
        found = {value.number for hit in self.hits for each in hit.disagreements for value in each.values}
        return ", ".join(f"[{number}]" for number in sorted(found))

    # What follows a text that nothing supports -----------------------------------------------------------------------

    def text_after_answer(self, answer: str, sources: Sources) -> str:
        """The best quotations for an answer without a supported footnote, with a line that says why; empty for an
        answer that has one, or for which nothing was looked up. A statement that shares nothing with the question may
        be true, and is no answer to it."""
        if not self.has_looked_up or (self.files and not self.hits):
            return ""
        asked = {term.text for term in content_terms(self.message)}
        if any(_shares_terms(statement, asked) for statement in supported_statements(answer, sources)):
            return ""
        quoted = list(chain.from_iterable(choose_passages(self.hits)))
        if not quoted:
            return self.prompts.no_sources
        return "\n\n".join([self.prompts.unconfirmed, *(blockquote(one.text, one.number) for one in quoted)])

    def section_with_quotations(self, text: str, passages: Sequence[EvidencePassage], sources: Sources) -> str:
        """The text of a section; one without a supported footnote is followed by the best passage for it."""
        if supported_statements(text, sources):
            return text
        quotation = blockquote(passages[0].text, passages[0].number)
        return f"{text}\n\n{self.prompts.unconfirmed}\n\n{quotation}" if text else quotation


def supported_statements(text: str, sources: Sources) -> list[str]:
    """The statements of a text with a supported footnote."""
    plain = plain_footnotes(text, sources)
    citations = check_citations(plain.text, sources, plain.pointers)
    return [plain.text[one.start : one.end] for one in citations if one.verdict == "supported"]


def _shares_terms(statement: str, asked: set[str]) -> bool:
    stated = {term.text for term in content_terms(statement)}
    return len(asked & stated) >= MIN_SHARED_TERMS * len(asked)


def select_passages(passages: Sequence[EvidencePassage], max_tokens: int) -> Iterator[EvidencePassage]:
    """The first passages that fit; a first one that is too long is cut."""
    left = max_tokens
    for passage in passages:
        tokens = text_tokens(passage.text)
        if tokens <= left:
            left -= tokens
            yield passage
        elif left == max_tokens:
            yield replace(passage, text=passage.text[: len(passage.text) * max_tokens // tokens])
            return


def _named_files(message: str, turn: ReaderTurn, question: ReaderQuestion) -> Iterator[str]:
    """The files of the session that a message names, or that come with it and are not in the library. Where a report
    is to be written, a name is that of the report."""
    yield from turn.attached.others
    known = paths_in(turn.history).difference(turn.attached.others)
    for path in sorted({*known, *filter(None, [turn.path])}):
        if not question.wants_report and path.rpartition("/")[2] in message:
            yield path


def _evidence_of(hits: Sequence[ReaderHit]) -> Iterator[EvidencePassage]:
    """The passages that were found in the turn: the best of each search in turn, each passage once."""
    seen: set[str] = set()
    for passage in chain.from_iterable(zip_longest(*(hit.evidence or _quotations_of(hit) for hit in hits))):
        if passage is not None and (passage.id not in seen or "." not in passage.id):
            seen.add(passage.id)
            yield passage


def _quotations_of(hit: ReaderHit) -> tuple[EvidencePassage, ...]:
    """The quotations in the place of evidence, where the configuration allows none. They have no ids of their own."""
    return tuple(
        EvidencePassage(
            id=str(one.number), number=one.number, text=one.text, start=one.start, end=one.end, snapshot_id=""
        )
        for one in hit.passages
    )
