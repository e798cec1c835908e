"""`config.json`: every key with its default and its limits."""

from typing import Annotated, Any, Literal, cast

from msgspec import Meta, Struct, field, inspect

from footnote.config.formats import (
    BusAddress,
    DatabaseAddress,
    Host,
    HostAndPort,
    ModelName,
    Network,
    ProviderName,
    Seconds,
    Secret,
    StorageAddress,
    WebAddress,
)
from footnote.config.providers import MODEL_PROVIDERS, SearchProviderName
from footnote.config.validation import mask_secrets
from footnote.models.base import ApiType
from footnote.models.profiles import Price, ThinkingStyle
from footnote.web_search.settings import SafeSearch

_MIB = 1024 * 1024
_GIB = 1024 * _MIB


class SettingsSection(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An object in a file: camelCase keys, and no others."""

    def __repr__(self) -> str:
        """With secrets masked: this ends in logs and in other people's error reports."""
        parts = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({parts})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        struct = cast("inspect.StructType", inspect.type_info(type(self)))
        return [(part.name, mask_secrets(part.type, getattr(self, part.name))) for part in struct.fields]


class SearchAccess(SettingsSection, frozen=True):
    """How a search provider is reached, where that differs from its usual address or needs a key."""

    api_key: Secret | None = None
    base_url: WebAddress | None = None


class SearchProviders(SettingsSection, frozen=True):
    duckduckgo: SearchAccess = SearchAccess()
    brave: SearchAccess = SearchAccess()
    serper: SearchAccess = SearchAccess()
    tavily: SearchAccess = SearchAccess()
    searxng: SearchAccess = SearchAccess()
    library: SearchAccess = SearchAccess()


class WebSearchSection(SettingsSection, frozen=True):
    default_provider: SearchProviderName = "duckduckgo"
    timeout_seconds: Seconds = 15
    cache_ttl_minutes: Annotated[float, Meta(ge=0, le=525_600)] = 5
    max_results: Annotated[int, Meta(ge=1, le=10)] = 5
    safe_search: SafeSearch = "moderate"
    crawl_count: Annotated[int, Meta(ge=0, le=10)] = 5
    respect_robots: bool = True
    allow_private_hosts: tuple[HostAndPort, ...] = ()
    providers: SearchProviders = SearchProviders()


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


class ModelSettings(SettingsSection, frozen=True):
    default: ModelName | None = None
    providers: dict[ProviderName, ModelProvider] = field(default_factory=dict[ProviderName, ModelProvider])
    profiles: dict[ModelName, ProfileFacts] = field(default_factory=dict[ModelName, ProfileFacts])

    def provider(self, name: str) -> ModelProvider:
        """What is configured for a provider, with what its name implies in the empty places."""
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
    """Whose word on who asks is believed (`X-Forwarded-For`, `-Proto`), if there is a public address."""


class LimitSettings(SettingsSection, frozen=True):
    """What one user may have on a server, and `runs_at_once` what all of them may."""

    runs_per_user: Annotated[int, Meta(ge=1)] = 20
    runs_at_once: Annotated[int, Meta(ge=1)] = 100
    requests_per_minute: Annotated[int, Meta(ge=1)] = 6000
    storage_bytes_per_user: Annotated[int, Meta(ge=1)] = 5 * _GIB
    upload_bytes: Annotated[int, Meta(ge=1)] = 100 * _MIB
    approval_seconds: Annotated[int, Meta(ge=1)] = 86_400
    """How long a call waits for the decision of the user."""


class DatabaseSettings(SettingsSection, frozen=True):
    url: DatabaseAddress = "sqlite:footnote.db"


class StorageSettings(SettingsSection, frozen=True):
    url: StorageAddress = "local:files"


class BusSettings(SettingsSection, frozen=True):
    url: BusAddress = "local:"


class LogSettings(SettingsSection, frozen=True):
    """What a server writes to stderr. `requests`: a line for each of them, too."""

    format: Literal["text", "json"] = "text"
    level: Literal["debug", "info", "warning", "error"] = "info"
    requests: bool = False


class Settings(SettingsSection, frozen=True):
    tools: ToolSettings = ToolSettings()
    models: ModelSettings = ModelSettings()
    server: ServerSettings = ServerSettings()
    limits: LimitSettings = LimitSettings()
    database: DatabaseSettings = DatabaseSettings()
    storage: StorageSettings = StorageSettings()
    bus: BusSettings = BusSettings()
    logs: LogSettings = LogSettings()
