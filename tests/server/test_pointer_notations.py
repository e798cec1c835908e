"""Every way in which models write footnotes, in everything that leaves the product: stream, history, files, documents,
exports, other APIs, and the command line."""

import io
import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from cli.process import environment, run_footnote
from server.harness import LOCAL_TOKEN, ServerHarness, answer_text
from server.session_files import SessionFiles
from server.test_pointers import ask, searching_server
from upstream import ModelReply, Upstream, Wire, call, parallel_calls, reply, say, stop

FACT = "Oxygen was isolated by Carl Wilhelm Scheele in Uppsala"
NOTATIONS: list[tuple[str, str, list[tuple[int, str | None]]]] = [
    # as it is written, as it is shown, and where it leads
    (" [1.1]", " [1]", [(1, "1.1")]),
    (" [1.1, 2.1]", " [1, 2]", [(1, "1.1"), (2, "2.1")]),
    (" [1.1][2.1]", " [1][2]", [(1, "1.1"), (2, "2.1")]),
    (" [1.1][1.1]", " [1]", [(1, "1.1")]),
    (" [1.1; 2]", " [1, 2]", [(1, "1.1"), (2, None)]),
    (" [1][2]", " [1][2]", [(1, None), (2, None)]),
    (" [1, 2]", " [1, 2]", [(1, None), (2, None)]),
    ("【1】", "【1】", [(1, None)]),
    ("【1.1】", "[1]", [(1, "1.1")]),
    ("【1†source】", "【1†source】", [(1, None)]),
    ("【1.1†L3-L5】", "[1]", [(1, "1.1")]),
    ("[^1]", "[^1]", [(1, None)]),
    ("[^1.1]", "[1]", [(1, "1.1")]),
    ("", "", []),
]
WRITTEN = "".join(f"{FACT}{written}.\n\n" for written, _, _ in NOTATIONS).rstrip()
SHOWN = "".join(f"{FACT}{shown}.\n\n" for _, shown, _ in NOTATIONS).rstrip()
LEADS = [lead for _, _, leads in NOTATIONS for lead in leads]
SEARCHES = reply(
    parallel_calls(
        call("web_search", {"query": "oxygen"}, id="c1"), call("web_search", {"query": "oxygen name"}, id="c2")
    ),
    stop("toolUse"),
)
QUESTION: Any = {"model": "researcher", "messages": [{"role": "user", "content": "Who isolated oxygen?"}]}


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with searching_server(tmp_path / "server", upstream) as harness:
        yield harness


def answer(text: str = WRITTEN, size: int = 3) -> ModelReply:
    """A delta for each few characters, so that markers are cut."""
    return reply(say(*(text[at : at + size] for at in range(0, len(text), size))), stop())


def leads_of(citations: list[dict[str, Any]]) -> list[tuple[int, str | None]]:
    """Of the footnotes: a statement whose marker is none has no number."""
    return [(one["number"], one["passage"]) for one in citations if one["number"]]


def has_no_ids(text: str) -> bool:
    return not any(f"{number}.1" in text for number in (1, 2))


async def test_stream_and_history_have_the_same_plain_footnotes_that_lead_to_the_same_passages(
    server: ServerHarness, upstream: Upstream
):
    upstream.script(SEARCHES, answer(), SEARCHES, answer(size=1), SEARCHES, reply(say(WRITTEN), stop(), wire=Wire(7)))
    others = [await ask(server) for _ in range(2)]
    session_id, events = await ask(server)

    assert [answer_text(other) for _, other in others] == [SHOWN, SHOWN]
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    [citations] = [delta["citations"] for delta in deltas if delta["type"] == "citations_delta"]
    assert answer_text(events) == SHOWN
    assert leads_of(citations) == LEADS
    assert {one["verdict"] for one in citations if one["number"] == 1} == {"supported"}
    history = await server.local.history(session_id)
    last = history["messages"][-1]["content"][-1]
    assert (last["text"], last["citations"]) == (SHOWN, citations)


async def write_report(server: ServerHarness, upstream: Upstream) -> SessionFiles:
    report = call("write_file", {"file_path": "/oxygen.md", "content": WRITTEN}, id="c3", fragments=100)
    upstream.script(SEARCHES, reply(report, stop("toolUse")), answer("Done."))
    session_id, _ = await ask(server)
    return SessionFiles(server.local, session_id)


async def citations_of(files: SessionFiles) -> list[dict[str, Any]]:
    return (await files.request("GET", "/citations", file_path="/oxygen.md")).json["citations"]


async def test_a_file_has_plain_footnotes_that_lead_to_their_passages(server: ServerHarness, upstream: Upstream):
    files = await write_report(server, upstream)

    content = (await files.request("GET", "/content", file_path="/oxygen.md")).json["content"]
    assert content == SHOWN
    # All its sentences read the same, and so share their pointers.
    pointed = {1: "1.1", 2: "2.1"}
    assert leads_of(await citations_of(files)) == [(number, pointed[number]) for number, _ in LEADS]


async def test_pointers_of_a_file_survive_an_edit_that_names_them_or_the_plain_footnote(
    server: ServerHarness, upstream: Upstream
):
    content = f"{FACT} [1.1].\n\nIt is a gas.\n\nThe name was coined in Paris【2.1】.\n"
    old_names = {"file_path": "/oxygen.md", "old_string": "coined in Paris[2].", "new_string": "coined in 1777 [2.1]."}
    old_facts = {"file_path": "/oxygen.md", "old_string": f"{FACT} [1.1].", "new_string": f"{FACT} before 1772 [1.1]."}
    gas = {"file_path": "/oxygen.md", "old_string": "It is a gas.", "new_string": "It burns [^2.1]."}
    upstream.script(
        SEARCHES,
        reply(call("write_file", {"file_path": "/oxygen.md", "content": content}, id="w"), stop("toolUse")),
        *(reply(call("edit_file", one, id=f"e{at}"), stop("toolUse")) for at, one in enumerate((old_names, old_facts))),
        reply(call("edit_file", gas, id="e9"), stop("toolUse")),
        answer("Done."),
        answer("Done."),
    )
    session_id, _ = await ask(server)
    await server.local.ask_for_events(session_id, "And?")
    files = SessionFiles(server.local, session_id)

    shown = (await files.request("GET", "/content", file_path="/oxygen.md")).json["content"]
    assert shown == f"{FACT} before 1772 [1].\n\nIt burns [2].\n\nThe name was coined in 1777 [2].\n"
    assert leads_of(await citations_of(files)) == [(1, "1.1"), (2, "2.1"), (2, "2.1")]


async def test_documents_and_archives_have_no_ids(server: ServerHarness, upstream: Upstream):
    files = await write_report(server, upstream)
    bodies: dict[str, bytes] = {}
    for kind in ("md", "pdf", "docx"):
        link = await files.request("POST", "/convert", {"file_path": "/oxygen.md", "convert_type": kind})
        bodies[kind] = (await server.request("GET", link.json["download_url"])).body
    archive = zipfile.ZipFile(io.BytesIO((await files.request("GET", "/archive")).body))
    document = pypdfium2.PdfDocument(bodies["pdf"])
    pdf = "\n".join(page.get_textpage().get_text_bounded() for page in document)
    document.close()
    word = zipfile.ZipFile(io.BytesIO(bodies["docx"]))

    assert bodies["md"].decode() == archive.read("oxygen.md").decode() == SHOWN
    body, _, _ = pdf.partition("Isolation")
    assert body.count(FACT) == len(NOTATIONS)
    assert "Isolation" in pdf, "the list of its sources"
    for text in (pdf, word.read("word/document.xml").decode()):
        assert not any(written.strip() in text for written, shown, _ in NOTATIONS if written != shown)


async def test_an_export_has_the_footnotes_as_they_were_shown_and_its_pointers(
    server: ServerHarness, upstream: Upstream
):
    upstream.script(SEARCHES, answer())
    session_id, _ = await ask(server)
    exported = await server.local.request("GET", f"/v2/sessions/{session_id}/export")
    archive = zipfile.ZipFile(io.BytesIO(exported.body))
    transcripts = {name: archive.read(name).decode() for name in archive.namelist() if "transcript" in name}

    assert transcripts
    assert all(SHOWN in text for name, text in transcripts.items() if name.endswith(".md"))
    texts = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".json")]
    assert any('"passage": "1.1"' in text for text in texts)
    assert not any("[1.1][2.1]" in text or "【1.1】" in text for text in (*texts, *transcripts.values()))
    imported = await server.request(
        "POST", "/v2/bundles", token=server.local.token, data=exported.body, content_type="application/zip"
    )
    assert imported.status == 201, imported
    history = await server.local.history(imported.json["id"])
    last = history["messages"][-1]["content"][-1]
    assert (last["text"], leads_of(last["citations"])) == (SHOWN, LEADS)


async def test_other_apis_have_the_footnotes_as_they_are_shown_whole_and_in_a_stream(
    server: ServerHarness, upstream: Upstream
):
    texts: list[str] = []
    async with (
        AsyncOpenAI(base_url=f"{server.url}/v1", api_key=LOCAL_TOKEN, max_retries=0) as openai,
        AsyncAnthropic(base_url=server.url, api_key=LOCAL_TOKEN, max_retries=0) as anthropic,
    ):
        for _ in range(4):
            upstream.script(SEARCHES, answer())
        texts.append((await openai.chat.completions.create(**QUESTION)).choices[0].message.content or "")
        stream = await openai.chat.completions.create(**QUESTION, stream=True)
        texts.append("".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]))
        message = await anthropic.messages.create(**QUESTION, max_tokens=500)
        texts.append("\n\n".join(getattr(block, "text", "") for block in message.content))
        async with anthropic.messages.stream(**QUESTION, max_tokens=500) as events:
            streamed = await events.get_final_message()
        texts.append("\n\n".join(getattr(block, "text", "") for block in streamed.content))

    for text in texts:
        assert text.startswith(f"{SHOWN}\n\nSources:\n- [1] Isolation: "), text
        assert "\n- [2] Name: " in text


async def test_the_command_line_prints_them_as_they_are_shown(
    server: ServerHarness, upstream: Upstream, tmp_path: Path
):
    upstream.script(SEARCHES, answer(), SEARCHES, answer())
    env = environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN)
    code, out, err = await run_footnote("ask", "Who?", "--server", server.url, env=env)
    as_json = await run_footnote("ask", "Who?", "--server", server.url, "--json", env=env)

    assert (code, out.startswith(SHOWN)) == (0, True), err
    assert has_no_ids(out.replace("127.0.0.1", ""))
    events = [json.loads(line) for line in as_json[1].splitlines()]
    assert answer_text(events) == SHOWN
