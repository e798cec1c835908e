"""What `footnote doctor` finds about where things are kept, and about the way to other replicas."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from footnote.bus.factory import open_bus
from footnote.cli.findings import CheckContext, CheckResult
from footnote.config.configuration import Configuration
from footnote.config.formats import mask_url
from footnote.db.engine import Database
from footnote.db.library import list_pages
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import FootnoteError
from footnote.workspace.text import pluralize

BUS_TIMEOUT_SECONDS = 5.0


async def check_database(context: CheckContext) -> AsyncIterator[CheckResult]:
    """Whether what is read can be kept, and how much the library holds. A file that is not there is not made here."""
    configuration = context.configuration
    file = _database_file(configuration)
    try:
        async with Database.open(configuration.settings.database.url, configuration.home) as database:
            if file is not None and not file.exists():
                yield CheckResult("database", "OK", f"{file} is made when the first page is read")
                return
            kinds = Counter(page.kind for page in await database.read(list_pages(LOCAL_USER)))
    except FootnoteError as error:
        remedy = "Until then nothing that is read is kept, and no footnote can be opened later."
        yield CheckResult("database", "FAIL", error.message, remedy)
        return
    kept = (
        pluralize(kinds["web"], "page"),
        pluralize(kinds["upload"], "file"),
        f"{kinds['documentation']} of documentation",
    )
    held = f"the library holds {', '.join(kept)}"
    if file is None:
        yield CheckResult("database", "OK", f"{mask_url(configuration.settings.database.url)} opens: {held}")
    else:
        yield CheckResult("database", "OK", f"{file} opens: {held}; {file.stat().st_size / 1024**2:.1f} MiB")


async def check_bus(context: CheckContext) -> AsyncIterator[CheckResult]:
    """The way to other replicas. Without it nothing is lost: they look for themselves, and later."""
    settings = context.configuration.settings
    if settings.bus.url == "local:":
        if settings.database.url.startswith("sqlite:"):
            yield CheckResult("bus", "OK", "this machine alone")
            return
        remedy = "Set bus.url to redis://HOST:PORT, or to postgresql: for the database itself."
        yield CheckResult("bus", "WARN", "replicas hear of each other late, and count limits each for itself", remedy)
        return
    name = mask_url(settings.bus.url)
    try:
        async with Database.open(settings.database.url, context.configuration.home) as database:
            bus = open_bus(settings.bus.url, settings.database.url, database)
            with bus.listen("doctor") as listener:
                is_there = await listener.wait_ready(BUS_TIMEOUT_SECONDS)
            await bus.close()
    except FootnoteError as error:
        yield CheckResult("bus", "FAIL", error.message, "Check bus.url.")
        return
    if is_there:
        yield CheckResult("bus", "OK", f"{name} answers")
    else:
        remedy = "Until then replicas hear of each other late, and count limits each for itself. Check bus.url."
        yield CheckResult("bus", "WARN", f"{name} does not answer", remedy)


def _database_file(configuration: Configuration) -> Path | None:
    """Where the database is a file."""
    scheme, _, rest = configuration.settings.database.url.partition(":")
    return configuration.home / Path(rest).expanduser() if scheme == "sqlite" else None
