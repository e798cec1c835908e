from typing import Annotated

from msgspec import Meta, Struct

from footnote.protocol.tools import ToolResult, said
from footnote.tools.base import ToolContext
from footnote.tools.define import tool
from footnote.tools.workspace import artifact_of, is_on, workspace_of
from footnote.workspace.paths import writable_key_of
from footnote.workspace.text import counted, replace


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
    # An edit reads and then writes: two at once on one file would lose one of them.
    exclusive=True,
)
async def edit_file(params: EditFile, context: ToolContext) -> ToolResult:
    """Replace a piece of text in a file of the workspace.

    The text must match exactly, with all spaces and line breaks. Read the file first. To add text at the end,
    replace the last line with itself and what follows it."""
    workspace = workspace_of(context)
    key = writable_key_of(params.file_path)
    text = await workspace.read_text(key)
    edited = replace(text, params.old_string, params.new_string, everywhere=params.replace_all)
    record = await workspace.write(key, edited.text, message_id=context.message_id)
    places = counted(edited.count, "place")
    return said(f"Changed {record.path} in {places}.", artifact=artifact_of(record), files=(record,))
