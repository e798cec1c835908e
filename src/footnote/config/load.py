"""Two files and the environment become one configuration, or an error that names every problem in them.

Order of precedence: environment, file, default; but inside `providers.NAME` the file wins over the environment
and a `FOOTNOTE_…` variable wins over the usual name of a key such as `BRAVE_API_KEY`.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, cast

import msgspec
from msgspec import inspect

from footnote.config.agents import AgentsFile, researcher
from footnote.config.aliases import with_usual_names
from footnote.config.configuration import Configuration, Ignored, Origin
from footnote.config.environment import AGENTS, HOME, SETTINGS, Given, given_by, process_environment, text_of
from footnote.config.json_file import Document, parse, read
from footnote.config.kinds import SECRET
from footnote.config.problems import Fault, InvalidConfiguration, Path, Problem, place
from footnote.config.providers import usual_key_variables
from footnote.config.rules import agents_faults, provider_names, settings_faults
from footnote.config.settings import Settings
from footnote.config.shape import faults, leaves

AGENTS_FILE = inspect.type_info(AgentsFile)


def home_folder(environ: Mapping[str, str] | None = None) -> FilePath:
    """`$FOOTNOTE_HOME`, else `~/.footnote`."""
    chosen = text_of(process_environment() if environ is None else environ, HOME)
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
    layers = _Layers(with_usual_names(read(config_file or home / "config.json", required=config_file is not None)))
    problems = layers.lay_over(environ)
    agents = _agents_document(home, environ)
    problems += _problems_of_agents(agents, provider_names(layers.tree))
    if problems:
        raise InvalidConfiguration(problems)
    origins = layers.origins | _origins(agents, AGENTS_FILE)
    listed = (researcher(),) if agents.absent else msgspec.convert(agents.value, AgentsFile).agents
    settings = msgspec.convert(layers.tree, Settings)
    return Configuration(home, settings, listed, origins, tuple(layers.ignored))


@dataclass(slots=True)
class _Layers:
    """`config.json` with the environment laid over it, value by value."""

    document: Document
    tree: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)
    origins: dict[Path, Origin] = field(default_factory=dict[Path, Origin])
    ignored: list[Ignored] = field(default_factory=list[Ignored])

    def lay_over(self, environ: Mapping[str, str]) -> list[Problem]:
        """Fills the tree; returns all that is wrong in the file, in the variables and between them."""
        problems = _problems_of_file(self.document, SETTINGS)
        if isinstance(self.document.value, dict):
            self.tree = copy.deepcopy(cast("dict[str, Any]", self.document.value))  # pyright: ignore[reportUnknownMemberType] - JSON is untyped
            self.origins |= _origins(self.document, SETTINGS)
        given, wrong = given_by(environ, provider_names(self.tree))
        usual, wrong_keys = _usual_keys(environ)
        for one in usual + given:
            self._put(one)
        problems += wrong + wrong_keys
        return problems + [self._problem(fault) for fault in settings_faults(self.tree)]

    def _put(self, one: Given) -> None:
        *steps, last = one.path
        holder: Any = self.tree
        for step in steps:
            holder = cast("dict[Any, Any]", holder).setdefault(step, {})
            if not isinstance(holder, dict):
                return  # what stands in the file there is wrong, and already among the problems
        holder = cast("dict[Any, Any]", holder)
        origin = self.origins.get(one.path)
        if origin and origin.kind == "file" and "providers" in steps and holder[last] is not None:
            self.ignored.append(Ignored(one.variable, origin.name, place(one.path)))
            return
        holder[last] = one.value
        self.origins[one.path] = Origin("environment", one.variable)

    def _problem(self, fault: Fault) -> Problem:
        inside = (origin for path, origin in self.origins.items() if path[: len(fault.path)] == fault.path)
        origin = self.origins.get(fault.path) or next(inside, None)
        if origin is None or origin.kind == "file":
            return self.document.problem(fault.path, fault.message)
        return Problem(origin.name, fault.message, place=place(fault.path))


def _usual_keys(environ: Mapping[str, str]) -> tuple[list[Given], list[Problem]]:
    """The keys that stand in the environment under their usual names."""
    given: list[Given] = []
    problems: list[Problem] = []
    for path, variable in usual_key_variables().items():
        key = text_of(environ, variable)
        if key is not None and SECRET.accepts(key):
            given.append(Given(variable, path, key))
        elif key is not None:
            problems.append(Problem(variable, f"expected {SECRET.expected}"))
    return given, problems


def _agents_document(home: FilePath, environ: Mapping[str, str]) -> Document:
    text = text_of(environ, AGENTS)
    if text is None:
        return read(home / "agents.json", required=False)
    document = parse(AGENTS, text)
    return document if document.problems else Document(AGENTS, {"agents": document.value})


def _problems_of_agents(document: Document, providers: list[str]) -> list[Problem]:
    between = agents_faults(document.value, providers, from_file=document.source != AGENTS)
    return _problems_of_file(document, AGENTS_FILE) + [document.problem(fault.path, fault.message) for fault in between]


def _problems_of_file(document: Document, node: inspect.Type) -> list[Problem]:
    wrong = () if document.absent else faults(node, document.value)
    return [*document.problems, *(document.problem(fault.path, fault.message) for fault in wrong)]


def _origins(document: Document, node: inspect.Type) -> dict[Path, Origin]:
    if document.absent:
        return {}
    kind = "environment" if document.source == AGENTS else "file"
    return {
        path: Origin(kind, document.source, place(path), document.line(path))
        for path, _, _ in leaves(node, document.value)
    }
