"""Rewrites the window and price facts in `src/footnote/models/profiles.json` from the `genai-prices` package.

    .venv/bin/pip install genai-prices && .venv/bin/python scripts/profiles.py

What that package does not know (maximum output, thinking style, images) is decided by the tables below.
A model whose price depends on the date is written without a price: a wrong price is worse than none.
"""

import json
from pathlib import Path
from typing import Any

from genai_prices import data

TARGET = Path(__file__).parents[1] / "src/footnote/models/profiles.json"
NOT_FOR_CHAT = (
    "audio", "realtime", "transcribe", "tts", "embedding", "image", "instruct", "computer", "search-preview",
    "deep-research", "claude-2", "claude-v1", "vision", "safeguard",
)  # fmt: skip
MAX_OUTPUT = {
    "claude-3-haiku": 4_096, "claude-3-opus": 4_096, "claude-3-sonnet": 4_096, "claude-3-5": 8_192,
    "claude-opus-4-0": 32_000, "claude-opus-4-1": 32_000, "claude-3-7": 64_000, "claude-opus-4-5": 64_000,
    "claude-sonnet-4-0": 64_000, "claude-sonnet-4-5": 64_000, "claude-haiku-4-5": 64_000, "claude": 128_000,
    "gpt-6": 128_000, "gpt-5": 128_000, "gpt-4.1": 32_768, "gpt-4o": 16_384, "chatgpt": 16_384, "gpt-oss": 32_768,
    "o1-mini": 65_536, "o1-preview": 32_768, "o1": 100_000, "o3": 100_000, "o4": 100_000, "codex": 100_000,
}  # fmt: skip
# What a name of a known family means that the package does not list yet: careful figures, the newest manners.
FAMILIES: dict[str, dict[str, Any]] = {
    "claude": {"window": 200_000, "maxOutput": 64_000, "thinking": "adaptive", "images": True},
    "claude-opus-4": {"window": 200_000, "maxOutput": 32_000, "thinking": "budget", "images": True},
    "claude-sonnet-4": {"window": 200_000, "maxOutput": 64_000, "thinking": "budget", "images": True},
    "gpt-": {"window": 128_000, "maxOutput": 16_384, "images": True},
    "gpt-4.5": {"window": 128_000, "maxOutput": 16_384, "thinking": "none", "images": True},
    "gpt-oss": {"window": 131_072, "maxOutput": 32_768, "thinking": "effort", "images": False},
}
BLIND = ("gpt-3.5", "gpt-4-32k", "gpt-oss", "o1-mini", "o1-preview", "o3-mini")
# Families of other makers that read text only, as far as that is certain: a model that is not here is shown images.
TEXT_ONLY = (
    "codellama", "codestral", "command-r", "deepseek-chat", "deepseek-coder", "deepseek-llm", "deepseek-r1",
    "deepseek-reasoner", "deepseek-v2", "deepseek-v3", "gemma-2", "gemma-3-1b", "gemma-3-270m", "gemma-7b",
    "gemma2", "gemma3:1b", "gemma3:270m", "gemma:", "granite-3", "granite3", "grok-3", "kimi-k2-", "kimi-k2:",
    "llama-2", "llama-3", "llama2", "llama3", "meta-llama-3", "mistral-7b", "mistral-nemo", "mistral:", "mixtral",
    "open-mistral-7b", "open-mistral-nemo", "open-mixtral", "phi-2", "phi-3", "phi-4", "phi3", "phi4", "phi:",
    "qwen2-", "qwen2.5-", "qwen2.5:", "qwen2:", "qwen3-", "qwen3:", "qwen:", "qwq", "smollm", "tinyllama",
)  # fmt: skip


def max_output(name: str) -> int:
    return next((size for prefix, size in MAX_OUTPUT.items() if name.startswith(prefix)), 4_096)


def thinking(name: str, window: int) -> str:
    if name.startswith("claude"):
        if name.startswith(("claude-3-haiku", "claude-3-opus", "claude-3-sonnet", "claude-3-5")):
            return "none"
        return "adaptive" if window >= 1_000_000 else "budget"
    if name.startswith(("o1-mini", "o1-preview")):
        return "none"
    return "effort" if name.startswith(("o1", "o3", "o4", "gpt-5", "gpt-6", "gpt-oss", "codex")) else "none"


def rates(prices: Any, tier: int | None) -> dict[str, float]:
    """Dollars per million tokens below (None) or in the given tier."""

    def rate(price: Any) -> float | None:
        if price is None or not hasattr(price, "base"):
            return None if price is None else float(price)
        return float(price.base if tier is None else price.tiers[tier].price)

    named = {
        "input": rate(prices.input_mtok), "output": rate(prices.output_mtok),
        "cacheRead": rate(prices.cache_read_mtok), "cacheWrite": rate(prices.cache_write_mtok),
    }  # fmt: skip
    return {name: value for name, value in named.items() if value is not None}


def price(prices: Any) -> dict[str, Any] | None:
    if not hasattr(prices, "input_mtok") or prices.input_mtok is None or prices.output_mtok is None:
        return None
    flat: dict[str, Any] = rates(prices, None)
    if hasattr(prices.input_mtok, "tiers"):
        flat["longFrom"] = prices.input_mtok.tiers[0].start
        flat["long"] = rates(prices, 0)
    return flat


def profiles() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {name: {"images": False} for name in TEXT_ONLY} | FAMILIES
    for provider in data.providers:
        for model in provider.models if provider.id in ("anthropic", "openai") else ():
            name = model.id.removesuffix("-latest") if model.id.startswith("claude") else model.id
            if not model.context_window or any(word in name for word in NOT_FOR_CHAT):
                continue
            facts = {
                "window": model.context_window,
                "maxOutput": max_output(name),
                "thinking": thinking(name, model.context_window),
                "images": not name.startswith(BLIND) and name != "gpt-4",
                "price": price(model.prices),
            }
            found[name] = {key: value for key, value in facts.items() if value is not None}
    return dict(sorted(found.items()))


if __name__ == "__main__":
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(facts)}" for name, facts in profiles().items())
    TARGET.write_text("{\n" + lines + "\n}\n")
