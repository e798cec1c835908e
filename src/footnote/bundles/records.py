"""From the rows of a session to what a bundle says of it."""

from collections.abc import Sequence
from typing import cast

from footnote.bundles.form import (
    FILES_FOLDER,
    VERSIONS_FOLDER,
    DigestRecord,
    FileEntry,
    FilesEntry,
    QuestionRecord,
    RunRecord,
    SaidRecord,
    SessionEntry,
    SessionRecord,
    TextRecord,
    VersionRecord,
)
from footnote.db import bundles as db
from footnote.protocol.files import Author, FileOrigin
from footnote.protocol.sessions import ACTIVE, Origin, RunState
from footnote.sessions import turns as stored
from footnote.workspace.records import record_of
from footnote.workspace.stored import decompress_text
from footnote.workspace.zip import HarmlessNames


def session_entry(whole: db.SessionRows) -> SessionEntry:
    row = whole.session
    return SessionEntry(
        SessionRecord(
            id=row.id,
            title=row.title,
            agent_id=row.agent_id,
            created_at=row.created_at,
            titled=bool(row.titled),
            origin=cast("Origin", row.origin),
            head=row.head,
        ),
        tuple(_question(question) for question in whole.questions),
        tuple(_run(run, whole.said[run.id]) for run in whole.runs),
    )


def _question(row: db.QuestionRow) -> QuestionRecord:
    return QuestionRecord(
        id=row.id,
        after_run=row.after_run,
        message=stored.question_decoder.decode(row.body),
        attachments=stored.files_decoder.decode(row.attachments),
        created_at=row.created_at,
    )


def _run(row: db.BundledRun, said: Sequence[db.SaidRow]) -> RunRecord:
    is_whole = row.state not in ACTIVE and row.pruned_to <= 0 and bool(row.events)
    return RunRecord(
        id=row.id,
        question_id=row.question_id,
        message_id=row.message_id,
        # A bundle is read by versions that know no other state of a run that is not over.
        state="running" if row.state == "waiting" else cast("RunState", row.state),
        asked=stored.request_decoder.decode(row.asked),
        ending=None if row.ending is None else stored.ending_decoder.decode(row.ending),
        created_at=row.created_at,
        ended_at=row.ended_at,
        events=is_whole,
        digest=None if row.digest is None else DigestRecord(row.digested or 0, row.digest),
        messages=tuple(SaidRecord(one.blocks, stored.message_decoder.decode(one.body)) for one in said),
    )


def files_entry(whole: db.SessionRows, user_id: str, address: str) -> FilesEntry:
    """`address`: what stands before the key of an upload."""
    names = HarmlessNames()
    owner = (user_id, whole.session.id)
    return FilesEntry(tuple(_file(file, whole.versions[file.id], owner, address, names) for file in whole.files))


def _file(
    row: db.BundledFile, versions: Sequence[db.VersionRow], owner: tuple[str, str], address: str, names: HarmlessNames
) -> FileEntry:
    user_id, session_id = owner
    record = record_of(
        user_id,
        None if row.plain_url else session_id,
        row.path,
        file_id=row.id,
        source=cast("FileOrigin", row.source),
        created_at=row.created_at,
        message_id=row.message_id,
        address=address,
    )
    text = None
    if row.reason is not None:
        text = TextRecord(None if row.text is None else _unpacked(row.text), row.reason)
    current = FILES_FOLDER + names.unique_path(row.path)
    return FileEntry(
        record=record,
        key=row.path,
        seen=row.seen,
        versions=(_version(versions[0], current), *(_version(one, VERSIONS_FOLDER + one.hash) for one in versions[1:])),
        text=text,
    )


def _version(row: db.VersionRow, entry: str) -> VersionRecord:
    return VersionRecord(
        row.number,
        row.hash,
        row.size,
        row.created_at,
        cast("Author", row.author),
        row.message_id,
        row.call_id,
        entry=entry,
        run_id=row.run_id,
    )


def _unpacked(text: bytes) -> str:
    return decompress_text(text).encode("utf-8", "replace").decode()
