"""The adapters of the model APIs, by the `type` of a provider in `models.providers`.

An adapter is pure: it builds requests and parses responses, and `models/stream.py` makes the requests. An adapter of
another package is an entry point of the group `footnote.models`, whose name is the type. The configuration reads this
table, so importing an adapter must not load the HTTP client.
"""

import logging
import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol

from footnote.models import anthropic, openai_chat
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Endpoint, Options
from footnote.models.profiles import Profile
from footnote.plugins import load_plugins
from footnote.protocol.stream import StreamEvent
from footnote.protocol.tools import ToolSpec

PLUGIN_GROUP = "footnote.models"
READER_TYPE = "reader"
"""The type of the built-in model, which has no adapter."""

_NAME = re.compile("[a-z][a-z0-9-]{0,31}")
_CONSTANTS = ("PATH", "MODELS_PATH")
_FUNCTIONS = ("request_headers", "request_body", "response_parser")

log = logging.getLogger(__name__)


class ResponseParser(Protocol):
    """Parses the payloads of one response into events."""

    is_complete: bool

    def parse(self, payload: bytes) -> Iterable[StreamEvent]: ...

    def finish(self) -> Iterable[StreamEvent]: ...

    def flush(self) -> Iterable[StreamEvent]:
        """The events of text that was held back because it could have become something else."""
        ...


class ModelApi(Protocol):
    """The interface of an adapter: a module with these names, or an object."""

    @property
    def PATH(self) -> str: ...  # noqa: N802 - a constant of the module

    @property
    def MODELS_PATH(self) -> str: ...  # noqa: N802 - as above

    def request_headers(self, endpoint: Endpoint) -> dict[str, str]: ...

    def request_body(self, model_id: str, context: Context, options: Options, profile: Profile) -> dict[str, Any]: ...

    def response_parser(
        self, accumulator: Accumulator, endpoint: Endpoint, tools: tuple[ToolSpec, ...]
    ) -> ResponseParser: ...


_BUILTIN: dict[str, ModelApi] = {"anthropic": anthropic, "openai": openai_chat}


@cache
def model_apis() -> Mapping[str, ModelApi]:
    """All adapters by their types, those that ship with Footnote first. Of two for one type, the earlier stays."""
    chosen = dict(_BUILTIN)
    for name, api in load_plugins(PLUGIN_GROUP, _check_plugin):
        if chosen.setdefault(name, api) is not api:
            log.warning("A second model adapter is called %s; it is left out.", name)
    return MappingProxyType(chosen)


def _check_plugin(name: str, loaded: Any) -> tuple[tuple[str, ModelApi]]:
    if not _NAME.fullmatch(name) or name == READER_TYPE:
        raise TypeError(f"{name!r} cannot be the type of a model provider: 1 to 32 of a-z, 0-9 and -.")
    missing = [part for part in _CONSTANTS if not isinstance(getattr(loaded, part, None), str)]
    missing += [part for part in _FUNCTIONS if not callable(getattr(loaded, part, None))]
    if missing:
        raise TypeError(f"{loaded!r} is not a model adapter; it has no {', '.join(missing)}.")
    return ((name, loaded),)
