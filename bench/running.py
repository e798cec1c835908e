"""The command line of benchmarks that start processes: options, figures, tables, bars."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from measure import Figures
from report import Table, conclude


def run(
    about: str | None,
    quick: str,
    measure: Callable[..., Figures],
    tables: Callable[[Figures], Sequence[Table]],
) -> None:
    """Calls `measure` with `quick=`, and ends the process."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    if not Path("/proc/self/schedstat").exists():
        raise SystemExit("This benchmark reads CPU and memory of processes from /proc: it runs on Linux.")
    figures = measure(quick=arguments.quick)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}\n")
    made = tables(figures)
    conclude(made, strict=arguments.strict)
