"""What must hold of a session and of its files before anything is reckoned from them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

from footnote.bundles.form import DEEPEST, FILES, SESSION, BundleDamaged, FileEntry, FilesEntry, SessionEntry, shown
from footnote.bundles.opening import Bundle
from footnote.protocol.errors import UsageError
from footnote.protocol.messages import AssistantMessage, ToolResultMessage
from footnote.workspace.paths import UPLOADS, key_of, upload_key, upload_name

MOST_VERSIONS = 10**9


def check_tree(session: SessionEntry) -> None:
    """Every run answers a question, and every question follows a run that is older than its own: so nothing goes in a
    circle."""
    ids = [run.id for run in session.runs]
    ids += [*(one.id for one in session.questions), *(run.message_id for run in session.runs)]
    if len(set(ids)) < len(ids):
        raise BundleDamaged(SESSION, "two things in it have the same id")
    runs = {run.id for run in session.runs}
    questions = {question.id: question for question in session.questions}
    for run in session.runs:
        question = questions.get(run.question_id)
        if question is None or (question.after_run is not None and question.after_run >= run.id):
            raise BundleDamaged(SESSION, f"{run.id} does not follow from what was asked")
    named = {question.after_run for question in session.questions} | {session.session.head}
    if named - runs - {None} or {run.question_id for run in session.runs} != set(questions):
        raise BundleDamaged(SESSION, "it names runs or questions that are not in it")
    for moment in (session.session.created_at, *(question.created_at for question in session.questions)):
        _check_moment(moment, SESSION)
    for said in (said for run in session.runs for said in run.messages):
        message = said.message
        if message.timestamp is not None:
            _check_moment(message.timestamp, SESSION)
        calls = message.calls if isinstance(message, AssistantMessage) else ()
        _check_depth([call.arguments for call in calls])
        _check_depth(message.artifact if isinstance(message, ToolResultMessage) else None)


def _check_depth(value: Any) -> None:
    """Not by recursion, of which there may be too much."""
    level, depth = [value], 0
    while level := [inner for outer in level for inner in _parts(outer)]:
        depth += 1
        if depth > DEEPEST:
            raise BundleDamaged(SESSION, "a value in it is nested too deeply")


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("Iterable[Any]", value) if isinstance(value, list | tuple) else ()


def check_files(files: FilesEntry, bundle: Bundle) -> None:
    listed = {entry.name: entry for entry in bundle.manifest.entries}
    keys = [_key(file) for file in files.files]
    if len(set(keys)) < len(keys):
        raise BundleDamaged(FILES, "two files have the same path")
    if len({file.record.id for file in files.files}) < len(keys):
        raise BundleDamaged(FILES, "two files have the same id")
    for file in files.files:
        numbers = [version.number for version in file.versions]
        counted = numbers == sorted(set(numbers), reverse=True) and 1 <= numbers[-1] <= numbers[0] <= MOST_VERSIONS
        if not counted or file.seen > numbers[0]:
            raise BundleDamaged(FILES, f"the versions of {shown(file.key)} are out of order")
        for moment in (file.record.created_at, *(version.created_at for version in file.versions)):
            _check_moment(moment, FILES)
        for version in file.versions:
            entry = listed.get(version.entry)
            if entry is None or (entry.sha256, entry.size) != (version.hash, version.size):
                raise BundleDamaged(
                    FILES, f"version {version.number} of {shown(file.key)} has no content with its hash"
                )


def _check_moment(text: str, entry: str) -> None:
    """Others reckon with it."""
    try:
        is_moment = 1970 <= datetime.fromisoformat(text).year <= 2100
    except ValueError:
        is_moment = False
    if not is_moment:
        raise BundleDamaged(entry, f"{shown(text)} is no moment")


def _key(file: FileEntry) -> str:
    """The path, if it is one that a file of a session may have."""
    try:
        if file.key.startswith(UPLOADS):
            owner, _, rest = file.key.removeprefix(UPLOADS).partition("/")
            is_right = file.key == upload_key(owner, rest.partition("/")[0], upload_name(file.key))
        else:
            is_right = file.key == key_of(file.key)
    except UsageError as error:
        raise BundleDamaged(FILES, error.message.rstrip(".")) from None
    if not is_right:
        raise BundleDamaged(FILES, f"{shown(file.key)} is not the path of a file")
    return file.key


def text_of(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise BundleDamaged(name, "it is not text in UTF-8") from None
