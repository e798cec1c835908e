from typing import Annotated

from msgspec import Meta, Struct

from footnote.protocol.tools import ToolResult, said
from footnote.tools.base import ToolContext
from footnote.tools.define import tool
from footnote.tools.workspace import artifact_of, is_on, workspace_of
from footnote.workspace.files import FileChange
from footnote.workspace.paths import writable_key_of
from footnote.workspace.text import count_lines, pluralize


class WriteFile(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="Where to write it, for example /report.md.")]
    content: Annotated[
        str,
        Meta(
            description="The whole text of the file. An empty string makes an empty file.",
            extra={
                "missing": "A missing content is not an empty one: if the text was too long for one answer and was cut"
                " off by the output limit, write a first part now and add the rest with edit_file."
            },
        ),
    ]


@tool(
    titles={"en": "Write a file", "vi": "Ghi tệp", "zh": "写入文件"},
    when=is_on,
    # Calls that change files run one after another, in the order in which the model made them.
    exclusive=True,
    idempotent=True,
)
async def write_file(params: WriteFile, context: ToolContext) -> ToolResult:
    """Write a text file into the workspace, where the user can open and download it.

    A file that is already there is replaced as a whole; to change a part of it use edit_file. The text must fit
    into one answer: write a long report in parts, the first with write_file and the others with edit_file."""
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
    record = written.record
    return said(f"{written.note} {record.path} ({size}).", artifact=artifact_of(record), files=(record,))
