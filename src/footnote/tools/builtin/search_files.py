import asyncio
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice
from typing import Annotated, Any

from msgspec import Meta, Struct

from footnote.protocol.tools import ToolResult, text_result
from footnote.tools.base import ToolContext, artifact_of, has_workspace, workspace_of
from footnote.tools.define import tool
from footnote.workspace.files import NotText, Workspace
from footnote.workspace.text import line_pieces

MAX_EXCERPT = 200


class SearchFiles(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[
        str,
        Meta(
            min_length=1,
            description="The text to look for, as it stands; not a pattern.",
            extra={"aliases": ("q", "text", "search", "term", "keyword", "pattern")},
        ),
    ]
    files: Annotated[
        str,
        Meta(
            description="Which files to look in: a pattern for their paths, for example /notes/* or *.md.",
            extra={"aliases": ("path", "file_path", "file", "glob", "file_pattern", "include")},
        ),
    ] = "*"
    case_sensitive: Annotated[bool, Meta(description="Tell upper and lower case letters apart.")] = False
    limit: Annotated[int, Meta(ge=1, le=200, description="How many lines to show at most.")] = 50


@tool(
    titles={"en": "Search files", "vi": "Tìm trong tệp", "zh": "搜索文件"},
    when=has_workspace,
    needs_files=True,
    lenient=True,
    idempotent=True,
    bounded=True,
    reuse="until_change",
)
async def search_files(params: SearchFiles, context: ToolContext) -> ToolResult:
    """Find the lines that contain a text, and the files whose names do; uploads such as PDF, Word, Excel and PowerPoint
    files too. Each hit is shown as path:line: text, with the line number counting from 1."""
    workspace = workspace_of(context)
    hits: list[str] = []
    files: list[dict[str, Any]] = []
    records = await workspace.list()
    if not records:
        return text_result("Nothing was found: the workspace has no files.", artifact={"files": []})
    for record in records:
        if fnmatchcase(record.path, _anchor_pattern(params.files)):
            text = await _text_of(record.path, workspace)
            # One more than is shown tells whether there are more.
            room = params.limit + 1 - len(hits)
            if found := await asyncio.to_thread(_first_hits, record.path, text, params, room):
                hits.extend(found)
                files.append(artifact_of(record))
    return text_result(_format_hits(hits, params), artifact={"files": files})


def _anchor_pattern(pattern: str) -> str:
    return pattern if pattern.startswith(("/", "*")) else f"/{pattern}"


async def _text_of(path: str, workspace: Workspace) -> str:
    try:
        return await workspace.extracted_text(path)
    except NotText:
        return ""


def _first_hits(path: str, text: str, params: SearchFiles, limit: int) -> list[str]:
    return list(islice(_hits(path, text, params), limit))


def _hits(path: str, text: str, params: SearchFiles) -> Iterator[str]:
    query = params.query if params.case_sensitive else params.query.lower()
    if query in (path if params.case_sensitive else path.lower()):
        yield path
    first = 1
    for piece in line_pieces(text):
        if query in (piece if params.case_sensitive else piece.lower()):
            for number, line in enumerate(piece.split("\n"), first):
                at = (line if params.case_sensitive else line.lower()).find(query)
                if at >= 0:
                    yield f"{path}:{number}: {_excerpt(line, at)}"
        first += piece.count("\n") + 1


def _excerpt(line: str, at: int) -> str:
    start = max(0, at - MAX_EXCERPT // 2)
    excerpt = line[start : start + MAX_EXCERPT].strip()
    return ("… " if start else "") + excerpt + (" …" if start + MAX_EXCERPT < len(line) else "")


def _format_hits(hits: list[str], params: SearchFiles) -> str:
    if not hits:
        return f"Nothing was found for {params.query!r} in the files that match {params.files}."
    more = ["[There are more. Make the query or the files more exact.]"] if len(hits) > params.limit else []
    return "\n".join([*hits[: params.limit], *more])
