"""MCP servers as a source of tools, through the official `mcp` package, which is loaded when it is first needed.

- `server`      what the configuration says of a server
- `source`      all servers of an agent: connects, lists, and gives their tools
- `link`        one server: calls, and connecting again when the connection was lost
- `connection`, `stderr`   one life of a connection, and what a child writes to its standard error
- `offer`       what a server says of its tools, made fit for a model
- `answer`      what a server answers to a call, as a result of ours
"""

from footnote.tools.mcp.settings import McpServerSettings
from footnote.tools.mcp.source import McpSource, probe

__all__ = ["McpServerSettings", "McpSource", "probe"]
