"""What a run, an event and a stored megabyte cost on shared services, and what that means for many machines.

    .venv/bin/python bench/capacity.py                measures (about three minutes) and prints
    .venv/bin/python bench/capacity.py --write        and writes it into bench/capacity.json and the two pages below
    .venv/bin/python bench/capacity.py --known        takes the costs of bench/capacity.json; measures nothing

The model and the simulation are pure functions of the costs: the same costs give the same page.
"""

import argparse
import json
import sys
from pathlib import Path

from capacity_report import sections
from measure import Figures

ROOT = Path(__file__).resolve().parents[1]
FIGURES_FILE = ROOT / "bench" / "capacity.json"
SCALE = ROOT / "docs" / "scale.md"
METHODS = ROOT / "bench" / "README.md"
PAGES = {"costs": SCALE, "model": SCALE, "simulation": METHODS}
"""The page of each section."""


def _log(progress: str) -> None:
    print(f"{progress} …", file=sys.stderr, flush=True)


def updated_pages(made: dict[str, str]) -> dict[Path, str]:
    """The text of each page, with the sections between the markers replaced."""
    pages = {path: path.read_text(encoding="utf-8") for path in PAGES.values()}
    for name, text in made.items():
        path = PAGES[name]
        begin, end = f"<!-- {name}: written by bench/capacity.py -->", f"<!-- end of {name} -->"
        head, _, rest = pages[path].partition(begin)
        _, mark, tail = rest.partition(end)
        if not mark:
            raise SystemExit(f"{path} has no place for {name}")
        pages[path] = f"{head}{begin}\n\n{text.strip()}\n\n{end}{tail}"
    return pages


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the costs and the page")
    parser.add_argument("--known", action="store_true", help="take the costs that were measured before")
    parser.add_argument("--quick", action="store_true", help="the same as --known")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the costs there as well")
    parser.add_argument("--strict", action="store_true", help="there is no bar to miss here")
    arguments = parser.parse_args()
    figures: Figures
    if arguments.known or arguments.quick:
        figures = json.loads(FIGURES_FILE.read_text())
    else:
        from capacity_measure import measure  # noqa: PLC0415 - it needs the services
        from services import missing  # noqa: PLC0415 - found once the measurement is imported

        if unavailable := missing():
            print("\n".join(["What replicas cost was not measured:", *unavailable]))
            return
        figures = measure(_log)
    made = sections(figures)
    print("\n\n".join(made.values()))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    if arguments.write:
        FIGURES_FILE.write_text(json.dumps(figures, indent=1) + "\n")
        for path, text in updated_pages(made).items():
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
