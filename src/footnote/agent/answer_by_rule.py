# ruff: noqa: RUF001 - the punctuation of Chinese is meant
"""An answer in any case: where the budget leaves no room for one of the model, code puts one together.

It quotes what was found, as the built-in reader does, and says why the model did not answer. Where nothing was looked
up yet and there is time, the searches that the question needs are made by rule first. A run with a deadline is answered
so too if its model fails; only where nothing can be looked up, the failure stays an error.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from msgspec import Struct
from msgspec.structs import replace

from footnote.agent.budget import RunBudget
from footnote.agent.guided_task import GuidedTask
from footnote.agent.spending import BUDGET_USED_UP
from footnote.cancel import CancelScope
from footnote.models.base import Context, Model, Options
from footnote.models.errors import CONTEXT_OVERFLOW, TOOLS_UNSUPPORTED
from footnote.models.profiles import Profile
from footnote.models.reader import emit_reply
from footnote.models.reader.messages import MESSAGES
from footnote.models.reader.reply import ToolRequest, compose_answer
from footnote.protocol.messages import AssistantMessage, Text
from footnote.protocol.stream import Done, Failed, Start, StreamEvent, TextDelta, TextEnd, TextStart
from footnote.protocol.tools import Locale
from footnote.text.markdown import escape_inline

_LEFT_TO_THE_LOOP = frozenset({CONTEXT_OVERFLOW, TOOLS_UNSUPPORTED})


class _Notices(Struct, frozen=True):
    """Why the model did not answer. `detail` is what its provider said. The last two stand alone, where nothing was
    found either."""

    used_up: str
    failed: str
    used_up_without: str
    silent: str


_NOTICES: Mapping[Locale, _Notices] = {
    "en": _Notices(
        used_up="*The budget of this question was used up before the model had answered.*",
        failed="*The model failed before it had answered: {detail}*",
        used_up_without=(
            "*The budget of this question was used up before the model had answered, and nothing was found by then. "
            "Ask again with more time or money.*"
        ),
        silent="*The model had no answer.*",
    ),
    "vi": _Notices(
        used_up="*Ngân sách của câu hỏi này đã hết trước khi mô hình kịp trả lời.*",
        failed="*Mô hình gặp lỗi trước khi kịp trả lời: {detail}*",
        used_up_without=(
            "*Ngân sách của câu hỏi này đã hết trước khi mô hình kịp trả lời, và đến lúc đó chưa tìm thấy gì. "
            "Hãy hỏi lại với nhiều thời gian hoặc tiền hơn.*"
        ),
        silent="*Mô hình không có câu trả lời.*",
    ),
    "zh": _Notices(
        used_up="*模型还没来得及回答，这个问题的预算就用完了。*",
        failed="*模型还没来得及回答就出错了：{detail}*",
        used_up_without="*模型还没来得及回答，这个问题的预算就用完了，到那时也没有找到任何内容。请用更多的时间或费用再问一次。*",
        silent="*模型没有给出回答。*",
    ),
}


def answering(model: Model, budget: RunBudget) -> Model:
    """The model, with an answer by rule where it has none; only a run that ends early needs that."""
    return _AnsweringModel(model, budget) if budget.is_limited or budget.is_closing else model


class _AnsweringModel:
    def __init__(self, model: Model, budget: RunBudget) -> None:
        self._model = model
        self._budget = budget

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def profile(self) -> Profile:
        return self._model.profile

    async def stream(
        self, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        has_text = False
        async with aclosing(self._model.stream(context, options, cancel)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    has_text = has_text or not event.delta.isspace()
                elif isinstance(event, Done | Failed) and not has_text and self._lacks_answer(event, context, cancel):
                    async with aclosing(self._answer(event, context, cancel)) as instead:
                        async for one in instead:
                            yield one
                    return
                yield event

    def _lacks_answer(self, last: Done | Failed, context: Context, cancel: CancelScope) -> bool:
        """Whether a response without text leaves the turn without an answer."""
        if cancel.is_cancelled:
            return False
        if isinstance(last, Failed):
            failure = last.message.failure
            is_for_loop = failure is not None and failure.type in _LEFT_TO_THE_LOOP
            is_due = self._budget.is_closing or self._budget.has_deadline
            return failure == BUDGET_USED_UP or (is_due and not is_for_loop)
        return self._budget.is_closing and not context.tools

    async def _answer(
        self, last: Done | Failed, context: Context, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        task = await asyncio.to_thread(GuidedTask.of, context, self.profile.window)
        requests = () if self._budget.is_closing else _look_ups(task, context)
        if requests and not last.message.content:
            async with aclosing(emit_reply(self.id, requests, context, cancel)) as events:
                async for event in events:
                    if not isinstance(event, Start):
                        yield event
            return
        text = await asyncio.to_thread(_text_by_rule, task, last)
        if text is None:
            yield last
            return
        index = len(last.message.content)
        yield TextStart(index)
        yield TextDelta(index, text)
        yield TextEnd(index, text)
        yield Done("stop", _answered(last.message, text))


def _look_ups(task: GuidedTask, context: Context) -> tuple[ToolRequest, ...]:
    """The searches for a question for which the model could not decide."""
    return () if task.has_looked_up else task.lookups({tool.name: tool for tool in context.tools})


def _text_by_rule(task: GuidedTask, last: Done | Failed) -> str | None:
    """What was found, under the reason why the model did not say it. None: the failure of the model says more."""
    notices, failure = _NOTICES[task.locale], last.message.failure
    if task.hits:
        notice = notices.used_up
        if failure is not None and failure != BUDGET_USED_UP:
            notice = notices.failed.format(detail=escape_inline(failure.message))
        return f"{notice}\n\n{compose_answer(task.hits, MESSAGES[task.locale])}"
    if failure is None:
        return notices.silent
    return notices.used_up_without if failure == BUDGET_USED_UP else None


def _answered(message: AssistantMessage, text: str) -> AssistantMessage:
    return replace(message, content=(*message.content, Text(text)), stop_reason="stop", failure=None)
