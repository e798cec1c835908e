"""The whole configuration as one frozen value, with the origin of each part, and as a list that can be shown."""

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Literal

from msgspec import Struct, field, inspect, to_builtins
from msgspec.structs import replace

from footnote.config.agents import Agent, AgentsFile, researcher
from footnote.config.settings import Settings
from footnote.config.validation import Path, closest_name, format_path, leaves, mask_secrets
from footnote.protocol.errors import ConfigError


class ValueOrigin(Struct, frozen=True, omit_defaults=True):
    """Where a value comes from: `name` is the file (with `place` and `line` in it) or the variable."""

    kind: Literal["default", "file", "environment"]
    name: str = ""
    place: str = ""
    line: int | None = None

    def __str__(self) -> str:
        match self.kind:
            case "default":
                return "default"
            case "file":
                return f"{self.name}, line {self.line}" if self.line else self.name
            case "environment":
                return f"environment: {self.name}"


DEFAULT = ValueOrigin("default")


class Ignored(Struct, frozen=True):
    """A variable that changes nothing, because a file has the same value and wins."""

    variable: str
    file: str
    place: str


class Configuration(Struct, frozen=True):
    """What an operator decided. `Configuration(home)` is what holds when nothing was."""

    home: FilePath
    settings: Settings = Settings()
    agents: tuple[Agent, ...] = field(default_factory=lambda: (researcher(),))
    origins: Mapping[Path, ValueOrigin] = field(default_factory=dict[Path, ValueOrigin])
    ignored: tuple[Ignored, ...] = ()

    def agent(self, agent_id: str | None = None) -> Agent:
        """The agent with this id, or the first one."""
        if agent_id is None:
            return self.agents[0]
        for agent in self.agents:
            if agent.id == agent_id:
                return agent
        meant = closest_name(agent_id, (agent.id for agent in self.agents))
        raise ConfigError(f"There is no agent {agent_id!r}; the nearest id is {meant!r}. See agents.json.")

    def origin(self, path: Path) -> ValueOrigin:
        return self.origins.get(path, DEFAULT)


class ConfigurationEntry(Struct, frozen=True):
    """One value that holds, ready to be shown: what is secret in it is masked."""

    key: str
    value: Any
    origin: ValueOrigin


def entries(configuration: Configuration) -> Iterator[ConfigurationEntry]:
    """`config.json` first, then the agents. A known model provider is shown with what its name implies."""
    models = configuration.settings.models
    implied = replace(models, providers={name: models.provider(name) for name in models.providers})
    settings = replace(configuration.settings, models=implied)
    for section in (settings, AgentsFile(configuration.agents)):
        for path, node, value in leaves(inspect.type_info(type(section)), to_builtins(section)):
            yield ConfigurationEntry(format_path(path), mask_secrets(node, value), configuration.origin(path))
