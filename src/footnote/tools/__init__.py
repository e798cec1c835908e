"""The tools of an agent.

- `base`        a tool, and what it works with: the workspace, the search and the sources of a run
- `define`      `@tool`: a function, its docstring and its types become one
- `schema`      parameters from types, and errors that a model can act on
- `wrappers`    what every tool gets: retry, time limit, output cap, stored images, readable errors
- `approval`    who decides on a call that needs the user's approval
- `provenance`  which addresses a model may read
- `registry`    the tools that exist, and the toolbox of a run
- `builtin`     the tools that ship with Footnote, one file each
- `mcp`         tools of MCP servers
"""
