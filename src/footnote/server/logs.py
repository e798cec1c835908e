"""The log of a server on stderr, as text or JSON lines, with secrets masked."""

import logging
import os
import platform
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

from footnote import tracing
from footnote.config.settings import LogSettings

MASK = "***"
FIELDS = ("run_id", "session_id", "trace_id", "error", "route", "status", "seconds", "user_id")
"""Extra fields of a line: ids, names and numbers, and no text of users, models or pages."""

_PATTERNS = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {MASK}"),
    (
        re.compile(r"(?i)([?&][a-z0-9_.-]*(?:token|key|signature|sig|password|secret|credential)=)[^&\s\"'#<>]+"),
        rf"\1{MASK}",
    ),
    (re.compile(r"\b(?:fn_|fnc_|fnl_|sk-)[A-Za-z0-9_-]{16,}"), MASK),
)
"""Strings that look like secrets, beside the known ones."""
_WORD = re.compile(r"[^\s\"'<>]++")
_USER = re.compile(r"://[^/@:]*+:")


def replica() -> str:
    """Identifies this process among several servers."""
    return f"{platform.node() or 'here'}/{os.getpid()}"


class Scrubber:
    """Masks secrets in a text: the known ones, passwords in URLs, and what looks like a secret."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = "|".join(re.escape(secret) for secret in secrets)
        self._known = re.compile(known) if known else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MASK, text)
        if "://" in text and "@" in text:
            text = _WORD.sub(_mask_password, text)
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        return text


def _mask_password(match: re.Match[str]) -> str:
    """`https://user:password@host` as `https://***@host`. A password may hold an `@`, so the last one counts."""
    word = match.group()
    user, end = _USER.search(word), word.rfind("@")
    return f"{word[: user.start()]}://{MASK}{word[end:]}" if user and user.end() <= end else word


class TextFormatter(logging.Formatter):
    def __init__(self, scrub: Scrubber) -> None:
        super().__init__()
        self._scrub = scrub

    def format(self, record: logging.LogRecord) -> str:
        time = _time(record.created)
        parts = [f"{time} {record.levelname} {_message(record)}", self._traceback(record)]
        return self._scrub("\n".join(part for part in parts if part))

    def _traceback(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info) if record.exc_info and record.exc_info[0] else ""


class JsonFormatter(TextFormatter):
    """One object a line, with the ids of the current run and trace."""

    def __init__(self, scrub: Scrubber) -> None:
        super().__init__(scrub)
        self._replica = replica()

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._scrub(_message(record)),
            "replica": self._replica,
        }
        line |= tracing.log_fields()
        line |= {field: _plain(value) for field, value in vars(record).items() if field in FIELDS}
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            line["traceback"] = self._scrub(self._traceback(record))
        return msgspec.json.encode(line).decode()


def configure_logging(settings: LogSettings, secrets: Iterable[str], stream: TextIO | None = None) -> None:
    """Replaces all handlers, so that libraries log in the same format."""
    handler = logging.StreamHandler(stream or sys.stderr)
    scrub = Scrubber(secrets)
    handler.setFormatter(JsonFormatter(scrub) if settings.format == "json" else TextFormatter(scrub))
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    root = logging.getLogger()
    for old in tuple(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    # Libraries log below WARNING only if the level is DEBUG.
    root.setLevel(level if level <= logging.DEBUG else max(level, logging.WARNING))
    logging.getLogger("footnote").setLevel(level)
    logging.getLogger("footnote.tracing").setLevel(logging.NOTSET)
    logging.captureWarnings(capture=True)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    """Surrogates are escaped, because they cannot be encoded."""
    return record.getMessage().encode("utf-8", "backslashreplace").decode()


def _plain(value: Any) -> str | int | float:
    return value if isinstance(value, int | float) else str(value)
