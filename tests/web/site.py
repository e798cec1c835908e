"""The good pages of the small web: one for each article of XQuAD, with menus and advertisements around it."""

import json
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from web.replies import HTML, PageReply

LANGUAGES = ("en", "vi", "zh")
FIXTURES = Path(__file__).parents[1] / "fixtures" / "xquad"
ROBOTS = "User-agent: *\nDisallow: /private/\n"


@dataclass(frozen=True)
class Question:
    """`answers` are all contained in the article at `path`."""

    text: str
    answers: tuple[str, ...]
    path: str


@dataclass(frozen=True)
class Article:
    language: str
    name: str
    paragraphs: tuple[str, ...]
    questions: tuple[Question, ...]

    @property
    def path(self) -> str:
        return f"/{self.language}/{self.name}"

    @property
    def title(self) -> str:
        return self.name.replace("_", " ")


@dataclass(frozen=True)
class _Words:
    """The texts around an article, in its language."""

    site: str
    menu: tuple[str, ...]
    headings: tuple[str, ...]
    beside: str
    advertisement: str
    footer: str


_WORDS = {
    "en": _Words(
        "The Small Encyclopedia",
        ("Home", "Portal", "Random article", "Sign in", "Donate"),
        ("Overview", "Background", "Particulars", "Developments", "Further aspects"),
        "You may also like",
        "Subscribe to our newsletter and save 20 % on your first order of garden furniture.",
        "Privacy · Imprint · Cookie settings · © The Small Encyclopedia",
    ),
    "vi": _Words(
        "Bách khoa nhỏ",
        ("Trang chủ", "Cổng thông tin", "Bài viết ngẫu nhiên", "Đăng nhập", "Quyên góp"),
        ("Tổng quan", "Bối cảnh", "Chi tiết", "Diễn biến", "Khía cạnh khác"),
        "Có thể bạn quan tâm",
        "Đăng ký nhận bản tin và được giảm 20 % cho đơn hàng bàn ghế sân vườn đầu tiên.",
        "Quyền riêng tư · Giới thiệu · Cài đặt cookie · © Bách khoa nhỏ",
    ),
    "zh": _Words(
        "小百科",
        ("首页", "门户", "随机条目", "登录", "捐款"),
        ("概述", "背景", "细节", "发展", "其他方面"),
        "您可能还喜欢",
        "订阅我们的通讯,首次购买花园家具可享八折优惠。",
        "隐私 · 版权声明 · Cookie 设置 · © 小百科",
    ),
}


@cache
def articles(language: str) -> tuple[Article, ...]:
    found = json.loads((FIXTURES / f"{language}.json").read_text(encoding="utf-8"))["data"]
    return tuple(_article(language, entry["title"], entry["paragraphs"]) for entry in found)


@cache
def pages() -> dict[str, PageReply]:
    """Every article, an index for each language, and robots.txt."""
    every = {article.path: _page(article) for language in LANGUAGES for article in articles(language)}
    indexes = {f"/{language}/": _index(language) for language in LANGUAGES}
    return {**every, **indexes, "/robots.txt": PageReply(headers={"Content-Type": "text/plain"}, body=ROBOTS.encode())}


def _article(language: str, name: str, paragraphs: list[dict]) -> Article:
    questions = tuple(
        Question(entry["question"], tuple(answer["text"] for answer in entry["answers"]), f"/{language}/{name}")
        for paragraph in paragraphs
        for entry in paragraph["qas"]
    )
    return Article(language, name, tuple(paragraph["context"] for paragraph in paragraphs), questions)


def _page(article: Article) -> PageReply:
    words = _WORDS[article.language]
    sections = "\n".join(
        f"<h2>{heading}</h2>\n<p>{escape(paragraph)}</p>"
        for heading, paragraph in zip(words.headings, article.paragraphs, strict=True)
    )
    others = [other for other in articles(article.language) if other is not article][:8]
    links = "".join(f'<li><a href="{escape(other.path)}">{escape(other.title)}</a></li>' for other in others)
    return _html(
        article.language,
        f"""<title>{escape(article.title)} – {words.site}</title>
<meta name="author" content="The Editors">
<meta property="article:published_time" content="2024-03-17T10:00:00Z">
<meta property="og:site_name" content="{words.site}">
<style>body {{ font-family: sans-serif }} .ad {{ color: red }}</style>""",
        f"""<header><a href="/{article.language}/">{words.site}</a>{_menu(article.language)}</header>
<div class="ad">{words.advertisement}</div>
<main><article><h1>{escape(article.title)}</h1>
{sections}
</article></main>
<aside><h3>{words.beside}</h3><ul>{links}</ul><p class="ad">{words.advertisement}</p></aside>""",
    )


def _index(language: str) -> PageReply:
    words = _WORDS[language]
    links = "".join(f'<li><a href="{escape(one.path)}">{escape(one.title)}</a></li>' for one in articles(language))
    return _html(language, f"<title>{words.site}</title>", f"{_menu(language)}<h1>{words.site}</h1><ul>{links}</ul>")


def _menu(language: str) -> str:
    items = "".join(f'<li><a href="/{language}/">{word}</a></li>' for word in _WORDS[language].menu)
    return f"<nav><ul>{items}</ul></nav>"


def _html(language: str, head: str, body: str) -> PageReply:
    script = "<script>window.dataLayer = window.dataLayer || []; console.log('not for readers');</script>"
    text = f"""<!doctype html>
<html lang="{language}"><head><meta charset="utf-8">{head}</head>
<body>{body}
<footer>{_WORDS[language].footer}</footer>{script}</body></html>"""
    return PageReply(headers={"Content-Type": HTML}, body=text.encode())
