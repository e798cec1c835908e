"""What cannot be tried on one machine: deaths, upgrades and reconnects of ten or a thousand replicas, with measured
costs.

A discrete event simulation. The steady load of streams takes a share of each processor. What a death adds (claims,
adoptions, reconnects) are jobs that queue: at the database, which has several processors and takes jobs in order, and
at each replica, whose event loop does one thing at a time. The same seed gives the same figures. Standard library
only.
"""

import heapq
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple


class Costs(NamedTuple):
    """CPU seconds, as `capacity.py` measures them."""

    event: float
    """Of an event on the replica that executes its run, including its share of the storage."""
    delivery: float
    """Of sending an event to one follower."""
    event_database: float
    adoption: float
    """Of adopting a run and resuming it, on the replica."""
    adoption_database: float
    follow: float
    """Of a follower that reconnects, on the replica."""
    follow_database: float
    beat_database: float
    flush_database: float
    """Of the fixed part of a transaction that stores events."""


@dataclass(frozen=True)
class Deployment:
    """Machines with one replica and one processor each, on one database."""

    machines: int
    runs: int
    """Runs on each machine."""
    followers: int = 1
    """Followers of each run."""
    events: float = 20.0
    """Events per second of each run."""
    database_cores: int = 8
    lease: float = 6.0
    beat: float = 2.0
    flush: float = 0.08
    claim_most: int | None = None
    """How many runs a replica adopts at once. None: all of them."""
    back: tuple[float, float] = (0.5, 1.5)
    """The shortest and longest delay after which a disconnected client retries, in seconds."""


class FaultOutcome(NamedTuple):
    """The outcome of a fault. Times are seconds after it."""

    adopted_half: float
    adopted_all: float
    back_half: float
    back_all: float
    most_taken: int
    """Runs that one machine adopted."""
    busiest: float
    """The share of its processor that the busiest machine needs afterwards: above 1 it falls behind."""
    database: float
    """The share of the database that the steady load needs afterwards."""
    latest_beat: float
    """The longest delay of a heartbeat. Beyond `lease - beat` a living machine is taken for dead."""


class _Database:
    """Several processors that take jobs in order, less the share of the steady load."""

    def __init__(self, cores: int, busy: float) -> None:
        self._free = [0.0] * cores
        self._speed = max(1.0 - busy, 0.02)

    def done(self, now: float, work: float) -> float:
        started = max(now, heapq.heappop(self._free))
        ended = started + work / self._speed
        heapq.heappush(self._free, ended)
        return ended

    def wait(self, now: float) -> float:
        return max(0.0, self._free[0] - now)


@dataclass
class _Machine:
    deployment: Deployment
    costs: Costs
    runs: int
    phase: float
    free: float = 0.0
    pending: int = 0
    """Adoptions in progress."""
    taken: int = 0

    @property
    def busy(self) -> float:
        """The share of its processor that its runs and their followers need."""
        deployment, costs = self.deployment, self.costs
        return self.runs * deployment.events * (costs.event + deployment.followers * costs.delivery)

    def done(self, now: float, work: float) -> float:
        started = max(now, self.free)
        self.free = started + work / max(1.0 - self.busy, 0.05)
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


def database_share(deployment: Deployment, costs: Costs, machines: int, runs: int) -> float:
    """The share of the database for heartbeats, transactions that store events, and the events in them."""
    steady = machines * (costs.beat_database / deployment.beat + costs.flush_database / deployment.flush)
    return (steady + runs * deployment.events * costs.event_database) / deployment.database_cores


class _Deaths:
    """`dead` machines end at once; the others notice one after the other."""

    def __init__(self, deployment: Deployment, costs: Costs, dead: int, seed: int) -> None:
        self.deployment, self.costs = deployment, costs
        self.chance = random.Random(seed)
        living = deployment.machines - dead
        self.machines = [
            _Machine(deployment, costs, deployment.runs, self.chance.uniform(0, deployment.beat)) for _ in range(living)
        ]
        self.busy = database_share(deployment, costs, living, deployment.machines * deployment.runs)
        self.database = _Database(deployment.database_cores, self.busy)
        self.agenda = _Agenda()
        # A machine dies between two heartbeats, so its lease ends that much earlier.
        self.leases = sorted(deployment.lease - self.chance.uniform(0, deployment.beat) for _ in range(dead))
        self.orphans = 0
        self.adopted: list[float] = []
        self.back: list[float] = []
        self.latest = 0.0

    def simulate(self) -> FaultOutcome:
        total = len(self.leases) * self.deployment.runs
        for at in self.leases:
            self.agenda.add(at, self._expire)
        for machine in self.machines:
            self.agenda.add(machine.phase, self._beats(machine))
        for _ in range(total * self.deployment.followers):
            self.agenda.add(self.chance.uniform(*self.deployment.back), self._return)
        horizon = 0.0
        while len(self.adopted) < total and horizon < 3600:
            horizon += 60
            self.agenda.run(horizon)
        self.agenda.run(horizon + 60)
        return FaultOutcome(
            _at(self.adopted, 0.5), _at(self.adopted, 1), _at(self.back, 0.5), _at(self.back, 1),
            max(machine.taken for machine in self.machines), max(machine.busy for machine in self.machines),
            self.busy, self.latest,
        )  # fmt: skip

    def _expire(self, _: float) -> None:
        self.orphans += self.deployment.runs

    def _beats(self, machine: _Machine) -> Callable[[float], None]:
        def act(now: float) -> None:
            # The heartbeat waits for one step of each adoption, a fifth of it, and then in the queue of the database.
            late = machine.pending * self.costs.adoption / 5 + self.database.wait(now)
            self.latest = max(self.latest, late)
            self.database.done(now, self.costs.beat_database)
            self._claim(machine, now)
            self.agenda.add(now + self.deployment.beat, act)

        return act

    def _claim(self, machine: _Machine, now: float) -> None:
        most = self.orphans if self.deployment.claim_most is None else min(self.orphans, self.deployment.claim_most)
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


def deaths(deployment: Deployment, costs: Costs, dead: int, *, seed: int = 1) -> FaultOutcome:
    """That many machines die at the same moment."""
    return _Deaths(deployment, costs, dead, seed).simulate()


def cells(
    deployment: Deployment, costs: Costs, dead: int, *, size: int, seed: int = 1
) -> list[tuple[int, FaultOutcome]]:
    """The same deployment in cells of `size` machines with a database each: the deaths in each cell, and the outcome
    there."""
    rng = random.Random(seed)
    lost = [0] * (deployment.machines // size)
    for machine in rng.sample(range(len(lost) * size), dead):
        lost[machine // size] += 1
    cell = replace(deployment, machines=size)
    return [(count, deaths(cell, costs, count, seed=seed + at)) for at, count in enumerate(lost) if 0 < count < size]


class UpgradeOutcome(NamedTuple):
    """What a rolling upgrade of all machines does to runs."""

    seconds: float
    interrupted: float
    """How often a run was handed over, on average over the runs during the upgrade."""
    worst: int
    busiest: float
    """The largest share of its processor that any machine needed at any time."""


def upgrade(
    deployment: Deployment, costs: Costs, *, pause: float = 15.0, run_seconds: float = 60.0, seed: int = 1
) -> UpgradeOutcome:
    """Machines stop gracefully and come back empty after `pause` seconds, one after the other. Runs end and begin all
    the time, on machines in turn, and last `run_seconds` on average."""
    rng = random.Random(seed)
    homes: list[list[_Run]] = [[] for _ in range(deployment.machines)]
    seen: list[_Run] = []
    for machine in range(deployment.machines):
        homes[machine] = [_Run(rng.expovariate(1 / run_seconds)) for _ in range(deployment.runs)]
        seen += homes[machine]
    busiest, now = 0.0, 0.0
    share = deployment.events * (costs.event + deployment.followers * costs.delivery)
    for down in range(deployment.machines):
        living = [machine for machine in range(deployment.machines) if machine != down]
        orphans, homes[down] = homes[down], []
        for run, machine in zip(orphans, _adoption_counts(deployment, living, len(orphans), rng), strict=True):
            run.moves += 1
            homes[machine].append(run)
        busiest = max(busiest, share * max(map(len, homes)))
        now += pause
        for machine in range(deployment.machines):
            homes[machine] = [run for run in homes[machine] if run.ends > now]
        # Ended runs are replaced: half of them before the machine is back, half after it.
        missing = deployment.machines * deployment.runs - sum(map(len, homes))
        for number in range(missing):
            run = _Run(now + rng.expovariate(1 / run_seconds))
            seen.append(run)
            homes[living[number % len(living)] if number % 2 else number % deployment.machines].append(run)
    moves = [run.moves for run in seen]
    return UpgradeOutcome(now, sum(moves) / len(moves), max(moves), busiest)


@dataclass
class _Run:
    ends: float
    moves: int = 0


def _adoption_counts(deployment: Deployment, living: list[int], orphans: int, rng: random.Random) -> Iterable[int]:
    """How many runs each machine adopts: in the order of their next look, at most the limit at once."""
    order = rng.sample(living, len(living))
    most = orphans if deployment.claim_most is None else deployment.claim_most
    return [order[(number // max(1, most)) % len(order)] for number in range(orphans)]


def reconnects(deployment: Deployment, costs: Costs, *, seed: int = 1) -> FaultOutcome:
    """All streams are cut at once, as by a balancer that is restarted; no machine dies."""
    storm = _Deaths(deployment, costs, 0, seed)
    for _ in range(deployment.machines * deployment.runs * deployment.followers):
        storm.agenda.add(storm.chance.uniform(*deployment.back), storm._return)  # noqa: SLF001 - one subject
    return storm.simulate()


def _at(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[max(0, int(len(ordered) * share) - 1)] if ordered else 0.0
