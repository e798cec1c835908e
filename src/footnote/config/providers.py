"""The names of providers: the registered search providers, and model providers whose names imply their settings."""

from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from footnote.config.formats import Format
from footnote.models.adapters import model_apis
from footnote.web_search.providers import search_providers
from footnote.web_search.providers.base import Provider
from footnote.web_search.settings import DEFAULT_PROVIDER


def search_provider_ids() -> tuple[str, ...]:
    """The default one first, then the others in the order in which they are tried when one fails."""
    return tuple(sorted((provider.id for provider in search_providers()), key=lambda name: name != DEFAULT_PROVIDER))


def search_aliases() -> dict[str, str]:
    """Older names of search providers, with the current ones."""
    return {alias: provider.id for provider in search_providers() for alias in provider.aliases}


def search_provider(name: str) -> Provider:
    """By its id or an alias. `KeyError`: there is none."""
    wanted = search_aliases().get(name, name)
    return {provider.id: provider for provider in search_providers()}[wanted]


SEARCH_PROVIDER_ID = Format(choices=search_provider_ids)
SEARCH_PROVIDER_NAME = Format(choices=lambda: (*search_provider_ids(), *search_aliases()))
API_TYPE = Format(choices=lambda: tuple(model_apis()))

SearchProviderId: TypeAlias = Annotated[str, Meta(extra={"kind": SEARCH_PROVIDER_ID})]
SearchProviderName: TypeAlias = Annotated[str, Meta(extra={"kind": SEARCH_PROVIDER_NAME})]
"""An id, or an alias of one."""
ApiType: TypeAlias = Annotated[str, Meta(extra={"kind": API_TYPE})]


class KnownProvider(Struct, frozen=True):
    """A model provider whose name implies the rest. One with a `key_name` is hosted, and refuses requests without a
    key; one with a `default_model` is used if there is a key for it and no model was chosen."""

    type: str
    base_url: str
    key_name: str | None = None
    default_model: str | None = None


MODEL_PROVIDERS: dict[str, KnownProvider] = {
    "anthropic": KnownProvider("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "claude-sonnet-5-5"),
    "openai": KnownProvider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-6.1-sol"),
    "openrouter": KnownProvider("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": KnownProvider("openai", "http://127.0.0.1:11434/v1"),
}
"""Those with a `default_model` are tried in this order."""

_HOSTED_DOMAINS = (
    *("openai.com", "anthropic.com", "openrouter.ai", "azure.com", "googleapis.com", "amazonaws.com", "mistral.ai"),
    *("groq.com", "together.xyz", "together.ai", "fireworks.ai", "deepinfra.com", "deepseek.com", "cerebras.ai"),
    *("x.ai", "cohere.com", "cohere.ai", "perplexity.ai", "huggingface.co", "nvidia.com", "sambanova.ai", "novita.ai"),
    *("hyperbolic.xyz", "nebius.com", "github.ai", "vercel.sh", "cloudflare.com", "ollama.com", "minimax.io"),
    *("moonshot.ai", "moonshot.cn", "z.ai", "bigmodel.cn", "aliyuncs.com", "siliconflow.cn", "siliconflow.com"),
    *("volces.com", "baidubce.com", "hunyuan.cloud.tencent.com", "venice.ai", "ai21.com", "writer.com"),
)
"""APIs on the web: they are quick or fail, and have no facts about a model to ask for."""


def is_self_hosted(base_url: str) -> bool:
    """Whether models at this address run on a server of the operator's own, as far as the address tells."""
    host = (urlsplit(base_url).hostname or "").rstrip(".").lower()
    return not any(host == domain or host.endswith(f".{domain}") for domain in _HOSTED_DOMAINS)


BUILTIN_PROVIDER = "footnote"
READER_MODEL = "reader"
"""`footnote/reader`: the built-in model, which is always available."""


def standard_key_variables() -> dict[tuple[str, ...], str]:
    """The usual variable of each key, by the path of the key in `config.json`."""
    search = {
        ("tools", "webSearch", "providers", provider.id, "apiKey"): provider.key_name
        for provider in search_providers()
        if provider.key_name
    }
    models = {
        ("models", "providers", name, "apiKey"): known.key_name
        for name, known in MODEL_PROVIDERS.items()
        if known.key_name
    }
    return search | models
