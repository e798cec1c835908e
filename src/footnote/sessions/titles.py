# ruff: noqa: RUF001 - the punctuation of Chinese is meant
"""The title of a session, made from its first question."""

import re
import unicodedata
from collections.abc import Iterator

from footnote.text.sentences import sentences

MAX_WIDTH = 60
"""The maximum width in letters; Chinese characters count twice."""
_MIN_WIDTH = 12
"""A shorter first sentence (`Hi!`) is followed by the next one."""
_MAX_CHARACTERS = 20_000
"""The part of a question from which the title is made."""
_UNTITLED = "…"

_FENCED = re.compile(
    r"^[ \t]{0,3}(`{3,}|~{3,})[^\n]*\n?(.*?)(?:^[ \t]{0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_TAG = re.compile(r"<!--.{0,500}?-->|</?[A-Za-z][A-Za-z0-9-]{0,20}(?:\s[^<>\n]{0,300})?/?>", re.DOTALL)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}(?:\s\"[^\"\n]{0,200}\")?\)")
_URL = re.compile(
    r"<?(?<![A-Za-z0-9])https?://(?:www\.)?([^\s<>()\"'/?#，。；！？、]+)([^\s<>()\"'，。；！？、]*)>?", re.IGNORECASE
)
_BLOCK_MARKERS = re.compile(
    r"^[ \t]*(?:(?:#{1,6}(?=\s|$)|>|[-*+•](?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s)|\|)[ \t]*)+", re.MULTILINE
)
_RULE = re.compile(r"^[ \t|:=*_-]+$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*~])(\*{1,3}|~~)(?=[^\s*~])([^\n]{1,300}?)(?<=[^\s*~])\1(?![\w*~])")
_UNDERSCORE_EMPHASIS = re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])([^\n]{1,300}?)(?<=[^\s_])\1(?!\w)")
_LEFTOVER_MARKERS = re.compile(r"`+|\*{2,}|(?<!\S)[#*]++(?!\S)|(?:(?<![ \t])[ \t]++)?\|[ \t]*+")
_INVISIBLE = re.compile(
    r"[^\S\n]|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]|[\x00-\x09\x0b-\x1f\x7f-\x9f]"
)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")


def title_of(text: str) -> str:
    """One line of at most about sixty letters, without markdown, never empty."""
    clean = text[:_MAX_CHARACTERS].encode("utf-8", "ignore").decode()
    clean = _INVISIBLE.sub(" ", unicodedata.normalize("NFC", clean.replace("\r\n", "\n").replace("\r", "\n")))
    prose = _LINK.sub(r"\1", _FENCED.sub("\n", clean))
    if _LETTER_OR_DIGIT.search(_URL.sub("", _strip_markup(prose))):
        # Among words, the host of a URL is enough.
        return _title(_strip_markup(_URL.sub(r"\1", prose)))
    if found := _URL.search(prose):
        return _truncate(f"{found[1]}{found[2]}".rstrip("/"))
    return _title(_FENCED.sub(r"\n\2\n", clean))


def clean_title(text: str) -> str:
    """A user's title on one line, without invisible characters; it may be empty."""
    clean = unicodedata.normalize("NFC", text.encode("utf-8", "ignore").decode())
    return " ".join(_INVISIBLE.sub(" ", clean).split())


def _strip_markup(text: str) -> str:
    text = _RULE.sub("", _BLOCK_MARKERS.sub("", _TAG.sub(" ", text)))
    for sign in (_EMPHASIS, _UNDERSCORE_EMPHASIS):
        text = sign.sub(r"\2", text)
    return _LEFTOVER_MARKERS.sub(" ", text)


def _title(text: str) -> str:
    """The first sentence of the first line that has letters."""
    for line in text.split("\n"):
        if _LETTER_OR_DIGIT.search(line):
            return _truncate(_first_sentences(" ".join(line.split()))) or _UNTITLED
    return _truncate(" ".join(text.split())) or _UNTITLED


def _first_sentences(line: str) -> str:
    """The first sentence, with the next ones while it is short."""
    end = 0
    for sentence in sentences(line):
        end = sentence.end
        if _LETTER_OR_DIGIT.search(line[:end]) and _width(line[:end]) >= _MIN_WIDTH:
            break
    return line[:end]


def _truncate(line: str) -> str:
    """Cuts between words where there are spaces, otherwise between characters."""
    line = line.strip().rstrip(".。:：,，;；").rstrip()
    if _width(line) <= MAX_WIDTH:
        return line
    end = max(at for at in _cut_points(line) if _width(line[:at]) < MAX_WIDTH)
    space = line.rfind(" ", 0, end + 1)
    if space * 2 > end and not _is_wide(line[end - 1]):
        end = space
    return f"{line[:end].rstrip(' .。:：,，;；、-–—')}…"


def _cut_points(line: str) -> Iterator[int]:
    """Offsets at which a line may be cut: not between a letter and its marks, nor inside an emoji."""
    yield 0
    for at in range(1, min(len(line), MAX_WIDTH + 1)):
        letter = line[at]
        if not (unicodedata.combining(letter) or letter in _JOINERS or line[at - 1] == "\u200d"):
            yield at


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(letter) else 1 + _is_wide(letter) for letter in text)


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"
