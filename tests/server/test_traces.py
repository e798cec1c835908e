"""Traces of runs, as a collector receives them from the real server over OTLP."""

import asyncio
import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from cli.process import FOREGROUND_PROGRAM, FootnoteProcess, environment
from cli.small_web import FACT, env_for, hits
from server.collector import Span, TraceCollector, attributes, run_collector
from server.harness import parse_events
from upstream import Upstream, call, hold, reply, say, status, stop, usage
from web import Web
from web.providers import SearchServer

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-the-test-0123456789"
QUERY = "oxygen-discoverer-query"
QUESTION = "Who isolated oxygen, the-question?"
ANSWER = "It was the-answer-of-the-model [1]."
CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class TracedClient:
    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self.url = url
        self.http = http

    async def create_session(self) -> str:
        async with self.http.post(f"{self.url}/v2/sessions", json={}) as response:
            return (await response.json())["id"]

    async def ask_for_events(self, session_id: str, **headers: str) -> tuple[str, list[dict[str, Any]]]:
        """Asks, and returns the id of the run and all its events."""
        path = f"{self.url}/v2/sessions/{session_id}/messages"
        async with self.http.post(path, json={"content": QUESTION}, headers=headers) as stream:
            return stream.headers["footnote-run"], parse_events(await stream.read())


async def wait_for_server(process: FootnoteProcess, http: aiohttp.ClientSession) -> TracedClient:
    assert process.out is not None
    await process.out.wait_for_text("\n")
    return TracedClient(process.out.text.strip().partition("/login")[0], http)


def http() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60), headers={"authorization": f"Bearer {TOKEN}"})


def tracing_environment(collector: TraceCollector, **more: str) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100", **more}


def script(upstream: Upstream) -> None:
    upstream.script(
        reply(call("web_search", {"query": QUERY}), usage(input=11, output=7), stop("toolUse")),
        reply(say(f"{FACT} [1]"), stop()),
        reply(say(ANSWER), usage(input=21, output=5), stop()),
    )


@dataclass(frozen=True)
class TracedSearch:
    """A run with a search, as the collector received it."""

    collector: TraceCollector
    run_id: str
    session_id: str
    model: str

    @property
    def run(self) -> Span:
        [run] = self.collector.spans_named("run")
        return run


@pytest.fixture
async def traced_search(tmp_path: Path, upstream: Upstream, web: Web) -> TracedSearch:
    script(upstream)
    async with (
        run_collector() as collector,
        SearchServer("duckduckgo", hits(web, "/oxygen", "/500")) as duckduckgo,
    ):
        env = env_for(
            tmp_path, web, duckduckgo, upstream=upstream, FOOTNOTE_TOKEN=TOKEN, **tracing_environment(collector)
        )
        async with FootnoteProcess("serve", "--port", "0", env=env) as process, http() as session:
            client = await wait_for_server(process, session)
            session_id = await client.create_session()
            run_id, events = await client.ask_for_events(session_id, traceparent=CALLER)
            await collector.wait_for_spans("run")
            process.signal(signal.SIGTERM)
            assert await process.exit_code() == 0
    assert events[-1]["type"] == "message_stop"
    return TracedSearch(collector, run_id, session_id, events[0]["message"]["model"])


def test_a_run_with_a_search_is_one_trace_with_everything_in_its_place(traced_search: TracedSearch):
    collector, run, model = traced_search.collector, traced_search.run, f"chat {traced_search.model}"
    assert {span.trace_id for span in collector.spans} == {run.trace_id}
    assert not run.parent_span_id
    assert sorted(collector.span_path(span) for span in collector.spans) == sorted(
        [
            ["run"],
            ["round", "run"],
            [model, "round", "run"],
            ["execute_tool web_search", "round", "run"],
            ["search duckduckgo", "execute_tool web_search", "round", "run"],
            ["page", "execute_tool web_search", "round", "run"],
            ["page", "execute_tool web_search", "round", "run"],
            ["extract", "page", "execute_tool web_search", "round", "run"],
            ["document extract", "extract", "page", "execute_tool web_search", "round", "run"],
            [model, "execute_tool web_search", "round", "run"],
            ["round", "run"],
            [model, "round", "run"],
        ]
    )
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in run.links] == [tuple(CALLER.split("-")[1:3])]
    assert collector.facts["service.name"] == "footnote"


def test_spans_tell_figures_names_and_outcomes_and_nothing_that_somebody_wrote(
    traced_search: TracedSearch, upstream: Upstream
):
    collector = traced_search.collector
    provider, _, name = traced_search.model.partition("/")
    assert attributes(traced_search.run) == {
        "footnote.run.id": traced_search.run_id,
        "footnote.session.id": traced_search.session_id,
        "footnote.agent.id": "researcher",
        "footnote.fence": 0,
        "footnote.outcome": "done",
        "footnote.stop_reason": "stop",
        "gen_ai.request.model": traced_search.model,
        "gen_ai.usage.input_tokens": 42,
        "gen_ai.usage.output_tokens": 17,
    }
    assert attributes(collector.spans_named(f"chat {traced_search.model}")[0]) == {
        "footnote.outcome": "ok",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": name,
        "gen_ai.response.finish_reasons": ["toolUse"],
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 0,
    }
    pages = sorted(
        (facts["server.address"], facts["http.response.status_code"], facts["footnote.page.outcome"])
        for facts in map(attributes, collector.spans_named("page"))
    )
    assert pages == [("127.0.0.1", 200, "read"), ("127.0.0.1", 500, "status")]
    sent = b"\n".join(collector.bodies)
    hidden = (QUERY, "the-question", "the-answer", "/oxygen", "Scheele", TOKEN, str(upstream.key))
    assert {word for word in hidden if word.encode() in sent} == set()


async def test_a_run_that_is_taken_over_stays_in_its_trace_and_leads_back_to_its_first_attempt(
    tmp_path: Path, upstream: Upstream
):
    upstream.script(reply(say("One, "), hold(asyncio.Event()), stop()), reply(say("One, two."), stop()))
    async with run_collector() as collector, http() as session:
        env = environment(tmp_path, upstream, FOOTNOTE_TOKEN=TOKEN, **tracing_environment(collector))
        async with FootnoteProcess("serve", "--port", "0", env=env) as process:
            client = await wait_for_server(process, session)
            path = f"{client.url}/v2/sessions/{await client.create_session()}/messages"
            async with session.post(path, json={"content": QUESTION}) as stream:
                run_id = stream.headers["footnote-run"]
                while b"One, " not in await stream.content.readany():
                    pass
                process.signal(signal.SIGTERM)
                await stream.read()
            assert await process.exit_code() == 0
        async with FootnoteProcess("serve", "--port", "0", env=env) as process:
            client = await wait_for_server(process, session)
            async with session.get(f"{client.url}/v2/runs/{run_id}/events") as stream:
                assert parse_events(await stream.read())[-1]["type"] == "message_stop"
            async with session.get(f"{client.url}/metrics") as response:
                figures = await response.text()
            await collector.wait_for_spans("run", 2)
            process.signal(signal.SIGTERM)
            assert await process.exit_code() == 0
    assert "\nfootnote_runs_adopted_total 1.0\n" in figures
    assert "\nfootnote_runs_started_total 0.0\n" in figures
    first, second = collector.spans_named("run")
    assert (attributes(first)["footnote.outcome"], attributes(second)["footnote.outcome"]) == ("left", "done")
    assert (attributes(first)["footnote.fence"], attributes(second)["footnote.fence"]) == (0, 1)
    assert first.trace_id == second.trace_id
    assert [(link.trace_id, link.span_id) for link in second.links] == [(first.trace_id, first.span_id)]


async def test_a_large_file_is_a_request_to_the_storage_and_its_name_is_not_told(tmp_path: Path, upstream: Upstream):
    arguments = {"file_path": "/a-name-of-a-file.md", "content": "x" * 100_000}
    upstream.script(reply(call("write_file", arguments), stop("toolUse")), reply(say("Done."), stop()))
    async with run_collector() as collector, http() as session:
        env = environment(tmp_path, upstream, FOOTNOTE_TOKEN=TOKEN, **tracing_environment(collector))
        async with FootnoteProcess("serve", "--port", "0", env=env) as process:
            client = await wait_for_server(process, session)
            await client.ask_for_events(await client.create_session())
            await collector.wait_for_spans("run")
            process.signal(signal.SIGTERM)
            assert await process.exit_code() == 0
    [put] = collector.spans_named("storage put")
    assert collector.span_path(put) == ["storage put", "execute_tool write_file", "round", "run"]
    assert attributes(put) == {"footnote.outcome": "ok", "footnote.storage.bytes": 100_000}
    assert b"a-name-of-a-file" not in b"\n".join(collector.bodies)


async def test_what_fails_is_told_by_its_type(tmp_path: Path, upstream: Upstream):
    upstream.script(lambda _: status(401, f"Incorrect API key provided: {upstream.key}"))
    async with run_collector() as collector, http() as session:
        env = environment(tmp_path, upstream, FOOTNOTE_TOKEN=TOKEN, **tracing_environment(collector))
        async with FootnoteProcess("serve", "--port", "0", env=env) as process:
            client = await wait_for_server(process, session)
            _, events = await client.ask_for_events(await client.create_session())
            await collector.wait_for_spans("run")
            process.signal(signal.SIGTERM)
            assert await process.exit_code() == 0
    error = next(one["error"] for one in events if one["type"] == "error")
    [call_of_model] = [span for span in collector.spans if span.name.startswith("chat ")]
    [run] = collector.spans_named("run")
    assert attributes(call_of_model)["error.type"] == error["type"]
    assert call_of_model.status.code == 2
    assert attributes(run)["footnote.outcome"] == "failed"
    assert str(upstream.key).encode() not in b"\n".join(collector.bodies)


@pytest.mark.parametrize("facts", [{"hang": True}, {"status": 503}])
async def test_a_collector_that_hangs_or_fails_holds_up_no_run_and_no_end(
    tmp_path: Path, upstream: Upstream, facts: dict[str, Any]
):
    upstream.script(lambda _: reply(say("Because."), stop()))
    async with run_collector(**facts) as collector, http() as session:
        more = {"FOOTNOTE_LOGS_FORMAT": "json", "FOOTNOTE_SERVER_PORT": "0", "OTEL_EXPORTER_OTLP_TIMEOUT": "60"}
        env = environment(tmp_path, upstream, FOOTNOTE_TOKEN=TOKEN, **tracing_environment(collector, **more))
        async with FootnoteProcess("serve", env=env) as process:
            await process.err.wait_for_text("answers at")
            ready = json.loads(next(line for line in process.err.text.splitlines() if "answers at" in line))
            client = TracedClient(ready["message"].partition("answers at ")[2].partition(",")[0], session)
            session_id = await client.create_session()
            first = await client.ask_for_events(session_id)
            await collector.wait_for_request()
            for _ in range(3):
                assert (await client.ask_for_events(session_id))[1][-1]["type"] == "message_stop"
            process.signal(signal.SIGTERM)
            assert await process.exit_code() == 0
    assert first[1][-1]["type"] == "message_stop"
    lines = [json.loads(line) for line in process.err.text.splitlines()]
    about = [line["message"] for line in lines if "collector" in line["message"] or "spans" in line["message"]]
    assert len(about) == 1


async def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path, upstream: Upstream):
    upstream.script(lambda _: reply(say("Because."), stop()))
    program = f"import sys; sys.modules['opentelemetry'] = None\n{FOREGROUND_PROGRAM}"
    env = environment(tmp_path, upstream, FOOTNOTE_TOKEN=TOKEN, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    async with FootnoteProcess("serve", "--port", "0", env=env, program=program) as process, http() as session:
        client = await wait_for_server(process, session)
        _, events = await client.ask_for_events(await client.create_session())
        process.signal(signal.SIGTERM)
        assert await process.exit_code() == 0
    assert events[-1]["type"] == "message_stop"
    assert process.err.text.count("footnote[telemetry]") == 1
