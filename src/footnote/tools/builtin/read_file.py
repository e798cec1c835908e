import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from footnote.documents.images import raster_info
from footnote.protocol.errors import ToolFailed
from footnote.protocol.files import ToolImage
from footnote.protocol.messages import Text
from footnote.protocol.tools import ToolResult, text_result
from footnote.tools.base import FILE_PATH_ALIASES, ToolContext, artifact_of, has_workspace, workspace_of
from footnote.tools.define import tool
from footnote.workspace.files import is_image, load_image
from footnote.workspace.text import NumberedLines, TextPage, number_lines, pluralize, slice_lines


class ReadFile(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file to read.", extra={"aliases": FILE_PATH_ALIASES})]
    offset: Annotated[int, Meta(ge=0, description="How many lines to skip.")] = 0
    limit: Annotated[int, Meta(ge=1, le=2000, description="How many lines to read at most.")] = 100
    column: Annotated[
        int, Meta(ge=0, description="How many characters of the first line to skip, where a line is too long to show.")
    ] = 0


@tool(
    titles={"en": "Read a file", "vi": "Đọc tệp", "zh": "读取文件"},
    when=has_workspace,
    needs_files=True,
    lenient=True,
    idempotent=True,
    bounded=True,
    reuse="until_change",
)
async def read_file(params: ReadFile, context: ToolContext) -> ToolResult:
    """Read lines of a file: a text, or the text of an upload such as a PDF, Word, Excel or PowerPoint file. An image is
    shown to you, if you can see.

    Each line comes with its number, which counts from 1 and is not part of the file. If something is left, the answer
    says with which offset and column to go on."""
    workspace = workspace_of(context)
    record = await workspace.record(params.file_path)
    if is_image(record):
        image = await load_image(workspace, record)
        info = raster_info(image.data)
        images = (ToolImage(record.path, image.media_type, info.width, info.height),) if info else ()
        content = (Text(f"{record.path} is this image:"), image)
        return ToolResult(content, artifact=artifact_of(record), images=images)
    # Before the file is read, so that a change that a user makes meanwhile counts as not seen.
    await workspace.mark_seen(record.path)
    text = await workspace.extracted_text(record.path)
    # In a thread: a file may have millions of lines.
    lines = await asyncio.to_thread(slice_lines, text, params.offset, params.limit)
    if lines.total == 0:
        return text_result(f"{record.path} exists, but it is empty.", artifact=artifact_of(record))
    if params.offset >= lines.total:
        raise ToolFailed(
            f"{record.path} has {pluralize(lines.total, 'line')}, so offset {params.offset} is past its end."
            f" The last line has offset {lines.total - 1}."
        )
    if params.column and params.column >= (length := len(lines.lines[0])):
        raise ToolFailed(
            f"Line {params.offset + 1} has {pluralize(length, 'character')}, so column {params.column} is past its end."
        )
    page = number_lines(lines, params.column)
    return text_result("\n".join([page.text, *_notes(page, lines)]), artifact=artifact_of(record))


def _notes(page: TextPage, lines: NumberedLines) -> list[str]:
    following = lines.offset + page.line_count
    notes: list[str] = []
    if page.omitted_chars:
        column = len(lines.lines[page.line_count - 1]) - page.omitted_chars
        more = pluralize(page.omitted_chars, "more character")
        notes.append(f"[Line {following} goes on for {more}. Go on with offset={following - 1}, column={column}.]")
    if following < lines.total:
        notes.append(f"[{pluralize(lines.total - following, 'more line')}. Go on with offset={following}.]")
    return notes
