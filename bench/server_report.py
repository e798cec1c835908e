"""The figures of the server as tables, each row with its bar and whether it is met."""

from measure import Figures
from report import Table

RUNS, MAX_RELAY_RATIO = 100, 2.0
LONG_RUNS, SHORT, LONG = 10, 500, 5000
MAX_FOLLOWER_KB = 15.0
RATE, MIN_RELAY_STREAMS_SHARE, IN_TIME = 20, 0.8, 0.95
CLIENTS_PER_RUN = 10
MESSAGES, MAX_HISTORY_RATIO = 500, 3.0
MAX_READY_SECONDS, MAX_IDLE_MB = 1.5, 120.0
TITLE = "Streams that one core holds"


def _verdict(holds: bool) -> str:
    return "pass" if holds else "FAIL"


def _deltas_table(figures: Figures) -> Table:
    titles = {"relay": "bare relay", "engine": "relay through the engine", "footnote": "Footnote"}
    rows = [
        (
            titles[name],
            f"{found['delta_us']:.1f}",
            f"{found['run_ms']:.2f}",
            "1" if name == "relay" else f"{found['ratio']:.2f} ({found['low']:.2f} to {found['high']:.2f})",
            *(
                (f"≤ {MAX_RELAY_RATIO:g} x", _verdict(found["ratio"] <= MAX_RELAY_RATIO))
                if name == "footnote"
                else ("", "")
            ),
        )
        for name, found in figures.items()
    ]
    columns = ("CPU", "µs a delta", "ms a run of one delta", "x bare relay", "bar", "")
    return Table(f"From the model API to a client, {RUNS} runs at once", columns, rows)


def _long_table(found: Figures) -> Table:
    spread = f"{found['ratio']:.2f} ({found['low']:.2f} to {found['high']:.2f})"
    rows = [("Footnote", f"{found['short_us']:.1f}", f"{found['long_us']:.1f}", spread, "", "")]
    columns = ("CPU, µs a delta", f"of {SHORT}", f"of {LONG}", "x the short answer", "bar", "")
    return Table(f"A delta of a long answer, {LONG_RUNS} runs at once", columns, rows)


def _streams_table(found: Figures) -> Table:
    columns = (
        f"{RATE} events/s each", "streams", "CPU, µs an event", "of one core", "in time", "delay p50, ms", "p99, ms",
        "streams a core", "x bare relay", "bar", "",
    )  # fmt: skip
    ours = found["footnote"]
    if not ours:
        return Table(TITLE, columns, [("Footnote", *["-"] * 9, "not measured: the machine is too busy")])
    judged = ([one for one in ours if one["delivered"] >= IN_TIME] or ours)[-1]
    rows: list[tuple[str, ...]] = []
    shared = [(f"Footnote, {CLIENTS_PER_RUN} clients a run", found["shared"])] if found["shared"] else []
    alone = [*(("bare relay", one) for one in found["relay"]), *(("Footnote", one) for one in ours)]
    relays = {one["streams"]: one["event_us"] for one in found["relay"]}
    for title, one in [*alone, *shared]:
        a_core = 1e6 / one["event_us"] / RATE
        ratio = relays[one["streams"]] / one["event_us"] if one["streams"] in relays and title != "bare relay" else None
        holds = ratio is not None and ratio >= MIN_RELAY_STREAMS_SHARE
        bar = (f"≥ {MIN_RELAY_STREAMS_SHARE:g} x", _verdict(holds)) if one is judged else ("", "")
        rows.append(
            (title, str(one["streams"]), f"{one['event_us']:.1f}", f"{one['share']:.0%}",
             f"{min(1, one['delivered']):.0%}", f"{one['p50_ms']:.1f}", f"{one['p99_ms']:.0f}", f"{a_core:.0f}",
             "" if ratio is None else f"{ratio:.2f}", *bar)
        )  # fmt: skip
    return Table(TITLE, columns, rows)


def _history_table(found: Figures) -> Table:
    bar = f"≤ {MAX_HISTORY_RATIO:g} x", _verdict(found["ratio"] <= MAX_HISTORY_RATIO)
    spread = f"{found['ratio']:.2f} ({found['low']:.2f} to {found['high']:.2f})"
    rows = [
        ("sqlite3, the rows as bytes", f"{found['theirs_ms']:.2f}", f"{found['theirs_kb']:.0f}", "1", "", ""),
        ("Footnote, the history", f"{found['ours_ms']:.2f}", f"{found['ours_kb']:.0f}", spread, *bar),
    ]
    return Table(f"Opening a session of {MESSAGES} messages", ("CPU", "ms", "kB", "x sqlite3", "bar", ""), rows)


def _at_rest_table(started: Figures, follower_kb: float) -> Table:
    ready, idle = started["ready_s"], started["idle_mb"]
    rows = [
        ("CPU until it is ready", f"{ready:.2f} s", f"≤ {MAX_READY_SECONDS} s", _verdict(ready <= MAX_READY_SECONDS)),
        ("memory, idle", f"{idle:.0f} MB", f"≤ {MAX_IDLE_MB:g} MB", _verdict(idle <= MAX_IDLE_MB)),
        (
            "memory of an idle follower",
            f"{follower_kb:.1f} KB",
            f"≤ {MAX_FOLLOWER_KB:g} KB",
            _verdict(follower_kb <= MAX_FOLLOWER_KB),
        ),
    ]
    return Table("At rest", ("the server's process", "", "bar", ""), rows)


def tables(figures: Figures) -> list[Table]:
    return [
        _deltas_table(figures["deltas"]),
        _long_table(figures["long"]),
        _streams_table(figures["streams"]),
        _history_table(figures["history"]),
        _at_rest_table(figures["start"], figures["follower_kb"]),
    ]
