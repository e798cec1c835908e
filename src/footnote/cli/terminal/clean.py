"""Removes what would control a terminal from the text of models and tools: whole escape sequences (CSI, OSC and
related, ESC plus a letter), then every C0 and C1 control but newline and tab, and the characters that reorder text on
the screen (bidi embeddings, overrides and isolates).
"""

import re

_PAYLOAD = r"[^\x00-\x1f\x7f-\x9f]{0,1024}"
_CSI = r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}"
_STRING = rf"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_PAYLOAD}"
_ESCAPE = r"\x1b[ -/]{0,8}"
_STEERING = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"

_suspect = re.compile(f"[{_STEERING}]")
_harmful = re.compile(
    rf"{_CSI}[@-~]|{_STRING}(?:\x07|\x9c|\x1b\\)|{_ESCAPE}[0-OQ-WYZ\\`-~]|[{_STEERING}]",
)
# What more text may complete to a sequence: exactly the prefixes of the alternatives above.
_unfinished = re.compile(rf"(?:{_CSI}|{_STRING}\x1b?|{_ESCAPE})\Z")
# In JSON, C0 controls are escaped already; these are the others, as UTF-8.
_harmful_in_json = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
_breaks = re.compile(r"[\t\n\u2028\u2029]+")


class Cleaner:
    """Cleans a text that comes in pieces; the result does not depend on where it was cut."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending = ""

    def push(self, text: str) -> str:
        """The cleaned text so far. The beginning of a sequence is held back until it is complete."""
        if not self._pending and not _suspect.search(text):
            return text
        text = self._pending + text
        unfinished = _unfinished.search(text)
        self._pending = unfinished.group() if unfinished else ""
        return _harmful.sub("", text[: len(text) - len(self._pending)])

    def flush(self) -> str:
        """The text that was held back, at the end of the stream."""
        rest, self._pending = self._pending, ""
        return _harmful.sub("", rest)


def clean(text: str) -> str:
    """A whole text without control sequences."""
    return _harmful.sub("", text) if _suspect.search(text) else text


def clean_line(text: str) -> str:
    """The same on one line, for titles, file names and messages."""
    return _breaks.sub(" ", clean(text))


def escape_json(data: bytes) -> bytes:
    """The same JSON, with every control character as an escape."""
    return _harmful_in_json.sub(lambda found: b"\\u%04x" % ord(found.group().decode()), data)
