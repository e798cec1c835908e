"""Names that stand for others in `config.json`: each thing has one name behind this."""

import copy
from dataclasses import replace
from typing import Any, cast

from footnote.config.json_file import Document
from footnote.config.problems import Path, quoted
from footnote.config.providers import SEARCH_ALIASES
from footnote.config.rules import member

_SEARCH_PROVIDERS = ("tools", "webSearch", "providers")


def with_usual_names(document: Document) -> Document:
    """Both names of one thing are a problem: nobody can know which of the two was meant."""
    for alias, name in SEARCH_ALIASES.items():
        if alias in member(document.value, *_SEARCH_PROVIDERS):
            document = _renamed(document, alias, name)
    return document


def _renamed(document: Document, alias: str, name: str) -> Document:
    value = copy.deepcopy(cast("dict[str, Any]", document.value))
    holder = member(value, *_SEARCH_PROVIDERS)
    written, usual = (*_SEARCH_PROVIDERS, alias), (*_SEARCH_PROVIDERS, name)
    if name in holder:
        del holder[alias]
        message = f"{quoted(alias)} is another name of {quoted(name)}, which stands here too; keep one of them"
        return replace(document, value=value, problems=(*document.problems, document.problem(written, message)))
    holder[name] = holder.pop(alias)
    lines: dict[Path, int] = {
        usual + path[len(written) :] if path[: len(written)] == written else path: line
        for path, line in document.lines.items()
    }
    return replace(document, value=value, lines=lines)
