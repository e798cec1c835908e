"""Small images, and responses of the small web with an image."""

import base64

from web import PageReply

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ICO = b"\0\0\1\0\1\0\1\1\0\0\1\0\x20\0" + PNG
GIF = b"GIF89a\1\0\1\0\0\0\0;"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0" + b"\0" * 60
WEBP = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'


def picture(content: bytes, kind: str = "application/octet-stream", status: int = 200) -> PageReply:
    return PageReply(status, {"Content-Type": kind}, content)
