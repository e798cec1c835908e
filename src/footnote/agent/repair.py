"""The repair of files: after its answer, a model corrects once what does not hold in the files that it wrote.

The order of a turn with a repair is: answer, one response with calls, their results. So the last response that
follows an answer is the repair, and a turn that another process adopts is never repaired twice. A research run repairs
its report before the answer. The request ends with a note that is in no history. What is left after the round stays
marked.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial

from msgspec.structs import replace

from footnote.agent.calls import OUTPUT_LIMIT_REACHED, RESPONSE_BROKEN_OFF, Calls, context_of_call, refused_calls
from footnote.agent.round import Round
from footnote.agent.turn import Step
from footnote.agent.turn_state import TurnState
from footnote.agent.window import Window
from footnote.cancel import Cancelled, CancelScope
from footnote.models.base import Context, Model
from footnote.protocol.messages import AssistantMessage, user_message
from footnote.tools.approval import Approver
from footnote.tools.base import Abilities
from footnote.tools.registry import Toolbox
from footnote.tools.written_files import list_bad_statements

REPAIR_TOOLS = frozenset({"edit_file", "write_file"})
MAX_FILES = 8
"""Files of one turn that are reviewed, the last ones."""
JUDGE_SECONDS = 30.0
"""The end of a turn waits so long for the verdicts on a file."""
MAX_LISTED = 20
NOTE = (
    "[This is a note of Footnote, which compares what you write with its sources, and not of the user, who has your "
    "answer. In the files that you wrote, these statements do not hold:\n\n{files}\n\n"
    "Correct them now with edit_file: say what the source says, cite a page that says it, or leave the statement out. "
    "Change nothing else, and write no text: your answer stands.]"
)


class FileRepair:
    """One per turn. `steps` are to be taken after the answer."""

    def __init__(
        self,
        state: TurnState,
        window: Window,
        model: Model,
        toolbox: Toolbox,
        abilities: Abilities,
        approver: Approver,
        *,
        precedes_answer: bool = False,
    ) -> None:
        """`precedes_answer`: the file was written by one call, and the answer comes after its repair."""
        self._precedes_answer = precedes_answer
        self._state = state
        self._window = window
        self._model = model
        self._tools = toolbox.only(REPAIR_TOOLS)
        self._abilities = abilities
        self._approver = approver

    @property
    def has_begun(self) -> bool:
        """Whether there was a response after the answer, here or in the process that had the turn before a crash."""
        if self._precedes_answer:
            return sum(bool(response.calls) for response in self._state.responses) > 1
        return any(not response.calls for response in self._state.responses[:-1])

    @property
    def answer(self) -> AssistantMessage:
        return self._state.responses[-2 if self.has_begun else -1]

    async def steps(self, cancel: CancelScope) -> AsyncGenerator[Step, None]:
        """Reviews the files and, if statements in them do not hold, asks for corrections and carries them out."""
        state = self._state
        if not self.has_begun:
            try:
                problems = await self._review(cancel)
            except Cancelled:
                return
            if not problems or not state.turn.repairs_files or not len(self._tools):
                return
            async with aclosing(self._ask(problems, cancel)) as asking:
                async for step in asking:
                    yield step
            if not self.has_begun:
                return
        of_call = partial(context_of_call, state.turn, self._abilities)
        calls = Calls(state.open_calls(), self._tools, state.indexes, of_call, self._approver)
        repair = state.responses[-1]
        refused = refused_calls(repair, _refusal(repair))
        executed = calls.steps(state.messages, cancel, refused=refused, resumed=state.turn.resumed)
        async with aclosing(executed) as steps:
            async for step in steps:
                yield step
        for step in state.append_results(calls):
            yield step

    async def _ask(self, problems: Sequence[str], cancel: CancelScope) -> AsyncGenerator[Step, None]:
        state = self._state
        specs = await self._tools.offered_specs(self._abilities)
        context, summary = await self._window.context(state.messages, specs, cancel)
        for step in state.record_summary(summary):
            yield step
        title = partial(self._tools.title, locale=state.turn.locale)
        response = Round(self._model, state.indexes, title, self._abilities)
        asked = response.events(_with_note(context, problems), self._window.options, cancel)
        async with aclosing(asked) as events:
            async for event in events:
                yield event
        if response.message.content:  # without any, the answer stands as if nothing had been asked
            yield state.append_response(response.message)

    async def _review(self, cancel: CancelScope) -> list[str]:
        """What does not hold in each file, after a second look where there is somebody to take it."""
        state, proofs, workspace = self._state, self._abilities.proofs, self._abilities.workspace
        second_look = self._abilities.second_look
        if proofs is None or workspace is None or not (state.turn.repairs_files or second_look):
            return []
        problems: list[str] = []
        for file in state.written_files[-MAX_FILES:]:
            if await cancel.wait(proofs.judge(file.path, JUDGE_SECONDS)) is None:
                continue
            reviewed = await cancel.wait(proofs.review(file.path, second_look, cancel))
            if reviewed is None:
                continue
            state.record_usage(reviewed.usage, reviewed.cost)
            text = await workspace.read_text(file.path, reviewed.proof.version)
            listed = list_bad_statements(reviewed.proof.citations, text, max_listed=MAX_LISTED)
            if listed:
                problems.append(f"{file.path}\n{listed}")
        return problems


def _refusal(repair: AssistantMessage) -> str | None:
    if repair.stop_reason in ("error", "aborted"):
        return RESPONSE_BROKEN_OFF
    return OUTPUT_LIMIT_REACHED if repair.stop_reason == "length" else None


def _with_note(context: Context, problems: Sequence[str]) -> Context:
    note = user_message(NOTE.format(files="\n\n".join(problems)))
    return replace(context, messages=(*context.messages, note))
