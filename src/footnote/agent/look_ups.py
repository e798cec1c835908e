"""Whether something was looked up for an answer, which decides how it is judged.

Where something was, statements without a footnote are marked. Where nothing was, an answer that states facts is said to
be without a source as a whole; small talk, code, sums, texts that the user wants written and answers about the user's
own text are not.
"""

from collections.abc import Sequence

from msgspec import Struct

from footnote.agent.window import question_index
from footnote.evidence.claims import may_cite
from footnote.evidence.proof import given_texts, states_facts
from footnote.evidence.sources import Sources
from footnote.models.reader.conversation import READ_TOOL, SEARCH_TOOL, WRITE_TOOL
from footnote.models.reader.question import MAX_MESSAGE_LENGTH, parse_message
from footnote.protocol.files import split_attachments
from footnote.protocol.messages import Image, Message, ToolResultMessage, UserMessage
from footnote.protocol.sources import sources_in

_WRITING_TOOLS = frozenset({WRITE_TOOL, "edit_file", "list_files"})
_MAX_QUESTION_LENGTH = 1_500
"""A longer message is a text to work on, not a question about facts."""
_OWN_WORK = frozenset({"rewrite", "compose", "calculate"})
_CODE_FENCES = ("```", "~~~")


class LookUps(Struct, frozen=True):
    """What a turn has looked up so far: `in_sources` by search or by reading pages, `elsewhere` with any other tool
    that reads. `given` are the texts that need no source, and `question` is that of the turn."""

    question: str
    has_images: bool
    in_sources: bool
    elsewhere: bool
    given: tuple[str, ...]

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "LookUps":
        turn = messages[question_index(messages) :]
        asked = next((message for message in turn if isinstance(message, UserMessage)), None)
        results = [message for message in turn if isinstance(message, ToolResultMessage)]
        searched = [result for result in results if _is_from_sources(result)]
        return cls(
            question=split_attachments(asked.text)[0].strip() if asked else "",
            has_images=asked is not None and any(isinstance(part, Image) for part in asked.content),
            in_sources=bool(searched),
            elsewhere=any(result not in searched and result.tool_name not in _WRITING_TOOLS for result in results),
            given=given_texts(messages),
        )

    def judges_everything(self, answer: str, sources: Sources) -> bool:
        """Whether statements without a footnote are judged: something was found in this turn, or the answer goes on
        with footnotes to what was found before."""
        return bool(sources.numbers) and (self.in_sources or may_cite(answer))

    def is_unsourced(self, answer: str, sources: Sources) -> bool:
        """Whether an answer states facts although nothing was looked up for it."""
        if self.elsewhere or self.has_images or self.judges_everything(answer, sources):
            return False
        if any(fence in answer or fence in self.question for fence in _CODE_FENCES):
            return False
        return self._asks_for_facts() and states_facts(answer, self.given)

    def _asks_for_facts(self) -> bool:
        if len(self.question) > min(_MAX_QUESTION_LENGTH, MAX_MESSAGE_LENGTH):
            return False
        asked = parse_message(self.question)
        return asked.kind == "search" and asked.unsupported != "rewrite"


def _is_from_sources(result: ToolResultMessage) -> bool:
    return result.tool_name in (SEARCH_TOOL, READ_TOOL) or any(True for _ in sources_in(result.artifact or {}))
