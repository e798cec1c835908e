import zlib

import pytest

from footnote.documents.extract import MAX_CHARACTERS, ExtractedPage, UnreadableDocument, extract
from footnote.documents.extract.feeds import MAX_ITEMS
from footnote.documents.extract.plain import MAX_ROWS
from footnote.protocol.sources import Link

URL = "https://page.test/data"


def read(body: str | bytes, content_type: str, url: str = URL) -> ExtractedPage:
    return extract(body.encode() if isinstance(body, str) else body, content_type, url)


def failure(body: str | bytes, content_type: str, url: str = URL) -> tuple[str, str]:
    with pytest.raises(UnreadableDocument) as raised:
        read(body, content_type, url)
    return raised.value.failure, raised.value.reason


def test_text_stays_as_it_is_but_for_line_ends_and_control_characters() -> None:
    assert read("\ufeffA note\r\n\r\nof \x1b[31mtwo\x00 lines  \rend\u2028.\n\n", "text/plain") == ExtractedPage(
        text="A note\n\nof [31mtwo lines\nend\n.", title="A note", media_type="text/plain"
    )


def test_a_long_first_line_is_no_title() -> None:
    text = "A sentence that goes on. " * 20
    assert read(text, "text/plain") == ExtractedPage(text=text.strip(), media_type="text/plain")


def test_long_text_is_cut() -> None:
    extracted = read("x" * (MAX_CHARACTERS + 1), "text/plain")
    assert (len(extracted.text), extracted.cut) == (MAX_CHARACTERS, True)
    assert not read("x" * MAX_CHARACTERS, "text/plain").cut


def test_many_spaces_cost_no_more_time_than_letters() -> None:
    assert read("a" + " " * 300_000 + "b", "text/plain").text == "a" + " " * 300_000 + "b"


@pytest.mark.parametrize("body", [b"", b" \n\t ", b"\0\0"])
@pytest.mark.parametrize("content_type", ["text/plain", "text/html", "application/pdf", "application/json", ""])
def test_nothing_is_empty(body: bytes, content_type: str) -> None:
    assert failure(body, content_type) == ("empty", "there is nothing in it")


def test_text_of_unseen_characters_is_empty() -> None:
    assert failure("\ufeff\ufeff\x85", "text/plain") == ("empty", "there is no text in it")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Intro\n\n# The Red River #\n\nText.", "The Red River"),
        ("The Red River\n=====\n\nText.", "The Red River"),
        ("```sh\n# a comment\n```\n\n# The Red River", "The Red River"),
        ("## Only a section\n\nText.", ""),
    ],
)
def test_the_title_of_markdown_is_its_first_heading(text: str, title: str) -> None:
    assert read(text, "text/markdown") == ExtractedPage(text=text, title=title, media_type="text/markdown")


def test_front_matter_names_the_title_and_is_no_text() -> None:
    text = '---\ntitle: "The Red River"\ndate: 2024-05-01\n---\n\nIt is red.\n'
    assert read(text, "text/x-markdown") == ExtractedPage(
        text="It is red.", title="The Red River", media_type="text/markdown"
    )


def test_json_has_a_line_for_each_value() -> None:
    assert read('{"name":"Hà Nội","rivers":["Red",1.50]}', "application/json") == ExtractedPage(
        text='{\n  "name": "Hà Nội",\n  "rivers": [\n    "Red",\n    1.5\n  ]\n}',
        title="Hà Nội",
        media_type="application/json",
    )


@pytest.mark.parametrize("text", ['{"a": 1', '{"a": 1}\n{"a": 2}', "[" * 100_000, "1" * 10_000])
def test_json_that_is_broken_or_many_stands_as_it_is(text: str) -> None:
    assert read(text, "application/vnd.api+json") == ExtractedPage(text=text, media_type="application/json")


def test_half_a_character_in_json_does_not_spoil_the_rest() -> None:
    assert read(r'["\ud800 and text"]', "application/json").text == '[\n  "? and text"\n]'


def test_a_csv_becomes_a_table() -> None:
    assert read('city,"river, main"\r\nHà Nội,Red\nParis,"Seine | ""la"""\nRome\n\n', "text/csv") == ExtractedPage(
        text='| city | river, main |\n| --- | --- |\n| Hà Nội | Red |\n| Paris | Seine \\| "la" |\n| Rome |  |',
        media_type="text/csv",
    )


@pytest.mark.parametrize(
    ("text", "content_type"),
    [("a;b\n1,5;2", "text/csv"), ("a\tb\n1,5\t2", "text/tab-separated-values")],
)
def test_other_separators_are_seen(text: str, content_type: str) -> None:
    assert read(text, content_type) == ExtractedPage(
        text="| a | b |\n| --- | --- |\n| 1,5 | 2 |", media_type=content_type
    )


def test_a_long_table_is_cut_after_a_whole_row() -> None:
    extracted = read("a,b\n" + "1,2\n" * (MAX_ROWS + 1), "text/csv")
    assert (extracted.text.count("\n"), extracted.text[-9:], extracted.cut) == (MAX_ROWS + 1, "| 1 | 2 |", True)
    assert not read("a,b\n" + "1,2\n" * MAX_ROWS, "text/csv").cut


def test_an_open_quotation_mark_does_not_swallow_the_table() -> None:
    extracted = read('a,b\n"1,2\n' + "3,4\n" * 50_000, "text/csv")
    assert extracted.text.startswith("| a | b |")


RSS = """<?xml version="1.0" encoding="windows-1251"?>
<rss version="2.0" xmlns:content="urn:content"><channel><title>Новости рек</title><link>https://page.test/</link>
<description>All about rivers</description><language>ru</language>
<image><title>Logo</title><link>https://page.test/logo</link></image>
<item><title>Волга &amp; Ока</title><link>/volga</link><pubDate>Wed, 01 May 2024 08:00:00 +0300</pubDate>
<description>Short.</description><content:encoded><![CDATA[<p>The <b>whole</b> text&nbsp;here.</p>]]></content:encoded>
<media><title>Picture</title></media></item>
<item><title>Second</title><link>javascript:alert(1)</link></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Rivers</title>
<link rel="self" href="https://page.test/feed"/><link href="https://page.test/"/>
<entry><title type="html">The &lt;i&gt;Red&lt;/i&gt; River</title><link rel="enclosure" href="/a.mp3"/>
<link href="https://page.test/red"/><updated>2024-05-02T10:00:00Z</updated>
<summary>It is red.</summary></entry></feed>"""


@pytest.mark.parametrize("content_type", ["application/rss+xml", "text/xml", "text/html", "text/plain", ""])
def test_rss_becomes_a_list_of_its_items(content_type: str) -> None:
    text = "# Новости рек\n\nAll about rivers\n\n## Волга & Ока\n\n2024-05-01\n\nThe whole text here.\n\n## Second"
    start = text.index("Волга")
    assert read(RSS.encode("cp1251"), content_type) == ExtractedPage(
        text=text,
        title="Новости рек",
        language="ru",
        media_type="application/rss+xml",
        links=(Link("https://page.test/volga", start, start + len("Волга & Ока")),),
    )


def test_atom_becomes_a_list_of_its_entries() -> None:
    text = "# Rivers\n\n## The Red River\n\n2024-05-02\n\nIt is red."
    assert read(ATOM, "application/atom+xml") == ExtractedPage(
        text=text,
        title="Rivers",
        media_type="application/atom+xml",
        links=(Link("https://page.test/red", 13, 26),),
    )


def test_a_feed_is_read_up_to_the_place_where_it_is_broken() -> None:
    assert read(ATOM.replace("</feed>", "<entry>R&D</entry></feed>"), "text/xml").title == "Rivers"


def test_a_long_feed_is_cut() -> None:
    feed = f"<rss><channel>{'<item><title>One</title></item>' * (MAX_ITEMS + 1)}</channel></rss>"
    extracted = read(feed, "text/xml")
    assert (extracted.text.count("## One"), extracted.cut) == (MAX_ITEMS, True)


def test_of_other_xml_the_text_is_kept() -> None:
    assert read(
        "<?xml version='1.0'?><a><b>One</b><c d='no'>two &lt; three</c></a>", "application/xml"
    ) == ExtractedPage(text="One\n\ntwo < three", media_type="application/xml")


BOMB = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'


@pytest.mark.parametrize("xml", [BOMB, OUTSIDE])
def test_entities_are_refused(xml: str) -> None:
    reason = "it declares entities, which can be made to expand without end"
    assert failure(xml, "application/xml") == ("unreadable", reason)


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ("<a/>", ("empty", "there is no text in it")),
        ("<a><b>", ("unreadable", "it is broken: no XML")),
        ("no tags & more", ("unreadable", "it is broken: no XML")),
        ("<a>" * 1000, ("unreadable", "it is nested too deeply")),
    ],
)
def test_xml_without_text_says_so(xml: str, expected: tuple[str, str]) -> None:
    assert failure(xml, "application/xml") == expected


PAGE = "<!doctype html><html><head><title>Rivers</title></head><body><article><p>It is red.</p></article></body></html>"


@pytest.mark.parametrize(
    ("body", "content_type", "url", "media_type"),
    [
        (PAGE, "text/html", URL, "text/html"),
        (PAGE, "application/xhtml+xml", URL, "text/html"),
        (PAGE, "text/plain", URL, "text/html"),
        (f"<!-- made by hand -->\n{PAGE}", "", URL, "text/html"),
        (f'<?xml version="1.0"?>\n{PAGE}', "application/xml", URL, "text/html"),
        (PAGE, "application/pdf", URL, "text/html"),
        (PAGE.encode("utf-16"), "text/plain", URL, "text/html"),
        (PAGE.encode("utf-16-le"), "", URL, "text/html"),
        ("Just words, no tags; 1 < 2.", "text/html", URL, "text/plain"),
        ('{"error": "none"}', "text/html", URL, "application/json"),
        ('[{"a": 1}]', "", URL, "application/json"),
        ("[1] A footnote", "text/plain", URL, "text/plain"),
        ("# A heading", "text/plain", "https://page.test/README.md?raw=1", "text/markdown"),
        ("a,b\n1,2", "application/octet-stream", "https://page.test/x.CSV", "text/csv"),
        ("a,b\n1,2", "text/plain", "https://[broken/x.csv", "text/plain"),
        ("body { color: red }", "text/css", URL, "text/plain"),
    ],
)
def test_the_kind_is_told_by_the_server_and_seen_in_the_body(body, content_type, url, media_type) -> None:
    assert read(body, content_type, url).media_type == media_type


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\x89PNG\r\n\x1a\n1234", "text/html"),
        (b"PK\x03\x04 1234", ""),
        (b"\x1f\x8b 1234", "text/plain"),
        (zlib.compress(b"some text that is compressed")[2:], ""),
        (b"some \0\0\0\1\0\2 bytes \0\0\0\0" * 20, "application/octet-stream"),
        (b"<svg>text</svg>", "image/svg+xml"),
    ],
)
def test_what_is_no_text_is_not_taken_for_it(body: bytes, content_type: str) -> None:
    assert failure(body, content_type) == ("media_type", "it is no text: an image, an archive or a program")
