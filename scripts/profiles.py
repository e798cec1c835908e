"""Updates the window and price facts in `src/footnote/models/profiles.json` from the `genai-prices` package.

    .venv/bin/pip install genai-prices && .venv/bin/python scripts/profiles.py

What that package does not know (maximum output, thinking style, images, size) is decided by the tables below.
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
# The defaults of known families, for models that the package does not list yet: careful limits, the newest features.
FAMILIES: dict[str, dict[str, Any]] = {
    "claude": {"window": 200_000, "maxOutput": 64_000, "thinking": "adaptive", "images": True},
    "claude-opus-4": {"window": 200_000, "maxOutput": 32_000, "thinking": "budget", "images": True},
    "claude-sonnet-4": {"window": 200_000, "maxOutput": 64_000, "thinking": "budget", "images": True},
    "gpt-": {"window": 128_000, "maxOutput": 16_384, "images": True},
    "gpt-4.5": {"window": 128_000, "maxOutput": 16_384, "thinking": "none", "images": True},
    "gpt-oss": {"window": 131_072, "maxOutput": 32_768, "thinking": "effort", "images": False},
}
BLIND = ("gpt-3.5", "gpt-4-32k", "gpt-oss", "o1-mini", "o1-preview", "o3-mini")
# Families of other vendors that are known to read text only; images are shown to all models that are not here.
TEXT_ONLY = (
    "codellama", "codestral", "command-r", "deepseek-chat", "deepseek-coder", "deepseek-llm", "deepseek-r1",
    "deepseek-reasoner", "deepseek-v2", "deepseek-v3", "gemma-2", "gemma-3-1b", "gemma-3-270m", "gemma-7b",
    "gemma2", "gemma3:1b", "gemma3:270m", "gemma:", "granite-3", "granite3", "grok-3", "kimi-k2-", "kimi-k2:",
    "llama-2", "llama-3", "llama2", "llama3", "meta-llama-3", "mistral-7b", "mistral-nemo", "mistral:", "mixtral",
    "open-mistral-7b", "open-mistral-nemo", "open-mixtral", "phi-2", "phi-3", "phi-4", "phi3", "phi4", "phi:",
    "qwen2-", "qwen2.5-", "qwen2.5:", "qwen2:", "qwen3-", "qwen3:", "qwen:", "qwq", "smollm", "tinyllama",
)  # fmt: skip

# Sizes in billions of parameters, for names that do not say them. In Ollama a model without a size is the default of
# its family, `mistral:latest` or `mistral:instruct`; `mistral-large` is another model, hence the colons.
BILLIONS: dict[str, float] = {
    "aya:": 8, "bakllava:": 7.2, "bespoke-minicheck": 7.7, "codegemma:": 8.5, "codellama:": 6.7, "codeqwen:": 7.3,
    "command-r7b": 8, "deepseek-coder:": 1, "deepseek-llm:": 7, "dolphin-llama3:": 8, "dolphin-mistral:": 7.2,
    "dolphin-phi:": 2.8, "dolphin3:": 8, "exaone3.5:": 7.8, "falcon2:": 11.1, "falcon3:": 7.5, "falcon:": 7.2,
    "gemma2:": 9.2, "gemma3:": 4.3, "gemma3n:": 6.9, "gemma:": 8.5, "glm4:": 9.4, "granite3-dense:": 2.6,
    "granite3-moe:": 1.3, "granite3.1-dense:": 8.2, "granite3.1-moe:": 3.3, "granite3.2:": 8.2, "granite3.3:": 8.2,
    "granite4:": 3.4, "granite4:small": 32.2, "granite4:tiny": 6.9, "granite-4.0-h-micro": 3.2,
    "granite-4.0-h-tiny": 6.9, "granite-4.0-micro": 3.4, "hermes3:": 8, "internlm2:": 7.7, "llama2-uncensored:": 6.7,
    "llama2:": 6.7, "llama3-chatqa:": 8, "llama3-groq-tool-use:": 8, "llama3.1:": 8, "llama3.2-vision:": 10.7,
    "llama3.2:": 3.2, "llama3:": 8, "llava-llama3:": 8, "llava-phi3:": 3.8, "llava:": 7.2, "mathstral:": 7.2,
    "minicpm-v": 8, "mistral-nemo": 12.2, "mistral-tiny": 7.2, "mistral:": 7.2, "mixtral": 46.7, "moondream": 1.9,
    "nemotron-mini": 4.2, "neural-chat:": 7.2, "nous-hermes2:": 10.7, "nous-hermes:": 6.7, "olmo2:": 7.3,
    "open-mistral-nemo": 12.2, "openchat:": 7.2, "openhermes:": 7.2, "orca-mini:": 3.4, "orca2:": 6.7, "phi-1": 1.4,
    "phi-2": 2.8, "phi-3-medium": 14, "phi-3-mini": 3.8, "phi-3-small": 7.4, "phi-3-vision": 4.2, "phi-3.5-mini": 3.8,
    "phi-3.5-moe": 41.9, "phi-3.5-vision": 4.2, "phi-4": 14.7, "phi-4-mini": 3.8, "phi-4-multimodal": 5.6,
    "phi3.5:": 3.8, "phi3:": 3.8, "phi3:medium": 14, "phi4-mini": 3.8, "phi4-reasoning:": 14.7, "phi4:": 14.7,
    "phi:": 2.8, "qwen2-math:": 7.6, "qwen2.5-coder:": 7.6, "qwen2.5:": 7.6, "qwen2.5vl:": 8.3, "qwen2:": 7.6,
    "qwen3-vl:": 8.8, "qwen3:": 8.2, "qwen:": 4, "smollm": 1.7, "solar:": 10.7, "stable-beluga:": 6.7,
    "stablelm-zephyr:": 2.8, "stablelm2:": 1.6, "starling-lm:": 7.2, "tinydolphin": 1.1, "tinyllama": 1.1,
    "vicuna:": 6.7, "wizardlm2:": 7.2, "yi:": 6.1, "zephyr:": 7.2,
}  # fmt: skip


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


def text_only(name: str) -> dict[str, Any]:
    return {"images": False} if name.startswith(TEXT_ONLY) else {}


def profiles() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {name: {"images": False} for name in TEXT_ONLY} | FAMILIES
    found |= {name: text_only(name) | {"billions": size} for name, size in BILLIONS.items()}
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
