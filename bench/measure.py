"""The CPU time of one implementation of the turn, as a multiple of another one in the same process.

Repetitions of the two alternate, and the figure is the median of the paired ratios, so that a busy or slow machine
affects both sides and not the ratio. Standard library only.
"""

import argparse
import asyncio
import gc
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeAlias

from scenario import DELTAS, RUNS_AT_ONCE, Frames, check, hand_written, model_events

Turn: TypeAlias = Callable[[int], Awaitable[Frames]]
Figures: TypeAlias = dict[str, Any]


class Sample(NamedTuple):
    """One run: its CPU time in seconds and the number of its frames."""

    cpu: float
    frames: int


async def sample(turn: Turn, deltas: int, *, at_once: int = RUNS_AT_ONCE, times: int = 1) -> Sample:
    """The average of `times` rounds of `at_once` runs. Checking the last ones is not counted, and neither is the
    garbage of earlier runs."""
    gc.collect()
    start = time.process_time()
    for _ in range(times):
        done = await asyncio.gather(*(turn(deltas) for _ in range(at_once)))
    cpu = time.process_time() - start
    check(done[-1], deltas)
    return Sample(cpu / (times * at_once), len(done[-1]))


async def compare(turn: Turn, reference: Turn, *, reps: int, deltas: int = DELTAS) -> Figures:
    """`turn` against `reference`, twenty concurrent runs."""
    await sample(turn, 1)
    await sample(reference, 1)
    pairs: list[tuple[Sample, Sample]] = []
    for rep in range(reps):
        # The order alternates, so that neither always finds the caches as the other left them.
        if rep % 2:
            mine = await sample(turn, deltas)
            pairs.append((mine, await sample(reference, deltas)))
        else:
            floor = await sample(reference, deltas)
            pairs.append((await sample(turn, deltas), floor))
    return {
        **_spread([mine.cpu / floor.cpu for mine, floor in pairs]),
        "turn": _costs([mine for mine, _ in pairs], deltas),
        "reference": _costs([floor for _, floor in pairs], deltas),
    }


def _spread(ratios: list[float]) -> Figures:
    return {"ratio": statistics.median(ratios), "low": min(ratios), "high": max(ratios)}


def _costs(samples: list[Sample], deltas: int) -> Figures:
    """Cost per run, per model event and per frame: all get the same events; their frames differ a little."""
    run = statistics.median(sample.cpu for sample in samples)
    frames = samples[0].frames
    return {
        "run_ms": run * 1e3,
        "event_us": run * 1e6 / model_events(deltas),
        "frame_us": run * 1e6 / frames,
        "frames": frames,
    }


async def flatness(turn: Turn, *, reps: int, long: int = 20_000, short: int = DELTAS) -> Figures:
    """The cost of a delta in a long answer and in a short one, both without the cost of a turn without deltas."""
    ratios: list[float] = []
    costs: list[float] = []
    times = long // short
    await sample(turn, short, at_once=1)
    for _ in range(reps):
        empty = (await sample(turn, 1, at_once=1, times=times)).cpu
        in_short = ((await sample(turn, short, at_once=1, times=times)).cpu - empty) / (short - 1)
        in_long = ((await sample(turn, long, at_once=1)).cpu - empty) / (long - 1)
        ratios.append(in_long / in_short)
        costs.append(in_long)
    return {**_spread(ratios), "delta_us": statistics.median(costs) * 1e6, "long": long, "short": short}


async def in_process(turn: Turn, *, reps: int) -> Figures:
    """A scripted turn against the hand-written loop, and the cost of a turn with hardly any deltas."""
    await sample(turn, DELTAS, at_once=1)
    figures = await compare(turn, hand_written, reps=reps)
    empty = [(await sample(turn, 1)).cpu for _ in range(reps)]
    return {**figures, "empty_run_ms": statistics.median(empty) * 1e3}


def print_peer(turn: Turn) -> None:
    """The main function of a peer's process: prints one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--reps", type=int, default=5)
    reps = parser.parse_args().reps
    print(json.dumps(asyncio.run(in_process(turn, reps=reps))), flush=True)
