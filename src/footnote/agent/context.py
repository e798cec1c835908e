"""Fitting a long session into a model's window. Pure: the history itself is never changed.

Old tool results shrink first, then old turns are replaced by a digest, and only then the turn in progress is
touched. How far to go is decided on a grid of quarter windows counted from the start of the session, so that the
same cut holds for many turns and the provider's prompt cache keeps fitting.
"""

from collections.abc import Sequence
from itertools import accumulate

import msgspec
from msgspec import Struct

from footnote.agent import tokens
from footnote.agent.turn import Digest
from footnote.protocol.messages import Message, Text, ToolResultMessage, UserMessage

DIGEST_TOKENS = 2_000
"""Room that is kept for a digest."""

ROOMY = 0.6
"""Share of the budget that a new digest leaves filled."""

PREVIEW_CHARS = 600
SMALL_CHARS = 1_200
"""A result below this is not worth shortening."""


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
    shelf = _Shelf(sizes, [_saving(message) for message in messages], _grid(sizes, question, step))
    starts = [at for at in range(1, question + 1) if isinstance(messages[at], UserMessage)]
    known = digested if digested in starts else 0
    if (shorten_to := shelf.shortening(known, budget)) is not None:
        return Plan(shorten_to, known)
    for cut in starts:
        if cut > known and (shorten_to := shelf.shortening(cut, int(budget * ROOMY))) is not None:
            return Plan(shorten_to, cut)
    return Plan(question, question)


class _Shelf(Struct, frozen=True):
    """Sizes of the messages, what shortening each would save, and the positions up to which it may be done."""

    sizes: list[int]
    savings: list[int]
    borders: list[int]

    def shortening(self, cut: int, budget: int) -> int | None:
        """How far results must be shortened so that what follows `cut` fits; None: it does not."""
        total = sum(self.sizes[cut:]) + (DIGEST_TOKENS if cut else 0)
        for border in (0, *(border for border in self.borders if border > cut)):
            if total - sum(self.savings[cut:border]) <= budget:
                return border
        return None


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
    shortened += _squeeze(kept, budget)
    turns = sum(isinstance(message, UserMessage) for message in messages[: cut.digest_to])
    return Fitted(tuple(kept), sum(map(tokens.of_message, kept)), shortened, turns)


def _squeeze(kept: list[Message], budget: int) -> int:
    """The last resort, in place: shortens results of the turn in progress, oldest first, then its question."""
    shortened = 0
    for at, message in enumerate(kept):
        if sum(map(tokens.of_message, kept)) <= budget:
            return shortened
        if _saving(message):
            kept[at] = _shorten(message)
            shortened += 1
    excess = sum(map(tokens.of_message, kept)) - budget
    question = question_at(kept)
    if excess > 0 and kept:
        kept[question] = _cut_question(kept[question], excess)
    return shortened


def _saving(message: Message) -> int:
    """Tokens that shortening this message would save."""
    if not isinstance(message, ToolResultMessage) or len(message.text) <= SMALL_CHARS:
        return 0
    return tokens.of_message(message) - tokens.of_message(_shorten(message))


def _shorten(message: Message) -> Message:
    if not isinstance(message, ToolResultMessage):
        return message
    text = message.text
    note = f"{text[:PREVIEW_CHARS]}\n[… shortened: {len(text):,} characters in all; call the tool again to see them]"
    return msgspec.structs.replace(message, content=(Text(note),))


def _cut_question(message: Message, excess: int) -> Message:
    """The largest text of the message with its middle taken out."""
    if not isinstance(message, UserMessage):
        return message
    texts = [part.text for part in message.content if isinstance(part, Text)]
    longest = max(texts, key=len, default="")
    # An estimate counts bytes, at most four a character: taking out this many characters is enough for any text.
    keep = max(400, len(longest) - excess * 3 - 200)
    if keep >= len(longest):
        return message
    middle = f"\n[… {len(longest) - keep:,} characters left out: the message is larger than the model's window …]\n"
    short = longest[: keep // 2] + middle + longest[-(keep // 2) :]
    return UserMessage(tuple(Text(short) if part == Text(longest) else part for part in message.content))


def _introduced(text: str) -> str:
    return f"[Summary of the earlier part of this conversation, which is too long to show]\n{text}"
