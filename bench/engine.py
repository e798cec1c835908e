"""The cost of a turn in Footnote's engine, compared with a hand-written loop and other agent libraries in the same run.

    .venv/bin/python bench/engine.py             about four minutes; the first run also installs the peers
    .venv/bin/python bench/engine.py --quick     fewer repetitions, under a minute

All figures are CPU time, memory or size; none is wall time. bench/README.md says what each of them means.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import venvs
from measure import Figures
from report import conclude, tables
from subjects import FOOTNOTE, HAND_WRITTEN, PEERS, Subject


def _log(progress: str) -> None:
    print(f"{progress} …", file=sys.stderr, flush=True)


class Failed(SystemExit):
    """A process that was measured failed. Its message ends the run, unless the measurement is optional."""


def _json_of(python: Path | str, *arguments: str) -> Figures:
    """The output of a fresh process that can import the modules of this folder, without the environment of the
    caller."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(python), "-W", "ignore", *arguments]
    done = subprocess.run(command, cwd=venvs.BENCH, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def _environments(peers: tuple[Subject, ...]) -> dict[Subject, venvs.Environment | str]:
    """Where each subject is installed, or the reason why it is not."""
    found: dict[Subject, venvs.Environment | str] = {}
    for subject in (FOOTNOTE, *peers):
        try:
            found[subject] = venvs.core() if subject is FOOTNOTE else venvs.peer(subject.key)
        except venvs.Unavailable as error:
            found[subject] = str(error)
    return found


def _footprint(environments: dict[Subject, venvs.Environment | str], *, reps: int) -> Figures:
    figures: Figures = {
        subject.key: {"missing": place} for subject, place in environments.items() if isinstance(place, str)
    }
    places = {subject: place for subject, place in environments.items() if isinstance(place, venvs.Environment)}
    imports: dict[Subject, list[Figures]] = {HAND_WRITTEN: [], **{subject: [] for subject in places}}
    for _ in range(reps):
        for subject, samples in imports.items():
            python = places[subject].python if subject in places else sys.executable
            samples.append(_json_of(python, "-I", "import_cost.py", *subject.imports))
    for subject, samples in imports.items():
        medians = {name: statistics.median(sample[name] for sample in samples) for name in samples[0]}
        installed = places[subject].megabytes() if subject in places else 0.0
        figures[subject.key] = {**medians, "installed_mb": installed}
    return figures


def _peer(peer: Subject, place: venvs.Environment | str, *, reps: int) -> Figures:
    if isinstance(place, str):
        return {"missing": place}
    _log(peer.title)
    try:
        return _json_of(place.python, "-m", f"peers.{peer.key}", "--reps", str(reps))
    except Failed as error:
        return {"missing": str(error).splitlines()[-1]}


def measure(*, quick: bool, with_peers: bool) -> Figures:
    peers = PEERS if with_peers else ()
    environments = _environments(peers)
    _log("Footnote and the hand-written loop")
    ours = _json_of(sys.executable, "-m", "footnote_turn", *(["--quick"] if quick else []))
    theirs = {peer.key: _peer(peer, environments[peer], reps=2 if quick else 7) for peer in peers}
    _log("imports")
    return {
        "machine": _machine(),
        "in_process": {FOOTNOTE.key: ours["in_process"], **theirs},
        "http": ours["http"],
        "flat": ours["flat"],
        "footprint": _footprint(environments, reps=1 if quick else 5),
    }


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="the other libraries too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed or a row not measured")
    arguments = parser.parse_args()
    figures = measure(quick=arguments.quick, with_peers=arguments.peers)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    machine = figures["machine"]
    print(f"{machine['cores']} cores, Python {machine['python']}, {machine['system']}\n")
    made = tables(figures)
    conclude(made, strict=arguments.strict)


if __name__ == "__main__":
    main()
