"""The cost of the page in the browser: a streamed answer, a long session, the script before the first paint.

    .venv/bin/python bench/page.py             about five minutes
    .venv/bin/python bench/page.py --quick     one repetition of each

All times are CPU time of the page's main thread, as Chromium measures it. The references, streamdown and
react-markdown, run in the same browser, in alternation, with the same React; bench/README.md says what each figure
means.
"""

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import page_answer
import page_built
import page_session
import venvs
from measure import Figures
from page_browser import Tab, browser
from report import Table, conclude

MAX_STREAM_RATIO = 0.6
MAX_SESSION_RATIO = 1.0
MAX_SCRIPT_KB = 200
MAX_LATER_KB = 400
STREAMED = "footnote", "streamdown"


def _log(progress: str) -> None:
    print(f"{progress} …", file=sys.stderr, flush=True)


def stream(opened: Callable[..., Tab], compared: Path, *, reps: int) -> Figures:
    """One answer, drawn after every delta, and once more as a whole at its end."""
    pieces = page_answer.deltas(page_answer.answer())
    spent: dict[str, list[float]] = {name: [] for name in STREAMED}
    with page_built.serve_folder(compared) as address:
        for rep in range(reps):
            for name in STREAMED[:: -1 if rep % 2 else 1]:
                _log(f"a stream through {name}, {rep + 1} of {reps}")
                tab = opened(f"{address}/{name}.html")
                spent[name].append(_measure_stream(tab, pieces))
                tab.page.context.close()
    ratios = [ours / theirs for ours, theirs in zip(*spent.values(), strict=True)]
    return {
        **{name: {"s": statistics.median(found) / 1e3} for name, found in spent.items()},
        "deltas": len(pieces),
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
    }


def _measure_stream(tab: Tab, pieces: list[str]) -> float:
    shown: list[int] = []
    spent = tab.measure_ms(lambda: shown.append(tab.page.evaluate("pieces => window.stream(pieces)", pieces)))
    if shown[0] < sum(map(len, pieces)) // 2:
        raise SystemExit("most of the answer is not there")
    return spent


def measure(*, quick: bool) -> Figures:
    _log("building")
    compared = page_built.build_references()
    sizes = page_built.sizes(page_built.page())
    _log(f"a session of {page_session.MESSAGES} messages")
    with page_session.serve_session(compared) as address, browser() as opened:
        session = page_session.measure(opened, address, compared, reps=1 if quick else 5)
        streamed = stream(opened, compared, reps=1 if quick else 5)
    return {"stream": streamed, "session": session, "sizes": sizes._asdict()}


def _spread(figures: Figures) -> str:
    return f"{figures['ratio']:.2f} ({figures['low']:.2f} to {figures['high']:.2f})"


def _verdict(holds: bool) -> str:
    return "pass" if holds else "FAIL"


def _stream_table(found: Figures) -> Table:
    columns = ("CPU", "s an answer", "ms a delta", "x streamdown", "bar", "")
    bar = f"≤ {MAX_STREAM_RATIO} x", _verdict(found["ratio"] <= MAX_STREAM_RATIO)
    rows = [
        (title, f"{found[key]['s']:.2f}", f"{found[key]['s'] * 1e3 / found['deltas']:.2f}", ratio, *held)
        for title, key, ratio, held in (
            ("streamdown 2.7.1", "streamdown", "1", ("", "")),
            ("Footnote", "footnote", _spread(found), bar),
        )
    ]
    return Table("An answer of 60,000 characters in 5,000 deltas", columns, rows)


def _session_table(found: Figures) -> Table:
    columns = ("CPU", "messages drawn", "ms", "elements", "x react-markdown", "bar", "")
    whole, drawn = str(page_session.MESSAGES), str(page_session.DRAWN)
    bar = f"≤ {MAX_SESSION_RATIO:g} x", _verdict(found["ours"]["ratio"] <= MAX_SESSION_RATIO)

    def ratio(key: str) -> str:
        return "1" if key == "theirs" else _spread(found[key])

    rows = [
        (title, messages, f"{found[key]['task_ms']:.0f}", f"{found[key]['nodes']:.0f}", ratio(key), *held)
        for title, messages, key, held in (
            ("react-markdown 10.1, messages alone", whole, "theirs", ("", "")),
            ("Footnote, the page as it opens", drawn, "ours", bar),
            ("react-markdown 10.1, messages alone", drawn, "theirs_last", ("", "")),
            ("Footnote, after asking for all earlier ones", whole, "ours_whole", ("", "")),
        )
    ]
    return Table(f"Opening a session of {page_session.MESSAGES} messages", columns, rows)


def _size_table(found: Figures) -> Table:
    columns = ("gzip", "kB", "bar", "")
    script, later = found["script"], found["largest_later"]
    rows = [
        ("script at first paint", f"{script:.0f}", f"≤ {MAX_SCRIPT_KB}", _verdict(script <= MAX_SCRIPT_KB)),
        ("styles at first paint", f"{found['style']:.0f}", "", ""),
        (
            f"largest script that comes later, {found['largest_name'].partition('-')[0]}",
            f"{later:.0f}",
            f"≤ {MAX_LATER_KB}",
            _verdict(later <= MAX_LATER_KB),
        ),
    ]
    return Table("What is loaded", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one repetition of each")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    try:
        figures = measure(quick=arguments.quick)
    except venvs.Unavailable as reason:
        print(f"The page was not measured: {reason}")
        sys.exit(arguments.strict)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    print(f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}\n")
    made = [_stream_table(figures["stream"]), _session_table(figures["session"]), _size_table(figures["sizes"])]
    conclude(made, strict=arguments.strict)


if __name__ == "__main__":
    main()
