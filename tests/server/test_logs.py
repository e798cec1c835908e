"""The log of a server on stderr: text or JSON, one line for each incident, and no secret."""

import io
import json
import logging
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from cli.process import FootnoteProcess, environment
from footnote import tracing
from footnote.config.load import collect_secrets
from footnote.config.settings import (
    DatabaseSettings,
    LogSettings,
    ModelProvider,
    ModelSettings,
    SearchAccess,
    Settings,
    ToolSettings,
    WebSearchSection,
)
from footnote.protocol.errors import UpstreamError
from footnote.server import logs
from footnote.tracing import HealthLog, Operation, TraceOrigin
from server.harness import parse_events
from upstream import Upstream, reply, say, status, stop

TOKEN = "a-token-of-the-test-0123456789"
RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
log = logging.getLogger("footnote.test")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("footnote")
    handlers, levels = tuple(root.handlers), (root.level, ours.level)
    yield
    for handler in tuple(root.handlers):
        root.removeHandler(handler)
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(levels[0])
    ours.setLevel(levels[1])
    logging.captureWarnings(capture=False)


def lines(buffer: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in buffer.getvalue().splitlines()]


def log_to_buffer(settings: LogSettings, secrets: tuple[str, ...] = ()) -> io.StringIO:
    stream = io.StringIO()
    logs.configure_logging(settings, secrets, stream)
    return stream


def test_a_json_line_says_when_how_bad_where_from_and_what():
    buffer = log_to_buffer(LogSettings(format="json"))
    log.warning("The end of the run %s\ncannot be stored.", "run_1", extra={"run_id": "run_1", "question": "Why?"})
    [line] = lines(buffer)
    assert RFC_3339.fullmatch(line.pop("time"))
    assert line == {
        "level": "warning",
        "logger": "footnote.test",
        "message": "The end of the run run_1\ncannot be stored.",
        "replica": logs.replica(),
        "run_id": "run_1",
    }


def test_an_exception_is_in_the_same_line_with_its_type():
    buffer = log_to_buffer(LogSettings(format="json"))
    try:
        raise KeyError("one")
    except KeyError:
        log.exception("It failed.")
    [line] = lines(buffer)
    assert (line["error"], line["level"]) == ("KeyError", "error")
    assert line["traceback"].endswith("KeyError: 'one'")


def test_what_is_logged_in_a_run_names_it():
    buffer = log_to_buffer(LogSettings(format="json"))
    work = Operation("test_run", "Of a test.", span="run")
    try:
        with work(origin=TraceOrigin("run_1", "session_1")):
            log.info("Inside.")
        log.info("Outside.")
    finally:
        del tracing.ALL_OPERATIONS["test_run"]
    assert [(line.get("run_id"), line.get("session_id")) for line in lines(buffer)] == [
        ("run_1", "session_1"),
        (None, None),
    ]


def test_text_is_a_line_for_people():
    buffer = log_to_buffer(LogSettings())
    log.info("The server has stopped.")
    assert re.fullmatch(RFC_3339.pattern + r" INFO The server has stopped\.\n", buffer.getvalue())


@pytest.mark.parametrize(
    ("level", "levels"),
    [("debug", ["d", "i", "w", "u"]), ("info", ["i", "w", "u"]), ("warning", ["w", "u"]), ("error", [])],
)
def test_the_level_is_the_least_that_is_written_and_libraries_only_warn(level: Any, levels: list[str]):
    buffer = log_to_buffer(LogSettings(format="json", level=level))
    log.debug("d")
    log.info("i")
    log.warning("w")
    if level != "debug":
        logging.getLogger("uvicorn.error").info("of a library")
    logging.getLogger("uvicorn.error").warning("u")
    assert [line["message"] for line in lines(buffer)] == levels


def settings_with_secrets() -> tuple[Settings, dict[str, str], set[str]]:
    """Settings and an environment with a secret in every place, and the secrets."""
    own = ModelProvider(type="openai", api_key="model-key-0001", base_url="http://user:address-pw-0002@gpu.intranet/v1")
    brave = SearchAccess(api_key="search-key-0003")
    settings = Settings(
        models=ModelSettings(providers={"own": own}),
        tools=ToolSettings(WebSearchSection(providers={"brave": brave})),
        database=DatabaseSettings("postgresql://footnote:db%2Fpw-0004@db/footnote"),
    )
    environ = {
        "FOOTNOTE_TOKEN": "local-token-0005",
        "AWS_SECRET_ACCESS_KEY": "bucket-key-0006",
        "PGPASSWORD": "pg-password-0007",
        "TICKETS_TOKEN": "ticket-token-0008",
        "HTTPS_PROXY": "http://me:proxy-pw-0009@proxy:3128",
        "LANG": "C.UTF-8",
    }
    known = {f"{name}-000{number}" for number, name in enumerate(("model-key", "address-pw", "search-key"), 1)}
    return (
        settings,
        environ,
        known
        | {
            *("db%2Fpw-0004", "db/pw-0004", "local-token-0005", "bucket-key-0006", "pg-password-0007"),
            *("ticket-token-0008", "proxy-pw-0009"),
        },
    )


def test_every_secret_of_the_settings_and_the_environment_is_known():
    settings, environ, secrets = settings_with_secrets()
    assert set(collect_secrets(settings, environ)) == secrets


NOBODY_TOLD = (
    "fn_local_0123456789abcdefABCDEF",
    "fnl_0123456789abcdefABCDEF",
    "sk-ant-0123456789abcdef",
    "Bearer eyJhbGciOi.JIUzI1NiIsInR5cCI6",
    "redis://:redis/pw@cache:6379/0",
    "https://b.s3.example.org/k?X-Amz-Credential=AKIA0&X-Amz-Signature=abcdef0123",
)


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_secret_is_written_whether_it_is_said_raised_or_the_cause_of_an_error(form: Any):
    settings, environ, secrets = settings_with_secrets()
    buffer = log_to_buffer(LogSettings(format=form), collect_secrets(settings, environ))
    for secret in (*secrets, *NOBODY_TOLD):
        log.warning("Said: %s", secret)
        try:
            try:
                raise ValueError(f"cause {secret}")
            except ValueError as error:
                raise UpstreamError(f"raised {secret}") from error
        except UpstreamError:
            log.exception("It failed with %r", secret)
    text = buffer.getvalue()
    found = {secret for secret in secrets if secret in text}
    parts = ("0123456789abcdef", "eyJhbGciOi", "redis/pw", "AKIA0", "abcdef0123")
    assert (found, {part for part in parts if part in text}) == (set(), set())
    assert text.count(logs.MASK) >= 4 * len((*secrets, *NOBODY_TOLD))


def test_trouble_is_told_once_and_its_end_once():
    buffer = log_to_buffer(LogSettings(format="json"))
    standing = HealthLog("The storage", recovery_seconds=0)
    for error in (None, UpstreamError("no answer"), UpstreamError("no answer"), None, None):
        standing.report(error)
    first, second = lines(buffer)
    assert (first["message"], first["error"]) == ("The storage fails: no answer", "UpstreamError")
    assert second["message"].startswith("The storage works again")


@pytest.mark.slow
async def test_a_server_for_programs_writes_nothing_but_json(tmp_path: Path, upstream: Upstream):
    upstream.script(reply(say("Because."), stop()), lambda _: status(401, f"Incorrect API key: {upstream.key}"))
    more = {"FOOTNOTE_LOGS_FORMAT": "json", "FOOTNOTE_LOGS_REQUESTS": "true", "FOOTNOTE_TOKEN": TOKEN}
    env = environment(tmp_path, upstream, FOOTNOTE_SERVER_HOST="0.0.0.0", **more)
    async with (
        FootnoteProcess("serve", "--port", "0", env=env) as process,
        aiohttp.ClientSession(headers={"authorization": f"Bearer {TOKEN}"}) as http,
    ):
        await process.err.wait_for_text("users add")
        first = json.loads(process.err.text.splitlines()[0])
        url = first["message"].partition(" answers at ")[2].partition(",")[0]
        async with http.post(f"{url}/v2/sessions", json={}) as response:
            session_id = (await response.json())["id"]
        for _ in range(2):
            async with http.post(f"{url}/v2/sessions/{session_id}/messages", json={"content": "Secretly?"}) as stream:
                assert parse_events(await stream.read())[-1]["type"] == "message_stop"
        async with http.get(f"{url}/login?token=fnl_0123456789abcdefABCDEF") as response:
            assert response.status == 401
        process.signal(signal.SIGTERM)
        assert await process.exit_code() == 0
    assert process.out is not None
    assert process.out.text == ""
    lines = [json.loads(line) for line in process.err.text.splitlines()]
    assert [line["message"].partition(" answers at ")[0].split()[0] for line in lines[:2]] == ["Footnote", "Other"]
    assert [(line["route"], line["status"], line.get("user_id")) for line in lines if "route" in line] == [
        ("POST /v2/sessions", 201, "local"),
        ("POST /v2/sessions/{session_id}/messages", 200, "local"),
        ("POST /v2/sessions/{session_id}/messages", 200, "local"),
        ("GET /login", 401, "local"),
    ]
    assert lines[-1]["message"] == "The server has stopped."
    hidden = (TOKEN, str(upstream.key), "Secretly", "Because", "fnl_")
    assert {word for word in hidden if word in process.err.text} == set()
