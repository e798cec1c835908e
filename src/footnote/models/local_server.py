"""What a local model server says of a model: its size, its context length, whether it can call tools.

Ollama, llama.cpp, LM Studio and vLLM each have an address of their own for it. A server that knows none of them leaves
all facts open, and nothing here is an error: a model can be asked without them.
"""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import quote

from msgspec import Struct

from footnote.models.base import Endpoint
from footnote.net.client import Net
from footnote.protocol.errors import UpstreamError

LocalServerKind: TypeAlias = Literal["ollama", "llama.cpp", "lmstudio", "vllm"]

PROBE_SECONDS = 2.0
"""A server on the same machine answers in milliseconds, unless it is loading a model."""
SETTLED_SECONDS = 60.0
"""How long the facts of a loaded model are kept. Those of a model that is not loaded yet are not: its window is known
once it has answered."""
UNKNOWN_SECONDS = 10.0
"""How long a server that says nothing, or does not run, is not asked again."""
IDLE_SECONDS = 600.0
"""How long a server of one's own may be silent: loading a model and reading a long request takes minutes on a slow
machine."""
DEFAULT_WINDOW = 4_096
"""What Ollama and LM Studio give a model that is not loaded yet, unless they were told otherwise. Ollama cuts a longer
request without a word, from its beginning on."""
_BILLION = 1_000_000_000
_SIZE = re.compile(r"\s*([\d.]+)\s*([KMBT])?", re.IGNORECASE)
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_NOTHING: Mapping[str, Any] = {}
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


class LocalModelFacts(Struct, frozen=True, kw_only=True):
    """`window`: the context length that the server gives the model now, in tokens, or will give it when it loads it;
    `max_window`: the one that it was trained for. `parameters` are billions. None: the server did not say."""

    kind: LocalServerKind | None = None
    window: int | None = None
    max_window: int | None = None
    parameters: float | None = None
    has_tools: bool | None = None
    is_loaded: bool | None = None


class _KnownFacts(Struct, frozen=True):
    facts: LocalModelFacts
    expires: float


class LocalServers:
    """The facts about the models of local servers, asked for once for all runs that need them."""

    def __init__(self, net: Net, clock: Callable[[], float] = time.monotonic) -> None:
        self._net = net
        self._clock = clock
        self._probes: dict[tuple[Endpoint, str], asyncio.Task[_KnownFacts]] = {}

    async def facts(self, endpoint: Endpoint, model: str) -> LocalModelFacts:
        """Waits `PROBE_SECONDS` at most."""
        key = endpoint, model
        probe = self._probes.get(key)
        if probe is None or (probe.done() and probe.result().expires <= self._clock()):
            probe = self._probes[key] = asyncio.create_task(self._probe(endpoint, model))
        return (await asyncio.shield(probe)).facts

    async def _probe(self, endpoint: Endpoint, model: str) -> _KnownFacts:
        facts = await probe_local_server(endpoint, model, self._net)
        seconds = UNKNOWN_SECONDS if facts.kind is None else SETTLED_SECONDS if facts.is_loaded else 0.0
        return _KnownFacts(facts, self._clock() + seconds)

    async def close(self) -> None:
        probes = list(self._probes.values())
        for probe in probes:
            probe.cancel()
        await asyncio.gather(*probes, return_exceptions=True)


async def probe_local_server(endpoint: Endpoint, model: str, net: Net) -> LocalModelFacts:
    """Asks for the facts in every form at once, and takes the first server that answers in its own."""
    probes = (_probe_ollama, _probe_llama_cpp, _probe_lm_studio, _probe_model_list)
    found = await asyncio.gather(*(_attempt(probe(endpoint, model, net)) for probe in probes))
    return next((facts for facts in found if facts is not None), LocalModelFacts())


async def _attempt(probe: Any) -> LocalModelFacts | None:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            return await probe
    except (UpstreamError, TimeoutError, ValueError, TypeError, OverflowError):
        return None


async def _probe_ollama(endpoint: Endpoint, model: str, net: Net) -> LocalModelFacts | None:
    root = _root_url(endpoint)
    shown = await _post_json(net, f"{root}/api/show", endpoint, {"model": model})
    info = _object(shown.get("model_info"))
    details = _object(shown.get("details"))
    if not info and not details:
        return None
    loaded = await _loaded_ollama_model(net, root, endpoint, model)
    chosen = _NUM_CTX.search(str(shown.get("parameters") or ""))
    trained = next((_positive(value) for key, value in info.items() if key.endswith(".context_length")), None)
    # A model in Ollama's cloud has its whole window; one that is not loaded yet has the default one.
    expected = trained if shown.get("remote_host") else int(chosen[1]) if chosen else DEFAULT_WINDOW
    window = _positive(loaded.get("context_length")) or expected or DEFAULT_WINDOW
    count = _positive(info.get("general.parameter_count"))
    capabilities = shown.get("capabilities")
    return LocalModelFacts(
        kind="ollama",
        window=min(window, trained or window),
        max_window=trained,
        parameters=count / _BILLION if count else _billions(details.get("parameter_size")),
        has_tools="tools" in cast("list[Any]", capabilities) if isinstance(capabilities, list) else None,
        is_loaded=bool(loaded),
    )


async def _loaded_ollama_model(net: Net, root: str, endpoint: Endpoint, model: str) -> Mapping[str, Any]:
    """The entry of the model among those that are in memory; empty if it is not."""
    try:
        running = _object(await net.get_json(f"{root}/api/ps", headers=_headers(endpoint), timeout=PROBE_SECONDS))
    except UpstreamError:
        return {}
    names = {model, f"{model}:latest"}
    return next((entry for entry in _objects(running.get("models")) if entry.get("name") in names), _NOTHING)


async def _probe_llama_cpp(endpoint: Endpoint, model: str, net: Net) -> LocalModelFacts | None:
    # A server of several models answers for one of them, which it would load only to answer this.
    url = f"{_root_url(endpoint)}/props?model={quote(model, safe='')}&autoload=false"
    properties = _object(await net.get_json(url, headers=_headers(endpoint), timeout=PROBE_SECONDS))
    window = _positive(_object(properties.get("default_generation_settings")).get("n_ctx"))
    if window is None:
        return None
    listed = _object(await net.get_json(endpoint.url("/models"), headers=_headers(endpoint), timeout=PROBE_SECONDS))
    entries = _objects(listed.get("data"))
    entry = next((entry for entry in entries if entry.get("id") == model), entries[0] if entries else _NOTHING)
    meta = _object(entry.get("meta"))
    count = _positive(meta.get("n_params"))
    return LocalModelFacts(
        kind="llama.cpp",
        window=window,
        max_window=_positive(meta.get("n_ctx_train")),
        parameters=count / _BILLION if count else None,
        is_loaded=True,
    )


async def _probe_lm_studio(endpoint: Endpoint, model: str, net: Net) -> LocalModelFacts | None:
    """By its API since version 0.4, else by the older one, which does not tell the size."""
    root, headers = _root_url(endpoint), _headers(endpoint)
    try:
        listed = _object(await net.get_json(f"{root}/api/v1/models", headers=headers, timeout=PROBE_SECONDS))
    except UpstreamError:
        listed = _NOTHING
    entry = next((entry for entry in _objects(listed.get("models")) if entry.get("key") == model), None)
    if entry is not None:
        return _lm_studio_facts(entry)
    entry = _object(await net.get_json(f"{root}/api/v0/models/{quote(model, safe='')}", headers=headers))
    trained = _positive(entry.get("max_context_length"))
    if trained is None:
        return None
    capabilities = entry.get("capabilities")
    return LocalModelFacts(
        kind="lmstudio",
        window=_positive(entry.get("loaded_context_length")) or min(DEFAULT_WINDOW, trained),
        max_window=trained,
        has_tools="tool_use" in cast("list[Any]", capabilities) if isinstance(capabilities, list) else None,
        is_loaded=entry.get("state") == "loaded",
    )


def _lm_studio_facts(entry: Mapping[str, Any]) -> LocalModelFacts:
    trained = _positive(entry.get("max_context_length"))
    instances = [_object(instance.get("config")) for instance in _objects(entry.get("loaded_instances"))]
    loaded = next((_positive(config.get("context_length")) for config in instances), None)
    has_tools = _object(entry.get("capabilities")).get("trained_for_tool_use")
    return LocalModelFacts(
        kind="lmstudio",
        window=loaded or min(DEFAULT_WINDOW, trained or DEFAULT_WINDOW),
        max_window=trained,
        parameters=_billions(entry.get("params_string")),
        has_tools=has_tools if isinstance(has_tools, bool) else None,
        is_loaded=bool(instances),
    )


async def _probe_model_list(endpoint: Endpoint, model: str, net: Net) -> LocalModelFacts | None:
    """vLLM, and servers that took over its field, tell the context length in the list of models."""
    listed = _object(await net.get_json(endpoint.url("/models"), headers=_headers(endpoint), timeout=PROBE_SECONDS))
    entry = next((entry for entry in _objects(listed.get("data")) if entry.get("id") == model), _NOTHING)
    window = _positive(entry.get("max_model_len"))
    return LocalModelFacts(kind="vllm", window=window, max_window=window, is_loaded=True) if window else None


async def _post_json(net: Net, url: str, endpoint: Endpoint, body: Mapping[str, Any]) -> Mapping[str, Any]:
    return _object(await net.post_json(url, body, headers=_headers(endpoint), timeout=PROBE_SECONDS))


def _headers(endpoint: Endpoint) -> dict[str, str]:
    return {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}


def _root_url(endpoint: Endpoint) -> str:
    """The address of the server without the path of its OpenAI-compatible API."""
    return endpoint.base_url.rstrip("/").removesuffix("/v1")


def _billions(text: Any) -> float | None:
    """`7.6B`, `135M` as billions."""
    found = _SIZE.match(text) if isinstance(text, str) else None
    return float(found[1]) * _UNITS[(found[2] or "").upper()] / _BILLION if found else None


def _positive(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _object(value: Any) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else _NOTHING


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [_object(entry) for entry in cast("list[Any]", value)] if isinstance(value, list) else []
