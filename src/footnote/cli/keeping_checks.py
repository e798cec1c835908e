"""What `footnote doctor` finds about where things are kept, and about the way to other replicas."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from footnote.bus.opening import open_bus
from footnote.cli.findings import Examined, Finding
from footnote.config.configuration import Configuration
from footnote.config.kinds import masked_address
from footnote.db.engine import Database
from footnote.db.library import pages
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import FootnoteError
from footnote.workspace.text import counted

BUS_SECONDS = 5.0


async def database_opens(examined: Examined) -> AsyncIterator[Finding]:
    """Whether what is read can be kept, and how much the library holds. A file that is not there is not made here."""
    configuration = examined.configuration
    file = _file_of(configuration)
    try:
        async with Database.open(configuration.settings.database.url, configuration.home) as database:
            if file is not None and not file.exists():
                yield Finding("database", "OK", f"{file} is made when the first page is read")
                return
            kinds = Counter(page.kind for page in await database.read(pages(LOCAL_USER)))
    except FootnoteError as error:
        remedy = "Until then nothing that is read is kept, and no footnote can be opened later."
        yield Finding("database", "FAIL", error.message, remedy)
        return
    kept = (
        counted(kinds["web"], "page"),
        counted(kinds["upload"], "file"),
        f"{kinds['documentation']} of documentation",
    )
    held = f"the library holds {', '.join(kept)}"
    if file is None:
        yield Finding("database", "OK", f"{masked_address(configuration.settings.database.url)} opens: {held}")
    else:
        yield Finding("database", "OK", f"{file} opens: {held}; {file.stat().st_size / 1024**2:.1f} MiB")


async def bus_answers(examined: Examined) -> AsyncIterator[Finding]:
    """The way to other replicas. Without it nothing is lost: they look for themselves, and later."""
    settings = examined.configuration.settings
    if settings.bus.url == "local:":
        if settings.database.url.startswith("sqlite:"):
            yield Finding("bus", "OK", "this machine alone")
            return
        remedy = "Set bus.url to redis://HOST:PORT, or to postgresql: for the database itself."
        yield Finding("bus", "WARN", "replicas hear of each other late, and count limits each for itself", remedy)
        return
    name = masked_address(settings.bus.url)
    try:
        async with Database.open(settings.database.url, examined.configuration.home) as database:
            bus = open_bus(settings.bus.url, settings.database.url, database)
            with bus.listen("doctor") as listener:
                is_there = await listener.ready(BUS_SECONDS)
            await bus.close()
    except FootnoteError as error:
        yield Finding("bus", "FAIL", error.message, "Check bus.url.")
        return
    if is_there:
        yield Finding("bus", "OK", f"{name} answers")
    else:
        remedy = "Until then replicas hear of each other late, and count limits each for itself. Check bus.url."
        yield Finding("bus", "WARN", f"{name} does not answer", remedy)


def _file_of(configuration: Configuration) -> Path | None:
    """Where the database is a file."""
    scheme, _, rest = configuration.settings.database.url.partition(":")
    return configuration.home / Path(rest).expanduser() if scheme == "sqlite" else None
