"""Facts about models, as data (`profiles.json`): window, maximum output, thinking style, images, price.

Facts are matched by the longest known prefix of the model's name, whatever router or gateway stands before it
(`openrouter/anthropic/claude-opus-5` is a Claude). An unknown model gets careful defaults and no price: an
unknown cost is unknown, not zero. It is shown images, as most models of today see them; one that refuses them is
asked again without. Those that are known to read text only are in the list.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from footnote.protocol.messages import Usage

_VISION_NAME = re.compile(r"vision|(?<![a-z])vl|llava|multimodal|omni|ocr")
"""Words in the name of a model that sees, though others of its family do not: `llama-3.2-11b-vision`, `qwen2.5-vl`."""

_EMBEDDING_NAME = re.compile(r"embed|minilm|paraphrase-|(?<![a-z0-9])(?:bge|gte|e5)-")
"""Words in the name of a model that turns text into numbers, and answers nothing."""

ThinkingStyle: TypeAlias = Literal["none", "budget", "adaptive", "effort"]


class Rates(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


class Price(Rates, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Rates, and other ones for a request whose input passes `long_from` tokens."""

    long_from: int | None = None
    long: Rates | None = None

    def cost(self, usage: Usage) -> float:
        """What one response cost, in US dollars."""
        past = self.long_from is not None and usage.context > self.long_from
        rates = self.long if past and self.long else self
        read = rates.input if rates.cache_read is None else rates.cache_read
        write = rates.input if rates.cache_write is None else rates.cache_write
        millionths = (
            usage.input * rates.input
            + usage.output * rates.output
            + usage.cache_read * read
            + usage.cache_write * write
        )
        return millionths / 1_000_000


class Profile(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What has to be known of a model to ask it well."""

    window: int = 32_768
    max_output: int = 8_192
    thinking: ThinkingStyle | None = None
    """How it is asked to think; None: not known."""
    images: bool = True
    price: Price | None = None


def effort_of(budget: int) -> Literal["low", "medium", "high"]:
    """A thinking budget in tokens, for models that take a word instead."""
    return "low" if budget < 4_096 else "medium" if budget < 16_384 else "high"


@cache
def _load_profiles() -> dict[str, Profile]:
    data = files("footnote.models").joinpath("profiles.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, Profile])


def profile_of(model: str) -> Profile:
    """Facts about `PROVIDER/MODEL` or `MODEL`."""
    name = model.rpartition("/")[2].lower()
    known = _load_profiles()
    facts = next((known[name[:end]] for end in range(len(name), 0, -1) if name[:end] in known), Profile())
    return facts if facts.images or not _VISION_NAME.search(name) else msgspec.structs.replace(facts, images=True)


def can_answer(model: str) -> bool:
    """Whether a model is one to talk to, as far as its name tells: a local server lists all that it has."""
    return not _EMBEDDING_NAME.search(model.lower())
