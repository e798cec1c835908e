"""The figures as Markdown tables, each row with its bar and whether it is met."""

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple, NoReturn

from measure import Figures
from subjects import FOOTNOTE, HAND_WRITTEN, PEERS, PYDANTIC_AI

MAX_LOOP_RATIO = 1.5
MIN_PEER_RATIO = 6.0
MAX_HTTP_RATIO = 1.5
MAX_FLAT_RATIO = 1.1

PASS, FAIL, NO_BAR = "pass", "FAIL", ("", "")


class Table(NamedTuple):
    """The last two columns are the bar and the verdict."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(3, *(len(line[at]) for line in lines)) for at in range(len(self.columns))]
        rule = tuple("-" * width for width in widths)
        drawn = [_line(line, widths) for line in (self.columns, rule, *self.rows)]
        return "\n".join([f"### {self.title}", "", *drawn, ""])

    @property
    def missed_bars(self) -> list[str]:
        return [f"{self.title}: {row[0]}: {row[-1]}" for row in self.rows if row[-1] not in ("", PASS)]


def conclude(tables: Sequence[Table], *, strict: bool) -> NoReturn:
    """Prints the tables and the missed bars, and ends the process, on request with exit code 1 for a missed bar."""
    print("\n".join(str(table) for table in tables))
    unmet = [reason for table in tables for reason in table.missed_bars]
    print("\n".join(unmet) if unmet else "Every bar holds.")
    sys.exit(bool(unmet and strict))


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def _verdict(holds: bool) -> str:
    return PASS if holds else FAIL


def _missing(title: str, columns: Sequence[str], reason: str) -> tuple[str, ...]:
    return (title, *["-"] * (len(columns) - 2), f"not measured: {reason}")


def _costs(costs: Figures) -> tuple[str, str, str]:
    return f"{costs['run_ms']:.2f}", f"{costs['event_us']:.1f}", f"{costs['frame_us']:.1f}"


def _spread(figures: Figures) -> str:
    return f"{figures['ratio']:.2f} ({figures['low']:.2f} to {figures['high']:.2f})"


def tables(figures: Figures) -> list[Table]:
    return [
        _in_process(figures["in_process"]),
        _http(figures["http"]),
        _flat(figures["flat"]),
        _footprint(figures["footprint"]),
    ]


def _in_process(figures: Figures) -> Table:
    columns = (
        "CPU",
        "ms a run",
        "µs an event",
        "µs a frame",
        "ms an empty run",
        "x hand-written",
        "x Footnote",
        "bar",
        "",
    )
    ours = figures[FOOTNOTE.key]
    bar = f"≤ {MAX_LOOP_RATIO} x hand-written", _verdict(ours["ratio"] <= MAX_LOOP_RATIO)
    rows = [
        (HAND_WRITTEN.title, *_costs(ours["reference"]), "", "1", f"{1 / ours['ratio']:.1f}", *NO_BAR),
        (FOOTNOTE.title, *_costs(ours["turn"]), f"{ours['empty_run_ms']:.2f}", _spread(ours), "1", *bar),
    ]
    for peer in PEERS:
        found = figures.get(peer.key)
        if found is None:
            continue
        if "missing" in found:
            rows.append(_missing(peer.title, columns, found["missing"]))
            continue
        times = found["ratio"] / ours["ratio"]
        bar = f"≥ {MIN_PEER_RATIO:g} x Footnote", _verdict(times >= MIN_PEER_RATIO)
        empty = f"{found['empty_run_ms']:.2f}"
        rows.append((peer.title, *_costs(found["turn"]), empty, _spread(found), f"{times:.1f}", *bar))
    return Table("A scripted model in the process, 20 runs at once", columns, rows)


def _http(figures: Figures) -> Table:
    columns = ("CPU", "ms a run", "µs an event", "µs a frame", "ms a run, raw reader", "x raw reader", "bar", "")
    bar = f"≤ {MAX_HTTP_RATIO} x raw reader"
    rows = [
        (name, *_costs(found["turn"]), f"{found['reference']['run_ms']:.2f}", _spread(found), bar,
         _verdict(found["ratio"] <= MAX_HTTP_RATIO))
        for name, found in figures.items()
    ]  # fmt: skip
    return Table("A model API over loopback HTTP, 20 runs at once", columns, rows)


def _flat(figures: Figures) -> Table:
    columns = ("Footnote against itself, one run", "µs a delta in the long answer", "x the short answer", "bar", "")
    rows = [
        (
            name,
            f"{found['delta_us']:.2f}",
            _spread(found),
            f"≤ {MAX_FLAT_RATIO} x",
            _verdict(found["ratio"] <= MAX_FLAT_RATIO),
        )
        for name, found in figures.items()
    ]
    return Table("A delta of an answer of 20,000 deltas, against one of 500", columns, rows)


def _footprint(figures: Figures) -> Table:
    columns = ("what is there before the first run", "import, ms of CPU", "memory, MB", "installed, MB", "bar", "")
    rows: list[tuple[str, ...]] = []
    for subject in (HAND_WRITTEN, FOOTNOTE, *PEERS):
        found = figures.get(subject.key)
        if found is None:
            continue
        if "missing" in found:
            rows.append(_missing(subject.title, columns, found["missing"]))
            continue
        bar = _lighter(found, figures.get(PYDANTIC_AI.key)) if subject is FOOTNOTE else NO_BAR
        cells = f"{found['import_ms']:.0f}", f"{found['import_mb']:.1f}", f"{found['installed_mb']:.1f}"
        rows.append((subject.title, *cells, *bar))
    return Table("Import and installation", columns, rows)


def _lighter(ours: Figures, peer: Figures | None) -> tuple[str, str]:
    if peer is None or "missing" in peer:
        return NO_BAR
    holds = all(ours[figure] < peer[figure] for figure in ("import_ms", "import_mb", "installed_mb"))
    return f"each below {PYDANTIC_AI.title}", _verdict(holds)
