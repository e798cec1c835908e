"""From a bundle of a stranger to the rows of a session: everything is checked here, before anything is stored."""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from footnote.bundles.events import events_in
from footnote.bundles.form import (
    EVENTS_FOLDER,
    BundleDamaged,
    FileEntry,
    FilesEntry,
    NotTaken,
    RunRecord,
    SessionEntry,
    shown,
)
from footnote.bundles.inside import BundleContents
from footnote.bundles.opening import Bundle, BundleProblem, opened
from footnote.bundles.renaming import Renaming
from footnote.bundles.verify import checked
from footnote.db import bundles as db
from footnote.db.blobs import StoredBlob
from footnote.db.runs import EventRow
from footnote.db.sessions import TITLE, file_part
from footnote.documents.inspection.inspection import inspect
from footnote.library.snapshots import pack
from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.protocol.events import ContextReport, Delta, Event, MessageDelta, MessageStop, TurnUsage
from footnote.protocol.messages import AssistantMessage, Usage
from footnote.protocol.sessions import ACTIVE, MAX_TITLE_LENGTH, BundleCheck, ImportedSession
from footnote.protocol.sources import Snapshot
from footnote.protocol.sse import frame
from footnote.protocol.version import __version__
from footnote.sessions.titles import clean_title
from footnote.sessions.turns import RunEnding, encode
from footnote.text.search_terms import MAX_FILE_CHARACTERS, file_text, terms_of
from footnote.workspace.paths import LARGE_RESULTS, UPLOADS, filename_of, upload_name
from footnote.workspace.stored import compress_text
from footnote.workspace.text import pluralize

MOST_NAMED = 5
ROW_EVENTS = 500
PRIVATE = "footnote:bundles/"
"""Before texts that were read from no page of the web: they are a user's own, and so is their address."""
_WEB = re.compile(r"https?://", re.IGNORECASE)

log = logging.getLogger(__name__)


class PreparedImport(Struct, frozen=True):
    """A session that can be stored once its `contents` are kept, which are entries of the bundle."""

    head: ImportedSession
    contents: tuple[str, ...]
    rows: db.ImportedRows

    def taken(self, kept: tuple[StoredBlob, ...]) -> db.ImportedRows:
        return replace(self.rows, kept=kept)


def prepared(file: Path, user_id: str, address: str, agents: Sequence[str], now: float) -> PreparedImport:
    """`NotABundle`, `Damaged`, `NotTaken`: it cannot be taken, and why."""
    with opened(file) as bundle:
        result = _right(bundle)
        read = result.read
        session, files = read.session, read.files
        _check_uploads(bundle, files)
        renaming = Renaming(session, files, user_id, address)
        whole = _whole(session, files, renaming, agents, now)
        events = tuple(row for run in session.runs for row in _events(run, bundle, renaming))
        entries = tuple(pack(_ours(text, user_id), searchable=False) for text in read.texts.values())
        terms = (*_terms(session, renaming), *_file_terms(bundle, files, renaming))
    contents = {version.hash: version.entry for one in files.files for version in one.versions}
    row = whole.session
    return PreparedImport(
        ImportedSession(row.id, row.title, row.agent_id, row.created_at, checked=result.counted),
        tuple(contents.values()),
        db.ImportedRows(whole=whole, events=events, terms=terms, kept=(), read=entries),
    )


class _Right(Struct, frozen=True):
    read: BundleContents
    counted: BundleCheck


def _right(bundle: Bundle) -> _Right:
    """What it holds and how much of it was checked, if all that can be checked is right. Another version may have
    judged otherwise, and that alone is no fault of the bundle."""
    result = checked(bundle)
    findings = [one for one in result.report.findings if one not in result.otherwise]
    if findings or result.read is None:
        raise _refusal(findings)
    if result.otherwise:
        log.warning(
            "A bundle of Footnote %s was taken, of which %s would be judged otherwise by this version, %s.",
            shown(bundle.manifest.footnote),
            pluralize(len(result.otherwise), "footnote"),
            __version__,
        )
    report = result.report
    return _Right(
        result.read,
        BundleCheck(
            report.entries,
            report.quotations,
            report.verdicts,
            len(result.otherwise),
            bundle.manifest.seal,
            report.notes,
        ),
    )


def _refusal(findings: Sequence[BundleProblem]) -> NotTaken:
    is_whole = all(one.problem == "wrong" for one in findings)
    why = "what it says does not hold" if is_whole else "it is not the one that was exported"
    some = "; ".join(f"{shown(one.entry)} ({one.problem}): {one.message}" for one in findings[:MOST_NAMED])
    more = f"; and {len(findings) - MOST_NAMED} more" if len(findings) > MOST_NAMED else ""
    return NotTaken(f"The bundle was not taken, because {why}: {some}{more}.")


def _check_uploads(bundle: Bundle, files: FilesEntry) -> None:
    """What would be refused as an upload does not come in with a bundle either."""
    names: dict[str, dict[str, str]] = {}
    for file in files.files:
        if file.key.startswith(UPLOADS):
            for version in file.versions:
                name = filename_of(file.key)
                # Of a name nothing matters but how it ends.
                names.setdefault(version.entry, {}).setdefault(name.lower().rpartition(".")[2], name)
    with TemporaryDirectory(prefix="footnote-") as folder:
        aside = Path(folder) / "content"
        for entry, endings in names.items():
            with aside.open("wb") as target:
                target.writelines(bundle.pieces(entry))
            for name in endings.values():
                try:
                    with aside.open("rb") as content:
                        inspect(content, name)
                except (WrongKind, UnprocessableFile) as error:
                    raise NotTaken(f"The bundle was not taken, because of an upload in it: {error.message}") from error


# Rows ------------------------------------------------------------------------------------------------------


def _whole(
    session: SessionEntry, files: FilesEntry, renaming: Renaming, agents: Sequence[str], now: float
) -> db.SessionRows:
    about = session.session
    agent_id = about.agent_id if about.agent_id in agents or not agents else agents[0]
    return db.SessionRows(
        session=db.BundledSession(
            id=renaming.ids[about.id],
            title=_title(session),
            agent_id=agent_id,
            created_at=about.created_at,
            titled=int(about.titled),
            origin="page",
            head=renaming.link(about.head),
        ),
        questions=tuple(
            db.QuestionRow(
                renaming.ids[question.id],
                renaming.link(question.after_run),
                encode(question.message),
                encode([renaming.file(file) for file in question.attachments]),
                question.created_at,
            )
            for question in session.questions
        ),
        runs=tuple(_run(run, renaming, now) for run in session.runs),
        said={
            renaming.ids[run.id]: tuple(
                db.SaidRow(said.blocks, encode(renaming.said(said.message))) for said in run.messages
            )
            for run in session.runs
        },
        files=tuple(_file(file, renaming) for file in files.files),
        versions={renaming.file(file.record).id: tuple(_versions(file, renaming)) for file in files.files},
    )


def _run(run: RunRecord, renaming: Renaming, now: float) -> db.BundledRun:
    """A run that was active when the bundle was made will not go on here: it counts as stopped."""
    is_over = run.state not in ACTIVE
    return db.BundledRun(
        id=renaming.ids[run.id],
        question_id=renaming.ids[run.question_id],
        message_id=renaming.ids[run.message_id],
        state=run.state if is_over else "cancelled",
        asked=encode(run.asked),
        ending=encode(renaming.ending(_ending(run))),
        created_at=run.created_at,
        ended_at=run.ended_at if is_over and run.ended_at is not None else now,
        pruned_to=0 if run.events and is_over else 1,
        events=0,
        digested=None if run.digest is None else run.digest.messages,
        digest=None if run.digest is None else run.digest.text,
    )


def _ending(run: RunRecord) -> RunEnding:
    if run.state in ACTIVE:
        return RunEnding(stop_reason="aborted")
    return run.ending or RunEnding(stop_reason="error" if run.state == "failed" else "stop")


def _file(file: FileEntry, renaming: Renaming) -> db.BundledFile:
    record = renaming.file(file.record)
    is_upload = file.key.startswith(UPLOADS)
    text = None if file.text is None or file.text.text is None else compress_text(file.text.text)
    return db.BundledFile(
        path=renaming.upload_key(file.record.id, upload_name(file.key)) if is_upload else file.key,
        id=record.id,
        source="upload" if is_upload else record.source,
        created_at=record.created_at,
        message_id=record.message_id,
        seen=file.seen,
        text=text,
        reason=None if file.text is None else file.text.reason,
    )


def _versions(file: FileEntry, renaming: Renaming) -> Iterator[db.VersionRow]:
    for version in file.versions:
        yield db.VersionRow(
            version.number,
            version.hash,
            version.size,
            version.created_at,
            version.author,
            renaming.link(version.message_id),
            version.call_id,
            renaming.link(version.run_id),
        )


def _title(session: SessionEntry) -> str:
    return clean_title(session.session.title)[:MAX_TITLE_LENGTH]


def _terms(session: SessionEntry, renaming: Renaming) -> Iterator[tuple[str, str]]:
    """What each part of the session is found by."""
    if title := _title(session):
        yield TITLE, terms_of(title)
    for question in session.questions:
        yield renaming.ids[question.id], terms_of(question.message.text)
    for run in session.runs:
        answers = [said.message.text for said in run.messages if isinstance(said.message, AssistantMessage)]
        yield renaming.ids[run.message_id], terms_of("\n\n".join(answers))


# Events ----------------------------------------------------------------------------------------------------


def _events(run: RunRecord, bundle: Bundle, renaming: Renaming) -> Iterator[EventRow]:
    run_id = renaming.ids[run.id]
    if not run.events or run.state in ACTIVE:
        yield _only_the_end(run_id, _ending(run))
        return
    name = f"{EVENTS_FOLDER}{run.id}.sse"
    told = events_in(bundle.read(name), name)
    if not told or not isinstance(told[-1][1], MessageStop):
        raise BundleDamaged(name, "it does not reach the end of the run")
    for first, frames in _rows((number, renaming.event(event, name)) for number, event in told):
        yield EventRow(run_id, first, first + len(frames) - 1, b"".join(frames))


def _rows(events: Iterable[tuple[int, Event]]) -> Iterator[tuple[int, list[bytes]]]:
    """Rows of events whose ids follow each other, each with its first id."""
    first, frames = 0, list[bytes]()
    for number, event in events:
        if frames and (number != first + len(frames) or len(frames) >= ROW_EVENTS):
            yield first, frames
            frames = []
        if not frames:
            first = number
        frames.append(frame(number, event))
    if frames:
        yield first, frames


def _only_the_end(run_id: str, ending: RunEnding) -> EventRow:
    """As of a run whose events are no longer kept: whoever follows it is told so, and that it has ended."""
    usage = ending.usage or TurnUsage.of(Usage(), None)
    last = MessageDelta(Delta(ending.stop_reason), usage, ContextReport(0, 0))
    return EventRow(run_id, 2, 3, frame(2, last) + frame(3, MessageStop()))


# What was read ---------------------------------------------------------------------------------------------


def _ours(snapshot: Snapshot, user_id: str) -> Snapshot:
    """An address that is none of the web may be that of somebody's own file here. Links lead to the web alone."""
    is_page = _WEB.match(snapshot.url)
    return replace(
        snapshot,
        url=snapshot.url if is_page else f"{PRIVATE}{user_id}/{snapshot.id}",
        links=tuple(link for link in snapshot.links if _WEB.match(link.url)),
    )


def _file_terms(bundle: Bundle, files: FilesEntry, renaming: Renaming) -> Iterator[tuple[str, str]]:
    """What the newest version of each file says, and the text of an upload."""
    for file in files.files:
        if file.key.startswith(LARGE_RESULTS):
            continue
        if file.key.startswith(UPLOADS):
            text = ((file.text and file.text.text) or "")[:MAX_FILE_CHARACTERS]
        else:
            text = file_text(b"".join(bundle.pieces(file.versions[0].entry)))
        if terms := terms_of(text):
            yield file_part(_file(file, renaming).path), terms
