"""From measured costs to what so many machines carry: plain arithmetic, with every assumption by its name."""

from dataclasses import dataclass
from typing import NamedTuple

from capacity_simulation import Costs
from measure import Figures

RUN_EVENTS = 251
"""Deltas of the long run that was measured."""


@dataclass(frozen=True)
class Question:
    """What is usual, as we assume: nobody measured your users."""

    events: int = 500
    seconds: float = 40.0
    pages: int = 5
    """Read in its one search."""
    files: float = 0.2
    followers: float = 1.2


@dataclass(frozen=True)
class Machine:
    """Four cores with a replica on each, so far used that a neighbour's death does not overload it."""

    replicas: int = 4
    used: float = 0.6
    connections: int = 12
    """Of one replica with PostgreSQL."""


class Needs(NamedTuple):
    """What so many machines carry, and what they ask of the services."""

    machines: int
    questions: float
    """A second."""
    live: float
    """Runs at a time."""
    streams: float
    commits: float
    database_cores: float
    connections: int
    bus_megabytes: float
    """A second, out of Redis: what is followed on another replica than that of its run."""
    database_gigabytes: float
    """That stay, a day of eight busy hours."""
    wal_megabytes: float
    """A second."""
    s3_requests: float


def part(figures: Figures, name: str) -> Figures:
    """A thing without the run around it."""
    thing, run = figures[name], figures["run"]
    return {key: thing[key] - run[key] for key in run if key not in ("tables", "wall_s")}


def event(figures: Figures) -> Figures:
    """One event more."""
    return {key: max(0.0, cost / (RUN_EVENTS - 1)) for key, cost in part(figures, "long_run").items()}


def question_costs(figures: Figures, question: Question) -> Figures:
    """All that a usual question costs."""
    run, one, search = figures["run"], event(figures), part(figures, "search")
    share = question.pages / 5
    file = figures["file"]
    return {
        key: run[key] + question.events * one[key] + share * search[key] + question.files * file[key]
        for key in run
        if key not in ("tables", "wall_s")
    }


def stored_bytes(figures: Figures, question: Question) -> float:
    """Of a question, when its events are forgotten: what stays in the database."""
    whole = question_costs(figures, question)["database_bytes"]
    events = figures["run"]["tables"].get("run_events", 0) + question.events * (
        (figures["long_run"]["tables"].get("run_events", 0) - figures["run"]["tables"].get("run_events", 0))
        / (RUN_EVENTS - 1)
    )
    return max(0.0, whole - events)


def needs(figures: Figures, machines: int, question: Question, machine: Machine) -> Needs:
    cost = question_costs(figures, question)
    replicas = machines * machine.replicas
    idle = figures["idle"]
    questions = replicas * max(0.0, machine.used - idle["replica"]) / cost["replicas_s"]
    database = questions * cost["postgresql_s"] + replicas * idle["postgresql"] / 2
    return Needs(
        machines,
        questions,
        questions * question.seconds,
        questions * question.seconds * question.followers,
        questions * cost["transactions"],
        database,
        replicas * machine.connections,
        questions * cost["bus_in_bytes"] * question.followers * (1 - 1 / replicas) / 1e6,
        questions * 8 * 3600 * stored_bytes(figures, question) / 1e9,
        questions * cost["wal_bytes"] / 1e6,
        questions * cost["s3_requests"],
    )


def simulated_costs(figures: Figures, question: Question) -> Costs:
    """What the simulation takes for a job of each kind. An event has its share of all else that a question costs."""
    one, follow, adoption, whole = (
        event(figures),
        figures["follow"],
        figures["adoption"],
        question_costs(figures, question),
    )
    # Half of what an event costs is for its one follower: an estimate.
    delivery = one["replicas_s"] / 2
    return Costs(
        event=whole["replicas_s"] / question.events - delivery,
        delivery=delivery,
        event_database=whole["postgresql_s"] / question.events,
        adoption=adoption["replicas_s"],
        adoption_database=adoption["postgresql_s"],
        follow=follow["replicas_s"],
        follow_database=follow["postgresql_s"],
        # Two replicas had nothing to do but that, every two seconds.
        beat_database=figures["idle"]["postgresql"] / 2 * 2.0,
        flush_database=figures["run"]["postgresql_s"] / max(1.0, figures["run"]["transactions"]),
    )
