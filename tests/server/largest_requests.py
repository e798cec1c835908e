"""The largest requests that each route accepts: longest URLs, and bodies up to their limits."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from footnote.server.route import Route
from server.forms import BOUNDARY, CONTENT_TYPE, END, form, part

JSON = "application/json"
MAX_PATH_LENGTH = 50_000
"""The limit of a request head is 64 KB."""


@dataclass(frozen=True)
class LargeRequest:
    """One request. `name`: what is large about it."""

    name: str
    method: str
    path: str
    data: bytes | None = None
    content_type: str = JSON


def large_addresses(route: Route, known: dict[str, str]) -> Iterator[LargeRequest]:
    """A long text in each path parameter, and in each field of the query."""
    names = [one.partition("}")[0] for one in route.path.split("{")[1:]]
    for name in names:
        for fill in ("a", "%25", "../"):
            long = fill * (MAX_PATH_LENGTH // len(fill))
            yield LargeRequest(f"{name} of {fill}", route.method, fill_path(route.path, {**known, name: long}))
    path = fill_path(route.path, known)
    fields = [one.encode_name for one in msgspec.structs.fields(route.query)] if route.query else ["x"]
    for field in fields:
        for fill in ("a", "%C3%A9", "[1] ", "1"):
            value = quote(fill, safe="%") * (MAX_PATH_LENGTH // len(quote(fill, safe="%")))
            yield LargeRequest(f"{field}={fill}…", route.method, f"{path}?{field}={value}")
    yield LargeRequest(
        "fifty fields", route.method, f"{path}?{'&'.join(f'{fields[0]}={number}' for number in range(50))}"
    )
    yield LargeRequest("many fields", route.method, f"{path}?{'&'.join('a=b' for _ in range(MAX_PATH_LENGTH // 4))}")


def fill_path(path: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def large_bodies(route: Route, known: dict[str, str]) -> Iterator[LargeRequest]:
    """JSON of every shape in every field, as large as the route accepts."""
    assert route.body is not None
    path, most = fill_path(route.path, known), route.max_body_bytes - 1_000
    fields = ["not_a_field", *(one.encode_name for one in msgspec.structs.fields(route.body))]
    every = tuple(large_values(most))
    for number, field in enumerate(fields):
        # All shapes in the first two fields, and each shape in some field of every route.
        for shape, value in every if number < 2 else (every[number % len(every)], every[(number + 5) % len(every)]):
            yield LargeRequest(f"{field}: {shape}", route.method, path, b'{"%b":%b}' % (field.encode(), value))
    same = b",".join([b'"not_a_field":0'] * (most // 16))
    yield LargeRequest("one field again and again", route.method, path, b"{%b}" % same)
    yield LargeRequest("many fields", route.method, path, b"{%b}" % _keys(most))
    yield LargeRequest("nothing but a list", route.method, path, b"[" * most)


def large_values(size: int) -> Iterator[tuple[str, bytes]]:
    yield "a long text", b'"%b"' % (b"word and " * (size // 9))
    yield "a text of escapes", b'"%b"' % (b"\\u00e9" * (size // 6))
    yield "escaped backslashes", b'"%b"' % (b"\\\\u0000" * (size // 7))
    yield "empty lists, and what looks like a NUL", b'["\\\\u0000"%b]' % (b",[]" * (size // 3 - 5))
    yield "numbers", b"[0%b]" % (b",0" * (size // 2))
    yield "objects", b"[{}%b]" % (b",{}" * (size // 3))
    yield "texts", b'[""%b]' % (b',""' * (size // 3))
    yield "keys", b"{%b}" % _keys(size)
    yield "depth", b"[" * (size // 2) + b"]" * (size // 2)
    yield "a long number", b"1" * size


def _keys(size: int) -> bytes:
    return b",".join(b'"%d":0' % number for number in range(size // 11))


def large_forms(path: str) -> Iterator[LargeRequest]:
    """Large uploads, and uploads that are expensive to parse."""
    boundary = BOUNDARY.encode()
    head = b'--%b\r\nContent-Disposition: form-data; name="files"; ' % boundary
    megabytes = 30_000_000
    for name, data in (
        ("a large file", form(("large.txt", b"word and \n" * (megabytes // 10)))),
        ("a file of line ends", form(("ends.txt", b"\r\n--" * (megabytes // 4)))),
        ("a file of boundaries", form(("near.txt", (b"\r\n--" + boundary[:-1]) * (megabytes // 30)))),
        ("many parts", b"".join(part(None, b"") for _ in range(20_000)) + END),
        ("a long file name", head + b'filename="%b"\r\n\r\nx\r\n' % (b"a" * megabytes) + END),
        ("many options", head + b"a=b; " * (megabytes // 5) + b"\r\n\r\nx\r\n" + END),
        ("many headers", head[:-2] + b"\r\n" + b"a: b\r\n" * (megabytes // 6) + b"\r\nx\r\n" + END),
    ):
        yield LargeRequest(name, "POST", path, data, CONTENT_TYPE)


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()
