"""The body of a response as it comes in: taken out of its compression, and never more of it than is wanted."""

import zlib

from footnote.web_search.crawl.fetch import PageFailed

MAX_EXPANSION_RATIO = 150
"""Text shrinks to a tenth, tables and logs to a fiftieth. What is larger than its cap and shrank more than this was
made to be expanded."""

MAX_MEMBERS = 1_000
"""Files of many members exist; millions of empty ones only cost time."""

_UNREQUESTED_ENCODINGS = frozenset(
    ("br", "zstd", "compress", "x-compress", "bzip2", "x-bzip2", "xz", "lzma", "dcb", "dcz")
)
"""What else there is. A header can say anything, and why a page could not be read is told to a model."""

_GZIP = b"\x1f\x8b"
_HEADER_BYTES = 2


class Body:
    """Feed it until it is `full` or the response ends. `wire` counts what came, `data` holds what that was."""

    def __init__(self, encoding: str | None, limit: int) -> None:
        self.data = bytearray()
        self.wire_bytes = 0
        self.limit = limit
        self._inflater = _Inflater() if _is_compressed(encoding) else None

    @property
    def is_full(self) -> bool:
        return len(self.data) >= self.limit or self.wire_bytes >= self.limit

    @property
    def is_truncated(self) -> bool:
        """Whether there is more than was taken. A compressed body that ends early ends before its mark."""
        return self.is_full or (self._inflater is not None and bool(self.data) and not self._inflater.is_complete)

    def feed(self, chunk: bytes) -> None:
        self.wire_bytes += len(chunk)
        room = self.limit - len(self.data)
        if self._inflater is None:
            self.data += chunk[:room]
            return
        self.data += self._inflater.inflate(chunk, room)
        if self.is_full and len(self.data) > MAX_EXPANSION_RATIO * (self.wire_bytes - self._inflater.leftover):
            raise PageFailed("too_large", f"it expands to more than {self.limit:,} bytes: a decompression bomb")


class _Inflater:
    """gzip of any number of members, zlib, or deflate without a header: servers mix the names of the three up.

    What follows the last member is padding or garbage and left out, as browsers do. `left` counts what there was no
    room for.
    """

    def __init__(self) -> None:
        self.leftover = 0
        self._members = 0
        self._header = b""
        self._in_member = False
        self._current = zlib.decompressobj()
        self._has_trailing_garbage = False

    @property
    def is_complete(self) -> bool:
        """Whether all that came is whole."""
        return not self._in_member and self._members > 0

    def inflate(self, chunk: bytes, max_bytes: int) -> bytes:
        """At most `room` bytes: what is beyond is never made, however much it would be."""
        output = bytearray()
        try:
            while chunk and len(output) < max_bytes and not self._has_trailing_garbage:
                if not self._in_member:
                    chunk = self._begin_member(chunk)
                    continue
                output += self._current.decompress(chunk, max_bytes - len(output))
                chunk = self._current.unconsumed_tail
                if self._current.eof:
                    chunk = self._current.unused_data
                    self._in_member = False
                    self._members += 1
        except zlib.error:
            raise PageFailed("unreadable", "its compression is broken") from None
        self.leftover = len(chunk)
        return bytes(output)

    def _begin_member(self, chunk: bytes) -> bytes:
        """Holds the first bytes of a member back until they tell what it is."""
        head = self._header + chunk
        if len(head) < _HEADER_BYTES:
            self._header = head
            return b""
        is_gzip = head.startswith(_GZIP)
        if self._members and not is_gzip:
            self._has_trailing_garbage = True
            return b""
        if self._members >= MAX_MEMBERS:
            raise PageFailed("too_large", f"it is compressed in more than {MAX_MEMBERS:,} pieces")
        is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:_HEADER_BYTES], "big") % 31 == 0
        bits = 16 + zlib.MAX_WBITS if is_gzip else zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS
        self._header, self._in_member, self._current = b"", True, zlib.decompressobj(bits)
        return head


def _is_compressed(encoding: str | None) -> bool:
    match (encoding or "identity").strip().lower():
        case "identity":
            return False
        case "gzip" | "x-gzip" | "deflate":
            return True
        case other:
            how = f"as {other!r}" if other in _UNREQUESTED_ENCODINGS else "in an unknown way"
            raise PageFailed("unreadable", f"it is compressed {how}, which was not asked for")
