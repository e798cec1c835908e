"""Two files and the environment become one configuration, or an error that names every problem in them.

Order of precedence: environment, file, default; but inside `providers.NAME` the file wins over the environment
and a `FOOTNOTE_…` variable wins over the usual name of a key such as `BRAVE_API_KEY`.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any, cast

import msgspec
from msgspec import inspect

from footnote.config.agents import AgentsFile, researcher
from footnote.config.configuration import Configuration, Ignored, ValueOrigin
from footnote.config.environment import (
    AGENTS_VARIABLE,
    HOME_VARIABLE,
    SETTINGS_TYPE,
    EnvironValue,
    environ_text,
    process_environment,
    read_environ,
)
from footnote.config.formats import SECRET
from footnote.config.json_file import JsonDocument, parse_json, read_json
from footnote.config.providers import SEARCH_ALIASES, standard_key_variables
from footnote.config.rules import agents_violations, get_object, provider_names, settings_violations
from footnote.config.settings import Settings
from footnote.config.validation import (
    InvalidConfiguration,
    Path,
    Problem,
    Violation,
    find_violations,
    format_path,
    json_quote,
    leaves,
)

_SEARCH_PROVIDERS = ("tools", "webSearch", "providers")


def resolve_aliases(document: JsonDocument) -> JsonDocument:
    """Both names of one thing are a problem: nobody can know which of the two was meant."""
    for alias, name in SEARCH_ALIASES.items():
        if alias in get_object(document.value, *_SEARCH_PROVIDERS):
            document = _rename_key(document, alias, name)
    return document


def _rename_key(document: JsonDocument, alias: str, name: str) -> JsonDocument:
    value = copy.deepcopy(cast("dict[str, Any]", document.value))
    holder = get_object(value, *_SEARCH_PROVIDERS)
    written, usual = (*_SEARCH_PROVIDERS, alias), (*_SEARCH_PROVIDERS, name)
    if name in holder:
        del holder[alias]
        message = f"{json_quote(alias)} is another name of {json_quote(name)}, which stands here too; keep one of them"
        return replace(document, value=value, problems=(*document.problems, document.problem(written, message)))
    holder[name] = holder.pop(alias)
    lines: dict[Path, int] = {
        usual + path[len(written) :] if path[: len(written)] == written else path: line
        for path, line in document.lines.items()
    }
    return replace(document, value=value, lines=lines)


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

    The two files in the home folder may be absent; a `config_file` that was asked for may not.
    """
    environ = process_environment() if environ is None else environ
    home = home_folder(environ) if home is None else home.expanduser().absolute()
    layers = _Layers(resolve_aliases(read_json(config_file or home / "config.json", required=config_file is not None)))
    problems = layers.apply_environ(environ)
    agents = _agents_document(home, environ)
    problems += _agents_problems(agents, provider_names(layers.tree))
    if problems:
        raise InvalidConfiguration(problems)
    origins = layers.origins | _origins(agents, AGENTS_TYPE)
    listed = (researcher(),) if agents.is_absent else msgspec.convert(agents.value, AgentsFile).agents
    settings = msgspec.convert(layers.tree, Settings)
    return Configuration(home, settings, listed, origins, tuple(layers.ignored))


@dataclass(slots=True)
class _Layers:
    """`config.json` with the environment laid over it, value by value."""

    document: JsonDocument
    tree: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)
    origins: dict[Path, ValueOrigin] = field(default_factory=dict[Path, ValueOrigin])
    ignored: list[Ignored] = field(default_factory=list[Ignored])

    def apply_environ(self, environ: Mapping[str, str]) -> list[Problem]:
        """Fills the tree; returns all that is wrong in the file, in the variables and between them."""
        problems = _file_problems(self.document, SETTINGS_TYPE)
        if isinstance(self.document.value, dict):
            self.tree = copy.deepcopy(cast("dict[str, Any]", self.document.value))  # pyright: ignore[reportUnknownMemberType] - JSON is untyped
            self.origins |= _origins(self.document, SETTINGS_TYPE)
        given, wrong = read_environ(environ, provider_names(self.tree))
        usual, wrong_keys = _standard_keys(environ)
        for one in usual + given:
            self._apply_value(one)
        problems += wrong + wrong_keys
        return problems + [self._problem(fault) for fault in settings_violations(self.tree)]

    def _apply_value(self, one: EnvironValue) -> None:
        *steps, last = one.path
        holder: Any = self.tree
        for step in steps:
            holder = cast("dict[Any, Any]", holder).setdefault(step, {})
            if not isinstance(holder, dict):
                return  # what stands in the file there is wrong, and already among the problems
        holder = cast("dict[Any, Any]", holder)
        origin = self.origins.get(one.path)
        if origin and origin.kind == "file" and "providers" in steps and holder[last] is not None:
            self.ignored.append(Ignored(one.variable, origin.name, format_path(one.path)))
            return
        holder[last] = one.value
        self.origins[one.path] = ValueOrigin("environment", one.variable)

    def _problem(self, fault: Violation) -> Problem:
        inside = (origin for path, origin in self.origins.items() if path[: len(fault.path)] == fault.path)
        origin = self.origins.get(fault.path) or next(inside, None)
        if origin is None or origin.kind == "file":
            return self.document.problem(fault.path, fault.message)
        return Problem(origin.name, fault.message, place=format_path(fault.path))


def _standard_keys(environ: Mapping[str, str]) -> tuple[list[EnvironValue], list[Problem]]:
    """The keys that stand in the environment under their usual names."""
    given: list[EnvironValue] = []
    problems: list[Problem] = []
    for path, variable in standard_key_variables().items():
        key = environ_text(environ, variable)
        if key is not None and SECRET.accepts(key):
            given.append(EnvironValue(variable, path, key))
        elif key is not None:
            problems.append(Problem(variable, f"expected {SECRET.expected}"))
    return given, problems


def _agents_document(home: FilePath, environ: Mapping[str, str]) -> JsonDocument:
    text = environ_text(environ, AGENTS_VARIABLE)
    if text is None:
        return read_json(home / "agents.json", required=False)
    document = parse_json(AGENTS_VARIABLE, text)
    return document if document.problems else JsonDocument(AGENTS_VARIABLE, {"agents": document.value})


def _agents_problems(document: JsonDocument, providers: list[str]) -> list[Problem]:
    between = agents_violations(document.value, providers, from_file=document.source != AGENTS_VARIABLE)
    return _file_problems(document, AGENTS_TYPE) + [document.problem(fault.path, fault.message) for fault in between]


def _file_problems(document: JsonDocument, node: inspect.Type) -> list[Problem]:
    wrong = () if document.is_absent else find_violations(node, document.value)
    return [*document.problems, *(document.problem(fault.path, fault.message) for fault in wrong)]


def _origins(document: JsonDocument, node: inspect.Type) -> dict[Path, ValueOrigin]:
    if document.is_absent:
        return {}
    kind = "environment" if document.source == AGENTS_VARIABLE else "file"
    return {
        path: ValueOrigin(kind, document.source, format_path(path), document.line(path))
        for path, _, _ in leaves(node, document.value)
    }
