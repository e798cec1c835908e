"""Any text in the files and the environment gives settings or a ConfigError, never a crash, and no secret in a
message."""

import json
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from footnote.config.environment import AGENTS_VARIABLE, WILDCARD, keys_of, setting_keys
from footnote.config.load import Configuration, entries, load
from footnote.config.resolve import resolve_model, resolve_web_search
from footnote.config.settings import AgentsFile
from footnote.config.validation import InvalidConfiguration
from footnote.protocol.errors import ConfigError

PLANTED = "planted-0123456789-abcdefghijklmnop"
STEPS = sorted({step for key in (*setting_keys(), *keys_of(AgentsFile)) for step in key.path if step != WILDCARD})
AGENT_STEPS = ["agents", "id", "model", "mcpServers", "command", "url", "env", "headers", "webSearch", "enabled"]
NAMES = st.sampled_from([*STEPS, *AGENT_STEPS, "anthropic", "vllm", "footnote", "a/b", "x"]) | st.text(max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=10)
    | st.sampled_from([5, 0.5, "brave", "openai", "a/b", "http://h", "http://[", "wiki:80", "local:", PLANTED, 10**400])
)


def objects_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(NAMES, values, max_size=5) | st.lists(values, max_size=3)


ANYTHING = st.recursive(SCALARS, objects_of, max_leaves=25)


def nest(path: tuple[str, ...], value: Any) -> Any:
    for step in reversed(path):
        value = {"vllm" if step == WILDCARD else step: value}
    return value


NEARLY_RIGHT = st.builds(nest, st.sampled_from([key.path for key in setting_keys()]), ANYTHING)
NEARLY_AGENTS = st.builds(lambda agents: {"agents": agents}, st.lists(ANYTHING, max_size=3))
VARIABLES = st.sampled_from(
    [key.variable("VLLM") for key in setting_keys()] + [AGENTS_VARIABLE, "OPENAI_API_KEY", "FOOTNOTE_X"]
)
TEXTS = st.text(st.characters(exclude_characters="\0"), max_size=10) | ANYTHING.map(json.dumps)


def try_load(
    config: str | None, agents: str | None, environ: Mapping[str, str]
) -> Configuration | InvalidConfiguration:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name, text in (("config.json", config), ("agents.json", agents)):
            if text is not None:
                (home / name).write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            return load(home, environ=environ)
        except InvalidConfiguration as error:
            return error


def check_outcome(outcome: Configuration | InvalidConfiguration) -> None:
    if isinstance(outcome, InvalidConfiguration):
        assert outcome.problems
        assert PLANTED not in outcome.message
        assert all("\n" not in str(problem) for problem in outcome.problems)
        outcome.message.encode()
        return
    json.dumps([(entry.key, entry.value, str(entry.origin)) for entry in entries(outcome)]).encode()
    for agent in outcome.agents:
        resolve_web_search(outcome.settings, agent)
        with suppress(ConfigError):
            resolve_model(outcome.settings, agent.model, ("m",))


@settings(deadline=None)
@given(ANYTHING | NEARLY_RIGHT, ANYTHING | NEARLY_AGENTS)
def test_any_json_in_the_files_is_settings_or_a_list_of_problems(config: Any, agents: Any) -> None:
    check_outcome(try_load(json.dumps(config), json.dumps(agents), {}))


@settings(deadline=None)
@given(st.text(max_size=60) | st.text("{}[],:\"\\ntrue01-.eE \n\t'/#", max_size=60))
def test_any_text_in_a_file_is_settings_or_a_list_of_problems(text: str) -> None:
    check_outcome(try_load(text, None, {}))


@settings(deadline=None)
@given(st.none() | NEARLY_RIGHT, st.dictionaries(VARIABLES, TEXTS, max_size=6))
def test_any_environment_gives_settings_or_a_list_of_problems(config: Any, environ: dict[str, str]) -> None:
    check_outcome(try_load(None if config is None else json.dumps(config), None, environ))


@settings(deadline=None)
@given(st.sampled_from(setting_keys()), SCALARS)
def test_a_value_is_judged_alike_in_the_file_and_in_its_variable(key: Any, value: Any) -> None:
    """A variable accepts the same values as the file, with the same meaning."""
    from_file = try_load(json.dumps(nest(key.path, value)), None, {})
    text = value if isinstance(value, str) else json.dumps(value)
    if not key.has_variable or isinstance(from_file, InvalidConfiguration) or value is None or not text.strip():
        return
    from_variable = try_load(None, None, {key.variable("VLLM"): text.strip()})
    assert isinstance(from_variable, Configuration)
    assert from_variable.settings == from_file.settings
