"""Checks of texts that others wrote: each is a session of its own, with a run that needs no model."""

import hashlib
from contextlib import suppress

from footnote.evidence.check_report import WORDS
from footnote.evidence.claims import MAX_CHARACTERS
from footnote.net.guard import AddressRefused, PageUrl
from footnote.protocol.errors import FileChanged, FootnoteError, TooLarge, UsageError
from footnote.protocol.sessions import NewCheck, NewMessage, StartedRun, parse_locale
from footnote.protocol.tools import Locale
from footnote.sessions.runner import Runner
from footnote.sessions.store import Sessions
from footnote.text.languages import detect_language
from footnote.text.markdown import markdown_to_text
from footnote.tools.approval import NO_APPROVER

TEXT_PATH = "/text.md"
MAX_TITLE = 80
_DETECTION_LENGTH = 2_000


async def start_check(sessions: Sessions, runner: Runner, user_id: str, agent_id: str, new: NewCheck) -> StartedRun:
    """Creates a session with the text, and starts the run that checks it. `UsageError`: it cannot be checked."""
    text, url = (new.text or "").strip("\ufeff"), (new.url or "").strip()
    _validate(text, url)
    locale = parse_locale(new.locale) or _locale_of(text)
    question = WORDS[locale].question.format(url or _title_of(text))
    session_id = await _open_session(sessions, user_id, agent_id, new.client_id)
    try:
        attachments: tuple[str, ...] = ()
        if text:
            with suppress(FileChanged):  # the same check again
                await sessions.workspace(user_id, session_id).put(TEXT_PATH, text, base_hash=None)
            attachments = (TEXT_PATH,)
        message = NewMessage(question, attachments, locale=locale, client_id=new.client_id)
        return await runner.start(user_id, session_id, message, approver=NO_APPROVER, mode="check")
    except FootnoteError:
        if new.client_id is None:  # otherwise the session may be that of the same check, which is under way
            with suppress(FootnoteError):  # the error that comes first is the one to tell
                await sessions.delete(user_id, session_id)
        raise


async def _open_session(sessions: Sessions, user_id: str, agent_id: str, client_id: str | None) -> str:
    """The session of a check. That of a check with an id of the client follows from the id, so that two requests with
    it, also at the same time, are one check."""
    if client_id is None:
        return (await sessions.create(user_id, agent_id)).id
    session_id = f"session_{hashlib.sha256(f'{user_id} {client_id}'.encode()).hexdigest()[:28]}"
    return (await sessions.create(user_id, agent_id, session_id=session_id)).id


def _locale_of(text: str) -> Locale:
    """By the share of its letters: an English text may name a Vietnamese town."""
    language = detect_language(text[:_DETECTION_LENGTH])
    return "en" if language == "other" else language


def _validate(text: str, url: str) -> None:
    if bool(text.strip()) == bool(url):
        raise UsageError(
            "Give either a text or the url of a page, so that there is one thing to check.", code="check_needs_one"
        )
    if len(text) > MAX_CHARACTERS:
        raise TooLarge(
            f"The text has {len(text):,} characters, and {MAX_CHARACTERS:,} can be checked at once. Check it in parts.",
            code="check_too_long",
            size=len(text),
            max=MAX_CHARACTERS,
        )
    if url:
        try:
            PageUrl.parse(url)
        except AddressRefused as error:
            raise UsageError(
                f"The page cannot be checked: {error.message}.", code="check_url", reason=error.message
            ) from error


def _title_of(text: str) -> str:
    """The first words of a text, without an address: that of the page to check stands in the same place."""
    lines = (" ".join(line.split()) for line in markdown_to_text(text[: 20 * MAX_TITLE]).split("\n"))
    words = next((line for line in lines if any(map(str.isalnum, line))), "")
    kept = " ".join(word for word in words.split(" ") if "://" not in word)
    return kept if len(kept) <= MAX_TITLE else f"{kept[:MAX_TITLE].rstrip()}…"
