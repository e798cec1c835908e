"""The transactions of blobs: contents by their hash, and the places of the storage that hold them.

A blob is inserted in the transaction that first refers to it, and triggers delete it with the last reference. A place
of the storage is recorded as loose before its bytes are written, and until a blob has it: so the sweep finds the
objects that a crash leaves behind.
"""

from msgspec import Struct

from footnote.db.leases import current_time
from footnote.db.script import Steps, script, sql, sql_for_key_share, sql_many


class BlobGone(Exception):
    """The blob existed when it was looked up, and was deleted with its last reference since. Store it again."""


class StoredBlob(Struct, frozen=True):
    """A content that can be referred to. It is in `content` or at `place`; in neither: the blob exists already."""

    hash: str
    size: int
    place: str | None = None
    content: bytes | None = None


class BlobLocation(Struct, frozen=True):
    """Where a content is: in `content`, or at `place` in the storage."""

    size: int
    place: str | None
    content: bytes | None


@script
def ensure_blob(blob: StoredBlob) -> Steps[None]:
    """Inserts the blob unless it exists, in the transaction that refers to it."""
    # Another transaction may insert the same blob between the SELECT and the INSERT; the second SELECT finds it.
    while not (yield sql_for_key_share("SELECT 1 FROM blob WHERE hash = ?", blob.hash)):
        if blob.place is None and blob.content is None:
            raise BlobGone
        inserted = yield sql(
            """
            INSERT INTO blob (hash, size, place, content) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING RETURNING 1
            """,
            blob.hash,
            blob.size,
            blob.place,
            blob.content,
        )
        # The sweep may have removed the object meanwhile.
        if inserted and blob.place is not None and not (yield from _claim_place(blob.place)):
            raise BlobGone


def _claim_place(place: str) -> Steps[bool]:
    """Whether the place was loose and not yet claimed by the sweep. It is not loose any more."""
    return bool((yield sql("DELETE FROM loose_place WHERE place = ? AND since > 0 RETURNING 1", place)))


@script
def has_blob(content_hash: str) -> Steps[bool]:
    return bool((yield sql("SELECT 1 FROM blob WHERE hash = ?", content_hash)))


@script
def blob_location(content_hash: str) -> Steps[BlobLocation | None]:
    rows = yield sql("SELECT size, place, content FROM blob WHERE hash = ?", content_hash)
    return BlobLocation(*rows[0]) if rows else None


@script
def add_loose_place(place: str, now: float) -> Steps[None]:
    """Called before bytes are written there."""
    yield sql("INSERT INTO loose_place (place, since) VALUES (?, ?)", place, (yield from current_time(now)))


@script
def claim_loose_places(seconds: float, now: float, limit: int) -> Steps[list[str]]:
    """Places that are loose for longer than `seconds`. They are marked, so that no blob gets them any more."""
    before = (yield from current_time(now)) - seconds
    rows = yield sql(
        """
        UPDATE loose_place SET since = 0
        WHERE place IN (SELECT place FROM loose_place WHERE since < ? ORDER BY since LIMIT ?) RETURNING place
        """,
        before,
        limit,
    )
    return [place for (place,) in rows]


@script
def delete_loose_places(places: list[str]) -> Steps[None]:
    yield sql_many("DELETE FROM loose_place WHERE place = ?", [(place,) for place in places])


# Renditions ------------------------------------------------------------------------------------------------


class RenditionRow(Struct, frozen=True):
    """`notes` is a JSON list."""

    hash: str
    notes: bytes


@script
def rendition(session_id: str, key: str) -> Steps[RenditionRow | None]:
    rows = yield sql("SELECT hash, notes FROM rendition WHERE session_id = ? AND key = ?", session_id, key)
    return RenditionRow(*rows[0]) if rows else None


@script
def store_rendition(session_id: str, file_id: str, key: str, blob: StoredBlob, notes: bytes, now: float) -> Steps[bool]:
    """The rendition is deleted with its file. False: the file does not exist any more."""
    if not (yield sql_for_key_share("SELECT 1 FROM workspace_file WHERE id = ?", file_id)):
        return False
    yield from ensure_blob(blob)
    yield sql(
        """
        INSERT INTO rendition (session_id, file_id, key, hash, notes, created_at) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (session_id, key) DO UPDATE
        SET hash = excluded.hash, notes = excluded.notes, created_at = excluded.created_at
        """,
        *(session_id, file_id, key, blob.hash, notes, now),
    )
    return True


@script
def touch_rendition(session_id: str, key: str, now: float) -> Steps[bool]:
    """Extends the lifetime of a rendition that is used again. False: it was deleted."""
    rows = yield sql(
        "UPDATE rendition SET created_at = ? WHERE session_id = ? AND key = ? RETURNING 1", now, session_id, key
    )
    return bool(rows)


@script
def delete_renditions(before: float) -> Steps[None]:
    yield sql("DELETE FROM rendition WHERE created_at < ?", before)


# What may be handed out ------------------------------------------------------------------------------------


@script
def has_content(user_id: str, session_id: str, content_hash: str) -> Steps[bool]:
    """Whether a file or a rendition of this session of this user has the content."""
    rows = yield sql(
        """
        SELECT 1 FROM session JOIN account ON account.id = session.user_id
        WHERE session.user_id = ? AND session.id = ? AND account.disabled = 0 AND (
            EXISTS (
                SELECT 1 FROM workspace_file JOIN file_version ON file_version.file_id = workspace_file.id
                WHERE workspace_file.session_id = session.id AND file_version.hash = ?
            )
            OR EXISTS (SELECT 1 FROM rendition WHERE rendition.session_id = session.id AND rendition.hash = ?)
        )
        """,
        user_id,
        session_id,
        content_hash,
        content_hash,
    )
    return bool(rows)


@script
def get_or_create_secret(name: str, fresh: bytes) -> Steps[bytes]:
    """The secret of this name; `fresh` becomes the secret if there is none."""
    yield sql("INSERT INTO secret (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", name, fresh)
    ((value,),) = yield sql("SELECT value FROM secret WHERE name = ?", name)
    return value
