from typing import Annotated

from msgspec import Meta, Struct

from footnote.protocol.tools import ToolResult
from footnote.tools.base import FILE_PATH_ALIASES, ToolContext, has_workspace, workspace_of
from footnote.tools.define import tool
from footnote.tools.written_files import written_result
from footnote.workspace.files import FileChange
from footnote.workspace.paths import writable_key_of
from footnote.workspace.text import count_lines, pluralize


class WriteFile(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="For example /report.md.", extra={"aliases": FILE_PATH_ALIASES})]
    content: Annotated[
        str,
        Meta(
            description="The whole text. An empty string makes an empty file.",
            extra={
                "aliases": ("text", "contents", "body", "data", "file_content", "file_text"),
                "missing": "A missing content is not an empty one: if the text was too long for one answer and was cut"
                " off by the output limit, write a first part now and add the rest with edit_file.",
            },
        ),
    ]


@tool(
    titles={"en": "Write a file", "vi": "Ghi tệp", "zh": "写入文件"},
    when=has_workspace,
    # Calls that change files run one after another, in the order in which the model made them.
    exclusive=True,
    lenient=True,
    idempotent=True,
)
async def write_file(params: WriteFile, context: ToolContext) -> ToolResult:
    """Write a text file for the user, or replace one; edit_file changes a part of one. If a text is too long for one
    answer, write its first part, and add the rest with edit_file."""
    size = f"{pluralize(len(params.content), 'character')}, {pluralize(count_lines(params.content), 'line')}"

    def write(known: bytes | None) -> FileChange:
        return FileChange(params.content, "Wrote" if known is None else "Replaced")

    written = await workspace_of(context).change(
        writable_key_of(params.file_path),
        write,
        message_id=context.message_id,
        call_id=context.call_id,
        allow_unseen=False,
    )
    return await written_result(context, written, f"{written.note} {written.record.path} ({size}).")
