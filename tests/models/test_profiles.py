"""Profiles are found by the model's name with any prefix or suffix; unknown values stay unknown."""

import pytest

from footnote.models.profiles import Price, Profile, Rates, profile_of
from footnote.protocol.messages import Usage


@pytest.mark.parametrize(
    "name",
    ["claude-3-haiku", "anthropic/claude-3-haiku", "openrouter/anthropic/claude-3-haiku", "CLAUDE-3-Haiku-20240307"],
)
def test_a_model_is_found_behind_any_gateway_and_in_any_version(name: str):
    facts = profile_of(name)

    assert (facts.window, facts.max_output, facts.images) == (200_000, 4_096, True)


def test_the_longest_known_beginning_of_a_name_counts():
    assert profile_of("claude-fable-5-1") != profile_of("claude-fable-5")
    assert profile_of("claude-fable-5-1-latest") == profile_of("claude-fable-5-1")


@pytest.mark.parametrize(
    ("name", "window", "thinking"),
    [
        ("anthropic/claude-sonnet-4-20250514", 200_000, "budget"),
        ("anthropic/claude-sonnet-9", 200_000, "adaptive"),
        ("openai/gpt-9", 128_000, None),
        ("ollama/gpt-oss:20b", 131_072, "effort"),
    ],
)
def test_a_new_model_of_a_known_family_gets_the_facts_of_the_family(name: str, window: int, thinking: str | None):
    assert (profile_of(name).window, profile_of(name).thinking) == (window, thinking)


@pytest.mark.parametrize("name", ["", "nobody/knows-me", "claud"])
def test_an_unknown_model_gets_careful_defaults_and_no_price(name: str):
    assert profile_of(name) == Profile()
    assert Profile().price is None


@pytest.mark.parametrize(
    "name",
    [
        *("nobody/knows-me", "gemini-3-pro", "gemma3:4b", "qwen2.5vl:7b", "qwen/qwen2.5-vl-72b-instruct", "llava:13b"),
        *(
            "pixtral-12b",
            "meta-llama/Llama-3.2-11B-Vision-Instruct",
            "llama3.2-vision",
            "llama4:scout",
            "gpt-4.5-preview",
        ),
        *("mistral-small3.2", "phi-4-multimodal-instruct", "qwen3.5:9b", "deepseek-vl2", "kimi-k2.5"),
    ],
)
def test_a_model_is_shown_images_unless_it_is_known_to_read_text_only(name: str):
    assert profile_of(name).images


@pytest.mark.parametrize(
    "name",
    [
        *("gpt-3.5-turbo", "gpt-4", "gpt-4-0613", "o1-mini", "o3-mini", "gpt-oss:20b", "deepseek/deepseek-r1:free"),
        *("llama3.1:8b", "llama-3.3-70b-versatile", "Meta-Llama-3.1-8B-Instruct", "mistral:7b", "mistral-nemo"),
        *("mixtral-8x7b-instruct", "qwen2.5:7b", "qwen3:8b", "Qwen3-30B-A3B", "phi3:mini", "phi-4", "gemma2:9b"),
    ],
)
def test_a_model_that_is_known_to_read_text_only_is_shown_no_images(name: str):
    assert not profile_of(name).images


def test_a_price_counts_every_kind_of_token_once():
    price = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    usage = Usage(input=1_000, output=2_000, cache_read=10_000, cache_write=4_000, reasoning=500)

    assert price.cost(usage) == pytest.approx((1 * 3 + 2 * 15 + 10 * 0.3 + 4 * 3.75) / 1_000)


def test_without_a_price_of_its_own_the_cache_costs_as_much_as_input():
    assert Price(input=1.0, output=2.0).cost(Usage(input=1, cache_read=2, cache_write=3)) == pytest.approx(6e-6)


def test_a_long_request_has_its_own_rates():
    price = Price(input=1.0, output=2.0, long_from=1_000, long=Rates(input=10.0, output=20.0))

    assert price.cost(Usage(input=600, cache_read=400)) == pytest.approx(0.001)
    assert price.cost(Usage(input=601, cache_read=400, output=1)) == pytest.approx(0.01003)
