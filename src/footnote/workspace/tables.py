"""Tables of a workspace a few rows at a time, as they are looked at."""

from collections import OrderedDict
from typing import Literal

from msgspec.structs import replace

from footnote.protocol.errors import Unworkable, WrongKind
from footnote.protocol.files import FileTable
from footnote.sandbox.jobs import TableOf, Tabling
from footnote.sandbox.pool import SandboxPool
from footnote.workspace.files import Opened

MOST_BYTES = 50_000_000
"""Of a file that is shown as a table."""
SECONDS = 20.0
ROWS = 1_000
"""Read at once: whoever looks at some rows goes on to the next."""
KEPT = 16
"""Pieces that are kept, so that going up and down in a table costs nothing."""
_KEPT_CELLS = 50_000
_FORMS: dict[str, Literal["csv", "tsv", "workbook"]] = {
    "csv": "csv",
    **dict.fromkeys(("tsv", "tab"), "tsv"),
    **dict.fromkeys(("xlsx", "xls", "ods"), "workbook"),
}


class Tables:
    """The last pieces that were looked at, by the content that they are of."""

    def __init__(self, sandbox: SandboxPool) -> None:
        self._sandbox = sandbox
        self._kept: OrderedDict[tuple[str, str, str | None, int], TableOf] = OrderedDict()

    async def rows(self, opened: Opened, *, sheet: str | None, offset: int, limit: int, user_id: str = "") -> FileTable:
        """`WrongKind`: it is no table. `Unworkable`: it cannot be shown, and why."""
        name = opened.record.filename
        form = _FORMS.get(name.lower().rpartition(".")[2])
        if form is None:
            raise WrongKind(f"{name} is no table: CSV, TSV, XLSX and ODS are.")
        if opened.version.size > MOST_BYTES:
            raise Unworkable(f"{name} is larger than {MOST_BYTES:,} bytes, and too large to be shown: download it.")
        asked = Tabling(content=b"", filename=name, form=form, sheet=sheet, limit=ROWS)
        first = await self._piece(opened, replace(asked, offset=offset // ROWS * ROWS), user_id)
        rows = first.rows[offset % ROWS :]
        if len(rows) < limit and offset + len(rows) < first.total:
            rows += (await self._piece(opened, replace(asked, offset=offset // ROWS * ROWS + ROWS), user_id)).rows
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

    async def _piece(self, opened: Opened, asked: Tabling, user_id: str) -> TableOf:
        key = (opened.version.hash, asked.form, asked.sheet, asked.offset)
        if (known := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            return known
        content = b"".join([piece async for piece in opened.read(0, None)])
        piece = await self._sandbox.run(replace(asked, content=content), SECONDS, user=user_id)
        if sum(map(len, piece.rows)) <= _KEPT_CELLS:
            self._kept[key] = piece
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return piece
