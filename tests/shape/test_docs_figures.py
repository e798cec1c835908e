"""The figures of the documentation (limits, time-outs, intervals, sizes) are those of the code."""

from pathlib import Path

import pytest

from footnote.accounts import accounts, credentials
from footnote.agent import calls, repair
from footnote.bundles import manifest
from footnote.bundles.importer import MAX_NAMED_PROBLEMS
from footnote.client.api import RetryPolicy
from footnote.config.settings import LimitSettings
from footnote.db.postgresql import connection, driver
from footnote.db.sqlite.driver import RESERVE_BYTES
from footnote.documents import images as document_images
from footnote.documents.inspection import archives
from footnote.documents.markdown.inlines import MAX_FORMULAS
from footnote.evidence import claims, file_proof, verdict
from footnote.models.accumulate import MAX_ARGUMENTS
from footnote.protocol import files as file_values
from footnote.protocol import sessions as session_values
from footnote.sandbox.pool import SandboxPool
from footnote.server import http_server, limits, multipart, requests, responses
from footnote.server.compat import requests as compat
from footnote.server.route import MAX_BODY_BYTES
from footnote.server.routes import files as file_routes
from footnote.server.routes import page as page_routes
from footnote.server.routes import views
from footnote.sessions import executor, file_citations, follow, journal, renditions, store, supervisor
from footnote.storage import s3
from footnote.text.search_terms import MAX_FILE_CHARACTERS
from footnote.tools import mcp, provenance, wrappers, written_files
from footnote.tools.mcp import adapter, client
from footnote.web_search import images as site_images
from footnote.web_search import pipeline, provider_client, result
from footnote.web_search.crawl import download, fetch, robots
from footnote.workspace import blobs, downloads, files, paths
from footnote.workspace import uploads as workspace_uploads
from shape.tree import ROOT

MILLION = 1_000_000
MIB = 1024 * 1024
HOUR, DAY = 3600, 86_400
NUMBERS = {1: "one", 2: "two", 4: "four", 5: "five", 8: "eight", 20: "twenty"}
LIMITS = LimitSettings()
PAGE = download.CrawlLimits()
CONVERSIONS = SandboxPool().queues["convert"]._limits


def when(statement: str, *equal: tuple[float, float]) -> str:
    """A statement that holds as long as each constant has the value that is spelled out in it."""
    changed = [pair for pair in equal if pair[0] != pair[1]]
    return f"{statement} (the code says {changed})" if changed else statement


FIGURES = {
    "docs/architecture.md": (
        f"up to {journal.FLUSH_SECONDS * 1000:g} ms before they are stored",
        f"in one transaction for all runs every {journal.FLUSH_SECONDS * 1000:g} ms",
        f"and every {NUMBERS[int(follow.FALLBACK_POLL_SECONDS)]} seconds anyway",
        f"one row to renew, every {NUMBERS[int(supervisor.SHARED_LEASE_SECONDS / 3)]} seconds",
        f"{NUMBERS[supervisor._CLAIM_BATCH]} at a time, with higher fences",
        f"lease runs out ({supervisor.SHARED_LEASE_SECONDS:g} s shared",
        when("the third adoption without progress", (executor.MAX_ADOPTIONS, 3)),
    ),
    "docs/bundles.md": (
        when("deletes them an hour after the end of a run", (supervisor.EVENT_RETENTION_SECONDS, HOUR)),
        (
            f"({manifest.MAX_ENTRIES:,} entries, {manifest.MAX_BYTES / 1000**3:g} GB; an upload to a server "
            f"{file_routes.MAX_BUNDLE_BYTES / 1024**3:g} GiB)"
        ),
        f"the names of the first {NUMBERS[MAX_NAMED_PROBLEMS]} problems",
        f"This is version {manifest.VERSION};",
    ),
    "docs/cli.md": (
        f"{credentials.MIN_PASSWORD_LENGTH} to {credentials.MAX_PASSWORD_LENGTH:,} characters",
        when("waited for up to a minute", (RetryPolicy().total, 60)),
    ),
    "docs/compatible-apis.md": (f"at most {compat.MAX_MESSAGES:,} messages and {compat.MAX_BODY_BYTES // MILLION} MB",),
    "docs/observing.md": (f"no answer within {s3.STALL_SECONDS:g} seconds",),
    "docs/operations.md": (
        f"waited for {http_server.CLOSE_TIMEOUT_SECONDS:g} s",
        f"for {journal.RETRY_SECONDS:g} s or more ends with an error",
        when("waits for a minute and exits with 1", (http_server.DATABASE_WAIT_SECONDS, 60)),
        f"`footnote.db-reserve` (up to {RESERVE_BYTES // MIB} MB)",
        f"up to {supervisor.SHARED_LEASE_SECONDS / 3:g} s longer",
        f"adopted, after {supervisor.SHARED_LEASE_SECONDS:g} to {supervisor.SHARED_LEASE_SECONDS * 4 / 3:g} s",
        when("idle for five minutes", (connection.IDLE_SECONDS, 300)),
        when("`spool` (cleaned after an hour)", (blobs.STALE_SECONDS, HOUR)),
        f"`max_connections` | {driver.READERS + driver.WRITERS + 2} for each replica",
    ),
    "docs/scale.md": (
        f"one transaction every {journal.FLUSH_SECONDS * 1000:g} ms",
        f"claims {supervisor._CLAIM_BATCH} runs at a look",
    ),
    "docs/search.md": (
        f"under one deadline: {NUMBERS[int(pipeline.CRAWL_TIMEOUT_SECONDS)]} seconds",
        f"at most {result.MAX_EXCERPT_BYTES} bytes each and {result.MAX_EXCERPT_TOKENS:,} tokens together",
        f"waits for its turn up to {provider_client.MAX_QUEUE_SECONDS:g} seconds",
        when(
            f"{provider_client.BLOCK_COOLDOWN_SECONDS:g} seconds to 10 minutes; an hour at most",
            (provider_client.MAX_HOLD_SECONDS, HOUR),
        ),
        f"{provider_client.KEY_COOLDOWN_SECONDS / 60:g} minutes after a refused key",
        when(
            f"{provider_client.ERROR_COOLDOWN_SECONDS / 60:g} minute after three failures",
            (provider_client.ERROR_THRESHOLD, 3),
        ),
        f"at most {NUMBERS[fetch.MAX_REDIRECTS]} redirects",
        f"At most {NUMBERS[fetch.MAX_PER_HOST]} requests at a time go to one host",
        f"hangs for {NUMBERS[int(fetch.SLOT_SECONDS)]} seconds, or half of a shorter deadline",
        f"{PAGE.max_text_bytes // MILLION} MB of text",
        f"a PDF or an Office document {PAGE.max_document_bytes // MILLION} MB",
        f"a request, {PAGE.timeout_seconds:g} seconds",
        when(
            "at most a day (five minutes if it says nothing)",
            (download.MAX_TTL_SECONDS, DAY),
            (download.DEFAULT_TTL_SECONDS, 300),
        ),
        f"first {claims.MAX_CHARACTERS:,} characters of a text, judges at most {verdict.MAX_CITATIONS:,} of them",
        (
            f"{verdict.MAX_COMPARISONS:,} comparisons of a statement with a page, of "
            f"{verdict.MAX_COMPARED_CHARACTERS // MILLION} million characters"
        ),
    ),
    "docs/server.md": (
        f"valid for {accounts.LOGIN_SECONDS / 60:g} minutes",
        f"deleted {store.ABANDONED_SECONDS / DAY:g} days after its last file",
        f"`limit` (30, at most {store.MAX_LISTED})",
        f"first {MAX_FILE_CHARACTERS:,} characters",
        f"up to {session_values.MAX_CLIENT_ID_LENGTH} letters",
        f"`note` ({session_values.MAX_NOTE_LENGTH:,} characters)",
        f"1 to {multipart.MAX_FILES} files",
        f"over {file_routes.MAX_INLINE_BYTES // MILLION} MB, `content` is null",
        f"`limit?` (200, at most {views.MAX_ROWS:,})",
        (
            f"up to {page_routes.MAX_IMAGE_BYTES // MILLION} MB, by its first bytes, "
            f"within {page_routes.IMAGE_SECONDS:g} seconds"
        ),
        when(
            "cached for a week in the folder `favicons` of the home folder, a missing one for a day",
            (site_images.ICON_TTL_SECONDS, 7 * DAY),
            (site_images.MISSING_ICON_TTL_SECONDS, DAY),
        ),
        f"{accounts.COOKIE_SECONDS / DAY:g} days without use",
        f"after {responses.PING_SECONDS:g} seconds of silence",
        when("(an hour after the end of the run)", (supervisor.EVENT_RETENTION_SECONDS, HOUR)),
        when("works for an hour", (downloads.EXPIRY_SECONDS, HOUR)),
        f"reads {renditions.TABLE_PAGE_ROWS:,} rows at a time",
        f"`limits.requestsPerMinute` ({LIMITS.requests_per_minute})",
        f"`limits.runsPerUser` ({LIMITS.runs_per_user})",
        f"`limits.runsAtOnce` ({LIMITS.runs_at_once})",
        f"`limits.approvalSeconds` ({LIMITS.approval_seconds:,})",
        f"`limits.uploadBytes` ({LIMITS.upload_bytes // MIB} MiB)",
        f"`limits.storageBytesPerUser` ({LIMITS.storage_bytes_per_user // 1024**3} GiB)",
        f"tokens of a user | {accounts.MAX_TOKENS} |",
        (
            f"a body | {MAX_BODY_BYTES // MILLION} MB; on the compatible endpoints "
            f"{compat.MAX_BODY_BYTES // MILLION} MB and "
            f"{compat.MAX_MESSAGES:,} messages; an edit of a file {file_routes.MAX_EDIT_BYTES // MILLION} MB"
        ),
        when(f"shown in a frame | {file_values.MAX_TEXT_LENGTH // MILLION} MB", (views.MAX_FRAME_BYTES, 20 * MILLION)),
        f"{renditions.MAX_TABLE_BYTES // MILLION} MB, or what can be read in {renditions.TABLE_SECONDS:g} seconds",
        f"a bundle | {file_routes.MAX_BUNDLE_BYTES // 1024**3} GiB",
        f"{session_values.MAX_QUESTION_LENGTH:,} characters, {session_values.MAX_ATTACHMENTS} attachments",
        (
            f"{limits.MAX_HEADER_BYTES // 1024} KiB, within {limits.HEADER_TIMEOUT_SECONDS:g} seconds; its body within "
            f"{requests.BODY_SECONDS}"
        ),
        when("without a minute of silence", (requests.BODY_STALL_SECONDS, 60)),
        f"{limits.MAX_IDLE_CONNECTIONS:,}; beyond that the longest silent one",
    ),
    "docs/tools.md": (
        when(f"may have {calls.MAX_CALLS} calls, each with 2,000,000 characters", (MAX_ARGUMENTS, 2 * MILLION)),
        f"in parallel, {NUMBERS[calls.MAX_PARALLEL]} at a time",
        when("failed twice in a row", (calls.MAX_REPEATS, 3)),
        f"more than about {wrappers.MAX_OUTPUT_TOKENS:,} tokens",
        f"{NUMBERS[wrappers.MAX_IMAGES]} at most",
        f"does not answer within {mcp.CONNECT_TIMEOUT_SECONDS:g} seconds",
        f"cut after {adapter._MAX_DESCRIPTION:,} characters",
        f"inside its schema after {adapter._MAX_SCHEMA_TEXT}",
        f"more than {adapter._MAX_SCHEMA_BYTES:,} bytes or {adapter._MAX_DEPTH} levels",
        f"At most {client._MAX_TOOLS} tools",
        when("is tried twice more", (wrappers.MAX_RETRIES, 2)),
        f"names over {paths.MAX_NAME_BYTES} bytes",
    ),
    "docs/workspace.md": (
        f"up to {files.MAX_IMAGE_BYTES:,} bytes and {files.MAX_IMAGE_SIDE:,} pixels",
        f"at most {executor.MAX_IMAGES} images and {executor.MAX_IMAGE_BYTES // MILLION} MB in a request",
        f"at most {archives.MAX_FILES:,} files and {archives.MAX_ARCHIVE_BYTES // MILLION} MB",
        (
            f"takes more than {workspace_uploads.READ_SECONDS:g} seconds, or has more than "
            f"{workspace_uploads.MAX_READ_BYTES // MILLION} MB"
        ),
        (
            f"{renditions.MAX_SOURCE_BYTES // MILLION} MB of text, {renditions.MAX_TABLE_ROWS:,} table rows, "
            f"{document_images.MAX_IMAGES} pictures of {renditions.MAX_IMAGE_BYTES // MILLION} MB together, "
            f"{MAX_FORMULAS} formulas, {renditions.CONVERT_SECONDS:g} seconds"
        ),
        f"up to {blobs.INLINE_BYTES // 1024} KiB in the database",
        when(
            "leftovers of a crash after an hour, converted documents after a day",
            (blobs.LOOSE_SECONDS, HOUR),
            (blobs.RENDITION_SECONDS, DAY),
        ),
        f"{NUMBERS[CONVERSIONS.max_waiting_per_user]} conversions waiting",
        f"(all users together {CONVERSIONS.max_waiting})",
        f"more than {NUMBERS[int(workspace_uploads.WAIT_SECONDS)]} seconds is stored",
        f"up to {written_files.MAX_LISTED} of those that",
        f"with up to {repair.MAX_LISTED} of them a file",
        f"after {written_files.JUDGE_SECONDS:g} seconds of judging",
        f"{written_files.MAX_ARTIFACT_CITATIONS:,} footnotes",
        f"A text of up to {file_citations.MAX_TEXT_BYTES // MILLION} MB is judged",
        f"a piece of about {file_proof.PIECE_CHARACTERS:,} characters",
    ),
    "SECURITY.md": (
        (
            f"up to {provenance.MAX_PER_TURN} in a turn, with at most {provenance.MAX_QUERY} characters of query, "
            f"{provenance.MAX_PATH} of path and {provenance.MAX_HOST} of host"
        ),
        f"(at most {robots.MAX_BYTES // 1024} KiB)",
    ),
}
"""Statements as the pages make them, with the constants of the code in the place of the figures."""


@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_of_a_page_are_those_of_the_code(name: str) -> None:
    text = _on_one_line(ROOT / name)
    assert [statement for statement in FIGURES[name] if statement not in text] == []


def _on_one_line(path: Path) -> str:
    """So that a statement may be wrapped anywhere."""
    return " ".join(path.read_text(encoding="utf-8").split())
