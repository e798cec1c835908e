"""From measured costs to the capacity of a number of machines: plain arithmetic with named assumptions."""

from dataclasses import dataclass
from typing import NamedTuple

from capacity_simulation import Costs
from measure import Figures

RUN_EVENTS = 251
"""Deltas of the measured long run."""


@dataclass(frozen=True)
class Question:
    """Assumptions about a usual question, which no measurement of users supports."""

    events: int = 500
    seconds: float = 40.0
    pages: int = 5
    """Pages read in its one search."""
    files: float = 0.2
    followers: float = 1.2


@dataclass(frozen=True)
class Machine:
    """Four cores with a replica on each, loaded so that the death of a neighbour does not overload it."""

    replicas: int = 4
    used: float = 0.6
    connections: int = 12
    """Of one replica to PostgreSQL."""


class Needs(NamedTuple):
    """The capacity of a number of machines, and the load of the services."""

    machines: int
    questions: float
    """Per second."""
    live: float
    """Concurrent runs."""
    streams: float
    commits: float
    database_cores: float
    connections: int
    bus_megabytes: float
    """Per second from Redis, for followers on another replica than that of the run."""
    database_gigabytes: float
    """Stored permanently, in a day of eight busy hours."""
    wal_megabytes: float
    """Per second."""
    s3_requests: float


def part(figures: Figures, name: str) -> Figures:
    """The cost of one item without its run."""
    thing, run = figures[name], figures["run"]
    return {key: thing[key] - run[key] for key in run if key not in ("tables", "wall_s")}


def event(figures: Figures) -> Figures:
    """The cost of one more event."""
    return {key: max(0.0, cost / (RUN_EVENTS - 1)) for key, cost in part(figures, "long_run").items()}


def question_costs(figures: Figures, question: Question) -> Figures:
    """The whole cost of a usual question."""
    run, one, search = figures["run"], event(figures), part(figures, "search")
    share = question.pages / 5
    file = figures["file"]
    return {
        key: run[key] + question.events * one[key] + share * search[key] + question.files * file[key]
        for key in run
        if key not in ("tables", "wall_s")
    }


def stored_bytes(figures: Figures, question: Question) -> float:
    """Bytes of a question in the database after its events are pruned."""
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
    """The cost of each kind of job in the simulation. An event includes its share of all other costs of a question."""
    one, follow, adoption, whole = (
        event(figures),
        figures["follow"],
        figures["adoption"],
        question_costs(figures, question),
    )
    # An estimate: half the cost of an event is that of its one follower.
    delivery = one["replicas_s"] / 2
    return Costs(
        event=whole["replicas_s"] / question.events - delivery,
        delivery=delivery,
        event_database=whole["postgresql_s"] / question.events,
        adoption=adoption["replicas_s"],
        adoption_database=adoption["postgresql_s"],
        follow=follow["replicas_s"],
        follow_database=follow["postgresql_s"],
        # Two idle replicas only sent heartbeats, every two seconds.
        beat_database=figures["idle"]["postgresql"] / 2 * 2.0,
        flush_database=figures["run"]["postgresql_s"] / max(1.0, figures["run"]["transactions"]),
    )
