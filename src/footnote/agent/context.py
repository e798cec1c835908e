"""Fitting a long session into a model's window. Pure: the history itself is never changed.

Old tool results shrink first, then old turns are replaced by a digest, and only then the turn in progress is
touched. How far to go is decided on a grid of quarter windows counted from the start of the session, so that the
same cut holds for many turns and the provider's prompt cache keeps fitting.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

import msgspec
from msgspec import Struct

from footnote.agent import tokens
from footnote.agent.turn import Digest
from footnote.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from footnote.web_search.boundary import NAME

DIGEST_TOKENS = 2_000
"""Room that is kept for a digest."""

ROOMY = 0.6
"""Share of the budget that a new digest leaves filled."""

PREVIEW_CHARS = 600
SMALL_CHARS = 1_200
"""A result below this is not worth shortening."""

MOST_SOURCES = 10
LONGEST_SOURCE = 400
LONGEST_TITLE = 80
_SOURCES = "\n\nSources:\n"
_WEB = re.compile(rf'(<{NAME} id="(\w+)">)\n(.*)\n(</{NAME} id="\2">)', re.DOTALL)


class Plan(Struct, frozen=True):
    """What to leave out: results before message `shorten_to` become previews, messages before `digest_to` become
    a digest. Zero: nothing."""

    shorten_to: int = 0
    digest_to: int = 0


class Fitted(Struct, frozen=True):
    """Messages that fit, and what it took."""

    messages: tuple[Message, ...]
    tokens: int
    shortened_results: int = 0
    shortened_texts: int = 0
    summarised_turns: int = 0


def question_at(messages: Sequence[Message]) -> int:
    """Where the turn in progress begins: its question."""
    return max((at for at, said in enumerate(messages) if isinstance(said, UserMessage)), default=0)


def plan(messages: Sequence[Message], budget: int, *, step: int, digested: int = 0) -> Plan:
    """The smallest cut that fits `budget` tokens, leaving the turn in progress whole.

    `step` is the width of the grid. `digested`: how far a digest already goes; it is used as long as it is enough.
    A new one leaves room for some turns to come, since making one costs a request.
    """
    sizes = [tokens.of_message(message) for message in messages]
    if sum(sizes) <= budget:
        return Plan()
    question = question_at(messages)
    shelf = _Shelf(_totals(sizes), _totals(map(_saving, messages)), _grid(sizes, question, step))
    starts = [at for at in range(1, question + 1) if isinstance(messages[at], UserMessage)]
    known = digested if digested in starts else 0
    if (shorten_to := shelf.shortening(known, budget)) is not None:
        return Plan(shorten_to, known)
    for cut in starts:
        if cut > known and (shorten_to := shelf.shortening(cut, int(budget * ROOMY))) is not None:
            return Plan(shorten_to, cut)
    return Plan(question, question)


class _Shelf(Struct, frozen=True):
    """Running totals of the messages' sizes and of what shortening would save, and where shortening may end."""

    sizes: list[int]
    savings: list[int]
    borders: list[int]

    def shortening(self, cut: int, budget: int) -> int | None:
        """How far results must be shortened so that what follows `cut` fits; None: it does not."""
        total = self.sizes[-1] - self.sizes[cut] + (DIGEST_TOKENS if cut else 0)
        if total <= budget:
            return 0
        fitting = (b for b in self.borders if b > cut and total - self.savings[b] + self.savings[cut] <= budget)
        return next(fitting, None)


def _totals(values: Iterable[int]) -> list[int]:
    return [0, *accumulate(values)]


def _grid(sizes: list[int], question: int, step: int) -> list[int]:
    """Positions where the running total passes a multiple of `step`, and the question."""
    borders: list[int] = []
    passed = 0
    for at, total in enumerate(accumulate(sizes[:question])):
        if total // step > passed:
            passed = total // step
            borders.append(at + 1)
    return [*borders, question]


def apply(messages: Sequence[Message], cut: Plan, digest: Digest | None, budget: int) -> Fitted:
    """The messages with `cut` made; what is still too large after it is cut in the turn in progress."""
    kept = list(messages[cut.digest_to :])
    shortened = 0
    for at in range(max(0, cut.shorten_to - cut.digest_to)):
        if _saving(kept[at]):
            kept[at] = _shorten(kept[at])
            shortened += 1
    if cut.digest_to and digest is not None:
        kept.insert(0, UserMessage((Text(_introduced(digest.text)),)))
    squeezed, texts = _squeeze(kept, budget)
    turns = sum(isinstance(message, UserMessage) for message in messages[: cut.digest_to])
    return Fitted(tuple(kept), sum(map(tokens.of_message, kept)), shortened + squeezed, texts, turns)


def _squeeze(kept: list[Message], budget: int) -> tuple[int, int]:
    """The last resort, in place: shortens what the turn in progress holds, oldest first, then what was said."""
    shortened = texts = 0
    excess = sum(map(tokens.of_message, kept)) - budget
    for at, message in enumerate(kept):
        if excess > 0 and (saving := _saving(message)):
            kept[at] = _shorten(message)
            excess -= saving
            shortened += 1
    for at, message in enumerate(kept):
        if excess > 0 and isinstance(message, AssistantMessage | UserMessage):
            kept[at] = _cut(message, excess)
            excess -= tokens.of_message(message) - tokens.of_message(kept[at])
            texts += kept[at] is not message
    return shortened, texts


def _saving(message: Message) -> int:
    """Tokens that shortening this message would save."""
    short = _shorten(message)
    return 0 if short is message else max(0, tokens.of_message(message) - tokens.of_message(short))


def _shorten(message: Message) -> Message:
    """A result as a preview, a call with previews of its long arguments; anything else as it is.

    Only calls that were answered ever come here: of a file that was written the model needs the path.
    """
    match message:
        case ToolResultMessage():
            seen = any(isinstance(part, Image) for part in message.content)
            return _preview_of_result(message) if seen or len(message.text) > SMALL_CHARS else message
        case AssistantMessage() if any(_is_long(call) for call in message.calls):
            content = tuple(
                _preview_of_call(block) if isinstance(block, ToolCall) else block for block in message.content
            )
            return msgspec.structs.replace(message, content=content)
        case _:
            return message


def _preview_of_result(message: ToolResultMessage) -> ToolResultMessage:
    text = message.text
    note = f"[… shortened: {len(text):,} characters in all; call the tool again to see them]"
    preview = _preview_of_web(text) or text[:PREVIEW_CHARS]
    return msgspec.structs.replace(message, content=(Text(f"{preview}\n{note}"),))


def _preview_of_web(text: str) -> str | None:
    """Web text stays between its marks, and keeps the numbers and addresses by which it is cited. None: it is none."""
    marked = _WEB.match(text)
    if marked is None:
        return None
    opening, body, closing = marked.group(1, 3, 4)
    said, listed = body.rsplit(_SOURCES, 1) if _SOURCES in body else (body, "")
    links = [line for line in listed.split("\n") if line.startswith("[")][:MOST_SOURCES]
    lines = [_without_long_title(line)[:LONGEST_SOURCE] for line in links]
    sources = _SOURCES + "\n".join(lines) if listed else ""
    return f"{opening}\n{said[:PREVIEW_CHARS]}{sources}\n{closing}"


def _without_long_title(line: str) -> str:
    """`[3] [A very long title](https://…)` becomes `[3] https://…`."""
    start, _, end = line.rpartition("](")
    number, _, title = start.partition("] [")
    if not end or len(title) <= LONGEST_TITLE:
        return line
    address = end.split(maxsplit=1)[0].rpartition(")")[0]
    return f"{number}] {address}{end[len(address) + 1 :]}" if address else line


def _is_long(call: ToolCall) -> bool:
    return any(isinstance(value, str) and len(value) > SMALL_CHARS for value in call.arguments.values())


def _preview_of_call(call: ToolCall) -> ToolCall:
    arguments = {
        name: f"{value[:PREVIEW_CHARS]} [… shortened: {len(value):,} characters in all]"
        if isinstance(value, str) and len(value) > SMALL_CHARS
        else value
        for name, value in call.arguments.items()
    }
    return msgspec.structs.replace(call, arguments=arguments)


def _cut(message: AssistantMessage | UserMessage, excess: int) -> AssistantMessage | UserMessage:
    """The message with the middle of its largest text taken out."""
    longest = max((part.text for part in message.content if isinstance(part, Text)), key=len, default="")
    # An estimate counts bytes, three a token: taking out this many characters is enough for any text.
    keep = max(400, len(longest) - excess * 3 - 200)
    if keep >= len(longest):
        return message
    middle = f"\n[… {len(longest) - keep:,} characters left out: it is larger than the model's window …]\n"
    short = Text(longest[: keep // 2] + middle + longest[-(keep // 2) :])
    content = tuple(short if part == Text(longest) else part for part in message.content)
    return msgspec.structs.replace(message, content=content)


def _introduced(text: str) -> str:
    return f"[Summary of the earlier part of this conversation, which is too long to show]\n{text}"
