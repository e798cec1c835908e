"""Facts about models, as data (`profiles.json`): window, maximum output, thinking style, images, price, size.

Facts are matched by the longest known prefix of the model's name, whatever router or gateway precedes it
(`openrouter/anthropic/claude-opus-5` is a Claude). An unknown model gets careful defaults and no price: an
unknown cost is unknown, not zero. It is sent images, which most models accept; one that refuses them is asked again
without. Models that are known to read text only are in the list. The size of a model stands in most names.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from footnote.protocol.messages import Usage

_VISION_NAME = re.compile(r"vision|(?<![a-z])vl|llava|multimodal|omni|ocr")
"""Words in the name of a model that sees images, unlike others of its family: `llama-3.2-11b-vision`, `qwen2.5-vl`."""

_CHECKING_NAME = "bespoke-minicheck"
"""In the names of models that were made to check a claim against a document."""

_EMBEDDING_NAME = re.compile(r"embed|minilm|paraphrase-|(?<![a-z0-9])(?:bge|gte|e5)-")
"""Words in the names of embedding models, which answer nothing."""

_SIZE_IN_NAME = re.compile(
    r"(?<![a-z0-9.])(?:(?P<experts>\d{1,2})x)?e?(?P<billions>\d{1,4}(?:[.p]\d{1,2})?)b(?![a-z0-9])"
    r"|(?<![a-z0-9.])(?P<millions>\d{3})m(?![a-z0-9])"
)
"""`7b`, `1.5b` (on some hosts `1p5b`), `8x7b`, `e4b`, `135m`. Neither `4bit` and `q8_0`, which are kinds of
quantization, nor the `a3b` of `30b-a3b`, which is the active part of a mixture of experts."""

ThinkingStyle: TypeAlias = Literal["none", "budget", "adaptive", "effort"]
AnswerStyle: TypeAlias = Literal["auto", "agentic", "guided"]
"""`agentic`: the model decides which tools it calls. `guided`: the product looks things up by rule, and the model
answers from what was found. `auto`: by the size of the model."""

CitationStyle: TypeAlias = Literal["plain", "native"]
"""`plain`: the model writes the ids of passages into its text. `native`: the API itself says what it cites."""

MAX_GUIDED_BILLIONS = 14
"""A larger model is agentic. Sizes are compared in whole billions: what is sold as `14b` has 14.8."""
MAX_SMALL_BILLIONS = 4
"""A guided model up to this size gets no tools, which it calls wrongly more often than not, and takes no second look at
statements."""


class Rates(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


class Price(Rates, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Rates, with other ones for a request whose input has more than `long_from` tokens."""

    long_from: int | None = None
    long: Rates | None = None

    def cost(self, usage: Usage) -> float:
        """What one response cost, in US dollars."""
        is_long = self.long_from is not None and usage.context > self.long_from
        rates = self.long if is_long and self.long else self
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
    """The facts about a model on which a request depends."""

    window: int = 32_768
    max_output: int = 8_192
    thinking: ThinkingStyle | None = None
    """How thinking is requested; None: not known."""
    images: bool = True
    price: Price | None = None
    style: AnswerStyle = "auto"
    billions: float | None = None
    """The size of the model in billions of parameters; None: not known."""
    tools: bool | None = None
    """Whether the model can call tools; None: not known."""
    citations: CitationStyle = "plain"
    checks: bool = False
    """Whether it was made to check a claim against a document, and answers nothing but Yes or No."""
    timeout_seconds: float | None = None
    """How long it may be silent; None: as long as any other server."""

    @property
    def is_guided(self) -> bool:
        if self.style != "auto":
            return self.style == "guided"
        return self.tools is False or (self.billions is not None and int(self.billions) <= MAX_GUIDED_BILLIONS)

    @property
    def keeps_tools(self) -> bool:
        """Whether a guided model is offered tools for what the evidence does not answer."""
        return self.tools is not False and not self.is_small

    @property
    def is_small(self) -> bool:
        """Whether the model is too small for anything but an answer from what it is given."""
        return self.billions is not None and int(self.billions) <= MAX_SMALL_BILLIONS


def effort_of(budget: int) -> Literal["low", "medium", "high"]:
    """A thinking budget in tokens as a word, for models that take one instead."""
    return "low" if budget < 4_096 else "medium" if budget < 16_384 else "high"


@cache
def _load_profiles() -> dict[str, Profile]:
    data = files("footnote.models").joinpath("profiles.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, Profile])


def profile_of(model: str) -> Profile:
    """Facts about `PROVIDER/MODEL` or `MODEL`."""
    provider, _, name = model.lower().rpartition("/")
    key = f"{name}:" if provider == "ollama" and ":" not in name else name
    known = _load_profiles()
    facts = next((known[key[:end]] for end in range(len(key), 0, -1) if key[:end] in known), Profile())
    return msgspec.structs.replace(
        facts,
        images=facts.images or _VISION_NAME.search(name) is not None,
        billions=billions_in_name(name) or facts.billions,
        checks=facts.checks or _CHECKING_NAME in name,
    )


def billions_in_name(name: str) -> float | None:
    """The size that the name of a model says: 7.0 for `qwen2.5:7b`. Of several sizes, the largest."""
    return max(map(_billions, _SIZE_IN_NAME.finditer(name.lower())), default=None)


def _billions(found: re.Match[str]) -> float:
    if found["millions"]:
        return int(found["millions"]) / 1_000
    return int(found["experts"] or 1) * float(found["billions"].replace("p", "."))


def can_answer(model: str) -> bool:
    """Whether a model can answer at all, as far as its name tells: a local server also lists embedding models."""
    return not _EMBEDDING_NAME.search(model.lower())
