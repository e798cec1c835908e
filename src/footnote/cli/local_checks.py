"""What a check of `footnote doctor` is, and the checks of this installation: configuration, home folder, extras, the
sandbox with what it makes, and where data is stored."""

# ruff: noqa: PLC0415 - the fonts are found with the typesetter, which need not be installed

import asyncio
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.bus import open_bus
from footnote.config.environment import process_environment
from footnote.config.formats import mask_url
from footnote.config.load import Configuration
from footnote.config.validation import Problem
from footnote.db.engine import Database
from footnote.db.library import list_pages
from footnote.documents.extract import UnreadableDocument
from footnote.net.client import Net
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import FootnoteError
from footnote.sandbox.jobs import ConvertDocument
from footnote.sandbox.pool import SandboxPool
from footnote.storage import open_storage
from footnote.web_search.crawl.crawler import Extractor
from footnote.workspace.text import pluralize

MIN_DISK_BYTES = 100 * 1024**2
RECOMMENDED_DISK_BYTES = 1024**3
CONVERT_TIMEOUT_SECONDS = 30.0
EXTRACT_TIMEOUT_SECONDS = 6.0
BUS_TIMEOUT_SECONDS = 5.0
INSTALL_CONVERT = 'pip install "footnote[convert]"'

_SAMPLE_MARKDOWN = "# Footnote\n\nTiếng Việt, 中文, 日本語, 한국어.\n"
_SAMPLE_PAGE = (
    b"<!doctype html><title>A page</title><article><h1>A page</h1><p>It says something to be read.</p></article>"
)


class CheckResult(Struct, frozen=True, omit_defaults=True):
    """The result of a check. `remedy`: what to do about it."""

    check: str
    status: Literal["OK", "WARN", "FAIL"]
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The input of the checks. With `problems`, `configuration` holds nothing but the home folder.

    `reachable`: which of the search and model providers that were contacted could be reached. `asks_models`: models are
    asked a question.
    """

    configuration: Configuration
    problems: tuple[Problem, ...]
    net: Net
    reachable: dict[str, bool] = field(default_factory=dict[str, bool])
    asks_models: bool = True


Check: TypeAlias = Callable[[CheckContext], AsyncIterator[CheckResult]]


# The set-up ------------------------------------------------------------------------------------------------


async def check_configuration(context: CheckContext) -> AsyncIterator[CheckResult]:
    for problem in context.problems:
        yield CheckResult("configuration", "FAIL", str(problem), "Correct this, then run `footnote doctor` again.")
    for ignored in context.configuration.ignored:
        message = f"{ignored.variable} is set, but {ignored.place} in {ignored.file} wins over it."
        yield CheckResult("configuration", "WARN", message, "Remove one of the two.")
    if context.problems:
        unchecked = (
            "keys, models, search, network, documents and tool servers were not checked; "
            "database and storage were, as they are without settings"
        )
        yield CheckResult("configuration", "WARN", unchecked, "Correct the problems above first.")
        return
    origins = context.configuration.origins.values()
    names = sorted({origin.name for origin in origins if origin.kind == "file"})
    where = " and ".join(names) or "no file; defaults and environment"
    yield CheckResult("configuration", "OK", f"valid ({where})")


async def check_home(context: CheckContext) -> AsyncIterator[CheckResult]:
    home = context.configuration.home
    folder = next(path for path in (home, *home.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        remedy = "Give yourself write access to it, or set FOOTNOTE_HOME to another folder."
        yield CheckResult("home", "FAIL", f"{folder} cannot be written to ({error.strerror})", remedy)
        return
    yield CheckResult("home", "OK", f"{home} is writable" if folder == home else f"{home} is created when needed")
    free = shutil.disk_usage(folder).free
    status = "OK" if free >= RECOMMENDED_DISK_BYTES else "WARN" if free >= MIN_DISK_BYTES else "FAIL"
    remedy = "" if status == "OK" else "Free some space, or set FOOTNOTE_HOME to a folder on another disk."
    yield CheckResult("disk", status, f"{free / 1024**3:.1f} GiB free in {folder}", remedy)


EXTRAS = (
    ("rich", "terminal", "formatted answers"),
    ("pypdfium2", "documents", "PDF pages"),
    ("python_calamine", "documents", "spreadsheets"),
    ("typst", "convert", "PDF and Word documents"),
    ("mcp", "mcp", "MCP tool servers"),
)


async def check_extras(_: CheckContext) -> AsyncIterator[CheckResult]:
    for package, extra, purpose in EXTRAS:
        if find_spec(package):
            yield CheckResult("extras", "OK", f"{package} is installed ({purpose})")
        else:
            remedy = f'pip install "footnote[{extra}]"'
            yield CheckResult("extras", "WARN", f"{package} is not installed; it is needed for {purpose}", remedy)


# The sandbox, and documents that are made in it ------------------------------------------------------------


async def check_fonts(_: CheckContext) -> AsyncIterator[CheckResult]:
    """Documents are also made without them, with boxes instead of the letters of those scripts."""
    try:
        from footnote.documents.out.typesetter import missing_fonts
    except ImportError:
        message = "the typesetter is not installed, so nothing can be converted to PDF"
        yield CheckResult("fonts", "WARN", message, INSTALL_CONVERT)
        return
    missing = await asyncio.to_thread(missing_fonts)
    if missing:
        message = f"{', '.join(missing)} not found: documents show boxes for text in these scripts"
        yield CheckResult("fonts", "WARN", message, INSTALL_CONVERT)
    else:
        yield CheckResult("fonts", "OK", "all fonts for documents are installed; those of this machine are not needed")


async def check_converter(_: CheckContext) -> AsyncIterator[CheckResult]:
    """Converts one page in the sandbox, as every document is."""
    began = time.monotonic()
    conversion = ConvertDocument(target="pdf", markdown=_SAMPLE_MARKDOWN, filename="sample.md")
    try:
        async with SandboxPool(environ=process_environment()) as sandbox:
            made = await sandbox.run(conversion, CONVERT_TIMEOUT_SECONDS)
    except FootnoteError as error:
        remedy = INSTALL_CONVERT if INSTALL_CONVERT in error.message else "Install Footnote again, and look at its log."
        message = error.message.removesuffix(f": {INSTALL_CONVERT}")
        yield CheckResult("converter", "WARN" if remedy == INSTALL_CONVERT else "FAIL", message, remedy)
        return
    took = round((time.monotonic() - began) * 1000)
    size = f"{len(made.content) / 1024:.0f} KiB"
    yield CheckResult(
        "converter", "OK", f"a page became a PDF of {size} in {took} ms, including the start of the process"
    )


async def check_page_reading(_: CheckContext) -> AsyncIterator[CheckResult]:
    """Whether a page can be parsed, which is done in a sandboxed process."""
    began = time.monotonic()
    try:
        async with SandboxPool(environ=process_environment()) as sandbox:
            await Extractor(sandbox).extract(
                _SAMPLE_PAGE, "text/html; charset=utf-8", "https://a.example/", seconds=EXTRACT_TIMEOUT_SECONDS
            )
    except Exception as error:  # noqa: BLE001 - a process that does not start can fail with anything
        reason = error.reason if isinstance(error, UnreadableDocument) else type(error).__name__
        remedy = "Install Footnote again; if that does not help, check whether this machine lets it start processes."
        yield CheckResult("reading", "FAIL", f"a page could not be parsed: {reason}", remedy)
        return
    took = round((time.monotonic() - began) * 1000)
    yield CheckResult("reading", "OK", f"a page was parsed in {took} ms, including the start of the process")


# Where data is stored, and the bus to other replicas --------------------------------------------------------


async def check_database(context: CheckContext) -> AsyncIterator[CheckResult]:
    """Opens the database and counts the pages of the library. A file that does not exist is not created."""
    configuration = context.configuration
    file = _database_file(configuration)
    try:
        async with Database.open(configuration.settings.database.url, configuration.home) as database:
            if file is not None and not file.exists():
                yield CheckResult("database", "OK", f"{file} is created when the first page is read")
                return
            kinds = Counter(page.kind for page in await database.read(list_pages(LOCAL_USER)))
    except FootnoteError as error:
        remedy = "Until then no page is stored, and no footnote can be opened later."
        yield CheckResult("database", "FAIL", error.message, remedy)
        return
    counts = (
        pluralize(kinds["web"], "page"),
        pluralize(kinds["upload"], "file"),
        f"{kinds['documentation']} of documentation",
    )
    library = f"the library holds {', '.join(counts)}"
    if file is None:
        yield CheckResult("database", "OK", f"{mask_url(configuration.settings.database.url)} opens: {library}")
    else:
        yield CheckResult("database", "OK", f"{file} opens: {library}; {file.stat().st_size / 1024**2:.1f} MiB")


def _database_file(configuration: Configuration) -> Path | None:
    """The file of a SQLite database."""
    scheme, _, rest = configuration.settings.database.url.partition(":")
    return configuration.home / Path(rest).expanduser() if scheme == "sqlite" else None


async def check_storage(context: CheckContext) -> AsyncIterator[CheckResult]:
    """Writes, reads and deletes a few bytes. A folder that does not exist is not created."""
    configuration = context.configuration
    url = configuration.settings.storage.url
    if absent := _missing_folder(configuration):
        yield CheckResult("storage", "OK", f"{absent} is created when the first large file is stored")
        return
    try:
        storage = open_storage(url, configuration.home, process_environment(), context.net)
        try:
            await storage.check()
        finally:
            await storage.close()
    except FootnoteError as error:
        remedy = "Until then no upload and no large file can be stored. Check storage.url."
        yield CheckResult("storage", "FAIL", error.message, remedy)
        return
    yield CheckResult("storage", "OK", f"{url.partition('?')[0]} can be written, read and deleted from")


def _missing_folder(configuration: Configuration) -> Path | None:
    scheme, _, folder = configuration.settings.storage.url.partition(":")
    path = configuration.home / Path(folder).expanduser()
    return path if scheme == "local" and not path.exists() else None


async def check_bus(context: CheckContext) -> AsyncIterator[CheckResult]:
    """The connection to other replicas. Without it nothing is lost: they poll the database, and notice later."""
    settings = context.configuration.settings
    if settings.bus.url == "local:":
        if settings.database.url.startswith("sqlite:"):
            yield CheckResult("bus", "OK", "this machine only")
            return
        remedy = "Set bus.url to redis://HOST:PORT, or to postgresql: for the database itself."
        yield CheckResult(
            "bus", "WARN", "replicas notice each other's changes late, and each counts limits on its own", remedy
        )
        return
    name = mask_url(settings.bus.url)
    try:
        async with Database.open(settings.database.url, context.configuration.home) as database:
            bus = open_bus(settings.bus.url, settings.database.url, database)
            with bus.listen("doctor") as listener:
                is_ready = await listener.wait_ready(BUS_TIMEOUT_SECONDS)
            await bus.close()
    except FootnoteError as error:
        yield CheckResult("bus", "FAIL", error.message, "Check bus.url.")
        return
    if is_ready:
        yield CheckResult("bus", "OK", f"{name} answers")
    else:
        remedy = (
            "Until then replicas notice each other's changes late, and each counts limits on its own. Check bus.url."
        )
        yield CheckResult("bus", "WARN", f"{name} does not answer", remedy)
