"""`config.json` and `agents.json`: every key with its default and its limits."""

from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal, cast

from msgspec import Meta, Struct, field, inspect

from footnote.config.formats import (
    AgentId,
    Arguments,
    BusAddress,
    Command,
    DatabaseAddress,
    HeaderName,
    Host,
    HostAndPort,
    ModelName,
    Network,
    ProviderName,
    ReferenceText,
    SecondLookModel,
    Seconds,
    Secret,
    ServerName,
    StorageAddress,
    VariableName,
    WebAddress,
)
from footnote.config.providers import (
    MODEL_PROVIDERS,
    ApiType,
    SearchProviderId,
    SearchProviderName,
    search_provider_ids,
)
from footnote.config.validation import mask_secrets
from footnote.models.profiles import AnswerStyle, CitationStyle, Price, ThinkingStyle
from footnote.protocol.plans import MAX_PLAN_ITEMS
from footnote.protocol.sessions import TemplateName
from footnote.web_search.settings import DEFAULT_PROVIDER, SafeSearch

_MIB = 1024 * 1024
_GIB = 1024 * _MIB


class SettingsSection(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An object in a file: camelCase keys, and no others."""

    def __repr__(self) -> str:
        """Masks secrets, because the text may end up in logs and error reports."""
        parts = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({parts})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        struct = cast("inspect.StructType", inspect.type_info(type(self)))
        return [(part.name, mask_secrets(part.type, getattr(self, part.name))) for part in struct.fields]


class SearchAccess(SettingsSection, frozen=True):
    """How a search provider is reached, where that differs from its usual address or needs a key."""

    api_key: Secret | None = None
    base_url: WebAddress | None = None


class WebSearchSection(SettingsSection, frozen=True):
    default_provider: SearchProviderName = DEFAULT_PROVIDER
    timeout_seconds: Seconds = 15
    cache_ttl_minutes: Annotated[float, Meta(ge=0, le=525_600)] = 5
    max_results: Annotated[int, Meta(ge=1, le=10)] = 5
    safe_search: SafeSearch = "moderate"
    crawl_count: Annotated[int, Meta(ge=0, le=10)] = 5
    evidence_tokens: Annotated[int, Meta(ge=0, le=100_000)] = 2_000
    summary: bool = True
    respect_robots: bool = True
    allow_private_hosts: tuple[HostAndPort, ...] = ()
    providers: dict[SearchProviderId, SearchAccess] = field(default_factory=dict[SearchProviderId, SearchAccess])

    def all_providers(self) -> dict[str, SearchAccess]:
        """All providers, also those without settings."""
        return {name: self.providers.get(name, SearchAccess()) for name in search_provider_ids()}


class ToolSettings(SettingsSection, frozen=True):
    web_search: WebSearchSection = WebSearchSection()


class ModelProvider(SettingsSection, frozen=True):
    """`type` is implied for the names in `providers.MODEL_PROVIDERS` and needed for all others."""

    type: ApiType | None = None
    api_key: Secret | None = None
    base_url: WebAddress | None = None


class ProfileFacts(SettingsSection, frozen=True):
    """Facts about one model that replace those that ship with Footnote, field by field."""

    window: Annotated[int, Meta(ge=1)] | None = None
    max_output: Annotated[int, Meta(ge=1)] | None = None
    thinking: ThinkingStyle | None = None
    images: bool | None = None
    price: Price | None = None
    style: AnswerStyle | None = None
    billions: Annotated[float, Meta(gt=0)] | None = None
    tools: bool | None = None
    citations: CitationStyle | None = None
    checks: bool | None = None
    timeout_seconds: Seconds | None = None


class ModelSettings(SettingsSection, frozen=True):
    default: ModelName | None = None
    providers: dict[ProviderName, ModelProvider] = field(default_factory=dict[ProviderName, ModelProvider])
    profiles: dict[ModelName, ProfileFacts] = field(default_factory=dict[ModelName, ProfileFacts])

    def provider(self, name: str) -> ModelProvider:
        """The settings of a provider, completed by those that its name implies."""
        configured = self.providers.get(name) or ModelProvider()
        known = MODEL_PROVIDERS.get(name)
        return ModelProvider(
            type=configured.type or (known.type if known else None),
            api_key=configured.api_key,
            base_url=(configured.base_url or (known.base_url if known else "")).rstrip("/") or None,
        )


class ServerSettings(SettingsSection, frozen=True):
    host: Host = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8484
    public_url: WebAddress | None = None
    trusted_proxies: tuple[Network, ...] = ("127.0.0.0/8", "::1")
    """The proxies whose headers `X-Forwarded-For` and `X-Forwarded-Proto` are trusted, if `public_url` is set."""


class LimitSettings(SettingsSection, frozen=True):
    """Limits for each user of a server, and `runs_at_once` for all users together."""

    runs_per_user: Annotated[int, Meta(ge=1)] = 20
    runs_at_once: Annotated[int, Meta(ge=1)] = 100
    requests_per_minute: Annotated[int, Meta(ge=1)] = 6000
    storage_bytes_per_user: Annotated[int, Meta(ge=1)] = 5 * _GIB
    upload_bytes: Annotated[int, Meta(ge=1)] = 100 * _MIB
    approval_seconds: Annotated[int, Meta(ge=1)] = 86_400
    """How long a call waits for the decision of the user."""


class CitationSettings(SettingsSection, frozen=True):
    """`model`: who takes a second look at statements that comparing texts does not prove. `repair`: what the model is
    asked to correct by itself."""

    model: SecondLookModel = "session"
    repair: Literal["files", "off"] = "files"


class DatabaseSettings(SettingsSection, frozen=True):
    url: DatabaseAddress = "sqlite:footnote.db"


class StorageSettings(SettingsSection, frozen=True):
    url: StorageAddress = "local:files"


class BusSettings(SettingsSection, frozen=True):
    url: BusAddress = "local:"


class LogSettings(SettingsSection, frozen=True):
    """The log of a server on stderr. `requests`: also a line for each request."""

    format: Literal["text", "json"] = "text"
    level: Literal["debug", "info", "warning", "error"] = "info"
    requests: bool = False


class Settings(SettingsSection, frozen=True):
    tools: ToolSettings = ToolSettings()
    models: ModelSettings = ModelSettings()
    citations: CitationSettings = CitationSettings()
    server: ServerSettings = ServerSettings()
    limits: LimitSettings = LimitSettings()
    database: DatabaseSettings = DatabaseSettings()
    storage: StorageSettings = StorageSettings()
    bus: BusSettings = BusSettings()
    logs: LogSettings = LogSettings()


# agents.json ------------------------------------------------------------------------------------------------


@cache
def researcher_prompt() -> str:
    """The default system prompt."""
    return files("footnote.config").joinpath("researcher.md").read_text("utf-8").strip()


class AgentSearch(SettingsSection, frozen=True):
    enabled: bool = False
    provider: SearchProviderName | None = None


class AgentWorkspace(SettingsSection, frozen=True):
    enabled: bool = True


class AgentResearch(SettingsSection, frozen=True):
    """The limits of a research run, where the question has none of its own. `template`: that of its reports; None: one
    that fits the question."""

    questions: Annotated[int, Meta(ge=1, le=MAX_PLAN_ITEMS)] = 8
    at_once: Annotated[int, Meta(ge=1, le=16)] = 4
    pages: Annotated[int, Meta(ge=1, le=1_000)] = 60
    seconds: Annotated[float, Meta(gt=0, le=86_400)] = 900
    clarify: bool = True
    template: TemplateName | None = None


class McpServerEntry(SettingsSection, frozen=True):
    """An MCP server: started as a program (`command`, over stdio) or reached at a `url` (over HTTP). API keys are not
    written here: `env` and `headers` name a variable as `${NAME}`."""

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
    research: AgentResearch = AgentResearch()
    mcp_servers: dict[ServerName, McpServerEntry] = field(default_factory=dict[ServerName, McpServerEntry])


class AgentsFile(SettingsSection, frozen=True):
    agents: Annotated[tuple[Agent, ...], Meta(min_length=1)]


@cache
def researcher() -> Agent:
    """The only agent if there is no `agents.json`."""
    return Agent(
        id="researcher",
        name="Researcher",
        description="Searches the web, reads the pages and answers with footnotes.",
        web_search=AgentSearch(enabled=True),
    )
