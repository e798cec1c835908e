"""Citations by author and year: `(Smith, 2020)`, `(Nguyễn & Lee, 2019; Garcia et al., 2021)`, `Smith et al. (2020)`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

_NAME = r"[^\W\d_][^\W\d_'’-]{0,30}(?:['’-][^\W\d_]{1,30}){0,2}"
_YEAR = r"(?:1[6-9]|20)\d{2}"
_ITEM = re.compile(
    rf"\s{{0,3}}(?:(?:see also|see|cf\.|e\.g\.|xem|参见|见)[,:]?\s{{1,3}})?(?P<name>{_NAME})"
    rf"[^;；\d()]{{0,80}}?[,，]?\s{{0,3}}(?P<years>{_YEAR}[a-z]?(?:\s?[,，]\s?{_YEAR}[a-z]?){{0,4}})"
    r"(?:[,:，]\s?(?:pp?\.?|tr\.?|第)?\s?[\d–-]{1,12}页?)?\s{0,3}",
    re.IGNORECASE,
)
_BRACKET = re.compile(rf"[(（](?P<inside>[^()（）\n]{{3,300}}{_YEAR}[^()（）\n]{{0,40}})[)）]")
_NARRATIVE = re.compile(
    rf"(?P<name>{_NAME})(?:\s(?:et al\.?|và cộng sự|等人?)|\s(?:and|&|và)\s{_NAME})?\s?"
    rf"(?P<bracket>[(（](?P<year>{_YEAR}[a-z]?)[)）])"
)
_ENTRY = re.compile(
    rf"\s{{0,3}}(?P<name>{_NAME})(?:,|\s(?:et al|and|&|và)\b|\s[A-Z]{{1,3}}[.,])"
    rf"[^\n]{{0,300}}?(?<!\d)(?P<year>{_YEAR}[a-z]?)(?!\d)"
)


class AuthorYear(NamedTuple):
    """A citation from `start` to `end`, with the keys of the entries that it names. `is_narrative`: the author is a
    part of the sentence."""

    start: int
    end: int
    keys: tuple[str, ...]
    is_narrative: bool = False


def entry_key(entry: str) -> str | None:
    """The author and year of an entry of a list of references; None if it does not begin with an author."""
    found = _ENTRY.match(entry)
    return _key(found["name"], found["year"]) if found else None


def _key(name: str, year: str) -> str:
    return f"{name.casefold()} {year.casefold()}"


def find_author_years(text: str, start: int, end: int, known: Mapping[str, object]) -> Iterator[AuthorYear]:
    """The citations whose entries are all known."""
    if not known:
        return
    taken: list[tuple[int, int]] = []
    for bracket in _BRACKET.finditer(text, start, end):
        keys = _keys_of(re.split("[;；]", bracket["inside"]))
        if keys and all(key in known for key in keys):
            taken.append(bracket.span())
            yield AuthorYear(*bracket.span(), tuple(keys))
    for found in _NARRATIVE.finditer(text, start, end):
        key = _key(found["name"], found["year"])
        if key in known and not any(first <= found.start("bracket") < last for first, last in taken):
            yield AuthorYear(*found.span("bracket"), (key,), is_narrative=True)


def _keys_of(items: Sequence[str]) -> list[str]:
    """The keys of a bracket, none if it has anything but citations."""
    keys: list[str] = []
    for item in items:
        found = _ITEM.fullmatch(item)
        if found is None:
            return []
        keys += (_key(found["name"], year.strip()) for year in re.split("[,，]", found["years"]))
    return keys
