"""From a question to what a search engine is asked: short, whole by itself, with a time only where one is meant."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from footnote.models.reader import phrases
from footnote.models.reader.phrases import PHRASES, anywhere_pattern
from footnote.models.reader.question import is_question
from footnote.protocol.tools import Locale
from footnote.text.languages import detect_locale
from footnote.text.sentences import sentences
from footnote.text.terms import fold

MAX_QUERY_LENGTH = 200
MAX_PROMPT_LENGTH = 2_000
MAX_CARRIED_WORDS = 8
MAX_TITLE_WORDS = 3
SHORT_QUESTION_LENGTH: Mapping[Locale, int] = {"en": 10, "vi": 15, "zh": 24}
"""A question of more words, syllables or characters than this stands by itself."""
MIN_WORDS, MIN_HAN = 3, 7
"""Words and characters of a question that can be asked by itself."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019.,:/-][^\W_]+)*")
_SITE_SEPARATOR = re.compile(r"(?<!\s)\s++[-\u2013\u2014|·:»]\s")


class Subject(Struct, frozen=True):
    """What was last looked for, and the titles of the pages that answered it."""

    query: str
    titles: tuple[str, ...] = ()


class ReaderSearch(Struct, frozen=True):
    query: str
    prompt: str
    freshness: str | None = None


def build_searches(parts: Iterable[str], subject: Subject | None) -> tuple[ReaderSearch, ...]:
    """A search for each part. A part that leans on the one before it, or on the last turn, is made whole."""
    found: list[ReaderSearch] = []
    for part in parts:
        text = " ".join(part.split()).rstrip(phrases.FULL_STOPS)
        query = _complete_query(text, subject) if subject else text
        found.append(ReaderSearch(_condense(query), part[:MAX_PROMPT_LENGTH], _detect_freshness(part)))
        # What leaned on a subject is none for the next part: that leans on the same one.
        subject = Subject(_condense(text)) if query == text else subject
    return tuple(found)


def has_topic(text: str) -> bool:
    """Whether there is something to look for in a page: `summarise this page` names nothing."""
    return len(_content_words(text)) > 1 or anywhere_pattern(phrases.QUESTION_WORDS).search(text) is not None


def _detect_freshness(part: str) -> str | None:
    if anywhere_pattern(phrases.WEEK).search(part):
        return "pw"
    if anywhere_pattern(phrases.MONTH).search(part):
        return "pm"
    day = anywhere_pattern(phrases.TODAY).search(part) and anywhere_pattern(phrases.CHANGES_DAILY).search(part)
    return "pd" if day else None


# Leaning on what was said before ---------------------------------------------------------------------------------


def _complete_query(text: str, subject: Subject) -> str:
    """The question with the words of the subject that it leaves out; as it is, if it leaves out none."""
    goes_on = anywhere_pattern(phrases.FOLLOW_UPS).match(text)
    rest = text[goes_on.end() :].lstrip(phrases.PAUSES) if goes_on else text
    instead = _has_open_pronoun(rest)
    if not (instead or (goes_on and _is_incomplete(rest))):
        return text
    own = _content_words(rest)
    if not own and not anywhere_pattern(phrases.QUESTION_WORDS).search(rest):
        return subject.query
    names = frozenset(word for word in own if word[0].isupper())
    carried = _content_words(subject.query if instead or not names else _drop_last_name(subject.query, names))
    titles = (
        [word for title in subject.titles[:1] for word in _content_words(_SITE_SEPARATOR.split(title, 1)[0])]
        if instead
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
    """A short question with a pronoun whose name does not stand before it in the question itself."""
    found = anywhere_pattern(phrases.PRONOUNS).search(text)
    if not found:
        return False
    if detect_locale(text) == "zh":
        return _is_short(text) and (found.start() <= 3 or len(text) <= 9)
    names = _name_positions(text)
    return _is_short(text) and (not names or found.start() < names[0])


def _is_incomplete(text: str) -> bool:
    """Too short to be asked by itself, as `in Vietnam?`; `what is the capital of Vietnam?` is not."""
    asks = anywhere_pattern(phrases.QUESTION_WORDS).search(text)
    if detect_locale(text) == "zh":
        whole = len(text) >= MIN_HAN
    else:
        whole = bool(_name_positions(text)) or len(_content_words(text)) >= MIN_WORDS
    return _is_short(text) and not (asks and whole)


def _is_short(text: str) -> bool:
    locale = detect_locale(text)
    return (len(text) if locale == "zh" else len(text.split())) <= SHORT_QUESTION_LENGTH[locale]


# Words -----------------------------------------------------------------------------------------------------------


def _content_words(text: str) -> list[str]:
    """The words that carry a meaning, as they are written. Chinese is parted where words without one stand."""
    locale = detect_locale(text)
    if locale == "zh":
        text = anywhere_pattern(PHRASES["zh"].stop_words).sub(" ", text)
    empty = anywhere_pattern(PHRASES["en" if locale == "zh" else locale].stop_words)
    return [word for word in _WORD.findall(text) if not empty.fullmatch(word)]


def _name_positions(text: str) -> list[int]:
    """Where names begin: capital letters, but not that of the first word."""
    return [word.start() for word in _WORD.finditer(text) if word.start() and word.group()[0].isupper()]


def _drop_last_name(text: str, instead: frozenset[str]) -> str:
    """`The GDP of South Korea` without `South Korea`, for when `and of Vietnam?` follows."""
    words = list(_WORD.finditer(text))
    last = max((at for at, word in enumerate(words) if word.group()[0].isupper()), default=None)
    if last is None or words[last].group() in instead:
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
    """At most `LONGEST_QUERY` characters: the question of a long message, else its words until there is no room."""
    if len(query) <= MAX_QUERY_LENGTH:
        return query
    pieces = [query[span.start : span.end] for span in sentences(query)]
    asked = [piece for piece in pieces if is_question(piece)]
    chosen = (asked[0] if asked[0] == pieces[0] else asked[-1]) if asked else query
    if len(chosen) <= MAX_QUERY_LENGTH:
        return chosen
    kept = ""
    for word in _content_words(chosen):
        if len(kept) + 1 + len(word) > MAX_QUERY_LENGTH:
            break
        kept = f"{kept} {word}".strip()
    return kept or chosen[:MAX_QUERY_LENGTH]
