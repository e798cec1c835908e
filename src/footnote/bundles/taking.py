"""From a bundle of a stranger to the rows of a session: everything is checked here, before anything is stored."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from footnote.bundles.contents import head_of
from footnote.bundles.events import events_in
from footnote.bundles.form import (
    EVENTS_FOLDER,
    FILES,
    MANIFEST,
    SESSION,
    SNAPSHOTS,
    SNAPSHOTS_FOLDER,
    Damaged,
    FileEntry,
    FilesEntry,
    RunRecord,
    SessionEntry,
    SnapshotRecord,
    SnapshotsEntry,
    read_json,
    shown,
)
from footnote.bundles.opening import Bundle, opened
from footnote.bundles.renaming import Renaming
from footnote.db import bundles as db
from footnote.db.blobs import Kept
from footnote.db.library import Entry
from footnote.db.runs import EventRow
from footnote.db.sessions import TITLE
from footnote.library.packing import pack
from footnote.protocol.errors import UsageError
from footnote.protocol.events import ContextReport, Delta, Event, MessageDelta, MessageStop, TurnUsage
from footnote.protocol.history import SessionHead
from footnote.protocol.messages import AssistantMessage, Usage
from footnote.protocol.sessions import LONGEST_TITLE
from footnote.protocol.sources import Snapshot, snapshot_id
from footnote.protocol.sse import frame
from footnote.sessions.history import ACTIVE
from footnote.sessions.terms import terms_of
from footnote.sessions.titles import clean_title
from footnote.sessions.turns import Ending, encode
from footnote.workspace.paths import UPLOADS, filename_of, key_of, upload_key
from footnote.workspace.stored import packed

MOST_NAMED = 5
MOST_VERSIONS = 10**9
ROW_EVENTS = 500
PRIVATE = "footnote:bundles/"
"""Before texts that were read from no page of the web: they are a user's own, and so is their address."""
_WEB = re.compile(r"https?://", re.IGNORECASE)


class Prepared(Struct, frozen=True):
    """A session that can be stored once its `contents` are kept, which are entries of the bundle."""

    head: SessionHead
    contents: tuple[str, ...]
    rows: db.Taken

    def taken(self, kept: tuple[Kept, ...]) -> db.Taken:
        return replace(self.rows, kept=kept)


def prepared(file: Path, user_id: str, address: str, agents: Sequence[str], now: float) -> Prepared:
    """`NotABundle`, `Damaged`: it cannot be taken, and why."""
    with opened(file) as bundle:
        _refuse_damaged(bundle)
        session = read_json(_entry(bundle, SESSION), SessionEntry, SESSION)
        files = read_json(_entry(bundle, FILES), FilesEntry, FILES)
        read = read_json(_entry(bundle, SNAPSHOTS), SnapshotsEntry, SNAPSHOTS)
        if head_of(session) != bundle.manifest.session:
            raise Damaged(MANIFEST, f"it tells of another session than {SESSION}")
        check_tree(session)
        check_files(files, bundle)
        renaming = Renaming(session, files, user_id, address)
        whole = _whole(session, files, renaming, agents, now)
        events = tuple(row for run in session.runs for row in _events(run, bundle, renaming))
        entries = tuple(_kept_aside(record, bundle, user_id) for record in read.snapshots)
    contents = {version.hash: version.entry for one in files.files for version in one.versions}
    row = whole.session
    return Prepared(
        SessionHead(row.id, row.title, row.agent_id, row.created_at),
        tuple(contents.values()),
        db.Taken(whole=whole, events=events, terms=tuple(_terms(session, renaming)), kept=(), read=entries),
    )


def _refuse_damaged(bundle: Bundle) -> None:
    findings = list(islice(bundle.findings(), MOST_NAMED + 1))
    if findings:
        some = "; ".join(f"{shown(one.entry)} ({one.problem})" for one in findings[:MOST_NAMED])
        more = "; …" if len(findings) > MOST_NAMED else ""
        raise Damaged(
            findings[0].entry, f"the bundle is not the one that was exported: {some}{more}. Nothing was taken"
        )


def _entry(bundle: Bundle, name: str) -> bytes:
    if name not in bundle.entries:
        raise Damaged(name, "it is not in the bundle")
    return bundle.read(name)


# What must hold --------------------------------------------------------------------------------------------


def check_tree(session: SessionEntry) -> None:
    """Every run answers a question, and every question follows a run that is older than its own: so nothing goes in a
    circle."""
    runs = {run.id for run in session.runs}
    questions = {question.id: question for question in session.questions}
    for run in session.runs:
        question = questions.get(run.question_id)
        if question is None or (question.after_run is not None and question.after_run >= run.id):
            raise Damaged(SESSION, f"{run.id} does not follow from what was asked")
    named = {question.after_run for question in session.questions} | {session.session.head}
    if named - runs - {None} or {run.question_id for run in session.runs} != set(questions):
        raise Damaged(SESSION, "it names runs or questions that are not in it")
    for moment in (session.session.created_at, *(question.created_at for question in session.questions)):
        _check_moment(moment, SESSION)


def check_files(files: FilesEntry, bundle: Bundle) -> None:
    listed = {entry.name: entry for entry in bundle.manifest.entries}
    keys = [_key(file) for file in files.files]
    if len(set(keys)) < len(keys):
        raise Damaged(FILES, "two files have the same path")
    for file in files.files:
        numbers = [version.number for version in file.versions]
        counted = numbers == sorted(set(numbers), reverse=True) and 1 <= numbers[-1] <= numbers[0] <= MOST_VERSIONS
        if not counted or file.seen > numbers[0]:
            raise Damaged(FILES, f"the versions of {shown(file.key)} are out of order")
        for moment in (file.record.created_at, *(version.created_at for version in file.versions)):
            _check_moment(moment, FILES)
        for version in file.versions:
            entry = listed.get(version.entry)
            if entry is None or (entry.sha256, entry.size) != (version.hash, version.size):
                raise Damaged(FILES, f"version {version.number} of {shown(file.key)} has no content with its hash")


def _check_moment(text: str, entry: str) -> None:
    """Others reckon with it."""
    try:
        is_moment = 1970 <= datetime.fromisoformat(text).year <= 2100
    except ValueError:
        is_moment = False
    if not is_moment:
        raise Damaged(entry, f"{shown(text)} is no moment")


def _key(file: FileEntry) -> str:
    """The path, if it is one that a file of a session may have."""
    try:
        if file.key.startswith(UPLOADS):
            owner, _, rest = file.key.removeprefix(UPLOADS).partition("/")
            is_right = file.key == upload_key(owner, rest.partition("/")[0], filename_of(file.key))
        else:
            is_right = file.key == key_of(file.key)
    except UsageError as error:
        raise Damaged(FILES, error.message.rstrip(".")) from None
    if not is_right:
        raise Damaged(FILES, f"{shown(file.key)} is not the path of a file")
    return file.key


# Rows ------------------------------------------------------------------------------------------------------


def _whole(session: SessionEntry, files: FilesEntry, renaming: Renaming, agents: Sequence[str], now: float) -> db.Whole:
    about = session.session
    agent_id = about.agent_id if about.agent_id in agents or not agents else agents[0]
    return db.Whole(
        session=db.SessionRow(
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


def _run(run: RunRecord, renaming: Renaming, now: float) -> db.RunRow:
    """A run that was active when the bundle was made will not go on here: it counts as stopped."""
    is_over = run.state not in ACTIVE
    return db.RunRow(
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


def _ending(run: RunRecord) -> Ending:
    if run.state in ACTIVE:
        return Ending(stop_reason="aborted")
    return run.ending or Ending(stop_reason="error" if run.state == "failed" else "stop")


def _file(file: FileEntry, renaming: Renaming) -> db.FileRow:
    record = renaming.file(file.record)
    is_upload = file.key.startswith(UPLOADS)
    text = None if file.text is None or file.text.text is None else packed(file.text.text)
    return db.FileRow(
        path=renaming.upload_key(file.record.id, filename_of(file.key)) if is_upload else file.key,
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
        )


def _title(session: SessionEntry) -> str:
    return clean_title(session.session.title)[:LONGEST_TITLE]


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
    told = events_in(_entry(bundle, name), name)
    if not told or not isinstance(told[-1][1], MessageStop):
        raise Damaged(name, "it does not reach the end of the run")
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


def _only_the_end(run_id: str, ending: Ending) -> EventRow:
    """As of a run whose events are no longer kept: whoever follows it is told so, and that it has ended."""
    usage = ending.usage or TurnUsage.of(Usage(), None)
    last = MessageDelta(Delta(ending.stop_reason), usage, ContextReport(0, 0))
    return EventRow(run_id, 2, 3, frame(2, last) + frame(3, MessageStop()))


# What was read ---------------------------------------------------------------------------------------------


def _kept_aside(record: SnapshotRecord, bundle: Bundle, user_id: str) -> Entry:
    name = f"{SNAPSHOTS_FOLDER}{record.id}.txt"
    text = text_of(_entry(bundle, name), name)
    if snapshot_id(text) != record.id:
        raise Damaged(name, "its text is not the one that its name stands for")
    return pack(_ours(record.with_text(text), user_id), searchable=False)


def text_of(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise Damaged(name, "it is not text in UTF-8") from None


def _ours(snapshot: Snapshot, user_id: str) -> Snapshot:
    """An address that is none of the web may be that of somebody's own file here. Links lead to the web alone."""
    is_page = _WEB.match(snapshot.url)
    return replace(
        snapshot,
        url=snapshot.url if is_page else f"{PRIVATE}{user_id}/{snapshot.id}",
        links=tuple(link for link in snapshot.links if _WEB.match(link.url)),
    )
