"""The size of a model decides how it answers: from its name, or from the data about its family."""

import pytest

from footnote.models.profiles import AnswerStyle, Profile, billions_in_name, profile_of

SIZES = {
    # in the name, as servers and hosts write it
    "ollama/qwen2.5:1.5b": 1.5,
    "Qwen2.5-Coder-1.5B-Instruct": 1.5,
    "ollama/qwen2.5:0.5b": 0.5,
    "ollama/qwen2.5-coder:7b-instruct-q4_K_M": 7,
    "ollama/qwen3:4b-thinking-2507-fp16": 4,
    "mlx-community/Qwen2.5-7B-Instruct-1M-4bit": 7,
    "/models/Qwen2.5-14B-Instruct-Q8_0.gguf": 14,
    "qwen2_5-0.5b-chat": 0.5,
    "accounts/fireworks/models/qwen2p5-1p5b": 1.5,
    "accounts/fireworks/models/llama-v3p2-3b-instruct": 3,
    "ollama/llama3.2:3b": 3,
    "ollama/llama3.2:1b": 1,
    "Meta-Llama-3.1-8B-Instruct": 8,
    "openrouter/meta-llama/llama-3.2-3b-instruct": 3,
    "openrouter/meta-llama/llama-3.2-3b-instruct:free": 3,
    "meta-llama/Llama-3.2-11B-Vision-Instruct": 11,
    "groq/llama-3.1-8b-instant": 8,
    "groq/llama3-8b-8192": 8,
    "us.meta.llama3-2-3b-instruct-v1:0": 3,
    "hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M": 1,
    "gemma-2-9b-it": 9,
    "ollama/gemma3n:e4b": 4,
    "google/gemma-3n-e2b-it": 2,
    "ollama/gemma3:270m": 0.27,
    "HuggingFaceTB/SmolLM2-135M-Instruct": 0.135,
    "ollama/deepseek-r1:7b": 7,
    "deepseek-r1-distill-qwen-7b": 7,
    "deepseek-r1-0528-qwen3-8b": 8,
    "mistralai/Mistral-7B-Instruct-v0.3": 7,
    "ministral-8b-2512": 8,
    "ollama/phi3:14b": 14,
    "microsoft/bitnet-b1.58-2b-4t": 2,
    "allenai/olmoe-1b-7b-0924": 7,
    "ollama/granite3-dense:8b": 8,
    "internlm2_5-7b-chat": 7,
    # in the data: the default of a family in Ollama, and models whose names never say it
    "ollama/mistral": 7.2,
    "ollama/mistral:instruct": 7.2,
    "ollama/llama2": 6.7,
    "ollama/llama3.2": 3.2,
    "ollama/llama3.1:latest": 8,
    "ollama/phi3": 3.8,
    "ollama/phi3:medium": 14,
    "ollama/phi": 2.8,
    "ollama/gemma3": 4.3,
    "ollama/qwen3:latest": 8.2,
    "ollama/tinyllama": 1.1,
    "ollama/smollm2": 1.7,
    "microsoft/phi-3-mini-4k-instruct": 3.8,
    "phi-4-mini-instruct": 3.8,
    "phi-4": 14.7,
    "mistralai/mistral-nemo": 12.2,
    "command-r7b-12-2024": 8,
}
LARGE = {
    "ollama/gpt-oss:20b": 20,
    "gpt-oss-120b": 120,
    "qwen3-30b-a3b": 30,
    "Qwen3-235B-A22B-Instruct-2507": 235,
    "mixtral-8x7b-instruct": 56,
    "ollama/mixtral": 46.7,
    "ollama/llama4:16x17b": 272,
    "llama-3.3-70b-versatile": 70,
    "ollama/qwq:32b": 32,
    "gemma-3-27b-it": 27,
    "phi-3.5-moe-instruct": 41.9,
    "deepseek-r1-distill-llama-70b": 70,
    "ollama/granite4:small-h": 32.2,
    "ernie-4.5-21b-a3b": 21,
}
UNKNOWN = (
    *("gpt-4-0613", "gpt-4o-mini", "gpt-4.1-nano", "gpt-6.1-sol", "o3-mini", "o4-mini", "gpt-3.5-turbo-16k"),
    *("claude-3-5-haiku-20241022", "claude-sonnet-5-5", "claude-opus-4-1@20250805", "gemini-2.0-flash-001"),
    *("mistral-large", "mistral-large-2411", "mistral-small-latest", "mistral-medium-3.1", "codestral-2508"),
    *("deepseek-chat", "deepseek/deepseek-r1:free", "deepseek-v3.1", "kimi-k2-0905", "qwen3-max", "qwen-plus"),
    *("grok-4-fast", "command-r-plus-08-2024", "hunyuan-a13b-instruct", "qwen1.5-moe-a2.7b-chat", "llama3.3"),
    *("vllm/mistral", "vllm/qwen3", "nova-micro-v1:0", "minimax-m2", "glm-4.6", "solar-pro", "model-4bit-q8_0-128k"),
)


@pytest.mark.parametrize(("name", "billions"), SIZES.items())
def test_a_model_up_to_14_billion_parameters_is_guided(name: str, billions: float):
    profile = profile_of(name)

    assert profile.billions == billions
    assert profile.is_guided
    assert profile.keeps_tools == (billions >= 5)


@pytest.mark.parametrize(("name", "billions"), LARGE.items())
def test_a_larger_model_is_agentic(name: str, billions: float):
    assert (profile_of(name).billions, profile_of(name).is_guided) == (billions, False)


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_model_whose_size_nobody_says_is_agentic(name: str):
    assert (profile_of(name).billions, profile_of(name).is_guided) == (None, False)


def test_a_size_as_counted_by_a_server_is_compared_as_it_is_sold():
    assert Profile(billions=14.8).is_guided
    assert not Profile(billions=15.2).is_guided
    assert not Profile(billions=4.3).keeps_tools


def test_a_model_that_cannot_call_tools_is_guided_and_gets_none():
    assert Profile(billions=70, tools=False).is_guided
    assert not Profile(billions=70, tools=False).keeps_tools


@pytest.mark.parametrize("style", ["agentic", "guided"])
def test_a_style_that_is_set_wins_over_the_size(style: AnswerStyle):
    assert Profile(style=style, billions=1).is_guided == (style == "guided")
    assert Profile(style=style, billions=99).is_guided == (style == "guided")


def test_a_name_without_a_size_says_nothing():
    assert billions_in_name("") is None
    assert billions_in_name("b") is None
    assert billions_in_name("7") is None
