import pytest

from documents.office import BILLION_LAUGHS, EXTERNAL_ENTITY, make_zip, pptx, relationships_xml, shape, shapes
from documents.uploads.refusals import refusal
from footnote.documents.extract.upload import read_text
from footnote.documents.inspection import ODP, PPTX
from footnote.protocol.sources import Link
from footnote.sandbox.jobs import DocumentText, JobRefused, ReadText


def read(content: bytes, media_type: str = PPTX) -> DocumentText | JobRefused:
    return read_text(ReadText(content=content, filename="a.pptx", media_type=media_type))


def test_slides_come_in_the_order_in_which_they_are_shown() -> None:
    first = shape("Mở đầu", "title") + shape("one\ntwo", "body") + shape("17/3/2024", "dt")
    second = shape("no placeholder", "none") + "<p:grpSp>" + shape("in a group", "none") + "</p:grpSp>"
    assert read(pptx(first, second, order=(2, 1))) == DocumentText(
        text="## Slide 1\n\nno placeholder\n\nin a group\n\n## Slide 2: Mở đầu\n\n- one\n- two"
    )


def test_tables_links_and_formulas_are_read() -> None:
    def cell(words: str) -> str:
        return f"<a:tc><a:txBody><a:p><a:r><a:t>{words}</a:t></a:r></a:p></a:txBody></a:tc>"

    grid = f"<a:tbl><a:tr>{cell('A')}{cell('B')}</a:tr><a:tr>{cell('1')}{cell('2')}</a:tr></a:tbl>"
    frame = f"<p:graphicFrame><a:graphic><a:graphicData>{grid}</a:graphicData></a:graphic></p:graphicFrame>"
    linked = (
        '<p:sp><p:txBody><a:p><a:r><a:rPr><a:hlinkClick r:id="rId1"/></a:rPr><a:t>the page</a:t></a:r><a:br/>'
        "<m:oMath xmlns:m='m'><m:r><m:t>x=1</m:t></m:r></m:oMath></a:p></p:txBody></p:sp>"
    )
    links = relationships_xml(("rId1", "hyperlink", "https://a.test/"))
    assert read(pptx(frame + linked, **{"slides___rels__slide1.xml.rels": links})) == DocumentText(
        text="## Slide 1\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\nthe page x=1",
        links=(Link("https://a.test/", 47, 55),),
    )


def test_what_the_speaker_is_to_say_stands_below_the_slide() -> None:
    notes = shapes(shape("say this\nand that", "body") + shape("7", "sldNum"))
    parts = {
        "slides___rels__slide1.xml.rels": relationships_xml(("rId1", "notesSlide", "../notesSlides/notesSlide1.xml")),
        "notesSlides__notesSlide1.xml": notes,
    }
    assert read(pptx(shape("Title", "ctrTitle"), **parts)) == DocumentText(
        text="## Slide 1: Title\n\nNotes: say this and that"
    )


@pytest.mark.parametrize("prolog", [BILLION_LAUGHS, EXTERNAL_ENTITY], ids=["laughs", "outside"])
def test_slides_that_declare_entities_are_refused(prolog: str) -> None:
    assert read(pptx(shape("&j;"), prolog=prolog)) == refusal(
        "a.pptx", "declares entities, which can be made to expand without end", is_hostile=True
    )


def test_slides_that_are_not_there_are_left_out() -> None:
    assert read(pptx(shape("one", "none"), order=(7, 1))) == DocumentText(text="## Slide 1\n\none")
    assert read(make_zip({"a": "b"})) == refusal("a.pptx", "is damaged: there is nothing in it")


def test_open_presentations_say_what_to_do() -> None:
    assert read(make_zip({"a": "b"}), ODP) == DocumentText(
        text=None, reason="OpenDocument presentations are not read; save it as .pptx"
    )
