"""How the options of a search are put into the words of a provider, and what is said of those that it has not."""

import re
from collections.abc import Mapping

from footnote.text.languages import detect_locale
from footnote.web_search.settings import SafeSearch

_KANA = re.compile("[\u3040-\u30ff]")


def date_range(freshness: str | None) -> tuple[str, str] | None:
    """The first and the last day of `2024-01-01to2024-03-31`; None for the other kinds of freshness."""
    first, separator, last = (freshness or "").partition("to")
    return (first, last) if separator else None


def map_option(option: str, value: str | None, known: Mapping[str, str], notes: list[str]) -> str | None:
    """The provider's word for the value of an option; if it has none, the option is left out and a note says so."""
    if value is None:
        return None
    if value not in known:
        notes.append(f"{option} {value} was left out: this provider does not know it")
    return known.get(value)


def note_missing_safe_search(value: SafeSearch, notes: list[str]) -> None:
    """For a provider that has no such option. A note only where it may show more than is wanted."""
    if value == "strict":
        notes.append("safe search was left out: this provider does not know it")


def truncate_query(query: str, notes: list[str], *, max_characters: int, max_words: int | None = None) -> str:
    """As much of the query as the provider takes, by whole words if there are several."""
    kept = query.split()
    if len(query) <= max_characters and (max_words is None or len(kept) <= max_words):
        return query
    short = " ".join(kept[:max_words])
    if len(short) > max_characters:
        head = short[: max_characters + 1]
        short = head.rsplit(maxsplit=1)[0] if " " in head else short[:max_characters]
    notes.append(f"the query was cut to {len(short)} characters: this provider takes no more")
    return short


def query_language(query: str) -> str | None:
    """The language of a query where its script tells: many providers take everything for English otherwise."""
    locale = detect_locale(query)
    if locale == "zh" and _KANA.search(query):
        return "ja"
    return None if locale == "en" else locale
