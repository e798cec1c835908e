"""Which part of a page is its content, on pages of many site generators."""

import json
from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest

from footnote.documents.extract import extract

XQUAD = Path(__file__).parents[2] / "fixtures" / "xquad"
URL = "https://site.example/articles/one"
PROSE = "This paragraph says a good deal about the subject, with commas, and comes to an end at last."
MENU = "<ul class=menu><li><a href=/>Home page</a><li><a href=/about>About the site</a></ul>"
LINKS = "<ul>" + "".join(f"<li><a href=/{n}>Unrelated page number {n} of many</a>" for n in range(12)) + "</ul>"
TEASERS = "".join(
    f"<div class=item><h3><a href=/t{n}>Ten things about topic {n}</a></h3><p>Short teaser, about topic {n}.</p></div>"
    for n in range(6)
)
ABOUT = "<p>Run by volunteers, who write about many subjects. The weekly letter is free, and short.</p>"
JUNK = ("Home page", "Unrelated page number 3", "Ten things about topic 2", "Run by volunteers")


def sections(paragraphs: list[str]) -> str:
    return "".join(f"<h2>Part {n}</h2><p>{text}</p>" for n, text in enumerate(paragraphs, 1))


def boxes(paragraphs: list[str]) -> str:
    return "".join(f"<div><div>Part {n}</div><div><div>{text}</div></div></div>" for n, text in enumerate(paragraphs))


LAYOUTS: dict[str, Callable[[list[str]], str]] = {
    "semantic": lambda texts: (
        f"<header><nav>{MENU}</nav></header><main><article><h1>T</h1>{sections(texts)}</article></main>"
        f"<aside>{ABOUT}{LINKS}</aside><footer>All rights reserved.</footer>"
    ),
    "divs": lambda texts: (
        f"<div id=top>{MENU}</div><div id=page><div id=left><h1>T</h1>{sections(texts)}</div>"
        f"<div id=right>{ABOUT}{LINKS}</div></div><div id=bottom>All rights reserved.</div>"
    ),
    "divs without names": lambda texts: (
        f"<div>{MENU}</div><div><div><h1>T</h1>{sections(texts)}</div><div>{ABOUT}{LINKS}</div></div>"
    ),
    "nested divs": lambda texts: f"<div>{MENU}<div>{boxes(texts)}</div><div>{ABOUT}{LINKS}</div></div>",
    "a lead of its own": lambda texts: (
        f"<nav>{MENU}</nav><h1>T</h1><div><p>{texts[0]}</p></div><div>{sections(texts[1:])}</div><footer>{LINKS}</footer>"
    ),
    "teasers below": lambda texts: (
        f"<nav>{MENU}</nav><main><article><h1>T</h1>{sections(texts)}</article><div>{TEASERS}</div></main>"
    ),
    "line breaks": lambda texts: f"<div>{MENU}</div><div>{'<br><br>'.join(texts)}</div><div>{LINKS}</div>",
    "an unclosed menu": lambda texts: (
        f"<header><nav><div>{MENU}<div></nav><button><div>Menu<div></button></header><main>{sections(texts)}</main>"
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("language", ["en", "vi", "zh"])
def test_no_paragraph_is_lost_and_nothing_else_is_read(language: str, layout: str):
    for article in json.loads((XQUAD / f"{language}.json").read_text(encoding="utf-8"))["data"]:
        texts = [" ".join(one["context"].replace("\ufeff", "").split()) for one in article["paragraphs"]]
        for some in (texts[:2], texts):
            page = f"<html lang={language}><body>{LAYOUTS[layout]([escape(text) for text in some])}</body></html>"
            read = " ".join(extract(page.encode(), "text/html; charset=utf-8", URL).text.split())
            assert [text for text in some if text not in read] == []
            assert [junk for junk in JUNK if junk in read] == []


def text_of(body: str, head: str = "", url: str = URL) -> str:
    return extract(f"<html><head>{head}</head><body>{body}</body></html>".encode(), "text/html", url).text


ARTICLE = f"<h1>One</h1><p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p>"
COMMENTS = f"<div class=comments><p>First! {PROSE}</p><p>Second. {PROSE}</p></div>"


def test_comments_below_an_article_are_not_its_text():
    assert text_of(f"<article>{ARTICLE}</article>{COMMENTS}") == text_of(f"<article>{ARTICLE}</article>")


def test_replies_in_a_forum_are():
    url = "https://site.example/forum/thread-17"
    assert f"Second. {PROSE}" in text_of(f"<div>{ARTICLE}</div>{COMMENTS}", url=url)


def test_a_page_that_shows_its_text_only_without_scripts_is_read_so():
    assert text_of(f"<div id=app></div><script src=a.js></script><noscript><h1>One</h1><p>{PROSE}</p></noscript>") == (
        f"# One\n\n{PROSE}"
    )


def test_a_sentence_for_those_without_scripts_is_not_read_beside_the_text():
    assert text_of(f"<p>{PROSE}</p><noscript><p>Your browser is old, and slow, and sad.</p></noscript>") == PROSE


def test_more_teasers_than_text_leave_the_text():
    assert text_of(f"<div><div>{ARTICLE}</div><div>{TEASERS * 2}</div></div>") == text_of(ARTICLE)


def test_text_beside_the_text_keeps_its_heading():
    beside = f"<h2>Afterwards</h2><div><p>{PROSE} {PROSE}</p></div>"
    assert text_of(f"<main><div>{ARTICLE * 3}</div>{beside}</main>").endswith(f"## Afterwards\n\n{PROSE} {PROSE}")


REFERENCES = "<ul><li><a href=/a>The first of the functions</a><li><a href=/b>The second of the functions</a></ul>"


def test_lists_of_links_are_content_of_an_overview():
    assert "- The first of the functions" in text_of(f"<main>{ARTICLE}<h2>See</h2>{REFERENCES}</main>")


def test_lists_of_links_are_no_content_of_an_article():
    head = "<meta property=og:type content=article>"
    assert "functions" not in text_of(f"<main>{ARTICLE}{REFERENCES}</main>", head)


def test_a_name_alone_does_not_make_content_a_frame():
    long = f"<p>{PROSE}</p>" * 10
    assert text_of(f"<main><p>Short lead, and more.</p><div class=content-nav>{long}</div></main>").count(PROSE) == 10
    assert text_of(f"<div class=content-sidebar-wrap><article>{long}</article></div>").count(PROSE) == 10


def test_a_footer_with_much_text_is_a_footer():
    legal = "<p>The service centre can be reached by telephone, on weekdays, in the morning.</p>" * 8
    assert "telephone" not in text_of(f"<div>{ARTICLE}</div><div class=page-footer-wrap>{legal}</div>")
