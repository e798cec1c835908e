"""The model's window over a run: what fits, learned from what the provider counted."""

from footnote.agent import context as fitting
from footnote.agent import tokens
from footnote.agent.digest import Summarised, summarise
from footnote.agent.turn import Digest, Turn
from footnote.cancel import CancelScope
from footnote.models.base import Context, Model, Options
from footnote.protocol.events import ContextReport
from footnote.protocol.messages import Message, Usage
from footnote.protocol.tools import ToolSpec

LONGEST_ANSWER = 32_000
SHORTEST_ANSWER = 512
SMALLEST_SCALE, LARGEST_SCALE = 0.75, 3.0
"""English text comes to three quarters of the estimate. What counts less counts something else: some servers leave
out what they had in their cache."""

SAFE_SHARE = 0.95
TIGHTER = 0.7
TIGHTENINGS = 5


class Window:
    """Makes the context of each round. `scale` corrects the estimate: tokens counted per token estimated."""

    def __init__(self, turn: Turn, model: Model) -> None:
        profile = model.profile
        self._max_tokens = min(profile.max_output, LONGEST_ANSWER, profile.window // 4)
        self._digest: Digest | None = turn.digest
        self.report = ContextReport(0, profile.window)
        self._turn = turn
        self._model = model
        self._scale = 1.0
        self._largest: int | None = None
        self._tightened = 0
        self._estimate = 0

    @property
    def options(self) -> Options:
        return Options(thinking_budget=self._turn.thinking_budget, max_tokens=self._max_tokens)

    async def context(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], cancel: CancelScope
    ) -> tuple[Context, Summarised | None]:
        """What the model is told in this round, and the summary that had to be made for it."""
        summary: Summarised | None = None
        fixed = tokens.of_text(self._turn.system) + tokens.of_tools(tools)
        room = int((self._model.profile.window * SAFE_SHARE - self._max_tokens) / self._scale)
        budget = max(500, (room if self._largest is None else min(room, self._largest)) - fixed)
        known = self._digest.upto if self._digest is not None else 0
        cut = fitting.plan(messages, budget, step=self._model.profile.window // 4, digested=known)
        if cut.digest_to and (self._digest is None or self._digest.upto != cut.digest_to):
            summary = await summarise(messages, cut.digest_to, self._digest, self._model, cancel)
            self._digest = summary.digest
        fitted = fitting.apply(messages, cut, self._digest, budget)
        self._estimate = fixed + fitted.tokens
        self.report = ContextReport(
            tokens=int(self._estimate * self._scale),
            window=self._model.profile.window,
            shortened_results=fitted.shortened_results,
            shortened_texts=fitted.shortened_texts,
            summarised_turns=fitted.summarised_turns,
        )
        return Context(self._turn.system, fitted.messages, tools), summary

    def learn(self, usage: Usage) -> None:
        """Corrects the estimate by what the provider counted for the same request."""
        if usage.context and self._estimate:
            self._scale = min(LARGEST_SCALE, max(SMALLEST_SCALE, usage.context / self._estimate))

    def tighten(self) -> bool:
        """After the provider said that the request was too large: leave out more. False: it was tried enough."""
        self._largest = int(self._estimate * TIGHTER)
        self._max_tokens = max(SHORTEST_ANSWER, self._max_tokens // 2)
        self._tightened += 1
        return self._tightened <= TIGHTENINGS
