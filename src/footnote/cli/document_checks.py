"""What `footnote doctor` checks about documents: the fonts, the process that converts, and where files are kept."""

# ruff: noqa: PLC0415 - the fonts are found with the typesetter, which need not be installed

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

from footnote.cli.findings import CheckContext, CheckResult
from footnote.config.configuration import Configuration
from footnote.config.environment import process_environment
from footnote.protocol.errors import FootnoteError
from footnote.sandbox.jobs import ConvertDocument
from footnote.sandbox.pool import SandboxPool
from footnote.storage.factory import open_storage

INSTALL = 'pip install "footnote[convert]"'
PROBE_TIMEOUT_SECONDS = 30.0

_SAMPLE = "# Footnote\n\nTiếng Việt, 中文, 日本語, 한국어.\n"


async def check_fonts(_: CheckContext) -> AsyncIterator[CheckResult]:
    """Without them documents are made all the same, with boxes for the letters of those scripts."""
    try:
        from footnote.documents.fonts import missing_fonts
    except ImportError:
        message = "the typesetter is not installed; nothing can be converted to PDF"
        yield CheckResult("fonts", "WARN", message, INSTALL)
        return
    missing = await asyncio.to_thread(missing_fonts)
    if missing:
        message = f"{', '.join(missing)} cannot be found: documents show boxes for what is written in them"
        yield CheckResult("fonts", "WARN", message, INSTALL)
    else:
        yield CheckResult("fonts", "OK", "all fonts of documents are there; those of this machine are not needed")


async def check_converter(_: CheckContext) -> AsyncIterator[CheckResult]:
    """One page, made where all documents are made: in a process that can do nothing else."""
    began = time.monotonic()
    conversion = ConvertDocument(target="pdf", markdown=_SAMPLE, filename="sample.md")
    try:
        async with SandboxPool(environ=process_environment()) as sandbox:
            made = await sandbox.run(conversion, PROBE_TIMEOUT_SECONDS)
    except FootnoteError as error:
        remedy = INSTALL if INSTALL in error.message else "Install Footnote again, and look what its log says."
        message = error.message.removesuffix(f": {INSTALL}")
        yield CheckResult("converter", "WARN" if remedy == INSTALL else "FAIL", message, remedy)
        return
    took = round((time.monotonic() - began) * 1000)
    size = f"{len(made.content) / 1024:.0f} KiB"
    yield CheckResult(
        "converter", "OK", f"a page became a PDF of {size} in {took} ms, the start of the process included"
    )


async def check_storage(context: CheckContext) -> AsyncIterator[CheckResult]:
    """Writes, reads and deletes a few bytes. A folder that is not there is not made here."""
    configuration = context.configuration
    url = configuration.settings.storage.url
    if absent := _missing_folder(configuration):
        yield CheckResult("storage", "OK", f"{absent} is made when the first large file is kept")
        return
    try:
        storage = open_storage(url, configuration.home, process_environment(), context.net)
        try:
            await storage.check()
        finally:
            await storage.close()
    except FootnoteError as error:
        remedy = "Until then no upload and no large file can be kept. Check storage.url."
        yield CheckResult("storage", "FAIL", error.message, remedy)
        return
    yield CheckResult("storage", "OK", f"{url.partition('?')[0]} can be written, read and emptied")


def _missing_folder(configuration: Configuration) -> Path | None:
    scheme, _, folder = configuration.settings.storage.url.partition(":")
    path = configuration.home / Path(folder).expanduser()
    return path if scheme == "local" and not path.exists() else None
