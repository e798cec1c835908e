"""Pages with little prose: forum indexes, listings, catalogues; and what is content on no page."""

import pytest

from footnote.documents.extract import ExtractedPage, UnreadableDocument, extract

NAVIGATION = "<nav><ul>" + "".join(f"<li><a href=/n{n}>Section number {n}</a></li>" for n in range(9)) + "</ul></nav>"
FOOTER = "<footer><p>All rights are reserved, in all countries, by the company and its partners.</p></footer>"
COOKIES = (
    "<div id=cookie-banner><p>We use cookies and similar technologies to personalise content, and to measure it.</p>"
    "<p>By clicking on accept you consent to all cookies, which you can change in the cookie settings.</p></div>"
)
THREADS = [f"How do I repair bridge number {n}" for n in range(12)]
INDEX = "".join(
    f"<div class=row><h3><a href=/thread/{n}>{title}</a></h3><span>{n} replies</span></div>"
    for n, title in enumerate(THREADS)
)


def page(source: str, url: str = "https://page.test/list", head: str = "") -> ExtractedPage:
    return extract(f"<head>{head}</head><body>{source}</body>".encode(), "text/html; charset=utf-8", url)


@pytest.mark.parametrize("url", ["https://page.test/list", "https://forum.page.test/index.php"])
@pytest.mark.parametrize("tag", ["div", "main", "ul", "table"])
def test_a_page_of_links_has_their_text(tag: str, url: str) -> None:
    inside = {
        "ul": INDEX.replace("div", "li"),
        "table": INDEX.replace("<div", "<tr><td").replace("</div>", "</td></tr>"),
    }
    read = page(f"{NAVIGATION}<{tag}>{inside.get(tag, INDEX)}</{tag}>{FOOTER}", url)
    assert [title for title in THREADS if title not in read.text] == []
    assert ("Section number" in read.text, "rights are reserved" in read.text) == (False, False)


def test_the_links_of_a_list_stand_where_they_are_in_its_text() -> None:
    read = page(f"{NAVIGATION}<div>{INDEX}</div>{FOOTER}")
    assert [(read.text[link.start : link.end], link.url) for link in read.links] == [
        (title, f"https://page.test/thread/{n}") for n, title in enumerate(THREADS)
    ]


def test_a_sentence_above_a_list_is_not_all_of_the_page() -> None:
    lead = "<p>Here you find all that people have asked about bridges, and about repairing them, since 1999.</p>"
    read = page(f"<div>{lead}</div><div>{INDEX}</div>")
    assert all(title in read.text for title in THREADS)
    assert "since 1999" in read.text


def test_a_short_article_among_many_links_stays_an_article() -> None:
    prose = "<p>The oldest bridge of concrete, in the park of Chazelet, was closed on Monday, the owner said.</p>" * 6
    read = page(
        f"<div class=a>{prose}</div><div class=b>{INDEX * 3}</div>",
        head="<meta property=og:type content=article>",
    )
    assert ("was closed on Monday" in read.text, THREADS[3] in read.text) == (True, False)


@pytest.mark.parametrize("notice", [COOKIES * 3, FOOTER.replace("<p>", "<p>" + "Legal notes, and more of them. " * 40)])
def test_a_notice_that_is_longer_than_the_page_is_not_the_page(notice: str) -> None:
    read = page(f"<div>{INDEX}</div>{notice}")
    assert all(title in read.text for title in THREADS)
    assert ("cookies" in read.text, "Legal notes" in read.text) == (False, False)


def test_a_page_that_is_named_by_its_state_of_consent_is_read() -> None:
    prose = "<p>The oldest bridge of concrete, in the park of Chazelet, was built by a gardener, it is said.</p>" * 9
    read = page(f"<div class='cookie-consent-given'>{prose}</div><div>{INDEX}</div>")
    assert "built by a gardener" in read.text


def test_what_buyers_say_is_left_out_unless_the_page_is_about_it() -> None:
    about = "<p>A hammer of forged steel, with a handle of ash, for work on stone, brick and concrete.</p>" * 4
    reviews = (
        "<div class=customer-reviews>"
        + "<p>I have had it for years, and it is still like new, really.</p>" * 9
        + "</div>"
    )
    assert "like new" not in page(f"<div>{about}</div>{reviews}", "https://shop.test/hammer").text
    assert "like new" in page(f"<div>{about}</div>{reviews}", "https://shop.test/hammer/reviews").text


PROSE = "<p>The oldest bridge of concrete, in the park of Chazelet, was built by a gardener, it is said.</p>" * 6
ANSWER = "It is thirteen metres long, and four metres wide."


@pytest.mark.parametrize("hidden", ["aria-hidden=true", "hidden", "style='display:none'"])
def test_what_a_button_of_the_page_unfolds_is_read(hidden: str) -> None:
    button = "<h3>How long is it?</h3><button aria-controls='panel-1' aria-expanded=false>Show</button>"
    read = page(f"<main>{PROSE}{button}<div id=panel-1 {hidden}><p>{ANSWER}</p></div></main>")
    assert ANSWER in read.text


def test_what_nothing_unfolds_stays_hidden() -> None:
    read = page(f"<main>{PROSE}<button aria-controls=panel-1>Show</button><div id=other hidden>{ANSWER}</div></main>")
    assert ANSWER not in read.text


def test_a_part_that_is_sent_late_is_read_where_the_script_of_the_page_is_in_another_file() -> None:
    read = page(f'<main><template id="B:0"></template></main><div hidden id="S:0">{PROSE}</div>')
    assert "built by a gardener" in read.text


def test_a_page_that_is_hidden_until_a_script_has_run_is_read() -> None:
    assert "built by a gardener" in page(f"<div style='visibility:hidden'>{PROSE}</div>").text
    with pytest.raises(UnreadableDocument):
        page("<div style='visibility:hidden'><p>Nothing of note.</p></div>")


def test_a_deep_page_of_links_is_read_in_linear_time() -> None:
    deep = "<div class='cookie consent'>" * 150 + INDEX * 400 + "</div>" * 150
    assert page(deep).text.count(THREADS[5]) == 400
