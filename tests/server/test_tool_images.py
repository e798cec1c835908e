"""Images returned by tools: shown, stored, and exported with the session."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from footnote.server.routes import files as files_route
from plugin_packages import install, site
from server.harness import ServerHarness, open_server
from server.images import GIF, JPEG, PNG, SVG, WEBP
from server.test_attachments import upload
from upstream import Upstream, call, reply, say, stop

__all__ = ["site"]

DRAW = """
    import base64
    from msgspec import Struct
    from footnote.protocol.messages import Image, Text
    from footnote.protocol.tools import ToolResult
    from footnote.tools.define import tool

    class Draw(Struct):
        images: list[str]
        fails: bool = False

    @tool(titles={"en": "Draw", "vi": "Vẽ", "zh": "画"})
    async def draw(params: Draw, context):
        "Draws what it is given."
        images = tuple(Image("image/png", base64.b64decode(one)) for one in params.images)
        return ToolResult((Text("drawn:"), *images), is_error=params.fails)
"""
PIXEL = {"media_type": "image/png", "width": 1, "height": 1}


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream, site: Path) -> AsyncIterator[ServerHarness]:
    install(site, "draw_package", DRAW, "draw = draw_package:draw\n")
    async with open_server(tmp_path, upstream) as opened:
        yield opened


async def _draw(
    server: ServerHarness, upstream: Upstream, *images: bytes, **more: Any
) -> tuple[str, dict[str, Any], Any]:
    """The session, the result as it was streamed, and the result in the history."""
    arguments = {"images": [base64.b64encode(one).decode() for one in images], **more}
    upstream.script(reply(call("draw", arguments, id="c1"), stop("toolUse")), reply(say("Done."), stop()))
    session_id = await server.local.create_session()
    events = await server.local.ask_for_events(session_id, "Draw it")
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    [block] = [block for block in blocks if block["type"] == "tool_result"]
    history = (await server.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    [stored] = [message for message in history["messages"] if message["role"] == "tool"]
    assert [block["type"] for block in blocks if block["type"] == "attachments"] == [], "it is no file of the user's"
    assert history["workspace"]["workspace_files"] == []
    return session_id, block, stored


async def _raw(server: ServerHarness, session_id: str, path: str) -> tuple[int, str | None, bytes]:
    image = await server.local.request(
        "GET", f"/v2/sessions/{session_id}/files/raw?file_path={path}", sec_fetch_dest="image"
    )
    return image.status, image.headers.get("content-type"), image.body


@pytest.mark.parametrize("fails", [False, True])
async def test_an_image_that_a_tool_returns_is_named_in_the_result_and_can_be_opened(
    server: ServerHarness, upstream: Upstream, fails: bool
) -> None:
    session_id, block, stored = await _draw(server, upstream, PNG, GIF, fails=fails)
    images = [
        {"file_path": "/large_tool_results/c1-1.png", **PIXEL},
        {"file_path": "/large_tool_results/c1-2.gif", **PIXEL, "media_type": "image/gif"},
    ]
    assert block["images"] == stored["images"] == images
    assert block["content"] == stored["content"] == "drawn:"
    assert await _raw(server, session_id, images[0]["file_path"]) == (200, "image/png", PNG)
    assert await _raw(server, session_id, images[1]["file_path"]) == (200, "image/gif", GIF)
    sent_images = [
        part for part in upstream.requests[-1].body["messages"][-1]["content"] if part["type"] == "image_url"
    ]
    assert len(sent_images) == 2, "the model looks at them too"


async def test_a_result_without_images_says_nothing_of_them(server: ServerHarness, upstream: Upstream) -> None:
    _, block, stored = await _draw(server, upstream)
    assert "images" not in block
    assert "images" not in stored


async def test_what_is_no_image_reaches_neither_the_person_nor_the_model(
    server: ServerHarness, upstream: Upstream
) -> None:
    _, block, stored = await _draw(server, upstream, b"<html>", SVG, JPEG, WEBP)
    assert [image["media_type"] for image in block["images"]] == ["image/webp"]
    assert stored["content"].count("was left out") == 3
    sent = upstream.requests[-1].body["messages"][-1]["content"]
    assert [part["image_url"]["url"][:15] for part in sent if part["type"] == "image_url"] == ["data:image/webp"]


async def test_of_many_images_the_first_eight_are_kept(server: ServerHarness, upstream: Upstream) -> None:
    _, block, _ = await _draw(server, upstream, *[PNG] * 10)
    assert len(block["images"]) == 8
    assert block["content"].count("a result may have 8") == 2


async def test_an_image_that_the_agent_reads_is_shown_where_it_is(server: ServerHarness, upstream: Upstream) -> None:
    session_id = await server.local.create_session()
    picture = await upload(server, session_id, "dot.png", PNG)
    upstream.script(
        reply(call("read_file", {"file_path": "dot.png"}, id="c1"), stop("toolUse")), reply(say("A dot."), stop())
    )
    events = await server.local.ask_for_events(session_id, "What is it?")
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    [block] = [block for block in blocks if block["type"] == "tool_result"]
    assert block["images"] == [{"file_path": picture.path, **PIXEL}]
    assert (await _raw(server, session_id, picture.path))[0] == 200


async def test_an_image_goes_with_its_session_into_a_bundle_and_is_gone_with_it(
    server: ServerHarness, upstream: Upstream
) -> None:
    session_id, block, _ = await _draw(server, upstream, PNG)
    path = block["images"][0]["file_path"]
    bundle = (await server.local.request("GET", f"/v2/sessions/{session_id}/export")).body
    assert (await server.local.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
    assert (await _raw(server, session_id, path))[0] == 404
    imported = await server.request(
        "POST", "/v2/bundles", token=server.local.token, data=bundle, content_type=files_route.ZIP
    )
    assert imported.status == 201, imported.body
    history = (await server.local.request("GET", f"/v2/sessions/{imported.json['id']}/history")).json
    [stored] = [message for message in history["messages"] if message["role"] == "tool"]
    assert stored["images"] == block["images"]
    assert await _raw(server, imported.json["id"], path) == (200, "image/png", PNG)
