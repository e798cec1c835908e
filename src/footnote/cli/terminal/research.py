"""A research run in a terminal: its plan, with what each item is reading and has found, the sections of its report, and
its budget. The budget of a question without a plan is shown too."""

import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import UNSET, Struct

from footnote.cli.terminal.bars import BudgetBars
from footnote.cli.terminal.calls import CallLines
from footnote.cli.terminal.lines import (
    Line,
    StyledText,
    Symbols,
    Tone,
    format_clock,
    one_line,
    pad,
    truncate,
    width,
)
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BudgetUpdate,
    CitationsGrowth,
    Event,
    PlanBlock,
    PlanUpdate,
    RoundRestart,
    ToolProgress,
    ToolResultBlock,
    ToolStatus,
    ToolUseBlock,
)
from footnote.protocol.plans import PlanItem, PlanItemStatus
from footnote.protocol.sources import Citation, Source, sources_in
from footnote.protocol.tools import Locale

MIN_QUESTION_CELLS = 24
MIN_ITEMS = 4
"""The items that should be seen beside the bars."""
_INDENT = 3


class ResearchMessages(Struct, frozen=True):
    """`{count}` stands for a number of 2 or more."""

    one_question: str
    questions: str
    composing: str
    writing: str
    one_page: str
    pages: str
    one_statement: str
    statements: str
    dropped: str
    ended: str
    more: str
    finish_hint: str
    cancel_hint: str
    steered: str
    rests_on: str
    one_site: str
    sites: str
    unread: str


MESSAGES: dict[Locale, ResearchMessages] = {
    "en": ResearchMessages(
        one_question="Plan: 1 question",
        questions="Plan: {count} questions",
        composing="putting the findings together",
        writing="writing the report",
        one_page="1 page",
        pages="{count} pages",
        one_statement="1 statement",
        statements="{count} statements",
        dropped="dropped",
        ended="{count} ended",
        more="{count} more",
        finish_hint="Ctrl-C: write the report now, with what is there",
        cancel_hint="Writing with what is there. Ctrl-C: stop without a report",
        steered="You: {text}",
        rests_on="Read for it: {pages} of {sites}",
        one_site="1 site",
        sites="{count} sites",
        unread="{count} could not be read",
    ),
    "vi": ResearchMessages(
        one_question="Kế hoạch: 1 câu hỏi",
        questions="Kế hoạch: {count} câu hỏi",
        composing="đang tổng hợp kết quả",
        writing="đang viết báo cáo",
        one_page="1 trang",
        pages="{count} trang",
        one_statement="1 ý có nguồn",
        statements="{count} ý có nguồn",
        dropped="đã bỏ",
        ended="{count} mục đã xong",
        more="{count} mục nữa",
        finish_hint="Ctrl-C: viết báo cáo ngay với những gì đã có",
        cancel_hint="Đang viết với những gì đã có. Ctrl-C: dừng, không có báo cáo",
        steered="Bạn: {text}",
        rests_on="Đã đọc: {pages} từ {sites}",
        one_site="1 trang web",
        sites="{count} trang web",
        unread="{count} trang không đọc được",
    ),
    "zh": ResearchMessages(
        one_question="计划：1 个问题",  # noqa: RUF001 - a Chinese colon
        questions="计划：{count} 个问题",  # noqa: RUF001 - a Chinese colon
        composing="正在汇总",
        writing="正在撰写报告",
        one_page="1 页",
        pages="{count} 页",
        one_statement="1 条陈述",
        statements="{count} 条陈述",
        dropped="已放弃",
        ended="{count} 项已结束",
        more="还有 {count} 项",
        finish_hint="Ctrl-C：立即用已有内容撰写报告",  # noqa: RUF001 - a Chinese colon
        cancel_hint="正在用已有内容撰写。Ctrl-C：停止，不写报告",  # noqa: RUF001 - Chinese punctuation
        steered="您：{text}",  # noqa: RUF001 - a Chinese colon
        rests_on="已阅读：{sites}的{pages}",  # noqa: RUF001 - a Chinese colon
        one_site="1 个网站",
        sites="{count} 个网站",
        unread="{count} 页无法读取",
    ),
}


class _ItemWork:
    """What is known of the work on one item of the plan."""

    def __init__(self) -> None:
        self.reading: dict[str, str] = {}
        """What each running call is doing."""
        self.read: set[str] = set()
        """The addresses of the pages that were read."""
        self.statements = 0
        self.started: float | None = None
        self.ended: float | None = None


class ResearchProgress:
    """Fed every event of a run. Where lines cannot be redrawn, the lines that `feed` returns are printed."""

    def __init__(self, symbols: Symbols, locale: Locale, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_finishing = False
        """The user wants the report now."""
        self._symbols = symbols
        self._messages = MESSAGES[locale]
        self._clock = clock
        self._calls = CallLines(symbols, clock)
        self._items: tuple[PlanItem, ...] = ()
        self._steering: Sequence[str] = ()
        self._work: dict[str, _ItemWork] = {}
        self._sources: dict[str, Source] = {}
        self._bars = BudgetBars(symbols, locale, clock)
        self._writing: ToolProgress | None = None
        self._is_plan_printed = False
        self._is_over = False

    @property
    def has_plan(self) -> bool:
        return bool(self._items)

    @property
    def is_going_on(self) -> bool:
        """Whether there is more to come than the answer."""
        return bool(self._items) and not self._is_over

    def __bool__(self) -> bool:
        """Whether there is anything to show live."""
        return bool(self._items or self._bars) and not self._is_over

    # Events ----------------------------------------------------------------------------------------------

    def feed(self, event: Event) -> list[Line]:
        match event:
            case BlockStart(content_block=PlanBlock(items, steering)) | PlanUpdate(_, items, steering):
                return self._change_plan(items, () if steering is UNSET else steering)
            case BudgetUpdate():
                return self._bars.feed(event)
            case ToolProgress(stage="writing", parent=parent) if parent is UNSET:
                return self._write(event)
            case RoundRestart():
                self._calls.clear()
                for work in self._work.values():
                    work.reading.clear()
            case BlockStart() | BlockDelta() | ToolStatus() | ToolProgress() if isinstance(event.parent, str):
                return self._feed_item(event.parent, event)
            case _:
                pass
        return []

    def _change_plan(self, items: Sequence[PlanItem], steering: Sequence[str]) -> list[Line]:
        before = {item.id: item.status for item in self._items}
        self._items = tuple(items)
        count = pluralized(len(items), self._messages.one_question, self._messages.questions)
        lines: list[Line] = [] if before else [(StyledText(count),)]
        for item in items:
            self._note_times(item)
            if item.id not in before:
                lines.append((StyledText(f"+ {item.id} {one_line(item.question)}"),))
            if item.status != before.get(item.id, "pending"):
                lines.append(self._logged(item))
        new = (self._messages.steered.format(text=one_line(text)) for text in steering[len(self._steering) :])
        lines += [(StyledText(text, "dim"),) for text in new]
        self._steering = tuple(steering)
        return lines

    def _note_times(self, item: PlanItem) -> None:
        work = self._work_of(item.id)
        if item.status == "running" and work.started is None:
            work.started = self._clock()
        elif item.status in ("done", "failed", "dropped"):
            work.ended = work.ended or self._clock()
            work.reading.clear()

    def _write(self, event: ToolProgress) -> list[Line]:
        is_new = self._writing is None or self._writing.label != event.label
        self._writing = event
        return [(StyledText(self._writing_text(event), "dim"),)] if is_new else []

    def _feed_item(self, item_id: str, event: BlockStart | BlockDelta | ToolStatus | ToolProgress) -> list[Line]:
        work = self._work_of(item_id)
        match event:
            case BlockStart(content_block=ToolUseBlock() as block):
                self._calls.begin(block)
            case ToolStatus(call_id, status):
                self._calls.status(event)
                if status in ("done", "error"):
                    work.reading.pop(call_id, None)
            case ToolProgress(call_id, stage, done, total, label):
                counted = f"{done}/{total}" if total is not None else ""
                work.reading[call_id] = " ".join(part for part in (stage, counted, one_line(label)) if part)
            case BlockStart(content_block=ToolResultBlock() as block):
                work.reading.pop(block.tool_use_id, None)
                self._add_sources(work, block.artifact)
                return [(StyledText(f"{item_id} ", "dim"), *self._calls.finish(block))]
            case BlockDelta(delta=CitationsGrowth(citations)):
                work.statements = _supported(citations)
            case _:
                pass
        return []

    def _add_sources(self, work: _ItemWork, artifact: Mapping[str, object] | None) -> None:
        for source in sources_in(artifact or {}):
            known = self._sources.get(source.url)
            if known is None or known.status != "read":
                self._sources[source.url] = source
            if source.status == "read":
                work.read.add(source.url)

    def _work_of(self, item_id: str) -> _ItemWork:
        return self._work.setdefault(item_id, _ItemWork())

    # The live view ---------------------------------------------------------------------------------------

    def lines(self, columns: int, rows: int) -> list[Line]:
        """The plan and the bars, in at most so many rows. A low terminal has a line of figures instead of bars."""
        if not self:
            return []
        bars = self._bars.lines(columns)
        shown = 0 if self._is_plan_printed else min(len(self._items), MIN_ITEMS)
        phase, hint = self._phase(), self._hint()
        if len(phase) + len(bars) + len(hint) + shown > rows:
            bars = [(StyledText(self._bars.figures, "dim"),)] if bars else []
        below = [*phase, *bars, *hint]
        room = rows - len(below)
        return [*(self._tree(columns, room) if shown and room > 0 else ()), *below][-max(rows, 1) :]

    def _tree(self, columns: int, rows: int) -> list[Line]:
        """A row for each item, and a second one for what it does where that does not fit beside its question. In a low
        terminal ended items become one row, and so do the last of those that wait."""
        wide = [row for item in self._items for row in self._rows(item, columns)]
        if len(wide) <= rows:
            return wide
        one_each = [self._row(item, columns) for item in self._items]
        if len(one_each) <= rows:
            return one_each
        ended = [item for item in self._items if item.status in ("done", "failed", "dropped")]
        going = [self._row(item, columns) for item in self._items if item not in ended]
        head = [self._more(len(ended), self._messages.ended)] if ended else []
        if len(head) + len(going) <= rows:
            return [*head, *going]
        shown = max(rows - len(head) - 1, 0)
        return [*head, *going[:shown], self._more(len(going) - shown, self._messages.more)][:rows]

    def _more(self, count: int, text: str) -> Line:
        return (StyledText(f"{' ' * _INDENT}{self._symbols.ellipsis} {text.format(count=count)}", "dim"),)

    def _rows(self, item: PlanItem, columns: int) -> list[Line]:
        detail = self._detail(item)
        row = self._row(item, columns)
        if not detail or row[-1].text:
            return [row]
        tone = _TONES[item.status]
        return [
            self._row(item, columns, ""),
            (StyledText(" " * _INDENT), StyledText(truncate(detail, columns - _INDENT, self._symbols.ellipsis), tone)),
        ]

    def _row(self, item: PlanItem, columns: int, detail: str | None = None) -> Line:
        """The question, cut where needed, and what is happening to it if that fits."""
        detail = self._detail(item) if detail is None else detail
        room = max(columns - _INDENT, 1)
        rest = f"{self._symbols.dot}{detail}" if detail else ""
        if room - width(rest) < min(MIN_QUESTION_CELLS, width(one_line(item.question))):
            rest = ""
        question = truncate(one_line(item.question), room - width(rest), self._symbols.ellipsis)
        tone: Tone = "normal" if item.status == "running" else "dim"
        return (self._mark(item), StyledText(question, tone), StyledText(rest, _TONES[item.status]))

    def _mark(self, item: PlanItem) -> StyledText:
        symbol, tone = self._symbol(item.status)
        return StyledText(pad(symbol, _INDENT), tone)

    def _symbol(self, status: PlanItemStatus) -> tuple[str, Tone]:
        match status:
            case "running":
                return self._symbols.waiting, "normal"
            case "done":
                return self._symbols.done, "good"
            case "failed":
                return self._symbols.failed, "bad"
            case _:
                return self._symbols.dot.strip(), "dim"

    def _detail(self, item: PlanItem) -> str:
        work = self._work_of(item.id)
        note = one_line(item.note) if isinstance(item.note, str) else ""
        doing = list(work.reading.values())[-1:] if item.status == "running" else []
        dropped = [self._messages.dropped] if item.status == "dropped" else []
        took = ""
        if work.started is not None and item.status != "dropped":
            took = format_clock((work.ended or self._clock()) - work.started)
        return self._symbols.dot.join(part for part in (*dropped, *doing, note, *self._counts(work), took) if part)

    def _counts(self, work: _ItemWork) -> list[str]:
        messages = self._messages
        pages = pluralized(len(work.read), messages.one_page, messages.pages)
        statements = pluralized(work.statements, messages.one_statement, messages.statements)
        return [text for count, text in ((len(work.read), pages), (work.statements, statements)) if count]

    def _phase(self) -> list[Line]:
        """What happens once no item is being worked on, until the report is there."""
        is_going = any(item.status in ("pending", "running") for item in self._items)
        if is_going or not self._items or self._is_plan_printed:
            return []
        composing = f"{self._messages.composing}{self._symbols.ellipsis}"
        return [(StyledText(self._writing_text(self._writing) if self._writing else composing),)]

    def _writing_text(self, event: ToolProgress) -> str:
        counted = f"{event.done}/{event.total}" if event.total is not None else ""
        return self._symbols.dot.join(part for part in (self._messages.writing, counted, one_line(event.label)) if part)

    def _hint(self) -> list[Line]:
        """What Ctrl-C does now. A report that is being written cannot be asked for."""
        if self.is_finishing:
            return [(StyledText(self._messages.cancel_hint, "dim"),)]
        is_open = bool(self._items) and self._writing is None and not self._is_plan_printed
        return [(StyledText(self._messages.finish_hint, "dim"),)] if is_open else []

    # What stays ------------------------------------------------------------------------------------------

    def take_plan(self, columns: int) -> list[Line]:
        """The plan as it ended, once."""
        is_new, self._is_plan_printed = bool(self._items) and not self._is_plan_printed, bool(self._items)
        return [self._row(item, columns) for item in self._items] if is_new else []

    def take_totals(self) -> list[Line]:
        """What was read for the report, once: when all but the answer is there."""
        if not self.is_going_on:
            return []
        self._is_over = True
        messages = self._messages
        read = [source for source in self._sources.values() if source.status == "read"]
        sites = len({source.domain for source in read})
        pages = pluralized(len(read), messages.one_page, messages.pages)
        on_sites = pluralized(sites, messages.one_site, messages.sites)
        parts = [messages.rests_on.format(pages=pages, sites=on_sites)]
        if unread := sum(source.status == "failed" for source in self._sources.values()):
            parts.append(messages.unread.format(count=unread))
        return [(StyledText(self._symbols.dot.join(parts), "dim"),)]

    def spent_lines(self) -> list[Line]:
        """What the run has used of its budget."""
        return [(StyledText(self._bars.figures, "dim"),)] if self._bars else []

    def _logged(self, item: PlanItem) -> Line:
        """A line for a log: how an item has changed."""
        symbol, tone = self._symbol(item.status)
        detail = "" if item.status == "running" else self._detail(item)
        rest = f"{self._symbols.dot}{detail}" if detail else ""
        return (StyledText(symbol, tone), StyledText(f" {item.id} {one_line(item.question)}"), StyledText(rest, "dim"))


_TONES: dict[PlanItemStatus, Tone] = {
    "pending": "dim",
    "running": "dim",
    "done": "dim",
    "failed": "bad",
    "dropped": "dim",
}


def pluralized(count: int, one: str, more: str) -> str:
    return one if count == 1 else more.format(count=count)


def _supported(citations: Sequence[Citation]) -> int:
    """How many statements have a source that supports them, at least in part."""
    return len({(one.start, one.end) for one in citations if one.verdict in ("supported", "partial")})
