"""Judges the statements of files in a bundle again, version by version, by the code that judged them in the session."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct
from msgspec.structs import replace

from footnote.bundles.derived import shown_first, sources_cited
from footnote.bundles.recheck import is_quoted
from footnote.bundles.schema import SNAPSHOTS_FOLDER, ProofRecord, SessionEntry, printable
from footnote.evidence.file_proof import has_footnotes, judge_piece, pieces_of
from footnote.evidence.page_index import PageIndexes
from footnote.evidence.pointers import written_pointers
from footnote.evidence.second_look import claim_texts, may_follow
from footnote.evidence.sources import Sources
from footnote.protocol import parse_time
from footnote.protocol.sources import Citation, Snapshot

MAX_PAGE_CHARACTERS = 50_000_000


class FileRecheck(Struct, frozen=True):
    """`checked`: verdicts that were judged again. `wrong`: a message for each false quotation. `otherwise`: a message
    for each verdict that this version of Footnote judges differently."""

    checked: int = 0
    unchecked: int = 0
    quotations: int = 0
    wrong: tuple[str, ...] = ()
    otherwise: tuple[str, ...] = ()


class FileRechecker:
    """Judges the files of one session again. `missing`: snapshots that were removed before the export."""

    def __init__(self, session: SessionEntry, snapshots: Mapping[str, Snapshot], missing: AbstractSet[str]) -> None:
        messages = shown_first(session)
        self._session = session
        self._snapshots = snapshots
        self._sources = Sources.from_messages(messages, snapshots, PageIndexes(MAX_PAGE_CHARACTERS).index)
        self._pointers = written_pointers(messages)
        found = (source for message in messages for source in sources_cited(message))
        self._unknown = {source.number or 0 for source in found if source.snapshot_id in missing}

    def recheck(self, record: ProofRecord, text: str, created_at: str) -> FileRecheck:
        """`created_at`: when the version was written; what the user had said by then needs no source."""
        given = record.citations
        wrong = tuple(self._false_quotations(record, text))
        quotations = sum(one.quote is not None for one in given)
        # A suggestion may be of any page, so that all of them are needed.
        known = [one for one in given if not self._unknown or (one.number and one.number not in self._unknown)]
        fresh = [] if self._unknown else list(self._judge(text, created_at))
        otherwise = tuple(self._differences(record, text, fresh)) if not self._unknown else ()
        return FileRecheck(len(known), len(given) - len(known), quotations, wrong, otherwise)

    def _judge(self, text: str, created_at: str) -> Iterator[Citation]:
        before = parse_time(created_at)
        asked = [one.message.text for one in self._session.questions if parse_time(one.created_at) <= before]
        for piece in pieces_of(text) if has_footnotes(text) else ():
            yield from judge_piece(text, piece, self._sources, self._pointers, uncited=True, given=asked)

    def _false_quotations(self, record: ProofRecord, text: str) -> Iterator[str]:
        for one in record.citations:
            if not 0 <= one.start <= one.end <= len(text):
                yield f"{_place(record, one, text)}: its statement is not in the file"
            snapshot = self._snapshots.get(one.snapshot_id or "")
            if one.quote is not None and snapshot is not None and not is_quoted(one, snapshot.text):
                yield f"{_place(record, one, text)}: its quotation is not in {SNAPSHOTS_FOLDER}{snapshot.id}.txt"
            elif one.quote is not None and snapshot is None and not self._unknown:
                yield f"{_place(record, one, text)}: the snapshot that it quotes is not in the bundle"

    def _differences(self, record: ProofRecord, text: str, fresh: Sequence[Citation]) -> Iterator[str]:
        if [_marker(one) for one in fresh] != [_marker(one) for one in record.citations]:
            yield f"{_name(record)}: its statements differ from those that are judged again"
            return
        for now, then, claim in zip(fresh, record.citations, claim_texts(text, record.citations), strict=True):
            by_text, decided = replace(now, passage=None), replace(then, passage=None)
            is_pointed = then.by == "model" and may_follow(decided, by_text, claim, self._sources)
            if by_text != decided and not is_pointed:
                found = f"is {then.verdict!r}" if now.verdict != then.verdict else "cites another passage"
                yield f"{_place(record, then, text)}: its verdict {found}, and judged again it is {now.verdict!r}"


def _marker(one: Citation) -> tuple[str, int, int, int]:
    return one.marker, one.number, one.start, one.end


def _name(record: ProofRecord) -> str:
    return f"{printable(record.key)}, version {record.number}"


def _place(record: ProofRecord, one: Citation, text: str) -> str:
    statement = text[max(one.start, 0) : max(one.end, 0)][:60]
    return f"{_name(record)}, “{printable(statement)}”"
