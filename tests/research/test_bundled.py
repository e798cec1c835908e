"""A research run of the real server as a bundle: every verdict of its readers, its report and its answer holds."""

from pathlib import Path

from footnote.bundles.verify import verify
from research.barrage import FACTS
from research.research_runs import research, run_client
from research.research_web import ResearchWeb
from research.scripted_model import ResearchModel
from server.harness import open_server
from upstream import Upstream


async def test_a_research_run_is_exported_verified_and_imported(tmp_path: Path, upstream: Upstream) -> None:
    upstream.script(ResearchModel())
    async with (
        ResearchWeb(hangs=False) as web,
        open_server(tmp_path, upstream, **web.settings) as server,
        run_client(server) as client,
    ):
        result = await research(client)
        me = server.local
        bundle = (await me.request("GET", f"/v2/sessions/{result.view['session_id']}/export")).body
        (tmp_path / "bundle.zip").write_bytes(bundle)
        report = verify(tmp_path / "bundle.zip")
        imported = await server.request(
            "POST", "/v2/bundles", token=me.token, data=bundle, content_type="application/zip"
        )
        there = await me.history(imported.json["id"])

    assert report.findings == ()
    assert report.file_verdicts >= len(FACTS)
    assert (imported.status, imported.json["checked"]["otherwise"]) == (201, 0)
    shown = [(message["role"], message.get("parent"), message["content"]) for message in result.history["messages"]]
    texts = [one for one in shown if one[0] == "assistant"]
    assert texts == [
        (message["role"], message.get("parent"), message["content"])
        for message in there["messages"]
        if message["role"] == "assistant"
    ]
