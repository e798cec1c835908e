from msgspec import Struct

from footnote.protocol.tools import ToolResult, said
from footnote.tools.base import ToolContext
from footnote.tools.define import tool
from footnote.tools.workspace import artifact_of, is_on, workspace_of

MAX_LISTED = 500


class ListFiles(Struct, frozen=True, forbid_unknown_fields=True):
    pass


@tool(
    titles={"en": "List files", "vi": "Liệt kê tệp", "zh": "列出文件"},
    when=is_on,
    idempotent=True,
    bounded=True,
    reuse="until_change",
)
async def list_files(params: ListFiles, context: ToolContext) -> ToolResult:  # noqa: ARG001 - it takes none
    """List all files of the workspace, with their sizes in bytes and whether they were generated or uploaded."""
    workspace = workspace_of(context)
    files = await workspace.sizes()
    if not files:
        return said("The workspace is empty.", artifact={"files": []})
    listed = files[:MAX_LISTED]
    rows = [f"{record.path}  {size:,} bytes, {record.source}" for record, size in listed]
    if len(files) > MAX_LISTED:
        rows.append(f"[{len(files) - MAX_LISTED} more files are not listed; find them with search_files.]")
    return said("\n".join(rows), artifact={"files": [artifact_of(record) for record, _ in listed]})
