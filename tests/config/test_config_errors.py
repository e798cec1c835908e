"""Errors name the file, the place, the expected value and the remedy, all at once and without secrets."""

import re
from pathlib import Path
from typing import Any

import pytest

from config.conftest import ConfigProblems, LoadConfig
from footnote.config.load import load
from footnote.config.validation import InvalidConfiguration
from footnote.protocol.errors import ConfigError


def search(**settings: Any) -> dict[str, Any]:
    return {"tools": {"webSearch": settings}}


def agent(**settings: Any) -> dict[str, Any]:
    return {"agents": [{"id": "a", **settings}]}


def test_an_unknown_key_is_named_with_its_place_and_the_nearest_valid_one(config_problems: ConfigProblems) -> None:
    text = '{\n "tools": {\n  "webSearch": {\n   "maxResult": 3}}}'
    assert config_problems(text) == [
        (
            'config.json, line 4, tools.webSearch.maxResult: unknown key "maxResult"; '
            'the nearest valid key is "maxResults".'
        )
    ]


def test_both_names_of_one_provider_are_an_error_that_names_them(config_problems: ConfigProblems) -> None:
    text = '{"tools": {"webSearch": {"providers": {\n "duckduckgo": {},\n "duck-duck-scrape": {}}}}}'
    assert config_problems(text) == [
        (
            'config.json, line 3, tools.webSearch.providers.duck-duck-scrape: "duck-duck-scrape" is another name of '
            '"duckduckgo", which stands here too; keep one of them.'
        )
    ]


def test_what_is_wrong_under_another_name_is_told_with_its_line(config_problems: ConfigProblems) -> None:
    text = '{"tools": {"webSearch": {"providers": {\n "duck-duck-scrape": {\n "apikey": "x"}}}}}'
    assert config_problems(text) == [
        (
            'config.json, line 3, tools.webSearch.providers.duckduckgo.apikey: unknown key "apikey"; '
            'the nearest valid key is "apiKey".'
        )
    ]


def test_an_unknown_key_at_the_top_and_in_an_agent_is_named_too(config_problems: ConfigProblems) -> None:
    assert config_problems({"sever": {}}, agents=agent(sistemPrompt="x")) == [
        'config.json, line 1, sever: unknown key "sever"; the nearest valid key is "server".',
        (
            'agents.json, line 1, agents[0].sistemPrompt: unknown key "sistemPrompt"; '
            'the nearest valid key is "systemPrompt".'
        ),
    ]


def test_a_key_in_agents_json_is_unknown_and_the_reader_is_told_where_keys_belong(
    config_problems: ConfigProblems,
) -> None:
    (complaint,) = config_problems(agents=agent(apiKey="sk-planted"))
    assert 'unknown key "apiKey"' in complaint
    assert "config.json or in the environment" in complaint
    assert "sk-planted" not in complaint


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        (search(maxResults=0), "tools.webSearch.maxResults: expected a whole number from 1 to 10, found 0."),
        (search(maxResults=11), "tools.webSearch.maxResults: expected a whole number from 1 to 10, found 11."),
        (search(maxResults=True), "tools.webSearch.maxResults: expected a whole number from 1 to 10, found true."),
        (search(maxResults=5.5), "tools.webSearch.maxResults: expected a whole number from 1 to 10, found 5.5."),
        (search(maxResults="5"), 'tools.webSearch.maxResults: expected a whole number from 1 to 10, found "5".'),
        (search(maxResults=None), "tools.webSearch.maxResults: expected a whole number from 1 to 10, found null."),
        (search(crawlCount=-1), "tools.webSearch.crawlCount: expected a whole number from 0 to 10, found -1."),
        (search(crawlCount=11), "tools.webSearch.crawlCount: expected a whole number from 0 to 10, found 11."),
        (
            search(timeoutSeconds=0),
            "tools.webSearch.timeoutSeconds: expected a number above 0, at most 86400, found 0.",
        ),
        (search(cacheTtlMinutes=-1), "tools.webSearch.cacheTtlMinutes: expected a number from 0 to 525600, found -1."),
        (search(respectRobots="no"), 'tools.webSearch.respectRobots: expected true or false, found "no".'),
        (
            search(allowPrivateHosts="a:1"),
            "tools.webSearch.allowPrivateHosts: expected a list of strings, found a string.",
        ),
        (
            search(allowPrivateHosts=["wiki:80", "wiki"]),
            (
                "tools.webSearch.allowPrivateHosts[1]: expected host:port, such as wiki.intranet:8080 or [fd00::1]:80, "
                'found "wiki".'
            ),
        ),
        ({"server": {"port": 65536}}, "server.port: expected a whole number from 0 to 65535, found 65536."),
        ({"server": []}, "server: expected an object, found a list."),
        ({"limits": {"runsPerUser": 0}}, "limits.runsPerUser: expected a whole number of at least 1, found 0."),
        (
            {"limits": {"uploadBytes": 2**63}},
            "limits.uploadBytes: expected a whole number of at least 1, found 9223372036854775808.",
        ),
        (
            {"models": {"default": "claude-sonnet-5-5"}},
            'models.default: expected PROVIDER/MODEL, such as anthropic/claude-sonnet-5-5, found "claude-sonnet-5-5".',
        ),
        (
            {"models": {"profiles": {"a/b": {"price": {"input": 1}}}}},
            'models.profiles["a/b"].price: the key "output" is missing.',
        ),
        (
            {"database": {"url": "mysql://u:pw@h/d"}},
            "database.url: expected sqlite:FILE or postgresql://USER:PASSWORD@HOST/NAME, found a string.",
        ),
        (
            {"storage": {"url": "local:"}},
            "storage.url: expected local:FOLDER or s3://BUCKET?endpoint=…&region=…, found a string.",
        ),
        ({"bus": {"url": "amqp://h"}}, "bus.url: expected local:, redis://HOST:PORT or postgresql:, found a string."),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(
    config_problems: ConfigProblems, config: Any, complaint: str
) -> None:
    assert config_problems(config) == [f"config.json, line 1, {complaint}"]


def test_an_unknown_search_provider_is_named_with_the_nearest_one(config_problems: ConfigProblems) -> None:
    for config, agents in (
        (search(defaultProvider="duckduck"), None),
        (None, agent(webSearch={"provider": "duckduck"})),
    ):
        complaint = config_problems(config, agents=agents)[-1]
        assert 'found "duckduck"; the nearest valid value is "duckduckgo".' in complaint


@pytest.mark.parametrize(
    "url", ["example.org", "ftp://example.org", "http://", "https://h:99999", "http://a b", "", "http://[::1"]
)
def test_an_address_must_be_one(config_problems: ConfigProblems, url: str) -> None:
    (complaint,) = config_problems({"models": {"providers": {"openai": {"baseUrl": url}}}})
    assert "models.providers.openai.baseUrl: expected an address that starts with http:// or https://" in complaint


def test_a_provider_of_ones_own_needs_a_type(config_problems: ConfigProblems) -> None:
    assert config_problems({"models": {"providers": {"vllm": {"baseUrl": "http://gpu:8000/v1"}}}}) == [
        (
            'config.json, line 1, models.providers.vllm: the provider "vllm" needs a "type": "anthropic" or "openai", '
            "by the API that it speaks."
        )
    ]


def test_the_name_of_the_built_in_reader_cannot_be_taken(config_problems: ConfigProblems) -> None:
    (complaint,) = config_problems({"models": {"providers": {"footnote": {"type": "openai"}}}})
    assert "`footnote` is taken by the built-in reader" in complaint


def test_a_model_of_an_unknown_provider_is_an_error_in_both_files(config_problems: ConfigProblems) -> None:
    rest = (
        "is not known; the nearest one is {}. A provider of your own needs an entry in models.providers of config.json."
    )
    assert config_problems({"models": {"default": "antropic/x"}}, agents=agent(model="opnai/x/y")) == [
        f'config.json, line 1, models.default: the provider "antropic" {rest.format(chr(34) + "anthropic" + chr(34))}',
        f'agents.json, line 1, agents[0].model: the provider "opnai" {rest.format(chr(34) + "openai" + chr(34))}',
    ]


def test_a_provider_of_ones_own_can_be_used_by_an_agent(load_config: LoadConfig) -> None:
    providers = {"llama.cpp": {"type": "openai", "baseUrl": "http://127.0.0.1:8080/v1"}}
    configuration = load_config({"models": {"providers": providers}}, agents=agent(model="llama.cpp/qwen3"))
    assert configuration.agent().model == "llama.cpp/qwen3"


def test_there_is_one_built_in_model(config_problems: ConfigProblems) -> None:
    assert config_problems(agents=agent(model="footnote/writer")) == [
        'agents.json, line 1, agents[0].model: the built-in model is footnote/reader; there is no "writer" beside it.'
    ]


def test_ids_of_agents_are_well_formed_and_different(config_problems: ConfigProblems) -> None:
    agents = '{"agents": [\n{"id": "a"},\n{"id": "B b"},\n{"name": "no id"},\n{"id": "a"}]}'
    expected = "an id of small letters, digits, '_' and '-', at most 64 of them, that starts with a letter or digit"
    assert config_problems(agents=agents) == [
        f'agents.json, line 3, agents[1].id: expected {expected}, found "B b".',
        'agents.json, line 4, agents[2]: the key "id" is missing.',
        'agents.json, line 5, agents[3].id: agents[0] has the id "a" too; give one another id.',
    ]


@pytest.mark.parametrize(
    ("agents", "complaint"),
    [
        ({}, 'agents.json: the key "agents" is missing.'),
        ({"agents": []}, "agents.json, line 1, agents: expected at least 1 in the list, found none."),
        ([], "agents.json: expected an object, found a list."),
        ({"agents": {}}, "agents.json, line 1, agents: expected a list of objects, found an object."),
        ({"agents": ["x"]}, "agents.json, line 1, agents[0]: expected an object, found a string."),
    ],
)
def test_a_list_of_agents_is_needed(config_problems: ConfigProblems, agents: Any, complaint: str) -> None:
    assert config_problems(agents=agents) == [complaint]


@pytest.mark.parametrize(
    ("server", "complaint"),
    [
        ({}, 'expected either a "command" to start or a "url" to connect to, found neither'),
        (
            {"command": "x", "url": "http://h"},
            'expected either a "command" to start or a "url" to connect to, found both',
        ),
        ({"command": "x", "headers": {}}, 'a server with a "command" has no headers; use "env"'),
        ({"url": "http://h", "args": []}, 'a server with a "url" is not started here and has no args'),
        ({"url": "file:///etc"}, "expected an address that starts with http:// or https://"),
        ({"command": " "}, "expected the name or the path of a program"),
        ({"command": "x", "timeoutSeconds": 0}, "expected a number above 0"),
        ({"command": "x", "env": {"A=B": ""}}, "expected the name of an environment variable"),
        ({"url": "http://h", "headers": {"a b": ""}}, "expected the name of an HTTP header"),
        ({"url": "http://h", "headers": {"a": "b\r\nc: d"}}, "expected one line of text"),
        ({"command": "x", "env": {"GITHUB_TOKEN": "planted"}}, "keys never live in agents.json: write ${NAME}"),
        ({"url": "http://h", "headers": {"X-API-Key": "planted"}}, "keys never live in agents.json: write ${NAME}"),
    ],
)
def test_a_tool_server_is_described_completely_and_without_keys(
    config_problems: ConfigProblems, server: Any, complaint: str
) -> None:
    (problem,) = config_problems(agents=agent(mcpServers={"s": server}))
    assert complaint in problem
    assert "agents[0].mcpServers.s" in problem
    assert "planted" not in problem


def test_a_command_to_start_may_not_come_from_the_environment(config_problems: ConfigProblems) -> None:
    (problem,) = config_problems(environ={"FOOTNOTE_AGENTS": '[{"id": "a", "mcpServers": {"s": {"command": "x"}}}]'})
    assert (
        problem == "FOOTNOTE_AGENTS, agents[0].mcpServers.s: a command to start may only stand in the file agents.json."
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "{\n // why\n}",
            ", line 2: not valid JSON in column 2: Expecting property name enclosed in double quotes. JSON has no",
        ),
        (
            "{'a': 1}",
            ", line 1: not valid JSON in column 2: Expecting property name enclosed in double quotes. Strings stand",
        ),
        ('{"a": ', ", line 1: not valid JSON in column 7: Expecting value. The file ends too early"),
        ('{"a" 1}', ", line 1: not valid JSON in column 6: Expecting ':' delimiter. Look at this place"),
        ("", ": is empty; write {} into it, or delete it."),
        (" \n", ": is empty; write {} into it, or delete it."),
        ('{"server": {"port": NaN}}', ": is not valid JSON: NaN is no JSON number."),
        ("[" * 100_000, ": is nested too deeply to be a configuration."),
        ('{"a": "\\ud800"}', ": holds half a character"),
        ("1" * 5000, ": is not valid JSON: "),
    ],
    ids=lambda text: text[:20],
)
def test_bad_json_is_told_with_line_column_and_remedy(
    config_problems: ConfigProblems, text: str, complaint: str
) -> None:
    (problem,) = config_problems(text)
    assert problem.startswith(f"config.json{complaint}")


def test_a_comma_too_many_is_told_as_one(config_problems: ConfigProblems) -> None:
    (problem,) = config_problems('{"a": 1,}')  # column and message differ between versions of Python
    assert re.match(r"config\.json, line 1: not valid JSON in column [89]: .*\. Remove the comma", problem)


def test_a_key_that_stands_twice_is_an_error(config_problems: ConfigProblems) -> None:
    assert config_problems('{"server": {"port": 1},\n "bus": {},\n "server": {"port": 2}}') == [
        'config.json, line 3, server: "server" stands here and on line 1; keep one of them.',
        'config.json, line 3, server.port: "port" stands here and on line 1; keep one of them.',
    ]


def test_a_file_of_another_encoding_is_an_error(home: Path) -> None:
    (home / "config.json").write_bytes("{}".encode("utf-16"))
    with pytest.raises(InvalidConfiguration, match=r"config.json: is not UTF-8 text; save it with that encoding\."):
        load(home, environ={})


def test_a_file_that_was_asked_for_and_is_missing_is_an_error(home: Path) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        load(home, home / "nope.json", {})
    assert caught.value.message == f"{home}/nope.json: there is no such file; check the name, or leave the option out."


def test_a_folder_in_place_of_a_file_is_an_error(home: Path) -> None:
    (home / "agents.json").mkdir()
    with pytest.raises(InvalidConfiguration, match=r"agents.json: cannot be read \(is a directory\)"):
        load(home, environ={})


def test_all_problems_of_both_files_and_the_environment_come_at_once(config_problems: ConfigProblems) -> None:
    config = {
        "tools": {"webSearch": {"maxResults": 99, "crawlCounts": 1}},
        "models": {"default": "nobody/x", "providers": {"own": {"baseUrl": 5}}},
    }
    agents = {"agents": [{"id": "a", "maxToolRounds": 0}, {"id": "a", "mcpServers": {"s": {}}}]}
    problems = config_problems(config, agents=agents, environ={"FOOTNOTE_SERVER_PORT": "x", "FOOTNOTE_PORT": "1"})
    assert [line.split(": ")[0] for line in problems] == [
        "config.json, line 1, tools.webSearch.maxResults",
        "config.json, line 1, tools.webSearch.crawlCounts",
        "config.json, line 1, models.providers.own.baseUrl",
        "FOOTNOTE_PORT",
        "FOOTNOTE_SERVER_PORT, server.port",
        "config.json, line 1, models.providers.own",
        "config.json, line 1, models.default",
        "agents.json, line 1, agents[0].maxToolRounds",
        "agents.json, line 1, agents[1].id",
        "agents.json, line 1, agents[1].mcpServers.s",
    ]


def test_several_problems_stand_below_each_other_and_one_stands_alone(load_config: LoadConfig, home: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config({"a": 1, "b": 2})
    assert caught.value.message.splitlines()[0] == "The configuration has 2 problems:"
    assert len(caught.value.message.splitlines()) == 3
    with pytest.raises(ConfigError) as caught:
        load_config({"a": 1})
    assert "\n" not in caught.value.message


PLANTED = "sk-planted-0123456789abcdefghij"


@pytest.mark.parametrize(
    "config",
    [
        {"models": {"providers": {"anthropic": PLANTED}}},
        {"models": {"providers": {"anthropic": {"apiKey": [PLANTED]}}}},
        {"models": {"providers": {"anthropic": {"apiKey": f"{PLANTED} {PLANTED}"}}}},
        {"models": {"providers": {"anthropic": {"type": PLANTED}}}},
        {"models": {"default": PLANTED}},
        {"server": {"port": PLANTED, "publicUrl": f"ftp://u:{PLANTED}@h"}},
        {"database": {"url": f"mysql://u:{PLANTED}@h/d"}},
        search(maxResults=PLANTED, defaultProvider=PLANTED, allowPrivateHosts=[PLANTED], providers={"brave": PLANTED}),
    ],
)
def test_what_may_be_a_secret_is_never_repeated(config_problems: ConfigProblems, config: Any) -> None:
    assert PLANTED not in "\n".join(config_problems(config))


def test_a_number_in_the_place_of_a_key_is_not_repeated(config_problems: ConfigProblems) -> None:
    (problem,) = config_problems({"models": {"providers": {"openai": {"apiKey": 123456}}}})
    assert problem == (
        "config.json, line 1, models.providers.openai.apiKey: expected a key of printable characters without spaces "
        "(leave the entry out when there is none), found a number."
    )


def test_a_key_with_a_line_break_is_refused_without_being_repeated(config_problems: ConfigProblems) -> None:
    (problem,) = config_problems(environ={"OPENAI_API_KEY": "sk-one\nsk-two"})
    assert problem.startswith("OPENAI_API_KEY: expected a key of printable characters without spaces")
    assert "sk-" not in problem
