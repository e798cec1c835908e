"""The name under which a browser saves a file."""

from email.message import Message

import pytest

from footnote.storage.base import content_disposition
from workspace.hostile import HOSTILE_NAMES


@pytest.mark.parametrize(
    ("filename", "header"),
    [
        ("report.md", 'attachment; filename="report.md"'),
        ("my report (2).pdf", 'attachment; filename="my report (2).pdf"'),
        ("báo cáo.pdf", "attachment; filename=\"b_o c_o.pdf\"; filename*=UTF-8''b%C3%A1o%20c%C3%A1o.pdf"),
        ('a"b;c.txt', "attachment; filename=\"a_b;c.txt\"; filename*=UTF-8''a%22b%3Bc.txt"),
        ("100%25.txt", "attachment; filename=\"100_25.txt\"; filename*=UTF-8''100%2525.txt"),
        ("a\u202egnp.exe", 'attachment; filename="a_gnp.exe"'),
        (
            "../../x\r\nSet-Cookie: a=b",
            "attachment; filename=\".._.._x__Set-Cookie_ a=b\"; filename*=UTF-8''.._.._x__Set-Cookie%3A%20a%3Db",
        ),
    ],
)
def test_a_name_is_written_in_the_two_forms_that_browsers_know(filename: str, header: str):
    assert content_disposition(filename) == header


def test_no_name_can_end_the_header_or_name_a_folder():
    headers = {name: content_disposition(name) for name in HOSTILE_NAMES}
    assert {name for name, header in headers.items() if not (header.isascii() and header.isprintable())} == set()
    assert {name for name, header in headers.items() if {"/", "\\"} & set(_parse_filename(header))} == set()


def _parse_filename(header: str) -> str:
    message = Message()
    message["content-disposition"] = header
    return message.get_filename("")
