"""What the first bytes of a file say that it is."""

import re

from msgspec import Struct

from footnote.documents.wide_encodings import detect_wide_encoding, to_utf_8

EXECUTABLE_TYPES = frozenset(
    (
        "application/x-msdownload",
        "application/x-elf",
        "application/x-mach-binary",
        "application/wasm",
        "application/x-ms-shortcut",
    )
)
"""What runs, or starts something else, when somebody opens it."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "a PNG image"),
    (b"\xff\xd8\xff", "image/jpeg", "a JPEG image"),
    (b"GIF87a", "image/gif", "a GIF image"),
    (b"GIF89a", "image/gif", "a GIF image"),
    (b"II*\0", "image/tiff", "a TIFF image"),
    (b"MM\0*", "image/tiff", "a TIFF image"),
    (b"\0\0\1\0", "image/x-icon", "an icon"),
    (b"PK\x03\x04", "application/zip", "a zip file"),
    (b"PK\x05\x06", "application/zip", "a zip file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", "an old Office document"),
    (b"ID3", "audio/mpeg", "sound"),
    (b"fLaC", "audio/flac", "sound"),
    (b"OggS", "audio/ogg", "sound"),
    (b"MThd", "audio/midi", "sound"),
    (b"#!AMR", "audio/amr", "sound"),
    (b"\xff\xf1", "audio/aac", "sound"),
    (b"\xff\xf9", "audio/aac", "sound"),
    (b"\x1aE\xdf\xa3", "video/webm", "a video"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf", "a video"),
    (b"\0\0\1\xba", "video/mpeg", "a video"),
    (b"\0\0\1\xb3", "video/mpeg", "a video"),
    (b"\x7fELF", "application/x-elf", "a program for Linux"),
    (b"\0asm", "application/wasm", "a program"),
    # The size of the header, and the class id of a shell link.
    (b"L\0\0\0\x01\x14\x02\0\0\0\0\0\xc0\0\0\0\0\0\0F", "application/x-ms-shortcut", "a shortcut of Windows"),
    *(
        (start, "application/x-mach-binary", "a program for macOS")
        for start in (
            b"\xfe\xed\xfa\xce",
            b"\xfe\xed\xfa\xcf",
            b"\xce\xfa\xed\xfe",
            b"\xcf\xfa\xed\xfe",
            b"\xca\xfe\xba\xbe",
        )
    ),
    (b"\x1f\x8b", "application/gzip", "a gzip archive"),
    (b"BZh", "application/x-bzip2", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "application/x-xz", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "application/zstd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "a 7z archive"),
    (b"Rar!\x1a\x07", "application/vnd.rar", "a RAR archive"),
    (b"SQLite format 3\0", "application/vnd.sqlite3", "a database"),
    (b"wOFF", "font/woff", "a font"),
    (b"wOF2", "font/woff2", "a font"),
    (b"OTTO", "font/otf", "a font"),
    (b"\0\1\0\0\0", "font/ttf", "a font"),
)
_CHUNKS = {
    b"WEBP": ("image/webp", "a WebP image"),
    b"WAVE": ("audio/wav", "sound"),
    b"AVI ": ("video/x-msvideo", "a video"),
}
_BRANDS = {
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"hevx", b"mif1", b"msf1"), ("image/heic", "a HEIC image")),
    **dict.fromkeys((b"avif", b"avis"), ("image/avif", "an AVIF image")),
    **dict.fromkeys((b"M4A ", b"M4B "), ("audio/mp4", "sound")),
    b"qt  ": ("video/quicktime", "a video"),
}
_TEXT_CONTROLS = b"\t\n\v\f\r\b\x1b"
_CONTROLS = bytes(byte for byte in range(32) if byte not in _TEXT_CONTROLS) + b"\x7f"
_WIDE_CONTROLS = re.compile("[\0-\x07\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
"""As the above, and those that have other meanings in an encoding of one byte. A zero also stands for what no text
has."""
_SHORT = 10
"""Characters of a text in which one that is odd is still a stray one."""
_UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")


class FileSignature(Struct, frozen=True):
    """`name` is with its article, for a sentence."""

    media_type: str
    name: str


def detect_signature(head: bytes) -> FileSignature | None:
    """None: a text, or something unknown."""
    for start, media_type, name in _BEGINNINGS:
        if head.startswith(start):
            return FileSignature(media_type, name)
    return _container_signature(head) or _layout_signature(head)


def _container_signature(head: bytes) -> FileSignature | None:
    """Formats that say further on what they hold."""
    kind = None
    if head[:4] == b"RIFF":
        kind = _CHUNKS.get(head[8:12])
    elif head[:4] == b"FORM" and head[8:11] == b"AIF":
        kind = ("audio/aiff", "sound")
    elif head[4:8] == b"ftyp":
        kind = _BRANDS.get(head[8:12], ("video/mp4", "a video"))
    elif head[4:8] in (b"moov", b"mdat", b"wide"):
        kind = ("video/quicktime", "a video")
    return FileSignature(*kind) if kind else None


def _layout_signature(head: bytes) -> FileSignature | None:
    """What is not told by its first bytes alone, which a text could have as well."""
    if head[:2] == b"MZ" and b"\0" in head[:128]:
        return FileSignature("application/x-msdownload", "a program for Windows")
    if b"%PDF-" in head[:1024]:
        return FileSignature("application/pdf", "a PDF")
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0" and len(head) >= 26:
        return FileSignature("image/bmp", "a BMP image")
    if head[257:262] == b"ustar":
        return FileSignature("application/x-tar", "a tar archive")
    # The frames of an MP3: a mark of eleven bits, and then a version, layer and rate that exist.
    first = int.from_bytes(head[:2], "big")
    if first & 0xFFE0 == 0xFFE0 and first & 0x06 and head[:2] not in _UTF_16_BOMS and head[2:3] and head[2] >> 4 < 15:
        return FileSignature("audio/mpeg", "sound")
    return None


def is_text(head: bytes) -> bool:
    """Whether these are letters, in whatever encoding; a stray control character does not matter."""
    odd_ones, all_of_them = _count_odd(head)
    return odd_ones * 100 <= all_of_them or (odd_ones == 1 and all_of_them >= _SHORT)


def is_named_text(head: bytes) -> bool:
    """The same of a file whose name says that it is one: it may have more that is odd, and be filled up with zeros, as
    logs are after a crash."""
    bare = head.strip(b"\0")
    odd_ones, all_of_them = _count_odd(bare)
    return is_text(head) or (bool(bare) and odd_ones * 20 <= all_of_them)


def _count_odd(head: bytes) -> tuple[int, int]:
    """How many characters no text has, and how many there are."""
    if detect_wide_encoding(head, "") is None:
        return len(head) - len(head.translate(None, _CONTROLS)), len(head)
    text = to_utf_8(head, "").decode()
    return len(_WIDE_CONTROLS.findall(text)), len(text)
