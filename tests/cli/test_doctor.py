"""`footnote doctor` against real servers on loopback: its findings, its advice, and no secrets."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli.doctor_report import KEY, doctor, ok, search_variables, without_times
from cli.process import CLOSED, environment, run_footnote
from footnote.cli.provider_checks import FALLBACK_REMEDY
from upstream import call, reply, stop
from upstream.server import render_body
from web.providers import SearchServer

EXAMPLE = Path(__file__).parents[1] / "tools" / "mcp_servers" / "example.py"


@dataclass
class ModelListServer:
    """A server that lists models and calls the tool that it is offered, or responds with an error status."""

    models: tuple[str, ...] = ()
    status: str = "200 OK"
    body: str | None = None
    url: str = ""
    heads: list[str] = field(default_factory=list[str])

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        self.heads.append(head)
        listed = json.dumps({"data": [{"id": name} for name in self.models]})
        body = (self.body if self.body is not None else listed).encode()
        kind = "application/json"
        for path, api in (("/chat/completions ", "openai"), ("/v1/messages ", "anthropic")):
            if path in head.partition("\r")[0] and self.status == "200 OK":
                body = render_body(api, reply(call("current_weather", {"city": "Hanoi"}), stop("toolUse")))
                kind = "text/event-stream"
        writer.write(
            f"HTTP/1.1 {self.status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
            "connection: close\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        writer.close()


@asynccontextmanager
async def listing(*models: str, status: str = "200 OK", body: str | None = None) -> AsyncIterator[ModelListServer]:
    lister = ModelListServer(models, status, body)
    server = await asyncio.start_server(lister.answer, "127.0.0.1", 0)
    async with server:
        lister.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield lister


async def test_on_a_fresh_machine_nothing_is_missing(tmp_path: Path) -> None:
    async with SearchServer("duckduckgo") as duckduckgo:
        code, found = await doctor(tmp_path, **search_variables(duckduckgo))
    assert code == 0
    assert found["model"] == ok(
        "footnote/reader (there is no key, and no Ollama): answers quote pages; for answers that reason, set "
        "ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama"
    )
    assert found["home"] == ok(f"{tmp_path} is writable")
    assert found["search"] == ok("agent researcher searches with duckduckgo")
    (reading,) = found["reading"]
    assert [without_times(reading)] == ok("a page was parsed in … ms, including the start of the process")
    assert found["database"] == ok(f"{tmp_path}/footnote.db is created when the first page is read")
    assert found["network"] == ok("reached: duckduckgo")
    assert found["ollama"] == ok(f"not running at {CLOSED}, and not needed if there is a key")
    assert {finding["status"] for findings in found.values() for finding in findings} == {"OK"}
    assert list(tmp_path.iterdir()) == []


async def test_lines_begin_with_the_verdict_and_the_advice_stands_below(tmp_path: Path) -> None:
    code, out, err = await run_footnote("doctor", "--home", str(tmp_path), env=environment(tmp_path))
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "OK    configuration: valid (no file; defaults and environment)"
    advised = next(index for index, line in enumerate(lines) if line.startswith("WARN  provider: duckduckgo: "))
    assert lines[advised + 1] == f"      -> {FALLBACK_REMEDY}"


@pytest.mark.parametrize(
    ("api", "path", "header", "model"),
    [
        ("ANTHROPIC", "get /v1/models?limit=1000 ", f"x-api-key: {KEY}", "claude-sonnet-5-5"),
        ("OPENAI", "get /models ", f"authorization: bearer {KEY}", "gpt-6.1-sol"),
    ],
)
async def test_the_default_model_is_asked_whether_it_is_there(
    tmp_path: Path, api: str, path: str, header: str, model: str
) -> None:
    async with listing(model) as server:
        variables = {f"{api}_API_KEY": KEY, f"FOOTNOTE_MODELS_PROVIDERS_{api}_BASE_URL": server.url}
        code, found = await doctor(tmp_path, **variables)
    name = api.lower()
    assert (code, found["model"]) == (0, ok(f"{name}/{model} (there is a key for {name}): the server answers"))
    assert found["network"] == ok(f"reached: {name}")
    assert found["keys"] == ok(f"models.providers.{name}.apiKey is set (environment: {api}_API_KEY)")
    listing_head, question_head = server.heads
    assert listing_head.startswith(path)
    assert question_head.startswith("post ")
    assert all(header in head for head in server.heads)
    assert found["style"] == ok(f"{name}/{model} is agentic: nothing says that it is small")
    (tools,) = found["tools"]
    assert tools["message"].startswith(f"{name}/{model} called a tool as it should (10 + 5 tokens, ")


@pytest.mark.parametrize(
    ("status", "verdict", "message", "remedy"),
    [
        ("401 Unauthorized", "FAIL", "the key was refused", "Check OPENAI_API_KEY."),
        ("403 Forbidden", "FAIL", "the key was refused", "Check OPENAI_API_KEY."),
        (
            "404 Not Found",
            "WARN",
            "asked for its models, the server answered with status 404",
            "If questions fail too, check models.providers.openai.baseUrl.",
        ),
    ],
)
async def test_a_server_that_refuses_is_told_apart_from_one_that_lists_nothing(
    tmp_path: Path, status: str, verdict: str, message: str, remedy: str
) -> None:
    async with listing(status=status) as server:
        code, found = await doctor(tmp_path, OPENAI_API_KEY=KEY, FOOTNOTE_MODELS_PROVIDERS_OPENAI_BASE_URL=server.url)
    about = "openai/gpt-6.1-sol (there is a key for openai)"
    assert found["model"] == [{"status": verdict, "message": f"{about}: {message}", "remedy": remedy}]
    assert code == 1
    assert ("tools" in found) == (verdict == "WARN")  # a question fails too


async def test_a_server_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    variables = {
        "FOOTNOTE_MODELS_DEFAULT": "vllm/qwen3",
        "FOOTNOTE_MODELS_PROVIDERS_VLLM_TYPE": "openai",
        "FOOTNOTE_MODELS_PROVIDERS_VLLM_BASE_URL": CLOSED,
    }
    code, found = await doctor(tmp_path, **variables)
    (finding,) = found["model"]
    assert (code, finding["status"]) == (1, "FAIL")
    assert finding["message"] == "vllm/qwen3 (models.default): the connection was refused"
    assert finding["remedy"] == "Check the network, and that it runs where models.providers.vllm.baseUrl says."


async def test_a_model_that_the_server_does_not_list_is_pointed_out(tmp_path: Path) -> None:
    async with listing("qwen3", "llama4") as server:
        _, found = await doctor(
            tmp_path,
            FOOTNOTE_MODELS_DEFAULT="vllm/qwen",
            FOOTNOTE_MODELS_PROVIDERS_VLLM_TYPE="openai",
            FOOTNOTE_MODELS_PROVIDERS_VLLM_BASE_URL=server.url,
        )
    message = "vllm/qwen (models.default): the server answers, but does not list this model"
    remedy = "Choose one that it lists: qwen3, llama4"
    assert found["model"] == [{"status": "WARN", "message": message, "remedy": remedy}]


async def test_a_running_ollama_gives_the_default_model(tmp_path: Path) -> None:
    async with listing("qwen3:8b", "llama4:latest") as server:
        code, found = await doctor(tmp_path, FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL=server.url)
    assert found["ollama"] == ok("running, with qwen3:8b, llama4:latest")
    assert (code, found["model"]) == (0, ok("ollama/qwen3:8b (Ollama is running): the server answers"))


@pytest.mark.parametrize("body", ["[]", '{"data": null}', '{"data": ["x", {}]}'])
async def test_an_ollama_without_models_is_pointed_out(tmp_path: Path, body: str) -> None:
    async with listing(body=body) as server:
        _, found = await doctor(tmp_path, FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL=server.url)
    (finding,) = found["ollama"]
    assert (finding["status"], finding["message"]) == ("WARN", "running, but it has no models")
    assert found["model"][0]["message"].startswith("footnote/reader")


async def test_names_from_a_server_cannot_steer_the_terminal(tmp_path: Path) -> None:
    async with listing("evil\x1b[2Jname") as server:
        env = environment(tmp_path, FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL=server.url)
        _, out, _ = await run_footnote("doctor", env=env)
    assert "running, with evilname\n" in out
    assert "\x1b" not in out


async def test_something_else_on_the_port_of_ollama_is_pointed_out(tmp_path: Path) -> None:
    async with listing(status="404 Not Found") as server:
        address = server.url.replace("//", "//me:planted@")
        _, found = await doctor(tmp_path, FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL=address)
    shown = server.url.replace("//", "//me:***@")
    message = f"what runs at {shown} answered with status 404"
    remedy = "Check models.providers.ollama.baseUrl."
    assert found["ollama"] == [{"status": "WARN", "message": message, "remedy": remedy}]


async def test_an_agents_model_without_a_key_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "agents.json").write_text('{"agents": [{"id": "a", "model": "openrouter/x/y"}]}')
    code, found = await doctor(tmp_path)
    assert code == 1
    assert found["model"][-1] == {
        "status": "FAIL",
        "message": "openrouter/x/y needs a key: set OPENROUTER_API_KEY, "
        "or models.providers.openrouter.apiKey in config.json.",
        "remedy": "Do that, or choose another model.",
    }


async def test_every_problem_of_the_configuration_is_a_failure_and_the_rest_is_still_checked(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"sever": {},\n "bus": 5}')
    code, found = await doctor(tmp_path, ANTHROPIC_API_KEY=KEY)
    assert code == 1
    assert [(finding["status"], finding["message"]) for finding in found["configuration"]] == [
        ("FAIL", f'{tmp_path}/config.json, line 1, sever: unknown key "sever"; the nearest valid key is "server".'),
        ("FAIL", f"{tmp_path}/config.json, line 2, bus: expected an object, found a number."),
        (
            "WARN",
            (
                "keys, models, search, network, documents and tool servers were not checked; "
                "database and storage were, as they are without settings"
            ),
        ),
    ]
    assert set(found) == {"configuration", "home", "disk", "extras", "database", "storage"}
    assert found["database"] == ok(f"{tmp_path}/footnote.db is created when the first page is read")


async def test_with_a_broken_configuration_a_broken_database_is_still_found(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "footnote.db").write_text("This is no database, and longer than the head of one. " * 20)
    (tmp_path / "files").write_text("This is no folder.")
    code, found = await doctor(tmp_path)
    assert (code, [found[check][0]["status"] for check in ("database", "storage")]) == (1, ["FAIL", "FAIL"])


async def test_everything_that_the_contract_names_is_looked_at(tmp_path: Path) -> None:
    _, found = await doctor(tmp_path)
    assert {"configuration", "keys", "provider", "network", "fonts", "database", "storage"} <= set(found)


async def test_a_key_in_a_file_that_others_can_read_is_pointed_out(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"tools": {"webSearch": {"providers": {"brave": {"apiKey": KEY}}}}}))
    file.chmod(0o644)
    _, found = await doctor(tmp_path, BRAVE_API_KEY="another")
    origin = f"{file}, line 1"
    assert found["keys"] == [
        *ok(f"tools.webSearch.providers.brave.apiKey is set ({origin})"),
        {"status": "WARN", "message": f"others on this machine can read {file}", "remedy": f"chmod 600 {file}"},
    ]
    assert found["configuration"][0]["message"] == (
        f"BRAVE_API_KEY is set, but tools.webSearch.providers.brave.apiKey in {file} wins over it."
    )
    file.chmod(0o600)
    _, found = await doctor(tmp_path)
    assert found["keys"] == ok(f"tools.webSearch.providers.brave.apiKey is set ({origin})")


async def test_a_key_that_is_null_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"models": {"providers": {"openai": {"apiKey": null}}}}')
    _, found = await doctor(tmp_path)
    (finding,) = found["keys"]
    assert finding["message"].startswith("none is set")


async def test_a_home_folder_that_cannot_be_written_to_is_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    env = environment(tmp_path, FOOTNOTE_HOME=str(file))
    code, out, _ = await run_footnote("doctor", env=env)
    assert code == 1
    assert f"FAIL  home: {file} cannot be written to (Not a directory)" in out


async def test_a_home_folder_that_is_not_there_yet_can_be_made(tmp_path: Path) -> None:
    _, found = await doctor(tmp_path / "new")
    assert found["home"] == ok(f"{tmp_path / 'new'} is created when needed")


async def test_tool_servers_are_started_and_their_tools_listed(tmp_path: Path) -> None:
    servers = {
        "demo": {"command": sys.executable, "args": [str(EXAMPLE)], "env": {"TOKEN": "${DEMO}"}},
        "gone": {"command": str(tmp_path / "nothing")},
        "far": {"url": f"{CLOSED}/mcp", "headers": {"Authorization": "Bearer ${DEMO}"}},
        "unset": {"command": "x", "env": {"TOKEN": "${NOT_SET}"}},
    }
    (tmp_path / "agents.json").write_text(json.dumps({"agents": [{"id": "a", "mcpServers": servers}]}))
    code, found = await doctor(tmp_path, DEMO=KEY)
    demo, gone, far, unset = found["tool server"]
    assert code == 1
    assert demo["status"] == "OK"
    assert demo["message"].startswith("demo of agent a offers add, ")
    assert (gone["status"], far["status"]) == ("FAIL", "FAIL")
    assert gone["message"].startswith("gone of agent a: The MCP server gone")
    assert far["message"].startswith("far of agent a: The MCP server far")
    assert unset == {
        "status": "FAIL",
        "message": "unset of agent a: The MCP server unset of agents.json needs NOT_SET: set it in the environment.",
        "remedy": "Check its entry in mcpServers of agent a.",
    }


async def test_without_the_extras_they_are_advised_and_nothing_breaks(tmp_path: Path) -> None:
    agents = {"agents": [{"id": "a", "mcpServers": {"demo": {"command": "x"}}}]}
    (tmp_path / "agents.json").write_text(json.dumps(agents))
    hidden = "import sys; sys.modules.update(rich=None, mcp=None); from footnote.cli import main; sys.exit(main())"
    async with listing("m") as ollama:
        variables = {"FOOTNOTE_HOME": str(tmp_path), "FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL": ollama.url}
        env = environment(tmp_path, **variables)
        code, out, err = await run_footnote("doctor", env=env, program=hidden)
    assert (code, err) == (0, "")
    assert "WARN  extras: rich is not installed" in out
    assert out.count('      -> pip install "footnote[mcp]"\n') == 2
    assert "WARN  tool server: 1 in agents.json cannot be used: the mcp package is not installed" in out
