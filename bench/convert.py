"""The cost of converting a report to PDF and DOCX, compared with the bare typesetter and pandoc in the same run.

    .venv/bin/python bench/convert.py                  CPU of both conversions, the sandbox's share, installed size

Each conversion runs in a forked copy of a process that has everything loaded, because the typesetter caches what it has
set. The bar of DOCX applies to a process that has called `docx.prepare` too; the rows beside it are without that call,
and from a cold start. Users get the row of the sandbox. The report is that of the tests, with about 60 pages.
"""

import argparse
import asyncio
import gc
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import convert_installed
import venvs
from report import Table, conclude

sys.path.append(str(venvs.ROOT / "tests"))

import pypdfium2
import typst

from documents.samples import long_report
from footnote.documents.markdown import parse_document
from footnote.documents.out.docx import prepare, render_docx
from footnote.documents.out.pdf import render_pdf
from footnote.documents.out.typesetter import load_fonts
from footnote.documents.tree import Document
from footnote.protocol.sources import Citation, ProofCounts, Verdict
from footnote.sandbox.jobs import ConvertDocument, ConvertedDocument, DocumentProof, DoubtfulStatement, Target
from footnote.sandbox.pool import SandboxPool

MAX_TYPST_RATIO, MAX_PANDOC_RATIO = 1.5, 0.5
LINE = ConvertDocument(target="docx", markdown="One line.", filename="line.md")
MADE_AT = 1_700_000_000
_SENTENCE = re.compile(r"[A-ZĐ][^.\n|#*`$\[\]>]{30,200}\.")
_VERDICTS: tuple[Verdict, ...] = ("partial", "contradicted", "unsupported", "uncited", "unread")
PREPARED = "DOCX, pandoc; prepared"
MARKED = "DOCX, a tenth of the statements marked, pandoc; prepared"
LOADED = "DOCX, pandoc; loaded, not prepared"
FROM_NOTHING = "DOCX, pandoc; Python started from nothing"


class Pairs(NamedTuple):
    """CPU seconds of ours and of the reference, in alternation."""

    ours: list[float]
    theirs: list[float]

    @property
    def ratio(self) -> str:
        ratios = [mine / other for mine, other in zip(self.ours, self.theirs, strict=True)]
        return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"

    def holds(self, at_most: float) -> bool:
        ratios = [mine / other for mine, other in zip(self.ours, self.theirs, strict=True)]
        return statistics.median(ratios) <= at_most


def fork_cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of some work in a forked copy of this process, of all its threads."""
    process = os.fork()
    if not process:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the copy must not go on as if it were the original
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit("a conversion failed")
    return used.ru_utime + used.ru_stime


def program_cpu_seconds(command: list[str], folder: Path) -> float:
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise SystemExit(f"{command[0]} failed")
    return used.ru_utime + used.ru_stime


def measure_pairs(ours: Callable[[], float], theirs: Callable[[], float], reps: int) -> Pairs:
    ours()
    theirs()
    pairs: list[tuple[float, float]] = []
    for rep in range(reps):
        # The order alternates, so that neither always finds the caches as the other left them.
        if rep % 2:
            mine = ours()
            pairs.append((mine, theirs()))
        else:
            other = theirs()
            pairs.append((ours(), other))
    return Pairs([mine for mine, _ in pairs], [other for _, other in pairs])


def report(target: Target, *, marked: bool = False) -> ConvertDocument:
    """`marked`: every tenth sentence is one that its source does not support."""
    markdown, images = long_report()
    proof = _proof(markdown) if marked else None
    return ConvertDocument(
        target=target, markdown=markdown, filename="report.md", images=images, proof=proof, made_at=MADE_AT
    )


def _proof(markdown: str) -> DocumentProof:
    spans = [found.span() for found in _SENTENCE.finditer(markdown)]
    doubtful = tuple(
        DoubtfulStatement(
            start,
            end,
            verdict,
            (Citation("[1]", 1, start, end, verdict, quote=markdown[start:end], missing=f"part {at}"),),
        )
        for at, (start, end) in enumerate(spans[::10])
        for verdict in (_VERDICTS[at % len(_VERDICTS)],)
    )
    return DocumentProof(ProofCounts(len(spans), len(spans) - len(doubtful)), doubtful)


def convert(conversion: ConvertDocument) -> ConvertedDocument:
    document = parse_document(conversion)
    assert isinstance(document, Document), document
    made = render_pdf(document, conversion) if conversion.target == "pdf" else render_docx(document, conversion)
    assert isinstance(made, ConvertedDocument), made
    return made


# The typesetter alone ----------------------------------------------------------------------------------------------


def save_typst_source(folder: Path, conversion: ConvertDocument) -> None:
    """Writes the input that the converter gives to the typesetter into the folder: its source and its images."""

    bare: Any = typst.Compiler

    class MeasuredProcess:
        def __init__(self, *, root: str, **settings: Any) -> None:
            self._root = Path(root)
            self._compiler = bare(root=root, **settings)

        def compile(self, *, input: bytes, **settings: Any) -> Any:  # noqa: A002 - the name in the library
            for file in self._root.rglob("*"):
                if file.is_file():
                    target = folder / file.relative_to(self._root)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(file.read_bytes())
            (folder / "report.typ").write_bytes(input)
            return self._compiler.compile(input=input, **settings)

    # In a forked copy, which ends afterwards.
    vars(typst)["Compiler"] = MeasuredProcess
    convert(conversion)


def compile_bare(folder: Path) -> bytes:
    compiler = typst.Compiler(root=str(folder), font_paths=load_fonts(), ignore_system_fonts=True)
    made = compiler.compile(
        input=(folder / "report.typ").read_bytes(), format="pdf", pdf_standards=["ua-1"], timestamp=MADE_AT
    )
    assert isinstance(made, bytes)
    return made


def as_pdf(folder: Path, reps: int, *, marked: bool = False) -> Pairs:
    conversion = report("pdf", marked=marked)
    fork_cpu_seconds(lambda: save_typst_source(folder, conversion))
    fork_cpu_seconds(lambda: _compare(convert(conversion).content, compile_bare(folder)))
    return measure_pairs(
        lambda: fork_cpu_seconds(lambda: convert(conversion)),
        lambda: fork_cpu_seconds(lambda: compile_bare(folder)),
        reps,
    )


def _compare(ours: bytes, bare: bytes) -> None:
    """Checks that both files are the report, with about the expected number of pages."""
    pages = [len(pypdfium2.PdfDocument(content)) for content in (ours, bare)]
    assert pages[0] == pages[1], pages
    assert 50 <= pages[0] <= 80, pages


# Pandoc ------------------------------------------------------------------------------------------------------------


def as_docx(folder: Path, reps: int) -> dict[str, Pairs]:
    """By how much of the process was loaded before: pandoc always starts cold."""
    pandoc = next((venvs.peer("pandoc").site_packages / "pypandoc" / "files").glob("pandoc*"))
    conversion = report("docx")
    (folder / "report.md").write_text(conversion.markdown, encoding="utf-8")
    for name, content in conversion.images.items():
        (folder / name.lstrip("/")).write_bytes(content)
    command = [
        str(pandoc), "--from", "gfm-raw_html+tex_math_dollars+footnotes", "--resource-path", str(folder),
        "--output", "pandoc.docx", "report.md",
    ]  # fmt: skip
    alone = [sys.executable, str(venvs.BENCH / "convert_alone.py")]

    def ours() -> float:
        return fork_cpu_seconds(lambda: convert(conversion))

    def theirs() -> float:
        return program_cpu_seconds(command, folder)

    with_marks = report("docx", marked=True)
    nothing = measure_pairs(lambda: program_cpu_seconds(alone, folder), theirs, reps)
    loaded = measure_pairs(ours, theirs, reps)
    prepare()
    gc.collect()
    gc.freeze()
    marked = measure_pairs(lambda: fork_cpu_seconds(lambda: convert(with_marks)), theirs, reps)
    return {
        PREPARED: measure_pairs(ours, theirs, reps),
        MARKED: marked,
        LOADED: loaded,
        FROM_NOTHING: nothing,
    }


# The sandbox ------------------------------------------------------------------------------------------------------


def cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


async def in_sandbox(conversion: ConvertDocument, times: int) -> float:
    """CPU seconds for each job, of all processes, without their start."""

    async def run(count: int) -> float:
        start = cpu_seconds()
        async with SandboxPool(environ=os.environ) as sandbox:
            for _ in range(count):
                await sandbox.run(conversion)
        return cpu_seconds() - start

    short = await run(1)
    return (await run(times + 1) - short) / times


def through_sandbox(reps: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    subjects = ("one line as DOCX", LINE, 20 * reps), ("report as DOCX", report("docx"), 3 * reps)
    for name, conversion, times in (*subjects, ("report as PDF", report("pdf"), reps)):
        whole = asyncio.run(in_sandbox(conversion, times))
        bare = statistics.median(fork_cpu_seconds(lambda: convert(conversion)) for _ in range(max(3, reps)))  # noqa: B023 - called at once
        cells = (f"{seconds * 1e3:.1f}" for seconds in (whole, bare, whole - bare))
        rows.append((name, *cells, "", ""))
    return rows


# The tables --------------------------------------------------------------------------------------------------------


def _row(name: str, pairs: Pairs, at_most: float | None) -> tuple[str, ...]:
    costs = (f"{statistics.median(costs):.2f}" for costs in pairs)
    bar = ("", "") if at_most is None else (f"≤ {at_most} x", "pass" if pairs.holds(at_most) else "FAIL")
    return name, *costs, pairs.ratio, *bar


def measure(*, reps: int) -> list[Table]:
    columns = ("60 pages, CPU", "Footnote, s", "reference, s", "x", "bar", "")
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        rows.append(_row("PDF, typst alone on the same source", as_pdf(Path(folder), reps), MAX_TYPST_RATIO))
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        pairs = as_pdf(Path(folder), reps, marked=True)
        rows.append(_row("PDF, a tenth of the statements marked; typst alone", pairs, MAX_TYPST_RATIO))
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        try:
            found = as_docx(Path(folder), reps)
        except venvs.Unavailable as reason:
            rows.append((PREPARED, "-", "-", "-", "", f"not measured: {reason}"))
        else:
            rows += [
                _row(name, pairs, MAX_PANDOC_RATIO if name in (PREPARED, MARKED) else None)
                for name, pairs in found.items()
            ]
    sandboxed = ("CPU, ms a job", "through the sandbox", "in a copy of the process", "the sandbox's share", "", "")
    return [
        Table("A report as PDF and as DOCX", columns, rows),
        Table("The sandbox", sandboxed, through_sandbox(reps)),
        convert_installed.table(),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    arguments = parser.parse_args()
    if not hasattr(os, "fork"):
        raise SystemExit("This benchmark copies processes: it runs where there is fork.")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}\n")
    load_fonts()
    # As the sandbox does: objects that exist now are excluded from garbage collections, and so not copied by forks.
    gc.collect()
    gc.freeze()
    made = measure(reps=3 if arguments.quick else 9)
    conclude(made, strict=arguments.strict)


if __name__ == "__main__":
    main()
