"""MCP servers as a source of tools, through the official `mcp` package, which is loaded when it is first needed.

- `server`      what the configuration says of a server
- `source`      all servers of an agent: connects, lists, and gives their tools
- `connection`  one server: the connection and the calls over it
- `offer`       what a server says of its tools, made fit for a model
- `answer`      what a server answers to a call, as a result of ours
"""

from footnote.tools.mcp.server import McpServer
from footnote.tools.mcp.source import McpSource, probe

__all__ = ["McpServer", "McpSource", "probe"]
