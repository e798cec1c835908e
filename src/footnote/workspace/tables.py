"""Tables of a workspace a few rows at a time, as they are looked at."""

from collections import OrderedDict
from typing import Literal

from msgspec.structs import replace

from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.protocol.files import FileTable
from footnote.sandbox.jobs import ReadTable, TableRows
from footnote.sandbox.pool import SandboxPool
from footnote.workspace.files import OpenedFile

MAX_BYTES = 50_000_000
"""Of a file that is shown as a table."""
TIMEOUT_SECONDS = 20.0
PAGE_ROWS = 1_000
"""Read at once: whoever looks at some rows goes on to the next."""
MAX_CACHED_PAGES = 16
"""Pieces that are kept, so that going up and down in a table costs nothing."""
_MAX_CACHED_CELLS = 50_000
_FORMS: dict[str, Literal["csv", "tsv", "workbook"]] = {
    "csv": "csv",
    **dict.fromkeys(("tsv", "tab"), "tsv"),
    **dict.fromkeys(("xlsx", "xls", "ods"), "workbook"),
}


class Tables:
    """The last pieces that were looked at, by the content that they are of."""

    def __init__(self, sandbox: SandboxPool) -> None:
        self._sandbox = sandbox
        self._cache: OrderedDict[tuple[str, str, str | None, int], TableRows] = OrderedDict()

    async def rows(
        self, opened: OpenedFile, *, sheet: str | None, offset: int, limit: int, user_id: str = ""
    ) -> FileTable:
        """`WrongKind`: it is no table. `Unworkable`: it cannot be shown, and why."""
        name = opened.record.filename
        form = _FORMS.get(name.lower().rpartition(".")[2])
        if form is None:
            raise WrongKind(f"{name} is no table: CSV, TSV, XLSX and ODS are.")
        if opened.version.size > MAX_BYTES:
            raise UnprocessableFile(
                f"{name} is larger than {MAX_BYTES:,} bytes, and too large to be shown: download it."
            )
        asked = ReadTable(content=b"", filename=name, form=form, sheet=sheet, limit=PAGE_ROWS)
        first = await self._load_page(opened, replace(asked, offset=offset // PAGE_ROWS * PAGE_ROWS), user_id)
        rows = first.rows[offset % PAGE_ROWS :]
        if len(rows) < limit and offset + len(rows) < first.total:
            rows += (
                await self._load_page(
                    opened, replace(asked, offset=offset // PAGE_ROWS * PAGE_ROWS + PAGE_ROWS), user_id
                )
            ).rows
        return FileTable(
            file_path=opened.record.path,
            filename=name,
            sheets=first.sheets,
            sheet=first.sheet,
            columns=first.columns,
            left_out=first.left_out,
            rows=rows[:limit],
            offset=offset,
            total=first.total,
        )

    async def _load_page(self, opened: OpenedFile, job: ReadTable, user_id: str) -> TableRows:
        key = (opened.version.hash, job.form, job.sheet, job.offset)
        if (known := self._cache.get(key)) is not None:
            self._cache.move_to_end(key)
            return known
        content = b"".join([piece async for piece in opened.read(0, None)])
        piece = await self._sandbox.run(replace(job, content=content), TIMEOUT_SECONDS, user=user_id)
        if sum(map(len, piece.rows)) <= _MAX_CACHED_CELLS:
            self._cache[key] = piece
            while len(self._cache) > MAX_CACHED_PAGES:
                self._cache.popitem(last=False)
        return piece
