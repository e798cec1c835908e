"""What an agent can do.

- `base`      what a tool is to the loop
- `define`    `@tool`: a function, its docstring and its types become one
- `schema`, `words`     parameters from types, and errors that a model can act on
- `wrappers`, `large`   what every tool gets: retry, time limit, output cap, readable errors
- `approval`            whether a call may be made that needs the user's word
- `registry`  which tools there are, and the toolbox of a run
- `builtin`   the tools that ship with Footnote, one file each
- `workspace` what the file tools share
- `mcp`       tools of MCP servers
"""
