from msgspec import Struct

from footnote.protocol.tools import ToolResult, text_result
from footnote.tools.base import ToolContext, artifact_of, has_workspace, workspace_of
from footnote.tools.define import tool

MAX_LISTED = 500


class ListFiles(Struct, frozen=True, forbid_unknown_fields=True):
    pass


@tool(
    titles={"en": "List files", "vi": "Liệt kê tệp", "zh": "列出文件"},
    when=has_workspace,
    needs_files=True,
    lenient=True,
    idempotent=True,
    bounded=True,
    reuse="until_change",
)
async def list_files(params: ListFiles, context: ToolContext) -> ToolResult:  # noqa: ARG001 - it takes none
    """List all files of the session, with their sizes in bytes and whether they were generated or uploaded."""
    workspace = workspace_of(context)
    files = await workspace.sizes()
    if not files:
        return text_result("The workspace is empty.", artifact={"files": []})
    listed = files[:MAX_LISTED]
    rows = [f"{record.path}  {size:,} bytes, {record.source}" for record, size in listed]
    if len(files) > MAX_LISTED:
        rows.append(f"[{len(files) - MAX_LISTED} more files are not listed; find them with search_files.]")
    return text_result("\n".join(rows), artifact={"files": [artifact_of(record) for record, _ in listed]})
