"""`agents.json`: who answers, with which instructions, model and tools. Keys never live here."""

from functools import cache
from importlib.resources import files
from typing import Annotated

from msgspec import Meta, field

from footnote.config.formats import (
    AgentId,
    Arguments,
    Command,
    HeaderName,
    ModelName,
    ReferenceText,
    Seconds,
    ServerName,
    VariableName,
    WebAddress,
)
from footnote.config.providers import SearchProviderName
from footnote.config.settings import SettingsSection


@cache
def researcher_prompt() -> str:
    """The system prompt of an agent that brings none of its own."""
    return files("footnote.config").joinpath("researcher.md").read_text("utf-8").strip()


class AgentSearch(SettingsSection, frozen=True):
    enabled: bool = False
    provider: SearchProviderName | None = None


class AgentWorkspace(SettingsSection, frozen=True):
    enabled: bool = True


class McpServerEntry(SettingsSection, frozen=True):
    """A tool server: started as a program (`command`, over stdio) or reached at a `url` (over HTTP)."""

    command: Command | None = None
    args: Arguments = ()
    env: dict[VariableName, ReferenceText] = field(default_factory=dict[VariableName, ReferenceText])
    cwd: str | None = None
    url: WebAddress | None = None
    headers: dict[HeaderName, ReferenceText] = field(default_factory=dict[HeaderName, ReferenceText])
    approval: bool = False
    timeout_seconds: Seconds = 60


class Agent(SettingsSection, frozen=True):
    id: AgentId
    name: str = ""
    description: str = ""
    system_prompt: str = field(default_factory=researcher_prompt)
    model: ModelName | None = None
    thinking_budget: Annotated[int, Meta(ge=0)] | None = None
    max_tool_rounds: Annotated[int, Meta(ge=1, le=100)] = 5
    web_search: AgentSearch = AgentSearch()
    workspace: AgentWorkspace = AgentWorkspace()
    mcp_servers: dict[ServerName, McpServerEntry] = field(default_factory=dict[ServerName, McpServerEntry])


class AgentsFile(SettingsSection, frozen=True):
    agents: Annotated[tuple[Agent, ...], Meta(min_length=1)]


@cache
def researcher() -> Agent:
    """The agent that is there without any file."""
    return Agent(
        id="researcher",
        name="Researcher",
        description="Searches the web, reads the pages and answers with footnotes.",
        web_search=AgentSearch(enabled=True),
    )
