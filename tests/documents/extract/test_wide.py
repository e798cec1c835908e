"""UTF-16 with and without a BOM, distinguished from other encodings and from binary data."""

import itertools
import random
import struct

import pytest

from documents.extract.test_charset import TEXTS as NARROW
from documents.extract.test_plain import failure, read
from footnote.documents.charset import detect_wide_encoding
from footnote.documents.media import sniff_type

TEXTS = {
    "vi": "Giá thép hôm nay tăng mạnh trên thị trường thế giới. Đây là một đoạn văn bản dài để đọc và trích dẫn.",
    "zh": "北京是中华人民共和国的首都，人口超过两千万。这里有很多历史建筑，其中最有名的是故宫。",
    "ja": "東京タワーの高さは333メートルです。1958年に完成しました。東京都港区にあります。",
    "en": "The tower is 330 metres tall. It was built in 1889, and “stands” near the river — it’s iron…",
    "ru": "Москва является столицей России и крупнейшим городом страны.",
    "ko": "서울은 대한민국의 수도이며 인구는 약 천만 명이다. 많은 역사적 건물이 있다.",
}
ENCODINGS = ["utf-16", "utf-16-le", "utf-16-be", "utf-32"]
NO_TEXT = ("media_type", "it is no text: an image, an archive or a program")


def sniffed_type(kind: str, encoding: str, *, charset: bool) -> str:
    return f"{kind}; charset={encoding.upper().replace('16-', '16')}" if charset else kind


@pytest.mark.parametrize("language", TEXTS)
def test_plain_text_is_read(language: str, subtests: pytest.Subtests) -> None:
    text = TEXTS[language]
    for encoding, charset in itertools.product(ENCODINGS, [True, False]):
        with subtests.test(encoding=encoding, charset=charset):
            assert read(text.encode(encoding), sniffed_type("text/plain", encoding, charset=charset)).text == text


@pytest.mark.parametrize("language", TEXTS)
def test_a_page_is_read(language: str, subtests: pytest.Subtests) -> None:
    text = TEXTS[language]
    page = f"<html><head><title>Tháp 塔</title></head><body><article><p>{text}</p></article></body></html>"
    for encoding, charset in itertools.product(ENCODINGS, [True, False]):
        with subtests.test(encoding=encoding, charset=charset):
            found = read(page.encode(encoding), sniffed_type("text/html", encoding, charset=charset))
            assert (found.title, found.text, found.media_type) == ("Tháp 塔", text, "text/html")


@pytest.mark.parametrize("language", TEXTS)
def test_the_kind_is_seen_where_nobody_says_it(language: str, subtests: pytest.Subtests) -> None:
    text = TEXTS[language]
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        with subtests.test(encoding=encoding):
            assert sniff_type("", text.encode(encoding)) == "text/plain"
            assert sniff_type("", f"<p>{text}</p>".encode(encoding)) == "text/html"


@pytest.mark.parametrize("charset", ["utf-16", "utf-16le", "utf-16be", "unicode"])
def test_a_server_that_says_utf_16_of_everything_is_not_believed(charset: str) -> None:
    for text in TEXTS.values():
        assert read(text.encode(), f"text/plain; charset={charset}").text == text


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1251", "utf-8"])
def test_no_other_encoding_is_taken_for_it(encoding: str, subtests: pytest.Subtests) -> None:
    for text in NARROW.values():
        pieces = [text[start : start + length] for start in range(0, 60, 5) for length in (3, 12, 60)]
        with subtests.test(text=text):
            found = {piece: detect_wide_encoding(piece.encode(encoding, "ignore"), "text/plain") for piece in pieces}
            assert {piece: name for piece, name in found.items() if name} == {}


@pytest.mark.parametrize("mark", [b"", b"\xff\xfe", b"\xfe\xff"])
@pytest.mark.parametrize("charset", ["", "; charset=utf-16"])
def test_what_is_no_text_does_not_become_one_by_a_mark_or_a_word(mark: bytes, charset: str) -> None:
    rng = random.Random(7)
    noise = rng.randbytes(3000)
    samples = struct.pack("<2000h", *(rng.randint(-3000, 3000) for _ in range(2000)))
    numbers = struct.pack("<500I", *range(500))
    for body in (noise, samples, numbers):
        assert failure(mark + body, f"text/plain{charset}") == NO_TEXT
