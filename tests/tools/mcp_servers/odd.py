"""An MCP server with a paged list of mostly invalid tools; with a number as argument, so many valid ones."""

import sys

import anyio
from mcp import MCPError
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

OBJECT = {"type": "object", "properties": {"x": {"type": "string"}}}
WORDS = "w" * 600
WORDY = {
    "type": "object",
    "title": WORDS,
    "description": WORDS,
    "properties": {
        "title": {"type": "string", "description": WORDS, "default": WORDS},
        "default": {"type": "object", "description": WORDS, "default": {"title": WORDS}},
        "list": {"type": "array", "items": {"anyOf": [{"description": WORDS, "const": WORDS}, {"enum": [WORDS]}]}},
    },
    "$defs": {"x": {"description": WORDS}},
}


def nested(depth):
    return {"type": "object", "properties": {"x": nested(depth - 1)}} if depth else {"type": "string"}


def huge(size):
    """A schema of so many bytes in compact JSON."""
    empty = len('{"properties":{},"type":"object","examples":[""]}')
    return {"type": "object", "examples": ["x" * (size - empty)]}


TOOLS = [
    Tool(name="plain", input_schema=OBJECT, description="Fine.\x1b[31m " + "a" * 5000),
    Tool(name="with space", input_schema=OBJECT),
    Tool(name="with_space", input_schema=OBJECT),
    Tool(name="with.space", input_schema=OBJECT),
    Tool(name="n" * 100, input_schema=OBJECT),
    Tool(name="n" * 99 + "m", input_schema=OBJECT),
    Tool(name="bare", input_schema={"type": "object"}),
    Tool(
        name="choice", input_schema={"type": "object", "anyOf": [{"required": ["x"]}], "$schema": "https://x.invalid"}
    ),
    Tool(name="broken", input_schema={"type": "object", "properties": {"x": {"type": "text"}}}),
    Tool(name="named", input_schema={"type": "object", "properties": {"tên": {"type": "string"}}}),
    Tool(name="remote", input_schema={"type": "object", "properties": {"x": {"$ref": "https://x.invalid/y"}}}),
    Tool(name="huge", input_schema=huge(16_001)),
    Tool(name="deep", input_schema=nested(97)),
    Tool(name="l" * 1000, input_schema={"type": "object", "properties": {"ê" * 1000: {}}}),
    Tool(name="wordy", input_schema=WORDY),
    Tool(name="refusing", input_schema=OBJECT),
    Tool(name="lying", input_schema=OBJECT, output_schema={"type": "object", "required": ["y"]}),
]
if len(sys.argv) > 1:
    TOOLS = [Tool(name=f"tool_{number}", input_schema=OBJECT) for number in range(int(sys.argv[1]))]
PAGE = 5


async def list_tools(_context, params):
    start = int(params.cursor) if params and params.cursor else 0
    following = str(start + PAGE) if start + PAGE < len(TOOLS) else None
    return ListToolsResult(tools=TOOLS[start : start + PAGE], next_cursor=following)


async def call_tool(_context, params):
    if params.name == "refusing":
        raise MCPError(-32050, "not today")
    return CallToolResult(content=[TextContent(text=params.name)], structured_content={"z": 1})


async def main() -> None:
    server = Server("Odd", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
