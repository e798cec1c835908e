"""Whatever stands in the files and in the environment: settings, or an error of the operator's. Never a crash,
never a secret in a message."""

import json
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from footnote.config.agents import AgentsFile
from footnote.config.configuration import Configuration, entries
from footnote.config.environment import AGENTS, ANY, KEYS, keys_of
from footnote.config.load import load
from footnote.config.problems import InvalidConfiguration
from footnote.config.resolve import resolve_model, resolve_web_search
from footnote.protocol.errors import ConfigError

PLANTED = "planted-0123456789-abcdefghijklmnop"
STEPS = sorted({step for key in (*KEYS, *keys_of(AgentsFile)) for step in key.path if step != ANY})
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


def nested(path: tuple[str, ...], value: Any) -> Any:
    for step in reversed(path):
        value = {"vllm" if step == ANY else step: value}
    return value


NEARLY_RIGHT = st.builds(nested, st.sampled_from([key.path for key in KEYS]), ANYTHING)
NEARLY_AGENTS = st.builds(lambda agents: {"agents": agents}, st.lists(ANYTHING, max_size=3))
VARIABLES = st.sampled_from([key.variable("VLLM") for key in KEYS] + [AGENTS, "OPENAI_API_KEY", "FOOTNOTE_X"])
TEXTS = st.text(st.characters(exclude_characters="\0"), max_size=10) | ANYTHING.map(json.dumps)


def attempt(config: str | None, agents: str | None, environ: Mapping[str, str]) -> Configuration | InvalidConfiguration:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name, text in (("config.json", config), ("agents.json", agents)):
            if text is not None:
                (home / name).write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            return load(home, environ=environ)
        except InvalidConfiguration as error:
            return error


def judge(outcome: Configuration | InvalidConfiguration) -> None:
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
    judge(attempt(json.dumps(config), json.dumps(agents), {}))


@settings(deadline=None)
@given(st.text(max_size=60) | st.text("{}[],:\"\\ntrue01-.eE \n\t'/#", max_size=60))
def test_any_text_in_a_file_is_settings_or_a_list_of_problems(text: str) -> None:
    judge(attempt(text, None, {}))


@settings(deadline=None)
@given(st.none() | NEARLY_RIGHT, st.dictionaries(VARIABLES, TEXTS, max_size=6))
def test_any_environment_gives_settings_or_a_list_of_problems(config: Any, environ: dict[str, str]) -> None:
    judge(attempt(None if config is None else json.dumps(config), None, environ))


@settings(deadline=None)
@given(st.sampled_from(KEYS), SCALARS)
def test_a_value_is_judged_alike_in_the_file_and_in_its_variable(key: Any, value: Any) -> None:
    """What the file takes, the variable takes too, and it means the same."""
    from_file = attempt(json.dumps(nested(key.path, value)), None, {})
    text = value if isinstance(value, str) else json.dumps(value)
    if not key.has_variable or isinstance(from_file, InvalidConfiguration) or value is None or not text.strip():
        return
    from_variable = attempt(None, None, {key.variable("VLLM"): text.strip()})
    assert isinstance(from_variable, Configuration)
    assert from_variable.settings == from_file.settings
