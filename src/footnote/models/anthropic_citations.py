"""Citations that the Anthropic API makes: passages as `search_result` blocks, and citations as markers in the text.

A block of a source has its passages as texts, the least that the API cites, and its title begins with their ids. A
citation repeats the title, so that a response can be read without its request.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct, ValidationError, convert

from footnote.protocol.sources import EvidencePassage

# Requests ------------------------------------------------------------------------------------------------

CITATIONS_NOTE = (
    "What your answer takes from these passages is cited without your doing: write ids such as [3.2] only into files"
    " and other arguments of tools."
)
_SOURCE_LINE = re.compile(r"^\[(\d+)\] \[(.*)\]\(([^()\s]+)\)$", re.MULTILINE)
_PAGE_NUMBER = re.compile(r"\(page \d+\) ")


class _FoundPassage(Struct, frozen=True):
    """A passage where it stands, behind its id, in the text of a result."""

    id: str
    number: int
    start: int
    end: int


class _SourceLine(Struct, frozen=True):
    title: str
    url: str


def cut_passages(text: str, passages: Iterable[EvidencePassage]) -> list[dict[str, Any]]:
    """The text of a result in blocks: its passages, and the text around them. They stay where they are, between the
    marks of web text."""
    found = sorted(_find_passages(text, passages), key=lambda one: one.start)
    before = text[: found[0].start] if found else ""
    listed = {int(line[1]): _SourceLine(line[2], line[3]) for line in _SOURCE_LINE.finditer(before)}
    blocks: list[dict[str, Any]] = []
    group: dict[int, list[_FoundPassage]] = {}
    at = 0
    for one in found:
        if one.start < at or one.number not in listed:
            continue
        if gap := text[at : one.start].strip():
            blocks += [*_search_results(text, group, listed), {"type": "text", "text": gap}]
            group = {}
        group.setdefault(one.number, []).append(one)
        at = one.end
    blocks += _search_results(text, group, listed)
    rest = text[at:].strip()
    return [*blocks, {"type": "text", "text": rest}] if rest else blocks


def _search_results(
    text: str, group: Mapping[int, Sequence[_FoundPassage]], listed: Mapping[int, _SourceLine]
) -> Iterator[dict[str, Any]]:
    for number, found in group.items():
        yield {
            "type": "search_result",
            "source": listed[number].url,
            "title": f"[{', '.join(one.id for one in found)}] {listed[number].title}",
            "content": [{"type": "text", "text": text[one.start : one.end]} for one in found],
            "citations": {"enabled": True},
        }


def _find_passages(text: str, passages: Iterable[EvidencePassage]) -> Iterator[_FoundPassage]:
    """The passages of an artifact that are in the text: one that was shortened has none."""
    for passage in passages:
        label = f"[{passage.id}] "
        start = text.find(label)
        while start >= 0:
            page = _PAGE_NUMBER.match(text, start + len(label))
            end = _match_end(text, page.end() if page else start + len(label), passage.text)
            if end is not None and text[start - 1 : start] in ("", "\n"):
                yield _FoundPassage(passage.id, passage.number, start, end)
                break
            start = text.find(label, start + 1)


def _match_end(text: str, at: int, passage: str) -> int | None:
    """Where a passage ends that begins at `at`. The text for a model has no invisible characters, and a parenthesis
    where the page had something like a tag."""
    if text.startswith(passage, at):
        return at + len(passage)
    for letter in passage:
        shown = text[at : at + 1]
        if shown == letter or (shown == "(" and not letter.isalnum()):
            at += 1
        elif letter.isprintable() and unicodedata.category(letter) != "Mn" and letter not in "\u115f\u1160":
            return None
    return at


# Responses -----------------------------------------------------------------------------------------------

_CITED_IDS = re.compile(r"\[(\d+\.\d+(?:, \d+\.\d+)*)\] ")
_WRITTEN_MARKERS = re.compile(r"(?:[\[【\uff3b][^\[\]【】\uff3b\uff3d\n]{1,80}[\]】\uff3d]\s?){1,10}\Z")
_WRITTEN_ID = re.compile(r"\d+(?:\.\d+)?")
_TAIL = " \t\r\n|.!?…。\uff01\uff1f"
"""Characters before which a marker stands: at the end of a sentence, of a line, or of a table cell."""
_MAX_TAIL = 200


class _SearchResultLocation(Struct, tag="search_result_location"):
    title: str | None = None
    cited_text: str = ""
    start_block_index: int | None = None
    end_block_index: int | None = None


def _cited_passages(citation: Any) -> tuple[str, ...]:
    """The ids of the passages of a citation; none if it cites something else."""
    try:
        cited = convert(citation, _SearchResultLocation)
    except ValidationError:
        return ()
    titled, start = _CITED_IDS.match(cited.title or ""), cited.start_block_index
    if titled and start is not None:
        # Some gateways give the index of the last block as the end, which is exclusive.
        return tuple(titled[1].split(", ")[start : max(cited.end_block_index or 0, start + 1)])
    quoted = _CITED_IDS.match(cited.cited_text)
    return (quoted[1],) if quoted else ()


def _needs_space(letter: str) -> bool:
    """Whether there is a space between this letter and a marker: not in Chinese and Japanese."""
    if not letter or letter.isspace() or letter == "]":
        return False
    return unicodedata.east_asian_width(letter) not in "WF" or unicodedata.category(letter)[0] not in "LP"


class ReceivedText:
    """A text that arrives in one block or in several: an API that cites sends a block for each span of a source.

    The ids of the cited passages follow their span, as they do where a model writes them itself. From the first sign
    of citations on, the end of a sentence is held back until it is clear whether a marker comes before it.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.is_stopped = False
        self._may_cite = False
        self._held = ""
        self._block: list[str] = []
        """The pieces of the block, behind the last characters of the one before."""
        self._cited: dict[str, None] = {}

    def start_block(self, citations: Any) -> None:
        """`citations`: what the start of the block has of them; an empty list if there will be some."""
        self.is_stopped = False
        if isinstance(citations, list):
            self._may_cite = True
            for citation in cast("list[Any]", citations):
                self.cite(citation)

    def cite(self, citation: Any) -> None:
        if passages := _cited_passages(citation):
            self._may_cite = True
            self._cited |= dict.fromkeys(passages)

    def feed(self, piece: str) -> str:
        """What can be passed on."""
        self._block.append(piece)
        if not self._may_cite:
            return piece
        text = self._held + piece
        end = len(text.rstrip(_TAIL))
        if len(text) - end > _MAX_TAIL:
            end = len(text)
        self._held = text[end:]
        return text[:end]

    def stop_block(self) -> str:
        """The marker of the block, for the passages that the model did not name itself."""
        self.is_stopped = True
        block, cited, self._cited = "".join(self._block), self._cited, {}
        shown = block[: len(block) - len(self._held)]
        found = _WRITTEN_MARKERS.search(shown[-_MAX_TAIL:]) if cited else None
        written = _WRITTEN_ID.findall(found.group()) if found else []
        marker = "".join(f"[{one}]" for one in cited if one not in written and one.partition(".")[0] not in written)
        if marker and _needs_space(shown[-1:]):
            marker = f" {marker}"
        self._block = [f"{shown}{marker}"[-1:], self._held]
        return marker

    def flush(self) -> str:
        marker = "" if self.is_stopped else self.stop_block()
        held, self._held = self._held, ""
        return marker + held
