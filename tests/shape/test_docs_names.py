"""Commands, routes, settings, metrics, files and examples of the documentation exist in the code, or work."""

import argparse
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from footnote.cli import COMMANDS, CommandParser
from footnote.config.environment import OTHER_VARIABLES, read_environ, setting_keys
from footnote.server.routes import ALL_ROUTES
from footnote.web_search.providers.base import HttpResponse, WebProvider
from footnote.web_search.settings import ProviderAccess, SearchRequest
from shape.tree import PACKAGE, PAGES, ROOT, name_of

SHELL_BLOCK = re.compile(r"^```(?:sh|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
ROUTE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) (/[\w/{}.-]+)")
VARIABLE = re.compile(r"\bFOOTNOTE_[A-Z0-9_]*[A-Z0-9]\b")
KEY = re.compile(r"[a-z]+(?:\.[A-Za-z]+)+")
PATH = re.compile(r"[\w@.*-]+(?:/[\w@.*-]+)*/?")
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b")
SOURCE_SUFFIXES = (".py", ".ts", ".tsx", ".css")
OPERATORS = "();<>|&"

NOT_SETTINGS = {
    "FOOTNOTE_PORT",  # a variable that Kubernetes sets
    "FOOTNOTE_CHROMIUM",  # of the tests
    "FOOTNOTE_TOOLS_WEB_SEARCH_MAX_REDIRECTS",  # examples of docs/extending.md
    "tools.webSearch.maxRedirects",
}
NOT_FILES = {
    "src/footnote/tools/builtin/count_words.py",  # examples
    "tests/tools/test_count_words.py",
    "words.ts",  # names that many folders have
    "index.ts",
    "*.test.ts",
}
PATHS_OF_A_BUNDLE = {"files", "library", "storage"}


def pages() -> Iterator[tuple[str, str]]:
    for path in PAGES:
        yield name_of(path), path.read_text(encoding="utf-8")


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


# Commands -----------------------------------------------------------------------------------------------------


def test_every_command_of_a_shell_block_is_accepted_by_the_parser(subtests: pytest.Subtests) -> None:
    parser, count = _full_parser(), 0
    for name, text in pages():
        for words in (words for block in SHELL_BLOCK.findall(text) for words in _simple_commands(block)):
            arguments = _arguments_of_footnote(words)
            if arguments is not None:
                count += 1
                with subtests.test(page=name, command=" ".join(words)):
                    parser.parse_args(arguments)
    assert count > 50


def test_every_command_in_a_sentence_exists_with_its_options(subtests: pytest.Subtests) -> None:
    commands = _choices(_full_parser())
    for name, text in pages():
        for words in (code.split()[1:] for code in CODE.findall(text) if code.startswith("footnote ")):
            with subtests.test(page=name, command=" ".join(words)):
                parser = commands[words[0]]
                if (actions := _choices(parser)) and words[1:2] not in ([], ["…"]):
                    parser = actions[words[1]]
                options = {option for one in parser._actions for option in one.option_strings}
                assert {word for word in words if word.startswith("--")} <= options


def _choices(parser: argparse.ArgumentParser) -> dict[str, Any]:
    return next((dict(action.choices) for action in parser._actions if isinstance(action.choices, dict)), {})


def _full_parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog="footnote")
    commands = parser.add_subparsers(required=True)
    for module, _ in COMMANDS.values():
        import_module(module).register(commands)
    return parser


def _simple_commands(block: str) -> Iterator[list[str]]:
    """The words of each command, up to a redirection or the next command."""
    for line in block.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=OPERATORS)
        lexer.whitespace_split = True
        words = list(lexer)
        while words:
            yield list(takewhile(_is_word, words))
            words = list(dropwhile(_is_word, words))[1:]


def _is_word(token: str) -> bool:
    return bool(token.strip(OPERATORS))


def _arguments_of_footnote(words: list[str]) -> list[str] | None:
    """None: another program. Before its name may stand assignments, the fields of a crontab, or another program that
    runs what follows its `--`."""
    if "--" in words:
        words = words[words.index("--") + 1 :]
    words = list(dropwhile(lambda word: "=" in word or not word.strip("*0123456789"), words))
    return words[1:] if words and words[0] in ("footnote", ".venv/bin/footnote") else None


# Names --------------------------------------------------------------------------------------------------------


def test_every_route_that_is_named_exists(subtests: pytest.Subtests) -> None:
    there = {re.sub(r":\w+}", "}", route.name) for route in ALL_ROUTES}
    for name, text in pages():
        if name != "docs/extending.md":  # its route is an example
            with subtests.test(page=name):
                assert {f"{method} {path}" for method, path in ROUTE.findall(text)} - there == set()


def test_every_setting_and_every_variable_that_is_named_exists(subtests: pytest.Subtests) -> None:
    paths = {
        _with_placeholder(".".join(key.path[:end])) for key in setting_keys() for end in range(1, len(key.path) + 1)
    }
    heads = {key.path[0] for key in setting_keys()}
    for name, text in pages():
        variables = set(VARIABLE.findall(text)) - NOT_SETTINGS - set(OTHER_VARIABLES)
        environ = {variable.replace("_NAME_", "_BRAVE_"): "1" for variable in variables}
        _, problems = read_environ(environ, {"vllm", "llama.cpp", "brave"})
        named = {code for code in CODE.findall(text) if KEY.fullmatch(code) and code.partition(".")[0] in heads}
        with subtests.test(page=name):
            assert [str(problem) for problem in problems if "no such setting" in str(problem)] == []
            assert {key for key in named - NOT_SETTINGS if _with_placeholder(key) not in paths} == set()


def _with_placeholder(key: str) -> str:
    """With `*` for the name of a provider or a model."""
    return re.sub(r"\b(providers|profiles)\.[^.]+", r"\1.*", key)


def test_every_metric_that_is_named_is_in_the_table(subtests: pytest.Subtests) -> None:
    table = set(re.findall(r"^\| `(footnote_\w+)` \|", page("observing.md"), re.MULTILINE))
    cookie = {"footnote_session"}
    for name, text in pages():
        with subtests.test(page=name):
            assert set(re.findall(r"`(footnote_\w+)`", text)) - table - cookie == set()


def test_every_file_of_the_repository_that_is_named_exists(subtests: pytest.Subtests) -> None:
    """In code, what begins with a folder of the repository or ends like a source file is a path of it."""
    roots = (ROOT, PACKAGE, ROOT / "web" / "src", ROOT / "tests")
    folders = {path.name for root in roots for path in root.iterdir() if path.is_dir()} - PATHS_OF_A_BUNDLE
    for name, text in pages():
        codes = {code.rstrip("/") for code in CODE.findall(text) if PATH.fullmatch(code)}
        paths = {
            code
            for code in codes - NOT_FILES
            if not PLACEHOLDER.search(code)
            and (code.endswith(SOURCE_SUFFIXES) or ("/" in code and code.partition("/")[0] in folders))
        }
        with subtests.test(page=name):
            assert {path for path in paths if not any(_exists(root, path) for root in roots)} == set()


def _exists(root: Path, path: str) -> bool:
    """A module may be named without its suffix."""
    return any(root.glob(path)) or any(root.glob(f"{path}.py"))


# Examples -----------------------------------------------------------------------------------------------------


def test_the_search_provider_of_the_recipe_works() -> None:
    names: dict[str, Any] = {}
    [example] = re.findall(r"```python\n(from footnote\.web_search.*?)```", page("extending.md"), re.DOTALL)
    exec(compile(example, "docs/extending.md", "exec"), names)
    provider: WebProvider = names["provider"]
    request = SearchRequest(query="oxygen", prompt="oxygen", count=3, safe_search="strict")
    plan = provider.plan(request, ProviderAccess("secret-key"))
    assert plan.signature == "GET\nhttps://api.mojeek.example\n/search?q=oxygen&t=3&fmt=json\n"
    assert len(plan.notes) == 1
    body = msgspec.json.encode({"results": [{"title": "Oxygen", "url": "https://a.example", "desc": "A gas."}]})
    outcome = provider.parse_response(request, HttpResponse(status=200, headers={}, body=body, received_at=0.0))
    assert [hit.url for hit in outcome.hits] == ["https://a.example"]
    refused = HttpResponse(status=401, headers={}, body=b"", received_at=0.0)
    assert provider.parse_response(request, refused).code == "bad_key"
