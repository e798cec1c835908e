"""What cannot be tried on one machine: deaths, upgrades and reconnects among ten or a thousand, with measured costs.

A simulation of discrete events. The steady work of streams is a share of each processor that is gone; what a death adds
to it (claims, adoptions, reconnects) are jobs that wait for each other: at the database, which has several processors
and takes jobs in the order of their coming, and at each replica, whose loop does one thing at a time. The same seed
gives the same figures. Standard library only.
"""

import heapq
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple


class Costs(NamedTuple):
    """Seconds of CPU, as `capacity.py` measures them."""

    event: float
    """Of an event on the replica that carries its run on, with its share of what is stored."""
    delivery: float
    """Of handing an event to one follower."""
    event_database: float
    adoption: float
    """Of taking over a run and going on with it, on the replica."""
    adoption_database: float
    follow: float
    """Of a follower that comes back, on the replica."""
    follow_database: float
    beat_database: float
    flush_database: float
    """Of the fixed part of a transaction that stores events."""


@dataclass(frozen=True)
class Park:
    """Machines with one replica and one processor for it each, on one database."""

    machines: int
    runs: int
    """On each machine."""
    followers: int = 1
    """Of each run."""
    events: float = 20.0
    """A second, of each run."""
    database_cores: int = 8
    lease: float = 6.0
    beat: float = 2.0
    flush: float = 0.08
    claim_most: int | None = None
    """How many runs a replica takes over at once. None: all that there are."""
    back: tuple[float, float] = (0.5, 1.5)
    """After how many seconds a client that was cut off tries again: at least, at most."""


class Told(NamedTuple):
    """What came of it. Times are seconds after the fault."""

    adopted_half: float
    adopted_all: float
    back_half: float
    back_all: float
    most_taken: int
    """Runs that one machine took over."""
    busiest: float
    """The share of its processor that the busiest machine needs afterwards: above 1 it falls behind."""
    database: float
    """The share of the database that the steady work needs afterwards."""
    latest_beat: float
    """How late a sign of life came at most. Beyond `lease - beat` a living machine is taken for dead."""


class _Database:
    """So many processors, jobs in order. What the steady work takes is not there for them."""

    def __init__(self, cores: int, busy: float) -> None:
        self._free = [0.0] * cores
        self._speed = max(1.0 - busy, 0.02)

    def done(self, now: float, work: float) -> float:
        begun = max(now, heapq.heappop(self._free))
        ended = begun + work / self._speed
        heapq.heappush(self._free, ended)
        return ended

    def wait(self, now: float) -> float:
        return max(0.0, self._free[0] - now)


@dataclass
class _Machine:
    park: Park
    costs: Costs
    runs: int
    phase: float
    free: float = 0.0
    pending: int = 0
    """Adoptions that it has begun and not ended."""
    taken: int = 0

    @property
    def busy(self) -> float:
        """The share of its processor that its runs and their followers need."""
        park, costs = self.park, self.costs
        return self.runs * park.events * (costs.event + park.followers * costs.delivery)

    def done(self, now: float, work: float) -> float:
        begun = max(now, self.free)
        self.free = begun + work / max(1.0 - self.busy, 0.05)
        return self.free


@dataclass(order=True)
class _Job:
    at: float
    number: int
    act: Callable[[float], None] = field(compare=False)


class _Agenda:
    def __init__(self) -> None:
        self._jobs: list[_Job] = []
        self._count = 0

    def add(self, at: float, act: Callable[[float], None]) -> None:
        self._count += 1
        heapq.heappush(self._jobs, _Job(at, self._count, act))

    def run(self, until: float) -> None:
        while self._jobs and self._jobs[0].at <= until:
            job = heapq.heappop(self._jobs)
            job.act(job.at)


def database_share(park: Park, costs: Costs, machines: int, runs: int) -> float:
    """Of the database, for signs of life, transactions that store events, and the events in them."""
    steady = machines * (costs.beat_database / park.beat + costs.flush_database / park.flush)
    return (steady + runs * park.events * costs.event_database) / park.database_cores


class _Deaths:
    """`dead` machines end at once; the others find that out, one after the other."""

    def __init__(self, park: Park, costs: Costs, dead: int, seed: int) -> None:
        self.park, self.costs = park, costs
        self.chance = random.Random(seed)
        living = park.machines - dead
        self.machines = [_Machine(park, costs, park.runs, self.chance.uniform(0, park.beat)) for _ in range(living)]
        self.busy = database_share(park, costs, living, park.machines * park.runs)
        self.database = _Database(park.database_cores, self.busy)
        self.agenda = _Agenda()
        # A machine dies between two signs of life: its lease lasts that much shorter.
        self.leases = sorted(park.lease - self.chance.uniform(0, park.beat) for _ in range(dead))
        self.orphans = 0
        self.adopted: list[float] = []
        self.back: list[float] = []
        self.latest = 0.0

    def simulate(self) -> Told:
        total = len(self.leases) * self.park.runs
        for at in self.leases:
            self.agenda.add(at, self._expire)
        for machine in self.machines:
            self.agenda.add(machine.phase, self._beats(machine))
        for _ in range(total * self.park.followers):
            self.agenda.add(self.chance.uniform(*self.park.back), self._return)
        horizon = 0.0
        while len(self.adopted) < total and horizon < 3600:
            horizon += 60
            self.agenda.run(horizon)
        self.agenda.run(horizon + 60)
        return Told(
            _at(self.adopted, 0.5), _at(self.adopted, 1), _at(self.back, 0.5), _at(self.back, 1),
            max(machine.taken for machine in self.machines), max(machine.busy for machine in self.machines),
            self.busy, self.latest,
        )  # fmt: skip

    def _expire(self, _: float) -> None:
        self.orphans += self.park.runs

    def _beats(self, machine: _Machine) -> Callable[[float], None]:
        def act(now: float) -> None:
            # Behind a step of each of them, a fifth of an adoption, and then in the line at the database.
            late = machine.pending * self.costs.adoption / 5 + self.database.wait(now)
            self.latest = max(self.latest, late)
            self.database.done(now, self.costs.beat_database)
            self._claim(machine, now)
            self.agenda.add(now + self.park.beat, act)

        return act

    def _claim(self, machine: _Machine, now: float) -> None:
        most = self.orphans if self.park.claim_most is None else min(self.orphans, self.park.claim_most)
        self.orphans -= most
        machine.taken += most
        machine.pending += most
        for _ in range(most):
            read = self.database.done(now, self.costs.adoption_database)
            self.agenda.add(read, self._adopts(machine))

    def _adopts(self, machine: _Machine) -> Callable[[float], None]:
        def act(now: float) -> None:
            ended = machine.done(now, self.costs.adoption)
            machine.runs += 1

            def end(at: float) -> None:
                machine.pending -= 1
                self.adopted.append(at)

            self.agenda.add(ended, end)

        return act

    def _return(self, now: float) -> None:
        machine = self.chance.choice(self.machines)
        read = self.database.done(now, self.costs.follow_database)
        self.back.append(machine.done(read, self.costs.follow))


def deaths(park: Park, costs: Costs, dead: int, *, seed: int = 1) -> Told:
    """So many of the machines die at the same moment."""
    return _Deaths(park, costs, dead, seed).simulate()


def cells(park: Park, costs: Costs, dead: int, *, size: int, seed: int = 1) -> list[tuple[int, Told]]:
    """The same park in cells of `size` machines with a database each: how many each lost, and what came of it there."""
    chance = random.Random(seed)
    lost = [0] * (park.machines // size)
    for machine in chance.sample(range(len(lost) * size), dead):
        lost[machine // size] += 1
    cell = replace(park, machines=size)
    return [(count, deaths(cell, costs, count, seed=seed + at)) for at, count in enumerate(lost) if 0 < count < size]


class Rolled(NamedTuple):
    """What an upgrade of all machines, one after the other, does to runs."""

    seconds: float
    interrupted: float
    """How often a run was handed over, on average over those that lived through some of it."""
    worst: int
    busiest: float
    """The share of its processor that the busiest machine needed at any time."""


def upgrade(park: Park, costs: Costs, *, pause: float = 15.0, run_seconds: float = 60.0, seed: int = 1) -> Rolled:
    """Machines stop in good order and come back empty after `pause` seconds; then the next one. Runs end and begin all
    the time, on machines in turn, and last `run_seconds` on average."""
    chance = random.Random(seed)
    homes: list[list[_Run]] = [[] for _ in range(park.machines)]
    seen: list[_Run] = []
    for machine in range(park.machines):
        homes[machine] = [_Run(chance.expovariate(1 / run_seconds)) for _ in range(park.runs)]
        seen += homes[machine]
    busiest, now = 0.0, 0.0
    share = park.events * (costs.event + park.followers * costs.delivery)
    for down in range(park.machines):
        living = [machine for machine in range(park.machines) if machine != down]
        orphans, homes[down] = homes[down], []
        for run, machine in zip(orphans, _adoption_counts(park, living, len(orphans), chance), strict=True):
            run.moves += 1
            homes[machine].append(run)
        busiest = max(busiest, share * max(map(len, homes)))
        now += pause
        for machine in range(park.machines):
            homes[machine] = [run for run in homes[machine] if run.ends > now]
        # What has ended is begun anew: half before the machine is back, half after it.
        missing = park.machines * park.runs - sum(map(len, homes))
        for number in range(missing):
            run = _Run(now + chance.expovariate(1 / run_seconds))
            seen.append(run)
            homes[living[number % len(living)] if number % 2 else number % park.machines].append(run)
    moves = [run.moves for run in seen]
    return Rolled(now, sum(moves) / len(moves), max(moves), busiest)


@dataclass
class _Run:
    ends: float
    moves: int = 0


def _adoption_counts(park: Park, living: list[int], orphans: int, chance: random.Random) -> Iterable[int]:
    """Who takes over how many: each in the order of the next look, as many as it may take at once."""
    order = chance.sample(living, len(living))
    most = orphans if park.claim_most is None else park.claim_most
    return [order[(number // max(1, most)) % len(order)] for number in range(orphans)]


def reconnects(park: Park, costs: Costs, *, seed: int = 1) -> Told:
    """Every stream is cut off at once, as by a balancer that is started anew; no machine dies."""
    storm = _Deaths(park, costs, 0, seed)
    for _ in range(park.machines * park.runs * park.followers):
        storm.agenda.add(storm.chance.uniform(*park.back), storm._return)  # noqa: SLF001 - one subject
    return storm.simulate()


def _at(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[max(0, int(len(ordered) * share) - 1)] if ordered else 0.0
