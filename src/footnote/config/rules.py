"""What is wrong between values that are right by themselves. Looks at JSON values whose types may still be wrong."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from footnote.config.kinds import REFERENCE, names_a_secret
from footnote.config.problems import Fault, Path, nearest, quoted
from footnote.config.providers import BUILT_IN, MODEL_PROVIDERS, READER

_STDIO_KEYS = ("args", "env", "cwd")


def member(value: Any, *steps: str) -> dict[str, Any]:
    """The object that stands under `steps`; an empty one where there is none."""
    for step in steps:
        value = cast("dict[str, Any]", value).get(step) if isinstance(value, dict) else None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def provider_names(tree: Any) -> list[str]:
    """All model providers that can be named: those with an implied type, and those in `config.json`."""
    return [*MODEL_PROVIDERS, *(name for name in member(tree, "models", "providers") if name not in MODEL_PROVIDERS)]


def settings_faults(tree: Any) -> Iterator[Fault]:
    """`tree` is `config.json` with the environment laid over it."""
    for name, provider in member(tree, "models", "providers").items():
        if name not in MODEL_PROVIDERS and name != BUILT_IN and not member(provider).get("type"):
            yield Fault(
                ("models", "providers", name),
                f'the provider {quoted(name)} needs a "type": "anthropic" or "openai", by the API that it speaks',
            )
    yield from _model_faults(member(tree, "models").get("default"), ("models", "default"), provider_names(tree))


def agents_faults(tree: Any, providers: Collection[str], *, from_file: bool) -> Iterator[Fault]:
    """`tree` is `agents.json`, or the same from the environment; `providers` are those of `config.json`."""
    listed: Any = member(tree).get("agents")
    if not isinstance(listed, list):
        return
    first: dict[str, int] = {}
    for index, agent in enumerate(cast("list[Any]", listed)):
        path: Path = ("agents", index)
        fields = member(agent)
        name = fields.get("id")
        if isinstance(name, str) and first.setdefault(name, index) != index:
            yield Fault((*path, "id"), f"agents[{first[name]}] has the id {quoted(name)} too; give one another id")
        yield from _model_faults(fields.get("model"), (*path, "model"), providers)
        for server, settings in member(fields, "mcpServers").items():
            where = (*path, "mcpServers", server)
            if isinstance(settings, dict):
                yield from _server_faults(cast("dict[str, Any]", settings), where, from_file=from_file)


def _model_faults(model: Any, path: Path, providers: Collection[str]) -> Iterator[Fault]:
    if not isinstance(model, str) or "/" not in model:
        return
    provider, _, name = model.partition("/")
    if provider == BUILT_IN:
        if name != READER:
            yield Fault(path, f"the built-in model is {BUILT_IN}/{READER}; there is no {quoted(name)} beside it")
    elif provider not in providers:
        meant = nearest(provider, (*providers, BUILT_IN))
        yield Fault(
            path,
            f"the provider {quoted(provider)} is not known; the nearest one is {quoted(meant)}. "
            "A provider of your own needs an entry in models.providers of config.json",
        )


def _server_faults(server: Mapping[str, Any], path: Path, *, from_file: bool) -> Iterator[Fault]:
    has_command, has_url = (server.get(key) is not None for key in ("command", "url"))
    if has_command == has_url:
        found = "both" if has_url else "neither"
        yield Fault(path, f'expected either a "command" to start or a "url" to connect to, found {found}')
    elif has_command and "headers" in server:
        yield Fault((*path, "headers"), 'a server with a "command" has no headers; use "env"')
    elif has_url:
        for key in _STDIO_KEYS:
            if key in server:
                yield Fault((*path, key), f'a server with a "url" is not started here and has no {key}')
    if has_command and not from_file:
        yield Fault(path, "a command to start may only stand in the file agents.json")
    for holder in ("env", "headers"):
        for name, value in member(server, holder).items():
            if names_a_secret(name) and isinstance(value, str) and value and not REFERENCE.search(value):
                yield Fault(
                    (*path, holder, name),
                    "keys never live in agents.json: write ${NAME} here, and set the variable NAME in the environment",
                )
