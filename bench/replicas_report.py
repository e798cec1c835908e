"""The figures of replicas as tables, each row with its bar and whether it is met."""

from measure import Figures
from report import Table

MAX_OVERHEAD = 3.0
IN_TIME = 0.95


def _verdict(holds: bool) -> str:
    return "pass" if holds else "FAIL"


def _clean(found: Figures) -> bool:
    return not (found["lost"] or found["doubled"] or found["changed"] or found["unlike"])


def _spent(found: Figures) -> float:
    """Of replicas and services together; streams do not use the bucket."""
    return sum(cost for part, cost in found["event_us"].items() if part != "s3")


def _count_table(rows: list[tuple[str, Figures]]) -> Table:
    columns = (
        "every event counted", "runs", "streams", "events", "lost", "doubled", "changed", "unlike what is stored",
        "bar", "",
    )  # fmt: skip
    made = [
        (
            title, str(one["runs"]), str(one["streams"]), str(one["events"]), str(one["lost"]), str(one["doubled"]),
            str(one["changed"]), str(one["unlike"]), "none of them", _verdict(_clean(one)),
        )
        for title, one in rows
    ]  # fmt: skip
    return Table("Nothing lost, nothing doubled", columns, made)


def _cost_table(rows: list[tuple[str, Figures]], reference: Figures) -> Table:
    columns = (
        "CPU, µs an event delivered", "streams", "replicas", "PostgreSQL", "Redis", "together", "x embedded", "in time",
        "delay p50, ms", "p99, ms", "KB a stream", "bar", "",
    )  # fmt: skip
    made: list[tuple[str, ...]] = []
    for title, one in rows:
        ratio = _spent(one) / _spent(reference)
        is_reference = one is reference
        cells = [f"{one['event_us'].get(part, 0):.1f}" for part in ("replicas", "postgresql", "redis")]
        bar = ("", "") if is_reference else (f"≤ {MAX_OVERHEAD:g} x", _verdict(ratio <= MAX_OVERHEAD))
        made.append(
            (title, str(one["streams"]), *cells, f"{_spent(one):.1f}", "1" if is_reference else f"{ratio:.2f}",
             f"{min(1, one['delivered']):.0%}", f"{one['p50_ms']:.0f}", f"{one['p99_ms']:.0f}",
             f"{one['stream_kb']:.1f}", *bar)
        )  # fmt: skip
    return Table("What an event costs", columns, made)


def _ways_table(title: str, rows: list[tuple[str, Figures]]) -> Table:
    """The first row is the reference."""
    columns = (
        "CPU, µs an event delivered", "replicas", "PostgreSQL", "Redis", "together", "x the first row", "in time",
        "delay p50, ms", "p99, ms", "bar", "",
    )  # fmt: skip
    reference = _spent(rows[0][1])
    made = [
        (
            name,
            *(f"{one['event_us'].get(part, 0):.1f}" for part in ("replicas", "postgresql", "redis")),
            f"{_spent(one):.1f}", f"{_spent(one) / reference:.2f}", f"{min(1, one['delivered']):.0%}",
            f"{one['p50_ms']:.0f}", f"{one['p99_ms']:.0f}", "nothing lost", _verdict(_clean(one)),
        )
        for name, one in rows
    ]  # fmt: skip
    return Table(title, columns, made)


def _kill_table(found: Figures) -> Table:
    columns = ("kill -9 of one of two", "streams of its runs", "go on after, s: first", "half", "last", "bar", "")
    row = (
        "two replicas", str(found["orphans"]), f"{found['back_first_s']:.1f}", f"{found['back_half_s']:.1f}",
        f"{found['back_all_s']:.1f}", "nothing lost", _verdict(_clean(found)),
    )  # fmt: skip
    return Table("The runs of a killed replica", columns, [row])


def tables(figures: Figures) -> list[Table]:
    embedded, mixed, killed = figures["embedded"], figures["replicas"], figures["killed"]
    loads = [("one embedded process", embedded), *(("two replicas", one) for one in mixed)]
    ways, buses = figures["ways"], figures["buses"]
    names = {"redis": "Redis", "postgresql": "NOTIFY", "none": "none: looking"}
    return [
        _count_table([*loads, ("two replicas, one killed", killed)]),
        _cost_table(loads, embedded),
        _kill_table(killed),
        _ways_table(
            "Where a follower is", [("on the replica of the run", ways["own"]), ("on the other one", ways["other"])]
        ),
        _ways_table("How the other replica hears of it", [(names[name], one) for name, one in buses.items()]),
    ]
