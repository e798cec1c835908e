"""What a message asks for, found by rule: small talk, a search, a page to read, a report, or what quoting cannot do."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.models.reader import phrases
from footnote.models.reader.phrases import PHRASES, anywhere_pattern, prefix_pattern, suffix_pattern
from footnote.models.reader.phrases.table import TALKS, Talk
from footnote.models.reader.phrases.vietnamese import UNACCENTED_VIETNAMESE
from footnote.protocol.tools import LOCALES, Locale
from footnote.text.languages import detect_locale
from footnote.text.sentences import sentences
from footnote.text.terms import fold, strip_diacritics

Kind: TypeAlias = Talk | Literal["search", "blank", "rewrite", "compose", "calculate"]

MAX_MESSAGE_LENGTH = 8_000
"""Characters of a message that are looked at."""
MAX_PARTS = 3
"""Pages that are read, and questions that are looked for, in one turn."""

_URL = re.compile(rf"(?:https?://|www\.)[^{phrases.OUTSIDE_URL}]+", re.IGNORECASE)
_FIRST_CLAUSE = re.compile(rf"[\s{phrases.CLAUSE_ENDS}]*([^{phrases.CLAUSE_ENDS}]+)[\s{phrases.CLAUSE_ENDS}]*")
_LAST_CLAUSE = re.compile(
    rf"[{phrases.CLAUSE_ENDS}]\s{{0,80}}+([^{phrases.CLAUSE_ENDS}]{{1,80}}+)[\s{phrases.CLAUSE_ENDS}]{{0,80}}+$"
)
_NO_WORD = re.compile(r"[\W_]*")
_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)、])\s*(\S.*)")
_ARITHMETIC = re.compile(r"[\d\s.,()+\-*/\u00d7\u00f7^%=x?]+", re.IGNORECASE)
_CLOSING_TALK = ("thanks", "greeting", "farewell")
_AFTER_URL = ".,;:!?'*_"


class ReaderQuestion(Struct, frozen=True, kw_only=True):
    """`parts` are what to look for, without words of politeness; `unasked` more than can be looked for at once.
    `unable`: what else is wanted and cannot be done by quoting."""

    kind: Kind
    locale: Locale
    urls: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    extra_parts: int = 0
    wants_report: bool = False
    unsupported: Literal["summarise", "rewrite"] | None = None

    @property
    def has_words(self) -> bool:
        """Whether it is written in a language at all: addresses and signs are not."""
        return bool(self.parts) or (self.kind != "blank" and not self.urls)


def parse_question(message: str, attached: Sequence[str] = ()) -> ReaderQuestion:
    """`attached`: addresses of files that come with it; they are asked about like those in the text."""
    text = unicodedata.normalize("NFC", message)[:MAX_MESSAGE_LENGTH].strip()
    urls = (*attached, *_find_urls(text))[:MAX_PARTS]
    bare = _URL.sub(" ", text).strip()
    talk, rest = _strip_small_talk(bare)
    locale = talk[-1][1] if talk and not rest else _detect_locale(bare)
    if not rest and not urls:
        said = {kind for kind, _ in talk}
        foremost: list[Talk] = [kind for kind in TALKS if kind in said]
        return ReaderQuestion(kind=foremost[0] if foremost else "blank", locale=locale)
    # The whole of it first: of `tell me a joke`, courtesy leaves `a joke`.
    if not urls and (kind := _unsupported_kind(rest)):
        return ReaderQuestion(kind=kind, locale=locale)
    return _parse_request(_strip_courtesy(rest), urls, locale)


def _parse_request(request: str, urls: tuple[str, ...], locale: Locale) -> ReaderQuestion:
    """What is wanted by a message that is more than small talk."""
    topic = _report_topic(request)
    if topic is not None:
        parts, unasked = _split_parts(_strip_courtesy(topic))
        return ReaderQuestion(
            kind="search", locale=locale, urls=urls, parts=parts, extra_parts=unasked, wants_report=True
        )
    if not urls and (kind := _unsupported_kind(request)):
        return ReaderQuestion(kind=kind, locale=locale)
    unable: Literal["summarise", "rewrite"] | None = None
    if found := prefix_pattern(phrases.SUMMARY).match(request):
        rest = _strip_courtesy(request[found.end() :])
        unable, request = "summarise", rest if rest or urls else request
    elif urls and prefix_pattern(phrases.REWRITE).match(request):
        unable = "rewrite"
    parts, unasked = _split_parts(request)
    return ReaderQuestion(kind="search", locale=locale, urls=urls, parts=parts, extra_parts=unasked, unsupported=unable)


def _find_urls(text: str) -> tuple[str, ...]:
    found = [_trim_url(match.group()) for match in _URL.finditer(text)]
    return tuple(dict.fromkeys(url for url in found if url))[:MAX_PARTS]


def _trim_url(url: str) -> str:
    """Without the punctuation of the sentence around it."""
    url = url.rstrip(_AFTER_URL)
    for opening, closing in ("()", "[]"):
        unopened = url.count(closing) - url.count(opening)
        end = len(url)
        while unopened > 0 and url[end - 1 : end] == closing:
            end -= 1
            unopened -= 1
            while end and url[end - 1] in _AFTER_URL:
                end -= 1
        url = url[:end]
    return url if "://" in url else f"https://{url}"


def _detect_locale(text: str) -> Locale:
    locale = detect_locale(text)
    if locale == "en" and re.search(UNACCENTED_VIETNAMESE, strip_diacritics(fold(text))):
        return "vi"
    return locale


# Small talk ------------------------------------------------------------------------------------------------------


def _strip_small_talk(text: str) -> tuple[list[tuple[Talk, Locale]], str]:
    """The small talk before and after a question, and the question."""
    if _NO_WORD.fullmatch(text):
        return [], ""
    said: list[tuple[Talk, Locale]] = []
    while (first := _FIRST_CLAUSE.match(text)) and (talk := _match_talk(first.group(1))):
        said.append(talk)
        text = text[first.end() :]
    while (last := _LAST_CLAUSE.search(text[-80:])) and (talk := _match_talk(last.group(1))):
        # The last of a list may be a word like any other: `Texas, Kansas, OK`.
        if talk[0] not in _CLOSING_TALK:
            break
        said.append(talk)
        kept = len(text) - len(text[-80:]) + last.start() + 1
        text = text[:kept]
    return said, "" if _NO_WORD.fullmatch(text) else text.strip()


def _match_talk(clause: str) -> tuple[Talk, Locale] | None:
    plain = " ".join(strip_diacritics(fold(clause)).replace("\u2019", "'").split())
    if len(plain) > 60:
        return None
    likely = _detect_locale(clause)
    for kind in TALKS:
        for locale in sorted(LOCALES, key=lambda locale: locale != likely):
            if anywhere_pattern(PHRASES[locale].talk[kind]).fullmatch(plain):
                return kind, locale
    return None


# Words around the question ---------------------------------------------------------------------------------------


def _strip_courtesy(text: str) -> str:
    text = text.strip()
    while (
        (found := prefix_pattern(phrases.LEAD).match(text))
        and found.end()
        and not _NO_WORD.fullmatch(text, found.end())
    ):
        text = text[found.end() :]
    while (found := suffix_pattern(phrases.TAIL).search(text[-60:])) and not _NO_WORD.fullmatch(
        rest := text[: len(text) - len(text[-60:]) + found.start()]
    ):
        text = rest + found["end"]
    return text.strip()


# What is wanted beside facts -------------------------------------------------------------------------------------


@cache
def _report_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(piece, re.IGNORECASE | re.DOTALL) for piece in phrases.REPORT)


def _report_topic(request: str) -> str | None:
    """What a report is wanted on; empty if that is not said. None: no report is wanted."""
    plain = request.rstrip(phrases.SENTENCE_ENDS)
    found = next((match for pattern in _report_patterns() if (match := pattern.fullmatch(plain))), None)
    if not found:
        return None
    topic = found["topic"].strip(phrases.PAUSES + phrases.FULL_STOPS)
    # The end of the last of several questions belongs to it.
    return topic + request[len(plain) :] if any(mark in topic for mark in phrases.QUESTION_MARKS) else topic


def _unsupported_kind(request: str) -> Literal["rewrite", "compose", "calculate"] | None:
    if prefix_pattern(phrases.REWRITE).match(request):
        return "rewrite"
    if prefix_pattern(phrases.COMPOSE).match(request.rstrip(phrases.SENTENCE_ENDS)):
        return "compose"
    return "calculate" if _is_arithmetic(request) else None


def _is_arithmetic(request: str) -> bool:
    """Figures and signs of arithmetic alone. `9/11` and `2020-2021` may be a date and a season."""
    figures, said = anywhere_pattern(phrases.ARITHMETIC).subn(" ", request)
    figures = anywhere_pattern(phrases.ARITHMETIC_FILLERS).sub(" ", figures)
    signs = said or re.search(r"[+*\u00d7\u00f7^%=]|\d x \d|\s[-/]\s", figures)
    return bool(signs and len(re.findall(r"\d+", figures)) > 1 and _ARITHMETIC.fullmatch(figures))


def is_question(sentence: str) -> bool:
    return sentence.rstrip(phrases.CLOSING).endswith(phrases.QUESTION_MARKS)


def _split_parts(topic: str) -> tuple[tuple[str, ...], int]:
    """The questions that a message is made of, or all of it as one; and how many are too many."""
    items = [item.group(1) for line in topic.splitlines() if (item := _ITEM.fullmatch(line))]
    pieces = [topic[span.start : span.end] for span in sentences(topic)]
    asked = items if len(items) > 1 else [piece for piece in pieces if is_question(piece)]
    whole = [part for piece in asked if not _NO_WORD.fullmatch(part := _strip_courtesy(piece))]
    if len(whole) > 1:
        return tuple(whole[:MAX_PARTS]), max(0, len(whole) - MAX_PARTS)
    return ((topic,) if not _NO_WORD.fullmatch(topic) else ()), 0
