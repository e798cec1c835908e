from typing import Annotated

from msgspec import Meta, Struct

from footnote.protocol.tools import ToolResult, said
from footnote.tools.base import ToolContext
from footnote.tools.define import tool
from footnote.tools.workspace import artifact_of, is_on, workspace_of
from footnote.workspace.files import FileChange
from footnote.workspace.paths import writable_key_of
from footnote.workspace.text import pluralize, replace


class EditFile(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file to change.")]
    old_string: Annotated[
        str,
        Meta(description="The exact text to replace, without line numbers. It must occur once, unless replace_all."),
    ]
    new_string: Annotated[str, Meta(description="What to put in its place. An empty string deletes it.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence instead of the only one.")] = False


@tool(
    titles={"en": "Edit a file", "vi": "Sửa tệp", "zh": "编辑文件"},
    when=is_on,
    # Calls that change files run one after another, in the order in which the model made them.
    exclusive=True,
    # The same call changes a file once, however often it is carried out.
    idempotent=True,
)
async def edit_file(params: EditFile, context: ToolContext) -> ToolResult:
    """Replace a piece of text in a file of the workspace.

    The text must match exactly, with all spaces and line breaks. Read the file first. To add text at the end,
    replace the last line with itself and what follows it."""

    def edit(text: str) -> FileChange:
        edited = replace(text, params.old_string, params.new_string, replace_all=params.replace_all)
        return FileChange(edited.text, pluralize(edited.count, "place"))

    written = await workspace_of(context).edit(
        writable_key_of(params.file_path), edit, message_id=context.message_id, call_id=context.call_id
    )
    record = written.record
    return said(f"Changed {record.path} in {written.note}.", artifact=artifact_of(record), files=(record,))
