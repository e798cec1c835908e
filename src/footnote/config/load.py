"""The configuration as one frozen value, with the origin of each part: loads the two files and the environment, or
raises an error with every problem.

Order of precedence: environment, file, default; but inside `providers.NAME` the file wins over the environment and a
`FOOTNOTE_…` variable wins over the usual name of a key such as `BRAVE_API_KEY`.
"""

import copy
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Literal, cast
from urllib.parse import unquote

import msgspec
from msgspec import Struct, field, inspect, to_builtins
from msgspec.structs import replace

from footnote.config.environment import (
    AGENTS_VARIABLE,
    HOME_VARIABLE,
    SETTINGS_TYPE,
    EnvironValue,
    environ_text,
    process_environment,
    read_environ,
)
from footnote.config.formats import SECRET, VARIABLE_REFERENCE, is_secret_name
from footnote.config.json_file import JsonDocument, parse_json, read_json
from footnote.config.providers import (
    BUILTIN_PROVIDER,
    MODEL_PROVIDERS,
    READER_MODEL,
    search_aliases,
    standard_key_variables,
)
from footnote.config.settings import Agent, AgentsFile, Settings, researcher
from footnote.config.validation import (
    InvalidConfiguration,
    Path,
    Problem,
    Violation,
    closest_name,
    find_violations,
    format_path,
    json_quote,
    leaves,
    mask_secrets,
    shape_of,
)
from footnote.models.adapters import model_apis
from footnote.protocol.errors import ConfigError
from footnote.research.templates import Template, builtin_templates, read_templates, template_name


class ValueOrigin(Struct, frozen=True, omit_defaults=True):
    """Where a value comes from: `name` is the file (with `place` and `line` in it) or the variable."""

    kind: Literal["default", "file", "environment"]
    name: str = ""
    place: str = ""
    line: int | None = None

    def __str__(self) -> str:
        match self.kind:
            case "default":
                return "default"
            case "file":
                return f"{self.name}, line {self.line}" if self.line else self.name
            case "environment":
                return f"environment: {self.name}"


DEFAULT = ValueOrigin("default")


class Ignored(Struct, frozen=True):
    """A variable without effect, because a file sets the same key and takes precedence."""

    variable: str
    file: str
    place: str


class Configuration(Struct, frozen=True):
    """All settings and agents. `Configuration(home)` has the defaults."""

    home: FilePath
    settings: Settings = Settings()
    agents: tuple[Agent, ...] = field(default_factory=lambda: (researcher(),))
    origins: Mapping[Path, ValueOrigin] = field(default_factory=dict[Path, ValueOrigin])
    ignored: tuple[Ignored, ...] = ()
    templates: Mapping[str, Template] = field(default_factory=builtin_templates)
    """Those of research reports, with the operator's own, by name."""

    def agent(self, agent_id: str | None = None) -> Agent:
        """The agent with this id, or the first one."""
        if agent_id is None:
            return self.agents[0]
        for agent in self.agents:
            if agent.id == agent_id:
                return agent
        closest = closest_name(agent_id, (agent.id for agent in self.agents))
        raise ConfigError(f"There is no agent {agent_id!r}; the nearest id is {closest!r}. See agents.json.")

    def origin(self, path: Path) -> ValueOrigin:
        return self.origins.get(path, DEFAULT)


class ConfigurationEntry(Struct, frozen=True):
    """One effective value for display, with secrets masked."""

    key: str
    value: Any
    origin: ValueOrigin


def entries(configuration: Configuration) -> Iterator[ConfigurationEntry]:
    """`config.json` first, then the agents. All search providers are listed, and known model providers have the
    settings that their names imply."""
    tools, models = configuration.settings.tools, configuration.settings.models
    web_search = replace(tools.web_search, providers=tools.web_search.all_providers())
    settings = replace(
        configuration.settings,
        tools=replace(tools, web_search=web_search),
        models=replace(models, providers={name: models.provider(name) for name in models.providers}),
    )
    for section in (settings, AgentsFile(configuration.agents)):
        for path, node, value in leaves(inspect.type_info(type(section)), to_builtins(section)):
            yield ConfigurationEntry(format_path(path), mask_secrets(node, value), configuration.origin(path))


MIN_SECRET_LENGTH = 6
"""A shorter string is a placeholder, and may be a part of many words."""
_SECRET_SUFFIXES = ("PASSWORD", "PASSWD", "SECRET", "TOKEN", "KEY")


def collect_secrets(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The longest first, because one may be a part of another."""
    found = {
        text for text in (*_settings_secrets(settings), *_environ_secrets(environ)) if len(text) >= MIN_SECRET_LENGTH
    }
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def _settings_secrets(settings: Settings) -> Iterator[str]:
    for _, node, value in leaves(SETTINGS_TYPE, to_builtins(settings)):
        shape = shape_of(node)
        if not isinstance(value, str) or shape.kind is None or not isinstance(shape.node, inspect.StrType):
            continue
        if shape.kind is SECRET:
            yield value
        else:
            yield from _url_passwords(value)


def _environ_secrets(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        if is_secret_name(name) or name.upper().endswith(_SECRET_SUFFIXES):
            yield value.strip()
        else:
            yield from _url_passwords(value)


def _url_passwords(text: str) -> Iterator[str]:
    """The password in a URL, as it is written and percent-decoded."""
    _, slashes, rest = text.partition("://")
    userinfo, at, _ = rest.rpartition("@")
    _, colon, password = userinfo.partition(":")
    if slashes and at and colon:
        yield password
        yield unquote(password)


_SEARCH_PROVIDERS = ("tools", "webSearch", "providers")


def resolve_aliases(document: JsonDocument) -> JsonDocument:
    """Renames aliases of search providers. A file with both names is a problem: it is not clear which one counts."""
    for alias, name in search_aliases().items():
        if alias in get_object(document.value, *_SEARCH_PROVIDERS):
            document = _rename_key(document, alias, name)
    return document


def _rename_key(document: JsonDocument, alias: str, name: str) -> JsonDocument:
    value = copy.deepcopy(cast("dict[str, Any]", document.value))
    holder = get_object(value, *_SEARCH_PROVIDERS)
    old_path, new_path = (*_SEARCH_PROVIDERS, alias), (*_SEARCH_PROVIDERS, name)
    if name in holder:
        del holder[alias]
        message = f"{json_quote(alias)} is another name of {json_quote(name)}, which stands here too; keep one of them"
        return dataclasses.replace(
            document, value=value, problems=(*document.problems, document.problem(old_path, message))
        )
    holder[name] = holder.pop(alias)
    lines: dict[Path, int] = {
        new_path + path[len(old_path) :] if path[: len(old_path)] == old_path else path: line
        for path, line in document.lines.items()
    }
    return dataclasses.replace(document, value=value, lines=lines)


AGENTS_TYPE = inspect.type_info(AgentsFile)


def home_folder(environ: Mapping[str, str] | None = None) -> FilePath:
    """`$FOOTNOTE_HOME`, else `~/.footnote`."""
    chosen = environ_text(process_environment() if environ is None else environ, HOME_VARIABLE)
    return FilePath(chosen or "~/.footnote").expanduser().absolute()


def load(
    home: FilePath | None = None,
    config_file: FilePath | None = None,
    environ: Mapping[str, str] | None = None,
) -> Configuration:
    """The configuration, or `InvalidConfiguration` with all problems of both files and the environment.

    The files in the home folder may be absent, but not an explicit `config_file`.
    """
    environ = process_environment() if environ is None else environ
    home = home_folder(environ) if home is None else home.expanduser().absolute()
    layers = _Layers(resolve_aliases(read_json(config_file or home / "config.json", required=config_file is not None)))
    problems = layers.apply_environ(environ)
    agents_document = _agents_document(home, environ)
    templates, template_problems = read_templates(home / "templates")
    problems += [Problem(one.file, one.message, one.line) for one in template_problems]
    problems += _agents_problems(agents_document, provider_names(layers.tree), templates)
    if problems:
        raise InvalidConfiguration(problems)
    origins = layers.origins | _origins(agents_document, AGENTS_TYPE)
    is_absent = agents_document.is_absent
    agents = (researcher(),) if is_absent else msgspec.convert(agents_document.value, AgentsFile).agents
    settings = msgspec.convert(layers.tree, Settings)
    return Configuration(home, settings, agents, origins, tuple(layers.ignored), templates)


@dataclass(slots=True)
class _Layers:
    """`config.json` with the environment laid over it, value by value."""

    document: JsonDocument
    tree: dict[str, Any] = dataclasses.field(default_factory=dict[str, Any], repr=False)
    origins: dict[Path, ValueOrigin] = dataclasses.field(default_factory=dict[Path, ValueOrigin])
    ignored: list[Ignored] = dataclasses.field(default_factory=list[Ignored])

    def apply_environ(self, environ: Mapping[str, str]) -> list[Problem]:
        """Fills the tree; returns the problems of the file, of the variables, and of the two together."""
        problems = _file_problems(self.document, SETTINGS_TYPE)
        if isinstance(self.document.value, dict):
            self.tree = copy.deepcopy(cast("dict[str, Any]", self.document.value))  # pyright: ignore[reportUnknownMemberType] - JSON is untyped
            self.origins |= _origins(self.document, SETTINGS_TYPE)
        values, value_problems = read_environ(environ, provider_names(self.tree))
        standard_keys, key_problems = _standard_keys(environ)
        for value in standard_keys + values:
            self._apply_value(value)
        problems += value_problems + key_problems
        return problems + [self._problem(violation) for violation in settings_violations(self.tree)]

    def _apply_value(self, given: EnvironValue) -> None:
        *steps, last = given.path
        holder: Any = self.tree
        for step in steps:
            holder = cast("dict[Any, Any]", holder).setdefault(step, {})
            if not isinstance(holder, dict):
                return  # the file has a value of a wrong type there, which is among the problems already
        holder = cast("dict[Any, Any]", holder)
        origin = self.origins.get(given.path)
        if origin and origin.kind == "file" and "providers" in steps and holder[last] is not None:
            self.ignored.append(Ignored(given.variable, origin.name, format_path(given.path)))
            return
        holder[last] = given.value
        self.origins[given.path] = ValueOrigin("environment", given.variable)

    def _problem(self, violation: Violation) -> Problem:
        place = violation.path
        inside = (origin for path, origin in self.origins.items() if path[: len(place)] == place)
        origin = self.origins.get(place) or next(inside, None)
        if origin is None or origin.kind == "file":
            return self.document.problem(place, violation.message)
        return Problem(origin.name, violation.message, place=format_path(place))


def _standard_keys(environ: Mapping[str, str]) -> tuple[list[EnvironValue], list[Problem]]:
    """API keys from variables with the usual names, such as `BRAVE_API_KEY`."""
    values: list[EnvironValue] = []
    problems: list[Problem] = []
    for path, variable in standard_key_variables().items():
        key = environ_text(environ, variable)
        if key is not None and SECRET.accepts(key):
            values.append(EnvironValue(variable, path, key))
        elif key is not None:
            problems.append(Problem(variable, f"expected {SECRET.expected}"))
    return values, problems


def _agents_document(home: FilePath, environ: Mapping[str, str]) -> JsonDocument:
    text = environ_text(environ, AGENTS_VARIABLE)
    if text is None:
        return read_json(home / "agents.json", required=False)
    document = parse_json(AGENTS_VARIABLE, text)
    return document if document.problems else JsonDocument(AGENTS_VARIABLE, {"agents": document.value})


def _agents_problems(document: JsonDocument, providers: list[str], templates: Collection[str]) -> list[Problem]:
    from_file = document.source != AGENTS_VARIABLE
    violations = agents_violations(document.value, providers, templates, from_file=from_file)
    problems = [document.problem(violation.path, violation.message) for violation in violations]
    return _file_problems(document, AGENTS_TYPE) + problems


def _file_problems(document: JsonDocument, node: inspect.Type) -> list[Problem]:
    violations = () if document.is_absent else find_violations(node, document.value)
    return [*document.problems, *(document.problem(violation.path, violation.message) for violation in violations)]


def _origins(document: JsonDocument, node: inspect.Type) -> dict[Path, ValueOrigin]:
    if document.is_absent:
        return {}
    kind = "environment" if document.source == AGENTS_VARIABLE else "file"
    return {
        path: ValueOrigin(kind, document.source, format_path(path), document.line(path))
        for path, _, _ in leaves(node, document.value)
    }


# Rules that involve several values, each of which may still have a wrong type.

_STDIO_KEYS = ("args", "env", "cwd")


def get_object(value: Any, *steps: str) -> dict[str, Any]:
    """The object at the path `steps`; an empty one if there is none."""
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
    types = " or ".join(map(json_quote, model_apis()))
    for name, provider in get_object(tree, "models", "providers").items():
        if name not in MODEL_PROVIDERS and name != BUILTIN_PROVIDER and not get_object(provider).get("type"):
            yield Violation(
                ("models", "providers", name),
                f'the provider {json_quote(name)} needs a "type": {types}, by the API that it speaks',
            )
    yield from _model_violations(get_object(tree, "models").get("default"), ("models", "default"), provider_names(tree))


def agents_violations(
    tree: Any, providers: Collection[str], templates: Collection[str], *, from_file: bool
) -> Iterator[Violation]:
    """`tree` is `agents.json`, or the same from the environment; `providers` are those of `config.json`, `templates`
    all that there are."""
    agents: Any = get_object(tree).get("agents")
    if not isinstance(agents, list):
        return
    first_index: dict[str, int] = {}
    for index, agent in enumerate(cast("list[Any]", agents)):
        path: Path = ("agents", index)
        fields = get_object(agent)
        name = fields.get("id")
        if isinstance(name, str) and first_index.setdefault(name, index) != index:
            yield Violation(
                (*path, "id"), f"agents[{first_index[name]}] has the id {json_quote(name)} too; give one another id"
            )
        yield from _model_violations(fields.get("model"), (*path, "model"), providers)
        template = get_object(fields, "research").get("template")
        if isinstance(template, str) and template_name(template) not in templates:
            listed = ", ".join(templates)
            yield Violation(
                (*path, "research", "template"), f"there is no template {json_quote(template)}; there are {listed}"
            )
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
        closest = closest_name(provider, (*providers, BUILTIN_PROVIDER))
        yield Violation(
            path,
            f"the provider {json_quote(provider)} is not known; the nearest one is {json_quote(closest)}. "
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
