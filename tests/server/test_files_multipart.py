"""Multipart forms are parsed in any pieces, and malformed ones are refused with a message."""

import random
import secrets
import tracemalloc
from collections.abc import AsyncIterator, Iterable

import pytest

from footnote.protocol.errors import TooLarge, UsageError, WrongKind
from footnote.server.multipart import MAX_FILES, iter_parts
from server.forms import BOUNDARY, CONTENT_TYPE, END, form, part


async def _chunks(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _read(body: bytes, cuts: Iterable[bytes] | None = None, kind: str = CONTENT_TYPE) -> list[tuple[str, bytes]]:
    parts = iter_parts(kind, _chunks([body] if cuts is None else cuts))
    return [(one.filename, b"".join([piece async for piece in one])) async for one in parts]


FILES = [
    ("report.md", b"# Report\r\n\r\n--" + BOUNDARY.encode() + b"-not\r\n"),
    ("báo cáo 报告.pdf", secrets.token_bytes(3000)),
    ("empty.txt", b""),
    ("dashes.txt", b"\r\n--\r\n----\r\n--" + BOUNDARY.encode()[:10]),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000, 1_000_000])
async def test_the_files_are_the_same_however_the_body_is_cut(size: int):
    body = form(*FILES)
    cuts = (body[at : at + size] for at in range(0, len(body), size))
    assert await _read(body, cuts) == FILES


async def test_the_files_are_the_same_when_the_body_is_cut_at_random():
    rng = random.Random(5)
    body = form(*FILES)
    for _ in range(50):
        places = sorted(rng.sample(range(len(body)), 12))
        cuts = [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]
        assert await _read(body, cuts) == FILES


async def test_fields_and_empty_choices_are_passed_over():
    body = part(None, b"a field") + part("", b"") + part("a.txt", b"a") + part(None, b"another") + END
    assert await _read(body) == [("a.txt", b"a")]


async def test_a_part_that_is_not_read_to_its_end_is_passed_over():
    body = form(("a.txt", b"a" * 100_000), ("b.txt", b"b"))
    names: list[str] = []
    async for one in iter_parts(CONTENT_TYPE, _chunks(body[at : at + 1000] for at in range(0, len(body), 1000))):
        names.append(one.filename)
        await anext(one)
    assert names == ["a.txt", "b.txt"]


@pytest.mark.parametrize(
    ("disposition", "filename"),
    [
        ('form-data; name="f"; filename="a b.txt"', "a b.txt"),
        ("form-data; name=f; filename=a.txt", "a.txt"),
        ('form-data; name="f"; filename="t%C3%A0i%20li%E1%BB%87u%20100%25.pdf"', "tài liệu 100%.pdf"),
        ('form-data; name="f"; filename="a%20b.txt"', "a%20b.txt"),
        ('form-data; name="f"; filename="100%25.txt"', "100%25.txt"),
        ('form-data; name="f"; filename="b%E1o.txt"', "b%E1o.txt"),
        ('form-data; name="f"; filename="b_o.txt"; filename*=UTF-8\'\'b%C3%A1o.txt', "báo.txt"),
        ("form-data; name=\"f\"; filename*=utf-8''b%C3%A1o%3B.txt", "báo;.txt"),
        ('form-data; name="f"; filename="a\\"b.txt"', 'a"b.txt'),
        ('form-data; name="f"; filename="a%22b%25.txt"', 'a"b%25.txt'),
        ('form-data; name="f"; filename="C:\\fakepath\\a.txt"', "a.txt"),
        ('form-data; filename="\xff.txt"', "\ufffd.txt"),
    ],
)
async def test_the_name_is_read_as_browsers_and_programs_write_it(disposition: str, filename: str):
    head = f"--{BOUNDARY}\r\ncontent-disposition: {disposition}\r\n\r\n".encode("latin-1")
    assert await _read(head + b"x\r\n" + END) == [(filename, b"x")]


@pytest.mark.parametrize("kind", ["", "application/json", "multipart/mixed; boundary=x", "text/plain; boundary=x"])
async def test_what_is_no_form_is_of_the_wrong_kind(kind: str):
    with pytest.raises(WrongKind, match="Send the files as a form"):
        await _read(b"", kind=kind)


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=", f"multipart/form-data; boundary={'x' * 201}"]
)
async def test_a_form_without_a_usable_boundary_is_refused(kind: str):
    with pytest.raises(UsageError, match="names a boundary"):
        await _read(form(("a", b"a")), kind=kind)


BROKEN = {
    "nothing": b"",
    "only a boundary": f"--{BOUNDARY}\r\n".encode(),
    "another boundary": form(("a.txt", b"a")).replace(BOUNDARY.encode(), b"another"),
    "no end": part("a.txt", b"a"),
    "an end in a head": f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="f"'.encode(),
    "a head without a colon": f"--{BOUNDARY}\r\nContent-Disposition\r\n\r\nx\r\n".encode() + END,
    "a head of bytes": f"--{BOUNDARY}\r\n\0\xff: x\r\n\r\nx\r\n".encode("latin-1") + END,
    "an endless head": f"--{BOUNDARY}\r\nX: ".encode() + b"x" * 100_000,
    "endless heads": f"--{BOUNDARY}\r\n".encode() + b"X: y\r\n" * 10_000,
    "JSON": b'{"a": 1}',
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN.keys())
async def test_a_broken_form_is_refused_with_a_sentence(body: bytes):
    with pytest.raises(UsageError) as caught:
        await _read(body)
    assert type(caught.value) is UsageError
    assert caught.value.message.endswith(".")


async def test_more_files_than_may_come_at_once_are_too_many():
    body = form(*((f"{number}.txt", b"x") for number in range(MAX_FILES + 1)))
    with pytest.raises(TooLarge, match="More than 20 files"):
        await _read(body)


async def test_ten_thousand_parts_are_given_up_early():
    body = b"".join(part(None, b"") for _ in range(10_000)) + END
    with pytest.raises(TooLarge, match="more than 100 parts"):
        await _read(body)


async def test_what_stands_behind_the_end_is_not_looked_at():
    assert await _read(form(("a.txt", b"a")) + b"\r\nepilogue" * 1000) == [("a.txt", b"a")]


async def test_what_stands_behind_the_end_is_read_but_not_for_ever():
    sizes: list[int] = []

    async def body(behind: int) -> AsyncIterator[bytes]:
        yield form(("a.txt", b"a"))
        for number in range(behind):
            sizes.append(number)
            yield b"x" * 10_000

    assert [one.filename async for one in iter_parts(CONTENT_TYPE, body(3))] == ["a.txt"]
    assert sizes == [0, 1, 2]
    assert [one.filename async for one in iter_parts(CONTENT_TYPE, body(1000))] == ["a.txt"]
    assert len(sizes) == 3 + 7


async def test_a_large_file_is_never_whole_in_memory():
    block = secrets.token_bytes(65_536)

    async def body() -> AsyncIterator[bytes]:
        yield part("large.bin", b"")[:-2]
        for _ in range(500):
            yield block
        yield b"\r\n" + END

    size = 0
    tracemalloc.start()
    async for one in iter_parts(CONTENT_TYPE, body()):
        async for piece in one:
            size += len(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size == 500 * 65_536
    assert peak < 1_000_000
