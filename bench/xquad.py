"""XQuAD in any of its languages: articles with questions and answers, and a plain page for each article."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Protocol

from web.replies import HTML, PageReply
from web.site import FIXTURES

__all__ = [
    "FIXTURES",
    "XquadArticle",
    "XquadQuestion",
    "article_page",
    "missing_files",
    "read_articles",
    "reader_settings",
]

_HEADINGS = ("Overview", "Background", "Particulars", "Developments", "Further aspects")


@dataclass(frozen=True)
class XquadQuestion:
    """`answer` begins at `start` of the paragraph with the index `paragraph`."""

    text: str
    answer: str
    paragraph: int
    start: int


@dataclass(frozen=True)
class XquadArticle:
    language: str
    name: str
    paragraphs: tuple[str, ...]
    questions: tuple[XquadQuestion, ...]

    @property
    def path(self) -> str:
        return f"/{self.language}/{self.name}"

    def replace_text(self, paragraph: int, start: int, old: str, new: str) -> "XquadArticle":
        """A copy that differs in one place."""
        texts = list(self.paragraphs)
        text = texts[paragraph]
        if not text.startswith(old, start):
            message = f"{old!r} does not stand at {start} of paragraph {paragraph} of {self.name}"
            raise ValueError(message)
        texts[paragraph] = text[:start] + new + text[start + len(old) :]
        return XquadArticle(self.language, self.name, tuple(texts), self.questions)


def missing_files(folder: Path, languages: Iterable[str]) -> list[str]:
    """One line for each language whose file is missing."""
    lost = (language for language in languages if _file(folder, language) is None)
    return [
        f"{language} is left out: {folder} has neither {language}.json nor xquad.{language}.json." for language in lost
    ]


def read_articles(folder: Path, language: str) -> list[XquadArticle]:
    file = _file(folder, language)
    if file is None:
        raise FileNotFoundError(folder / f"{language}.json")
    data = json.loads(file.read_text(encoding="utf-8"))["data"]
    return [
        XquadArticle(
            language,
            entry.get("title") or f"Article_{at}",
            tuple(paragraph["context"] for paragraph in entry["paragraphs"]),
            tuple(
                XquadQuestion(question["question"], answer["text"], index, answer["answer_start"])
                for index, paragraph in enumerate(entry["paragraphs"])
                for question in paragraph["qas"]
                for answer in question["answers"][:1]
                if paragraph["context"].startswith(answer["text"], answer["answer_start"])
            ),
        )
        for at, entry in enumerate(data)
    ]


class PageArticle(Protocol):
    @property
    def language(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def paragraphs(self) -> tuple[str, ...]: ...


def article_page(article: PageArticle) -> PageReply:
    """The article as a page."""
    title = escape(article.name.replace("_", " "))
    sections = "\n".join(
        f"<h2>{_HEADINGS[at % len(_HEADINGS)]}</h2>\n<p>{escape(paragraph)}</p>"
        for at, paragraph in enumerate(article.paragraphs)
    )
    text = f"""<!doctype html>
<html lang="{article.language}"><head><meta charset="utf-8"><title>{title}</title></head>
<body><main><article><h1>{title}</h1>
{sections}
</article></main></body></html>"""
    return PageReply(headers={"Content-Type": HTML}, body=text.encode())


def _file(folder: Path, language: str) -> Path | None:
    names = (f"{language}.json", f"xquad.{language}.json")
    return next((folder / name for name in names if (folder / name).is_file()), None)


def reader_settings(home: str, host: str, search_url: str) -> dict[str, str]:
    """The environment of a product without a key: the built-in reader, one search provider and one permitted host, both
    on loopback, and no cache, so that every question is searched for."""
    return {
        "FOOTNOTE_HOME": home,
        "FOOTNOTE_MODELS_DEFAULT": "footnote/reader",
        "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": json.dumps([host]),
        "FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER": "searxng",
        "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_SEARXNG_BASE_URL": search_url,
        "FOOTNOTE_TOOLS_WEB_SEARCH_CACHE_TTL_MINUTES": "0",
    }
