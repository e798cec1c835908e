"""Findings: the statements that the readers of a plan hand over, each with the footnotes that support it. Pure."""

from msgspec import Struct

from footnote.protocol.sources import Citation


class Finding(Struct, frozen=True):
    """One statement of an item: `text` has its footnotes, such as `[3]`. `citations` are its verdicts, with offsets in
    `text`. `is_disputed`: another source says otherwise."""

    item_id: str
    text: str
    citations: tuple[Citation, ...]
    is_disputed: bool = False
