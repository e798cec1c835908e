"""What a bundle says of its files, held against their contents and against the calls that wrote them."""

import hashlib
from collections.abc import Iterator
from urllib.parse import unquote

from footnote.bundles.contents import spoken_in
from footnote.bundles.form import FILES, FILES_FOLDER, VERSIONS_FOLDER, FileEntry, FilesEntry, SessionEntry, shown
from footnote.bundles.opening import Bundle, BundleProblem
from footnote.documents.inspection.signatures import detect_signature, is_text
from footnote.documents.reading import read_text
from footnote.protocol.files import FileVersion
from footnote.protocol.messages import AssistantMessage
from footnote.sandbox.jobs import DocumentText, ReadText
from footnote.workspace.paths import LARGE_RESULTS, UPLOADS, filename_of
from footnote.workspace.records import icon_of
from footnote.workspace.upload_reader import MAX_READ_BYTES

WRITE_FILE = "write_file"
_HEAD = 8_192
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_TAKEN_APART = ("html", "htm", "xhtml", "rtf")
"""Texts of which not all is read: their markup is left out, or they are not read at all."""


def wrong_places(files: FilesEntry) -> Iterator[BundleProblem]:
    """What a file holds now stands under its name; what it held before, under its hash."""
    for file in files.files:
        now, *before = file.versions
        if not now.entry.startswith(FILES_FOLDER):
            yield BundleProblem(FILES, "wrong", f"{shown(file.key)} is not among the files")
        for version in before:
            if version.entry != f"{VERSIONS_FOLDER}{version.hash}":
                yield BundleProblem(FILES, "wrong", f"{_version(version, file)} is not under its hash")
        if not _is_of(file):
            yield BundleProblem(FILES, "wrong", f"the record of {shown(file.key)} is that of another file")
    current = [file.versions[0].entry for file in files.files]
    if len(set(current)) < len(current):
        yield BundleProblem(FILES, "wrong", "two files have the same content entry")


def _is_of(file: FileEntry) -> bool:
    record, filename = file.record, filename_of(file.key)
    return (
        record.path.endswith(file.key)
        and unquote(record.url.partition("?")[0]).endswith(file.key)
        and (record.filename, record.icon_type) == (filename, icon_of(filename))
        and record.source == ("upload" if file.key.startswith(UPLOADS) else "generated")
    )


def wrong_authors(session: SessionEntry, files: FilesEntry) -> Iterator[BundleProblem]:
    """The agent writes in a call of a message, and such a version holds what the call was given to write. Only results
    that are too long for a message are kept without one. What a user writes belongs to none."""
    calls = _calls(session)
    messages = {run.message_id for run in session.runs}
    for file in files.files:
        for version in file.versions:
            by = (version.message_id, version.call_id)
            if version.author == "user":
                if by != (None, None):
                    yield BundleProblem(FILES, "wrong", f"{_version(version, file)} is a user's, and names a message")
            elif version.call_id is None and file.key.startswith(LARGE_RESULTS) and version.message_id in messages:
                continue
            elif by not in calls:
                yield BundleProblem(FILES, "wrong", f"{_version(version, file)} is the agent's, and no call wrote it")
            elif (given := calls[by]) and version.hash not in given:
                call_id = shown(version.call_id or "")
                yield BundleProblem(
                    FILES, "wrong", f"{_version(version, file)} is not what {call_id} was given to write"
                )


def _calls(session: SessionEntry) -> dict[tuple[str | None, str | None], set[str]]:
    """All calls by message and id, with the hashes of what they were given to write, where it is known."""
    calls: dict[tuple[str | None, str | None], set[str]] = {}
    for spoken in spoken_in(session):
        for call in spoken.message.calls if isinstance(spoken.message, AssistantMessage) else ():
            given = calls.setdefault((spoken.run.message_id, call.id), set())
            content = call.arguments.get("content")
            if call.name == WRITE_FILE and isinstance(content, str):
                given.add(hashlib.sha256(content.encode("utf-8", "replace")).hexdigest())
    return calls


def _version(version: FileVersion, file: FileEntry) -> str:
    return f"version {version.number} of {shown(file.key)}"


class UploadTexts:
    """The texts that were read of uploads. `unread`: how many of them nothing can be said of, because reading such
    files again is no matter of a few lines: PDF, Word and the like. Known once `findings` are made."""

    def __init__(self, files: FilesEntry, bundle: Bundle) -> None:
        self._files = files
        self._bundle = bundle
        self.unread = 0

    def findings(self) -> Iterator[BundleProblem]:
        for file in self._files.files:
            if file.text is None:
                continue
            if not file.key.startswith(UPLOADS):
                yield BundleProblem(
                    FILES, "wrong", f"{shown(file.key)} is no upload, and has a text beside its content"
                )
                continue
            if file.text.text is None and file.text.reason:
                continue  # it could not be read then, and says why
            text = self._plain(file)
            if text is None:
                self.unread += bool(file.text.text)
            elif text != file.text.text:
                yield BundleProblem(FILES, "wrong", f"the text of {shown(file.key)} is not what the file says")

    def _plain(self, file: FileEntry) -> str | None:
        """What is read of a file that is itself a text. None: it is none, or its encoding would have to be guessed."""
        now, filename = file.versions[0], filename_of(file.key)
        if now.size > MAX_READ_BYTES or filename.lower().rpartition(".")[2] in _TAKEN_APART:
            return None
        content = b"".join(self._bundle.pieces(now.entry))
        head = content[:_HEAD]
        if head and (detect_signature(head) is not None or not is_text(head) or not _is_certain(content)):
            return None
        said = read_text(ReadText(content=content, filename=filename, media_type="text/plain"))
        return said.text if isinstance(said, DocumentText) else None


def _is_certain(content: bytes) -> bool:
    if content.startswith(_MARKS):
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
