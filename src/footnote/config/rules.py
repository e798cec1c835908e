"""What is wrong between values that are right by themselves. Looks at JSON values whose types may still be wrong."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from footnote.config.formats import VARIABLE_REFERENCE, is_secret_name
from footnote.config.providers import BUILTIN_PROVIDER, MODEL_PROVIDERS, READER_MODEL
from footnote.config.validation import Path, Violation, closest_name, json_quote

_STDIO_KEYS = ("args", "env", "cwd")


def get_object(value: Any, *steps: str) -> dict[str, Any]:
    """The object that stands under `steps`; an empty one where there is none."""
    for step in steps:
        value = cast("dict[str, Any]", value).get(step) if isinstance(value, dict) else None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def provider_names(tree: Any) -> list[str]:
    """All model providers that can be named: those with an implied type, and those in `config.json`."""
    return [
        *MODEL_PROVIDERS,
        *(name for name in get_object(tree, "models", "providers") if name not in MODEL_PROVIDERS),
    ]


def settings_violations(tree: Any) -> Iterator[Violation]:
    """`tree` is `config.json` with the environment laid over it."""
    for name, provider in get_object(tree, "models", "providers").items():
        if name not in MODEL_PROVIDERS and name != BUILTIN_PROVIDER and not get_object(provider).get("type"):
            yield Violation(
                ("models", "providers", name),
                f'the provider {json_quote(name)} needs a "type": "anthropic" or "openai", by the API that it speaks',
            )
    yield from _model_violations(get_object(tree, "models").get("default"), ("models", "default"), provider_names(tree))


def agents_violations(tree: Any, providers: Collection[str], *, from_file: bool) -> Iterator[Violation]:
    """`tree` is `agents.json`, or the same from the environment; `providers` are those of `config.json`."""
    listed: Any = get_object(tree).get("agents")
    if not isinstance(listed, list):
        return
    first: dict[str, int] = {}
    for index, agent in enumerate(cast("list[Any]", listed)):
        path: Path = ("agents", index)
        fields = get_object(agent)
        name = fields.get("id")
        if isinstance(name, str) and first.setdefault(name, index) != index:
            yield Violation(
                (*path, "id"), f"agents[{first[name]}] has the id {json_quote(name)} too; give one another id"
            )
        yield from _model_violations(fields.get("model"), (*path, "model"), providers)
        for server, settings in get_object(fields, "mcpServers").items():
            where = (*path, "mcpServers", server)
            if isinstance(settings, dict):
                yield from _server_violations(cast("dict[str, Any]", settings), where, from_file=from_file)


def _model_violations(model: Any, path: Path, providers: Collection[str]) -> Iterator[Violation]:
    if not isinstance(model, str) or "/" not in model:
        return
    provider, _, name = model.partition("/")
    if provider == BUILTIN_PROVIDER:
        if name != READER_MODEL:
            yield Violation(
                path,
                f"the built-in model is {BUILTIN_PROVIDER}/{READER_MODEL}; there is no {json_quote(name)} beside it",
            )
    elif provider not in providers:
        meant = closest_name(provider, (*providers, BUILTIN_PROVIDER))
        yield Violation(
            path,
            f"the provider {json_quote(provider)} is not known; the nearest one is {json_quote(meant)}. "
            "A provider of your own needs an entry in models.providers of config.json",
        )


def _server_violations(server: Mapping[str, Any], path: Path, *, from_file: bool) -> Iterator[Violation]:
    has_command, has_url = (server.get(key) is not None for key in ("command", "url"))
    if has_command == has_url:
        found = "both" if has_url else "neither"
        yield Violation(path, f'expected either a "command" to start or a "url" to connect to, found {found}')
    elif has_command and "headers" in server:
        yield Violation((*path, "headers"), 'a server with a "command" has no headers; use "env"')
    elif has_url:
        for key in _STDIO_KEYS:
            if key in server:
                yield Violation((*path, key), f'a server with a "url" is not started here and has no {key}')
    if has_command and not from_file:
        yield Violation(path, "a command to start may only stand in the file agents.json")
    for holder in ("env", "headers"):
        for name, value in get_object(server, holder).items():
            if is_secret_name(name) and isinstance(value, str) and value and not VARIABLE_REFERENCE.search(value):
                yield Violation(
                    (*path, holder, name),
                    "keys never live in agents.json: write ${NAME} here, and set the variable NAME in the environment",
                )
