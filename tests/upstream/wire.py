"""The encoding of server-sent events: the regular form, and the oddities of real servers."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Wire:
    """The default is the regular form; each field is an oddity of some server in use."""

    piece: int | Literal["event", "random"] = "event"
    """Bytes of each TCP write: one event, this number, or a random number."""
    crlf: bool = False
    space: bool = True
    comments: bool = False
    event_lines: bool = True
    last_newline: bool = True
    ascii_json: bool = False

    # OpenAI-compatible servers only
    reasoning: Literal["reasoning_content", "reasoning", "reasoning_details"] = "reasoning_content"
    usage_everywhere: bool = False
    usage_choices: Literal["empty", "null"] = "empty"
    call_index: Literal["own", "none", "same"] = "own"
    repeat_name: bool = False
    done_line: bool = True

    def frame(self, payload: Any, name: str | None) -> bytes:
        """One server-sent event. A payload that is text is sent as it is (`[DONE]`)."""
        text = payload if isinstance(payload, str) else _json(payload, ascii_only=self.ascii_json)
        lines = [": PROCESSING", ""] if self.comments else []
        if name is not None and self.event_lines:
            lines.append(f"event: {name}")
        lines += [f"data:{' ' if self.space else ''}{text}", "", ""]
        return ("\r\n" if self.crlf else "\n").join(lines).encode()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Splits `data` into the pieces that are written."""
        if self.piece == "event":
            yield data
            return
        rng = random.Random(len(data))  # the same cuts in every run
        at = 0
        while at < len(data):
            size = rng.randint(1, 40) if self.piece == "random" else self.piece
            yield data[at : at + size]
            at += size


def _json(payload: Any, *, ascii_only: bool) -> str:
    return json.dumps(payload, ensure_ascii=ascii_only, separators=(",", ":"))
