from typing import Annotated

from msgspec import Meta, Struct

from footnote.protocol.tools import ToolResult
from footnote.tools.base import FILE_PATH_ALIASES, ToolContext, has_workspace, workspace_of
from footnote.tools.define import tool
from footnote.tools.written_files import written_result
from footnote.workspace.files import FileChange
from footnote.workspace.paths import writable_key_of
from footnote.workspace.text import pluralize, replace


class EditFile(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file to change.", extra={"aliases": FILE_PATH_ALIASES})]
    old_string: Annotated[
        str,
        Meta(
            description="The exact text to replace, without line numbers. It must occur once, unless replace_all.",
            extra={"aliases": ("old", "old_str", "old_text")},
        ),
    ]
    new_string: Annotated[
        str,
        Meta(
            description="What to put in its place. An empty string deletes it.",
            extra={"aliases": ("new", "new_str", "new_text", "replacement")},
        ),
    ]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence instead of the only one.")] = False


@tool(
    titles={"en": "Edit a file", "vi": "Sửa tệp", "zh": "编辑文件"},
    when=has_workspace,
    needs_files=True,
    # Calls that change files run one after another, in the order in which the model made them.
    exclusive=True,
    # The same call changes a file once, however often it is carried out.
    lenient=True,
    idempotent=True,
)
async def edit_file(params: EditFile, context: ToolContext) -> ToolResult:
    """Replace a piece of text in a file. It must match exactly, with all spaces and line breaks: read the file first.
    To add text at the end, replace the last line with itself and what follows it."""

    def edit(text: str) -> FileChange:
        edited = replace(text, params.old_string, params.new_string, replace_all=params.replace_all)
        return FileChange(edited.text, pluralize(edited.count, "place"))

    written = await workspace_of(context).edit(
        writable_key_of(params.file_path), edit, message_id=context.message_id, call_id=context.call_id
    )
    return await written_result(context, written, f"Changed {written.record.path} in {written.note}.")
