"""The settings of one MCP server."""

from urllib.parse import urlsplit

from msgspec import Struct

from footnote.protocol.errors import ConfigError

_MIN_SECRET_LENGTH = 6
"""Shorter values (`1`, `true`, `info`) are settings, and occur in every text."""


class McpServerSettings(Struct, frozen=True):
    """A command to start, with MCP over its standard streams, or the URL of a running server.

    `approval`: the user is asked before each call. `timeout`: seconds for one call.
    """

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    approval: bool = False
    timeout: float = 60.0

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ConfigError(f"The MCP server {self.name} needs either a command or a url.")
        if self.url and urlsplit(self.url).scheme not in {"http", "https"}:
            raise ConfigError(f"The url of the MCP server {self.name} must start with http:// or https://.")

    def __repr__(self) -> str:
        """Without the fields: the environment, the headers, the arguments and the URL may contain keys."""
        return f"McpServer({self.name}, {self.location})"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [("name", self.name), ("place", self.location)]

    @property
    def location(self) -> str:
        """The place of the server for messages: without credentials and query, which may contain a key."""
        if not self.url:
            return f"the command {self.command}"
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def mask_secrets(self, text: str) -> str:
        """`text` with every value of the environment and the headers masked, and the URL shortened."""
        if self.url:
            text = text.replace(self.url, self.location)
        secrets = {*self.env.values(), *(word for value in self.headers.values() for word in value.split())}
        for secret in sorted(secrets, key=len, reverse=True):
            if len(secret) >= _MIN_SECRET_LENGTH:
                text = text.replace(secret, "***")
        return text
