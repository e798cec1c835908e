"""What a message asks for, by rule: small talk, a search, a page to read, a report, or what quoting cannot do; and the
searches that follow from it.

This is about what its author wants to be done. `text/question` analyses a question to compare texts with it.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.models.reader import phrases
from footnote.models.reader.phrases import (
    PHRASES,
    TALKS,
    UNACCENTED_VIETNAMESE,
    Talk,
    anywhere_pattern,
    prefix_pattern,
    suffix_pattern,
)
from footnote.protocol.tools import LOCALES, Locale
from footnote.text.languages import detect_locale
from footnote.text.sentences import sentences
from footnote.text.terms import fold, strip_diacritics

Kind: TypeAlias = Talk | Literal["search", "blank", "rewrite", "compose", "calculate"]

MAX_MESSAGE_LENGTH = 8_000
"""Characters of a message that are read."""
MAX_PARTS = 3
"""Pages that are read, and questions that are searched for, in one turn."""

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
    """`parts` are the questions to search for, without courtesy; `extra_parts` is the number of those beyond the limit.
    `unsupported`: what else is wanted and cannot be done by quoting."""

    kind: Kind
    locale: Locale
    urls: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    extra_parts: int = 0
    wants_report: bool = False
    unsupported: Literal["summarise", "rewrite"] | None = None

    @property
    def has_words(self) -> bool:
        """Whether the message has words at all, and not only addresses and punctuation."""
        return bool(self.parts) or (self.kind != "blank" and not self.urls)


def parse_message(message: str, attached: Sequence[str] = ()) -> ReaderQuestion:
    """`attached`: addresses of attached files, which are treated like addresses in the text."""
    text = unicodedata.normalize("NFC", message)[:MAX_MESSAGE_LENGTH].strip()
    urls = (*attached, *_find_urls(text))[:MAX_PARTS]
    bare = _URL.sub(" ", text).strip()
    talk, rest = _strip_small_talk(bare)
    locale = talk[-1][1] if talk and not rest else _detect_locale(bare)
    if not rest and not urls:
        kinds = {kind for kind, _ in talk}
        ordered: list[Talk] = [kind for kind in TALKS if kind in kinds]
        return ReaderQuestion(kind=ordered[0] if ordered else "blank", locale=locale)
    # Before courtesy is stripped, which would leave `a joke` of `tell me a joke`.
    if not urls and (kind := _unsupported_kind(rest)):
        return ReaderQuestion(kind=kind, locale=locale)
    return _parse_request(_strip_courtesy(rest), urls, locale)


def _parse_request(request: str, urls: tuple[str, ...], locale: Locale) -> ReaderQuestion:
    """The question in a message that is more than small talk."""
    topic = _report_topic(request)
    if topic is not None:
        parts, extra_parts = _split_parts(_strip_courtesy(topic))
        return ReaderQuestion(
            kind="search", locale=locale, urls=urls, parts=parts, extra_parts=extra_parts, wants_report=True
        )
    if not urls and (kind := _unsupported_kind(request)):
        return ReaderQuestion(kind=kind, locale=locale)
    unsupported: Literal["summarise", "rewrite"] | None = None
    if found := prefix_pattern(phrases.SUMMARY).match(request):
        rest = _strip_courtesy(request[found.end() :])
        unsupported, request = "summarise", rest if rest or urls else request
    elif urls and prefix_pattern(phrases.REWRITE).match(request):
        unsupported = "rewrite"
    parts, extra_parts = _split_parts(request)
    return ReaderQuestion(
        kind="search", locale=locale, urls=urls, parts=parts, extra_parts=extra_parts, unsupported=unsupported
    )


def _find_urls(text: str) -> tuple[str, ...]:
    found = [_trim_url(match.group()) for match in _URL.finditer(text)]
    return tuple(dict.fromkeys(url for url in found if url))[:MAX_PARTS]


def _trim_url(url: str) -> str:
    """The address without the punctuation of the sentence around it."""
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
    """The small talk before and after a question, and the question itself."""
    if _NO_WORD.fullmatch(text):
        return [], ""
    found: list[tuple[Talk, Locale]] = []
    while (first := _FIRST_CLAUSE.match(text)) and (talk := _match_talk(first.group(1))):
        found.append(talk)
        text = text[first.end() :]
    while (last := _LAST_CLAUSE.search(text[-80:])) and (talk := _match_talk(last.group(1))):
        # The last entry of a list can look like small talk: `Texas, Kansas, OK`.
        if talk[0] not in _CLOSING_TALK:
            break
        found.append(talk)
        end = len(text) - len(text[-80:]) + last.start() + 1
        text = text[:end]
    return found, "" if _NO_WORD.fullmatch(text) else text.strip()


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


# Requests for more than facts -------------------------------------------------------------------------------------


@cache
def _report_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(piece, re.IGNORECASE | re.DOTALL) for piece in phrases.REPORT)


def _report_topic(request: str) -> str | None:
    """The subject of a report that is wanted, empty if the request names none; None: no report is wanted."""
    plain = request.rstrip(phrases.SENTENCE_ENDS)
    found = next((match for pattern in _report_patterns() if (match := pattern.fullmatch(plain))), None)
    if not found:
        return None
    topic = found["topic"].strip(phrases.PAUSES + phrases.FULL_STOPS)
    # The topic consists of questions: the question mark at the end belongs to the last one.
    return topic + request[len(plain) :] if any(mark in topic for mark in phrases.QUESTION_MARKS) else topic


def _unsupported_kind(request: str) -> Literal["rewrite", "compose", "calculate"] | None:
    if prefix_pattern(phrases.REWRITE).match(request):
        return "rewrite"
    if prefix_pattern(phrases.COMPOSE).match(request.rstrip(phrases.SENTENCE_ENDS)):
        return "compose"
    return "calculate" if _is_arithmetic(request) else None


def _is_arithmetic(request: str) -> bool:
    """Whether a request has nothing but numbers and operators. `9/11` and `2020-2021` may be a date and a season."""
    figures, word_count = anywhere_pattern(phrases.ARITHMETIC).subn(" ", request)
    figures = anywhere_pattern(phrases.ARITHMETIC_FILLERS).sub(" ", figures)
    signs = word_count or re.search(r"[+*\u00d7\u00f7^%=]|\d x \d|\s[-/]\s", figures)
    return bool(signs and len(re.findall(r"\d+", figures)) > 1 and _ARITHMETIC.fullmatch(figures))


def is_question(sentence: str) -> bool:
    return sentence.rstrip(phrases.CLOSING).endswith(phrases.QUESTION_MARKS)


def _split_parts(topic: str) -> tuple[tuple[str, ...], int]:
    """The questions of a message, or all of it as one; and how many exceed the limit."""
    items = [item.group(1) for line in topic.splitlines() if (item := _ITEM.fullmatch(line))]
    pieces = [topic[span.start : span.end] for span in sentences(topic)]
    questions = items if len(items) > 1 else [piece for piece in pieces if is_question(piece)]
    parts = [part for piece in questions if not _NO_WORD.fullmatch(part := _strip_courtesy(piece))]
    if len(parts) > 1:
        return tuple(parts[:MAX_PARTS]), max(0, len(parts) - MAX_PARTS)
    return ((topic,) if not _NO_WORD.fullmatch(topic) else ()), 0


# Searches -------------------------------------------------------------------------------------------------------------

MAX_QUERY_LENGTH = 200
MAX_PROMPT_LENGTH = 2_000
MAX_CARRIED_WORDS = 8
MAX_TITLE_WORDS = 3
SHORT_QUESTION_LENGTH: Mapping[Locale, int] = {"en": 10, "vi": 15, "zh": 24}
"""A question with more words, syllables or characters than this does not depend on the one before it."""
MIN_WORDS, MIN_HAN = 3, 7
"""Words and characters of a question that can be searched for by itself."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019.,:/-][^\W_]+)*")
_SITE_SEPARATOR = re.compile(r"(?<!\s)\s++[-\u2013\u2014|·:»]\s")


class Subject(Struct, frozen=True):
    """What was last searched for, and the titles of the pages that answered it."""

    query: str
    titles: tuple[str, ...] = ()


class ReaderSearch(Struct, frozen=True):
    query: str
    prompt: str
    freshness: str | None = None


def build_searches(parts: Iterable[str], subject: Subject | None) -> tuple[ReaderSearch, ...]:
    """A search for each part: short, complete by itself, with a time limit only where one is meant. A part that refers
    to the one before it, or to the last turn, is completed."""
    searches: list[ReaderSearch] = []
    for part in parts:
        text = " ".join(part.split()).rstrip(phrases.FULL_STOPS)
        query = _complete_query(text, subject) if subject else text
        searches.append(ReaderSearch(_condense(query), part[:MAX_PROMPT_LENGTH], _detect_freshness(part)))
        # A part that was completed is no subject for the next part, which refers to the same subject.
        subject = Subject(_condense(text)) if query == text else subject
    return tuple(searches)


def has_topic(text: str) -> bool:
    """Whether there is something to search for in a page: `summarise this page` names nothing."""
    return len(_content_words(text)) > 1 or anywhere_pattern(phrases.QUESTION_WORDS).search(text) is not None


def _detect_freshness(part: str) -> str | None:
    if anywhere_pattern(phrases.WEEK).search(part):
        return "pw"
    if anywhere_pattern(phrases.MONTH).search(part):
        return "pm"
    day = anywhere_pattern(phrases.TODAY).search(part) and anywhere_pattern(phrases.CHANGES_DAILY).search(part)
    return "pd" if day else None


# Questions that refer to earlier ones ---------------------------------------------------------------------------------


def _complete_query(text: str, subject: Subject) -> str:
    """The question with the words of the subject that it leaves out, if it leaves out any."""
    follow_up = anywhere_pattern(phrases.FOLLOW_UPS).match(text)
    rest = text[follow_up.end() :].lstrip(phrases.PAUSES) if follow_up else text
    has_pronoun = _has_open_pronoun(rest)
    if not (has_pronoun or (follow_up and _is_incomplete(rest))):
        return text
    own = _content_words(rest)
    if not own and not anywhere_pattern(phrases.QUESTION_WORDS).search(rest):
        return subject.query
    names = frozenset(word for word in own if word[0].isupper())
    carried = _content_words(subject.query if has_pronoun or not names else _drop_last_name(subject.query, names))
    titles = (
        [word for title in subject.titles[:1] for word in _content_words(_SITE_SEPARATOR.split(title, 1)[0])]
        if has_pronoun
        else []
    )
    known = {fold(word) for word in own}
    added: list[str] = []
    for word in [*titles[:MAX_TITLE_WORDS], *carried[:MAX_CARRIED_WORDS]]:
        if fold(word) not in known:
            known.add(fold(word))
            added.append(word)
    return " ".join([*added, rest])


def _has_open_pronoun(text: str) -> bool:
    """Whether a short question has a pronoun without a name before it that it could refer to."""
    found = anywhere_pattern(phrases.PRONOUNS).search(text)
    if not found:
        return False
    if detect_locale(text) == "zh":
        return _is_short(text) and (found.start() <= 3 or len(text) <= 9)
    names = _name_positions(text)
    return _is_short(text) and (not names or found.start() < names[0])


def _is_incomplete(text: str) -> bool:
    """Whether a question is too short to be searched for by itself, as `in Vietnam?` is."""
    asks = anywhere_pattern(phrases.QUESTION_WORDS).search(text)
    if detect_locale(text) == "zh":
        is_complete = len(text) >= MIN_HAN
    else:
        is_complete = bool(_name_positions(text)) or len(_content_words(text)) >= MIN_WORDS
    return _is_short(text) and not (asks and is_complete)


def _is_short(text: str) -> bool:
    locale = detect_locale(text)
    return (len(text) if locale == "zh" else len(text.split())) <= SHORT_QUESTION_LENGTH[locale]


# Words -----------------------------------------------------------------------------------------------------------


def _content_words(text: str) -> list[str]:
    """The words of a text without stop words, as they are written. Chinese is split at its stop words."""
    locale = detect_locale(text)
    if locale == "zh":
        text = anywhere_pattern(PHRASES["zh"].stop_words).sub(" ", text)
    stop_words = anywhere_pattern(PHRASES["en" if locale == "zh" else locale].stop_words)
    return [word for word in _WORD.findall(text) if not stop_words.fullmatch(word)]


def _name_positions(text: str) -> list[int]:
    """The offsets of names: words with a capital letter, except the first word."""
    return [word.start() for word in _WORD.finditer(text) if word.start() and word.group()[0].isupper()]


def _drop_last_name(text: str, new_names: frozenset[str]) -> str:
    """`The GDP of South Korea` without `South Korea`, when `and of Vietnam?` follows."""
    words = list(_WORD.finditer(text))
    last = max((at for at, word in enumerate(words) if word.group()[0].isupper()), default=None)
    if last is None or words[last].group() in new_names:
        return text
    first = last
    while (
        first
        and words[first - 1].group()[0].isupper()
        and not text[words[first - 1].end() : words[first].start()].strip()
    ):
        first -= 1
    return text[: words[first].start()] + text[words[last].end() :]


def _condense(query: str) -> str:
    """At most `MAX_QUERY_LENGTH` characters: the question in a long message, else as many of its words as fit."""
    if len(query) <= MAX_QUERY_LENGTH:
        return query
    pieces = [query[span.start : span.end] for span in sentences(query)]
    questions = [piece for piece in pieces if is_question(piece)]
    chosen = (questions[0] if questions[0] == pieces[0] else questions[-1]) if questions else query
    if len(chosen) <= MAX_QUERY_LENGTH:
        return chosen
    condensed = ""
    for word in _content_words(chosen):
        if len(condensed) + 1 + len(word) > MAX_QUERY_LENGTH:
            break
        condensed = f"{condensed} {word}".strip()
    return condensed or chosen[:MAX_QUERY_LENGTH]
