"""Pages that were found and what was read from them."""

from typing import Literal, TypeAlias

from msgspec import Struct

Verdict: TypeAlias = Literal["supported", "partial", "unsupported"]


class Citation(Struct, frozen=True):
    """One footnoted sentence. `start` and `end` are offsets in the block's text, the quote's are offsets in the
    snapshot of source `number`; both count code points."""

    marker: str
    number: int
    start: int
    end: int
    verdict: Verdict
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
