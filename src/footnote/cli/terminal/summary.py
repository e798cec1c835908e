"""What a run came to: a fold of its events, the closing lines made from it, and the exit code."""

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from footnote.cli import Exit
from footnote.cli.terminal.lines import Line, StyledText, Symbols
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockDelta,
    BlockStart,
    ContextReport,
    ErrorBody,
    ErrorEvent,
    Event,
    MessageDelta,
    MessageStart,
    RoundRestart,
    TextBlock,
    TextGrowth,
    TurnStopReason,
    TurnUsage,
)
from footnote.protocol.files import FileRecord
from footnote.workspace.text import pluralize

# Chinese and Japanese are written without spaces: there a character counts as a word.
_word = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")

_STOP_MESSAGES: dict[TurnStopReason, str] = {
    "length": "The answer reached the longest that the model may write and was cut there. Ask for a shorter "
    "answer, or ask about one part at a time.",
    "max_rounds": "The agent used all its tool rounds and answered with what it had by then. For more, raise "
    "maxToolRounds of the agent in agents.json, or ask a narrower question.",
}


class RunSummary:
    """Fed every event of a run."""

    def __init__(self) -> None:
        self._texts: dict[int, list[str]] = {}
        self._model = ""
        self._stop_reason: TurnStopReason | None = None
        self._usage: TurnUsage | None = None
        self._context: ContextReport | None = None
        self._error: ErrorBody | None = None
        self.files: tuple[FileRecord, ...] = ()
        """Those that the run showed."""

    def feed(self, event: Event) -> None:
        match event:
            case BlockDelta(index, TextGrowth(text)) | BlockStart(index, TextBlock(text)):
                self._texts.setdefault(index, []).append(text)
            case BlockStart(content_block=AttachmentsBlock(files)):
                self.files = files
            case RoundRestart(from_index):
                self._texts = {index: texts for index, texts in self._texts.items() if index < from_index}
            case MessageStart(message):
                self._model = message.model
            case MessageDelta(delta, usage, context):
                self._stop_reason, self._usage, self._context = delta.stop_reason, usage, context
            case ErrorEvent(error):
                self._error = error
            case _:
                pass

    @property
    def exit_code(self) -> Exit:
        failed = self._error is not None or self._stop_reason in ("error", "aborted", None)
        return Exit.FAILURE if failed or self.is_empty else Exit.OK

    @property
    def is_empty(self) -> bool:
        """There is nothing to show for the run."""
        return not self.files and not self._text.strip()

    @property
    def _text(self) -> str:
        return "".join(chain.from_iterable(self._texts.values()))

    def problems(self) -> list[Line]:
        """What the person must know and can act on."""
        if self._error is not None:
            again = " This may pass: try again in a moment." if self._error.retryable else ""
            return [(StyledText(f"Error: {self._error.message}{again}", "bad"),)]
        if self._stop_reason == "error":
            return [
                (StyledText("Error: the model gave up without saying why. Try again, or try another model.", "bad"),)
            ]
        if self._stop_reason is None:
            return [(StyledText("Error: the run broke off before its end. Try again.", "bad"),)]
        if self._stop_reason != "aborted" and self.is_empty:
            return [(StyledText("The model answered with nothing. Ask again, or try another model.", "bad"),)]
        ending = _STOP_MESSAGES.get(self._stop_reason)
        return [(StyledText(ending, "bad"),)] if ending else []

    def usage(self, symbols: Symbols) -> list[Line]:
        """One line about what it took, one about what was left out to fit into the model's window."""
        if self._usage is None:
            return []
        taken = self._usage.input_tokens + self._usage.cache_read_tokens + self._usage.cache_write_tokens
        if not taken and not self._usage.output_tokens:
            return []
        cached = f" ({self._usage.cache_read_tokens:,} cached)" if self._usage.cache_read_tokens else ""
        parts = [self._model, f"{taken:,} tokens in{cached}", f"{self._usage.output_tokens:,} out"]
        if self._usage.cost is not None:
            parts.append(_dollars(self._usage.cost))
        if self._stop_reason not in ("stop", None):
            parts.append(f"ended: {self._stop_reason}")
        lines: list[Line] = [(StyledText(symbols.dot.join(part for part in parts if part), "dim"),)]
        if trimmed := _trimmed_text(self._context):
            lines.append((StyledText(f"To fit into the model's window: {trimmed}.", "dim"),))
        return lines

    def stopped_line(self, files: int) -> Line:
        """What a stopped run leaves behind."""
        words = len(_word.findall(self._text))
        parts = [f"{pluralize(words, 'word')} of the answer"] if words else []
        if files:
            parts.append(pluralize(files, "file"))
        return (StyledText(f"Stopped. Kept: {', '.join(parts)}." if parts else "Stopped. Nothing had come yet."),)


def file_lines(saved: Sequence[tuple[str, Path]]) -> list[Line]:
    """Where the files went: the agent's name of each and its place on this machine."""
    return [(StyledText(f"Saved {name} as "), StyledText(str(path), "good")) for name, path in saved]


def _trimmed_text(context: ContextReport | None) -> str:
    if context is None:
        return ""
    parts = [
        f"{pluralize(context.shortened_results, 'old tool result')} shortened" if context.shortened_results else "",
        f"{pluralize(context.shortened_texts, 'long text')} cut in the middle" if context.shortened_texts else "",
        f"{pluralize(context.summarised_turns, 'old turn')} summarised" if context.summarised_turns else "",
    ]
    return ", ".join(part for part in parts if part)


def _dollars(cost: float) -> str:
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.4f}"
