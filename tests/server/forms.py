"""Multipart forms, as browsers send them and malformed ones."""

from server.harness import ApiClient, ApiResponse

BOUNDARY = "----footnote7MA4YWxkTrZu0gW"
CONTENT_TYPE = f"multipart/form-data; boundary={BOUNDARY}"


def part(filename: str | None, content: bytes, *, name: str = "files", kind: str = "application/octet-stream") -> bytes:
    """`filename` None: a field that is not a file."""
    named = "" if filename is None else f'; filename="{_escape(filename)}"'
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{named}\r\nContent-Type: {kind}\r\n\r\n'
    return head.encode("utf-8", "surrogatepass") + content + b"\r\n"


def form(*files: tuple[str, bytes]) -> bytes:
    return b"".join(part(filename, content) for filename, content in files) + END


END = f"--{BOUNDARY}--\r\n".encode()


def _escape(filename: str) -> str:
    """Escapes as browsers do: only quotes and line ends."""
    return filename.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


async def upload_files(client: ApiClient, session_id: str, *files: tuple[str, bytes]) -> ApiResponse:
    """Uploads the files in one request."""
    return await client.server.request(
        "POST",
        f"/v2/sessions/{session_id}/files",
        token=client.token,
        data=form(*files),
        content_type=CONTENT_TYPE,
    )
