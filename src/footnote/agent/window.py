"""The model's window over a run: what fits, learned from what the provider counted."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

import msgspec
from msgspec import Struct

from footnote.agent import token_count
from footnote.agent.summary import SummaryResult, summarise
from footnote.agent.turn import HistorySummary, Turn
from footnote.cancel import CancelScope
from footnote.models.base import Context, Model, Options
from footnote.protocol.events import ContextReport
from footnote.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from footnote.protocol.tools import ToolSpec
from footnote.web_search.boundary import TAG_NAME

SUMMARY_TOKENS = 2_000
"""Room that is kept for a digest."""

SUMMARY_FILL_SHARE = 0.6
"""Share of the budget that a new digest leaves filled."""

PREVIEW_CHARS = 600
MIN_SHORTENED_CHARS = 1_200
"""A result below this is not worth shortening."""

MAX_SOURCES = 10
MAX_SOURCE_CHARS = 400
MAX_TITLE_CHARS = 80
_SOURCES_HEADING = "\n\nSources:\n"
_WEB_BLOCK = re.compile(rf'(<{TAG_NAME} id="(\w+)">)\n(.*)\n(</{TAG_NAME} id="\2">)', re.DOTALL)


class ContextPlan(Struct, frozen=True):
    """What to leave out: results before message `shorten_to` become previews, messages before `digest_to` become
    a digest. Zero: nothing."""

    shorten_to: int = 0
    summarise_to: int = 0


class FittedMessages(Struct, frozen=True):
    """Messages that fit, and what it took."""

    messages: tuple[Message, ...]
    tokens: int
    shortened_results: int = 0
    shortened_texts: int = 0
    summarised_turns: int = 0


def question_index(messages: Sequence[Message]) -> int:
    """Where the turn in progress begins: its question."""
    return max((at for at, said in enumerate(messages) if isinstance(said, UserMessage)), default=0)


def plan_context(messages: Sequence[Message], budget: int, *, step: int, summarised_to: int = 0) -> ContextPlan:
    """The smallest cut that fits `budget` tokens, leaving the turn in progress whole.

    `step` is the width of the grid. `digested`: how far a digest already goes; it is used as long as it is enough.
    A new one leaves room for some turns to come, since making one costs a request.
    """
    sizes = [token_count.message_tokens(message) for message in messages]
    if sum(sizes) <= budget:
        return ContextPlan()
    question = question_index(messages)
    shelf = _SizeTotals(_totals(sizes), _totals(map(_saving, messages)), _grid(sizes, question, step))
    starts = [at for at in range(1, question + 1) if isinstance(messages[at], UserMessage)]
    known = summarised_to if summarised_to in starts else 0
    if (shorten_to := shelf.shorten_to(known, budget)) is not None:
        return ContextPlan(shorten_to, known)
    for cut in starts:
        if cut > known and (shorten_to := shelf.shorten_to(cut, int(budget * SUMMARY_FILL_SHARE))) is not None:
            return ContextPlan(shorten_to, cut)
    return ContextPlan(question, question)


class _SizeTotals(Struct, frozen=True):
    """Running totals of the messages' sizes and of what shortening would save, and where shortening may end."""

    sizes: list[int]
    savings: list[int]
    borders: list[int]

    def shorten_to(self, cut: int, budget: int) -> int | None:
        """How far results must be shortened so that what follows `cut` fits; None: it does not."""
        total = self.sizes[-1] - self.sizes[cut] + (SUMMARY_TOKENS if cut else 0)
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


def apply_plan(
    messages: Sequence[Message], cut: ContextPlan, digest: HistorySummary | None, budget: int
) -> FittedMessages:
    """The messages with `cut` made; what is still too large after it is cut in the turn in progress."""
    kept = list(messages[cut.summarise_to :])
    shortened = 0
    for at in range(max(0, cut.shorten_to - cut.summarise_to)):
        if _saving(kept[at]):
            kept[at] = _shorten(kept[at])
            shortened += 1
    if cut.summarise_to and digest is not None:
        kept.insert(0, UserMessage((Text(_summary_text(digest.text)),)))
    squeezed, texts = _squeeze(kept, budget)
    turns = sum(isinstance(message, UserMessage) for message in messages[: cut.summarise_to])
    return FittedMessages(tuple(kept), sum(map(token_count.message_tokens, kept)), shortened + squeezed, texts, turns)


def _squeeze(kept: list[Message], budget: int) -> tuple[int, int]:
    """The last resort, in place: shortens what the turn in progress holds, oldest first, then what was said."""
    shortened = texts = 0
    excess = sum(map(token_count.message_tokens, kept)) - budget
    for at, message in enumerate(kept):
        if excess > 0 and (saving := _saving(message)):
            kept[at] = _shorten(message)
            excess -= saving
            shortened += 1
    for at, message in enumerate(kept):
        if excess > 0 and isinstance(message, AssistantMessage | UserMessage):
            kept[at] = _cut_middle(message, excess)
            excess -= token_count.message_tokens(message) - token_count.message_tokens(kept[at])
            texts += kept[at] is not message
    return shortened, texts


def _saving(message: Message) -> int:
    """Tokens that shortening this message would save."""
    short = _shorten(message)
    return 0 if short is message else max(0, token_count.message_tokens(message) - token_count.message_tokens(short))


def _shorten(message: Message) -> Message:
    """A result as a preview, a call with previews of its long arguments; anything else as it is.

    Only calls that were answered ever come here: of a file that was written the model needs the path.
    """
    match message:
        case ToolResultMessage():
            seen = any(isinstance(part, Image) for part in message.content)
            return _preview_of_result(message) if seen or len(message.text) > MIN_SHORTENED_CHARS else message
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
    marked = _WEB_BLOCK.match(text)
    if marked is None:
        return None
    opening, body, closing = marked.group(1, 3, 4)
    said, listed = body.rsplit(_SOURCES_HEADING, 1) if _SOURCES_HEADING in body else (body, "")
    links = [line for line in listed.split("\n") if line.startswith("[")][:MAX_SOURCES]
    lines = [_without_long_title(line)[:MAX_SOURCE_CHARS] for line in links]
    sources = _SOURCES_HEADING + "\n".join(lines) if listed else ""
    return f"{opening}\n{said[:PREVIEW_CHARS]}{sources}\n{closing}"


def _without_long_title(line: str) -> str:
    """`[3] [A very long title](https://…)` becomes `[3] https://…`."""
    start, _, end = line.rpartition("](")
    number, _, title = start.partition("] [")
    if not end or len(title) <= MAX_TITLE_CHARS:
        return line
    address = end.split(maxsplit=1)[0].rpartition(")")[0]
    return f"{number}] {address}{end[len(address) + 1 :]}" if address else line


def _is_long(call: ToolCall) -> bool:
    return any(isinstance(value, str) and len(value) > MIN_SHORTENED_CHARS for value in call.arguments.values())


def _preview_of_call(call: ToolCall) -> ToolCall:
    arguments = {
        name: f"{value[:PREVIEW_CHARS]} [… shortened: {len(value):,} characters in all]"
        if isinstance(value, str) and len(value) > MIN_SHORTENED_CHARS
        else value
        for name, value in call.arguments.items()
    }
    return msgspec.structs.replace(call, arguments=arguments)


def _cut_middle(message: AssistantMessage | UserMessage, excess: int) -> AssistantMessage | UserMessage:
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


def _summary_text(text: str) -> str:
    return f"[Summary of the earlier part of this conversation, which is too long to show]\n{text}"


MAX_ANSWER_TOKENS = 32_000
MIN_ANSWER_TOKENS = 512
MIN_SCALE, MAX_SCALE = 0.75, 3.0
"""English text comes to three quarters of the estimate. What counts less counts something else: some servers leave
out what they had in their cache."""

SAFE_SHARE = 0.95
SHRINK_FACTOR = 0.7
MAX_SHRINKS = 5


class Window:
    """Makes the context of each round. `scale` corrects the estimate: tokens counted per token estimated."""

    def __init__(self, turn: Turn, model: Model) -> None:
        profile = model.profile
        self._max_tokens = min(profile.max_output, MAX_ANSWER_TOKENS, profile.window // 4)
        self._summary: HistorySummary | None = turn.summary
        self.report = ContextReport(0, profile.window)
        self._turn = turn
        self._model = model
        self._scale = 1.0
        self._max_estimate: int | None = None
        self._shrink_count = 0
        self._estimate = 0

    @property
    def options(self) -> Options:
        return Options(thinking_budget=self._turn.thinking_budget, max_tokens=self._max_tokens)

    async def context(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], cancel: CancelScope
    ) -> tuple[Context, SummaryResult | None]:
        """What the model is told in this round, and the summary that had to be made for it."""
        summary: SummaryResult | None = None
        fixed = token_count.text_tokens(self._turn.system) + token_count.tool_tokens(tools)
        room = int((self._model.profile.window * SAFE_SHARE - self._max_tokens) / self._scale)
        budget = max(500, (room if self._max_estimate is None else min(room, self._max_estimate)) - fixed)
        known = self._summary.upto if self._summary is not None else 0
        cut = plan_context(messages, budget, step=self._model.profile.window // 4, summarised_to=known)
        if cut.summarise_to and (self._summary is None or self._summary.upto != cut.summarise_to):
            summary = await summarise(messages, cut.summarise_to, self._summary, self._model, cancel)
            self._summary = summary.summary
        fitted = apply_plan(messages, cut, self._summary, budget)
        self._estimate = fixed + fitted.tokens
        self.report = ContextReport(
            tokens=int(self._estimate * self._scale),
            window=self._model.profile.window,
            shortened_results=fitted.shortened_results,
            shortened_texts=fitted.shortened_texts,
            summarised_turns=fitted.summarised_turns,
        )
        return Context(self._turn.system, fitted.messages, tools), summary

    def calibrate(self, usage: Usage) -> None:
        """Corrects the estimate by what the provider counted for the same request."""
        if usage.context and self._estimate:
            self._scale = min(MAX_SCALE, max(MIN_SCALE, usage.context / self._estimate))

    def shrink(self) -> bool:
        """After the provider said that the request was too large: leave out more. False: it was tried enough."""
        self._max_estimate = int(self._estimate * SHRINK_FACTOR)
        self._max_tokens = max(MIN_ANSWER_TOKENS, self._max_tokens // 2)
        self._shrink_count += 1
        return self._shrink_count <= MAX_SHRINKS
