"""The costs, the model and the simulation as Markdown, for docs/scale.md and bench/README.md."""

from dataclasses import replace
from itertools import starmap

from capacity_model import Machine, Needs, Question, event, needs, part, question_costs, simulated_costs, stored_bytes
from capacity_simulation import Costs, Deployment, FaultOutcome, UpgradeOutcome, cells, deaths, reconnects, upgrade
from measure import Figures
from report import Table

SIZES = (1, 10, 1000)
CLAIM = 20


def _bare(table: Table) -> str:
    """Without a title, which the page has."""
    return str(table).partition("\n\n")[2].strip()


def _costs(figures: Figures) -> Table:
    question = Question()
    search = part(figures, "search")
    page = {key: value / 5 for key, value in search.items()}
    rows = {
        "a run, beside its events": figures["run"],
        "an event": event(figures),
        "a page that is read": page,
        "a file of 1 MB, without text": figures["file"],
        "a follower that comes back": figures["follow"],
        f"a usual question ({question.events} events, {question.pages} pages)": question_costs(figures, question),
    }
    columns = (
        "one of", "replica, ms CPU", "PostgreSQL, ms CPU", "Redis, ms CPU", "transactions", "WAL, kB", "database, kB",
        "bus in + out, kB", "S3 requests",
    )  # fmt: skip
    return Table("", columns, [(name, *(_cell(one, key, by) for key, by in _COLUMNS)) for name, one in rows.items()])


_COLUMNS = (
    (("replicas_s",), 1e3),
    (("postgresql_s",), 1e3),
    (("redis_s",), 1e3),
    (("transactions",), 1),
    (("wal_bytes",), 1e-3),
    (("database_bytes",), 1e-3),
    (("bus_in_bytes", "bus_out_bytes"), 1e-3),
    (("s3_requests",), 1),
)


def _cell(figures: Figures, keys: tuple[str, ...], by: float) -> str:
    value = max(0.0, sum(figures[key] for key in keys) * by)
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _others(figures: Figures) -> Table:
    idle, adoption, file = figures["idle"], figures["adoption"], figures["file"]
    stored = stored_bytes(figures, Question()) / 1e3
    rows = [
        (
            "a replica that does nothing",
            f"{idle['replica']:.1%} of a core; {idle['postgresql'] / 2:.2%} of PostgreSQL's",
        ),
        (
            "taking over a run of a dead replica",
            f"{adoption['replicas_s'] * 1e3:.1f} ms CPU, PostgreSQL {adoption['postgresql_s'] * 1e3:.1f} ms",
        ),
        (
            f"until {adoption['orphans']:.0f} runs of a killed replica were taken over by the only other one",
            f"{adoption['seconds']:.1f} s",
        ),
        ("what stays of a usual question in the database once its events are forgotten", f"{stored:.0f} kB"),
        (
            "a stored megabyte in the database (its row) and in the bucket",
            f"{file['database_bytes'] / 1e3:.1f} kB, 1 MB",
        ),
    ]
    return Table("", ("besides", ""), rows)


def _needs_row(found: Needs) -> tuple[str, ...]:
    return (
        str(found.machines), f"{found.questions:.0f}", f"{found.live:,.0f}", f"{found.streams:,.0f}",
        f"{found.commits:,.0f}", f"{found.database_cores:.1f}", f"{found.connections:,}", f"{found.wal_megabytes:.1f}",
        f"{found.bus_megabytes:.1f}", f"{found.s3_requests:.0f}", f"{found.database_gigabytes:.0f}",
    )  # fmt: skip


def _model(figures: Figures) -> Table:
    columns = (
        "machines", "questions/s", "runs at a time", "streams", "commits/s", "PostgreSQL cores", "connections",
        "WAL, MB/s", "bus, MB/s", "S3 requests/s", "database, GB a day",
    )  # fmt: skip
    rows = [_needs_row(needs(figures, size, Question(), Machine())) for size in SIZES]
    return Table("", columns, rows)


def _park(figures: Figures, machines: int, *, claim_most: int | None) -> Deployment:
    """That many replicas, each with its share of the model's runs."""
    found = needs(figures, 1, Question(), Machine())
    question = Question()
    return Deployment(
        machines,
        max(1, int(found.live / Machine().replicas)),
        events=question.events / question.seconds,
        claim_most=claim_most,
        database_cores=16,
    )


def _outcome_row(name: str, outcome: FaultOutcome, deployment: Deployment) -> tuple[str, ...]:
    late = (
        "no" if outcome.latest_beat <= deployment.lease - deployment.beat else f"yes, {outcome.latest_beat:.1f} s late"
    )
    return (
        name, f"{outcome.adopted_half:.1f}", f"{outcome.adopted_all:.1f}",
        f"{outcome.back_half:.1f}", f"{outcome.back_all:.1f}", str(outcome.most_taken),
        f"{outcome.busiest:.0%}", f"{outcome.database:.0%}", late,
    )  # fmt: skip


def _deaths(figures: Figures, costs: Costs) -> Table:
    columns = (
        "replicas that die", "half of their runs go on, s", "all, s", "half of the followers are back, s", "all, s",
        "most runs taken by one", "busiest replica", "PostgreSQL", "living taken for dead",
    )  # fmt: skip
    ten, bounded = (_park(figures, 10, claim_most=most) for most in (None, CLAIM))
    large = _park(figures, 1000, claim_most=CLAIM)
    rows = [
        _outcome_row("1 of 10, the first to look takes all", deaths(ten, costs, 1), ten),
        _outcome_row(f"1 of 10, {CLAIM} at a look", deaths(bounded, costs, 1), bounded),
        _outcome_row(f"3 of 10, {CLAIM} at a look", deaths(bounded, costs, 3), bounded),
        _outcome_row("100 of 1000 on one database", deaths(large, costs, 100), large),
    ]
    hit = cells(large, costs, 100, size=10)
    lost, worst = max(hit, key=lambda one: (one[0], one[1].adopted_all))
    rows.append(_outcome_row(f"100 of 1000 in cells of 10: {lost} of 10 in the worst", worst, large))
    return Table("", columns, rows)


def _upgrades(figures: Figures, costs: Costs) -> Table:
    columns = ("upgrade of ten replicas, one after the other", "s", "hand-overs of a run", "at most", "busiest replica")
    ways = [
        ("the first to look takes all", _park(figures, 10, claim_most=None)),
        (f"{CLAIM} at a look", _park(figures, 10, claim_most=CLAIM)),
    ]
    return Table(
        "", columns, list(starmap(_upgrade_row, ((name, upgrade(deployment, costs)) for name, deployment in ways)))
    )


def _upgrade_row(name: str, found: UpgradeOutcome) -> tuple[str, ...]:
    return name, f"{found.seconds:.0f}", f"{found.interrupted:.2f}", str(found.worst), f"{found.busiest:.0%}"


def _storms(figures: Figures, costs: Costs) -> Table:
    columns = ("all streams are cut off at once, clients come back within", "half are back after, s", "all, s")
    ten = _park(figures, 10, claim_most=CLAIM)
    rows: list[tuple[str, ...]] = []
    for least, most in ((0.0, 0.1), (0.5, 1.5), (1.0, 10.0)):
        storm = reconnects(replace(ten, back=(least, most)), costs)
        rows.append((f"{least:g} to {most:g} s", f"{storm.back_half:.1f}", f"{storm.back_all:.1f}"))
    return Table("", columns, rows)


def sections(figures: Figures) -> dict[str, str]:
    """Markdown by the name of its section in the page."""
    costs = simulated_costs(figures, Question())
    return {
        "costs": f"{_bare(_costs(figures))}\n\n{_bare(_others(figures))}",
        "model": _bare(_model(figures)),
        "simulation": "\n\n".join(
            _bare(table) for table in (_deaths(figures, costs), _upgrades(figures, costs), _storms(figures, costs))
        ),
    }
