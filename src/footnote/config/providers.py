"""Facts about providers, as data: what they speak, where they are, which variable usually holds their key."""

from typing import Literal, TypeAlias, cast, get_args

from msgspec import Struct

from footnote.models.base import ApiType

SearchProvider: TypeAlias = Literal["duckduckgo", "brave", "serper", "tavily", "searxng", "library"]
SearchProviderName: TypeAlias = Literal[SearchProvider, "duck-duck-scrape"]

SEARCH_PROVIDERS: tuple[SearchProvider, ...] = get_args(SearchProvider)
SEARCH_KEYS: dict[SearchProvider, str] = {
    "brave": "BRAVE_API_KEY",
    "serper": "SERPER_API_KEY",
    "tavily": "TAVILY_API_KEY",
}
"""The search providers that need a key, and the usual variable of each."""
SEARCH_ALIASES: dict[SearchProviderName, SearchProvider] = {"duck-duck-scrape": "duckduckgo"}


class KnownProvider(Struct, frozen=True):
    """A model provider whose name says enough. One with a `key_name` is hosted and answers nobody without a key."""

    type: ApiType
    base_url: str
    key_name: str | None = None
    default_model: str | None = None


MODEL_PROVIDERS: dict[str, KnownProvider] = {
    "anthropic": KnownProvider("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "claude-sonnet-5-5"),
    "openai": KnownProvider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-6.1-sol"),
    "openrouter": KnownProvider("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": KnownProvider("openai", "http://127.0.0.1:11434/v1"),
}

BUILTIN_PROVIDER = "footnote"
READER_MODEL = "reader"
"""`footnote/reader`: the model that is always there."""


def resolve_search_alias(name: SearchProviderName) -> SearchProvider:
    return SEARCH_ALIASES[name] if name in SEARCH_ALIASES else cast("SearchProvider", name)


def standard_key_variables() -> dict[tuple[str, ...], str]:
    """Where in `config.json` the key of each usual variable belongs."""
    search = {("tools", "webSearch", "providers", name, "apiKey"): key for name, key in SEARCH_KEYS.items()}
    models = {
        ("models", "providers", name, "apiKey"): known.key_name
        for name, known in MODEL_PROVIDERS.items()
        if known.key_name
    }
    return search | models
