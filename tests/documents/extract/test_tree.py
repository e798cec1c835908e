"""HTML parsed into a tree as browsers nest it: end tags may be missing, wrong, or out of order."""

import pytest

from footnote.documents.extract.tree import HtmlNode, parse_html


def outline(source: str) -> str:
    """`p[a b[c]]`: tags with their content, and spaces unchanged."""
    return " ".join(_outline(kid) for kid in parse_html(source).root.kids if not _is_blank(kid))


def _outline(part: HtmlNode | str) -> str:
    if isinstance(part, str):
        return part.strip()
    inside = " ".join(_outline(kid) for kid in part.kids if not _is_blank(kid))
    return f"{part.tag}[{inside}]"


def _is_blank(part: HtmlNode | str) -> bool:
    return isinstance(part, str) and not part.strip()


@pytest.mark.parametrize(
    ("source", "nested"),
    [
        ("<p>a<p>b<div>c</div>d", "p[a] p[b] div[c] d"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "ul[li[a ul[li[b]]] li[c]]"),
        ("<ul><li>a</li></li><li>b</ul>c", "ul[li[a] li[b]] c"),
        ("<ul><li>a<ul></li><li>b</ul></ul>c", "ul[li[a ul[li[b]]]] c"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "dl[dt[a] dd[b] dt[c] dd[d]]"),
        ("<table><tr><td>1<td>2<tr><td>3</table>4", "table[tr[td[1] td[2]] tr[td[3]]] 4"),
        ("<table><tr><td><div>1</table>2", "table[tr[td[div[1]]]] 2"),
        ("<div><table><tr><td>a</div></p><td>b</table>c</div>", "div[table[tr[td[a] td[b]]] c]"),
        ("<nav><div><a href=/>menu</a></nav><p>text", "nav[div[a[menu]]] p[text]"),
        ("<section><div>a</section>b", "section[div[a]] b"),
        ("<h2>a</h3><p>b", "h2[a] p[b]"),
        ("<h2>a<h3>b</h3>c", "h2[a] h3[b] c"),
        ("<div><b>a</div>c</b>d", "div[a] c d"),
        ("<div><span class=x>a<p>b</span>c</p></div>d", "div[span[a p[b c]]] d"),
        ("a</div></p></b>b", "a b"),
    ],
)
def test_elements_close_where_browsers_close_them(source: str, nested: str):
    assert outline(source) == nested


@pytest.mark.parametrize(
    ("source", "nested"),
    [
        ("<a href=/x>in<a href=/y>next</a>out", "a[in] a[next] out"),
        ("<a href=/x><div>in</a>out</div>", "span[div[in out]]"),
        ("<a name=top>not a link<p>text", "not a link p[text]"),
    ],
)
def test_a_link_ends_before_it_takes_the_page_with_it(source: str, nested: str):
    assert outline(source) == nested


@pytest.mark.parametrize(
    "unread",
    [
        "<script>if (a<b) document.write('</p><p>no')</script>",
        "<STYLE>p > b {}</Style>",
        "<!-- <p>no</p> -->",
        "<!-->",
        "<!--->",
        "<![CDATA[no]]>",
        "<?php no ?>",
        "<svg><title>no</title><text>no</text></svg>",
        "<svg><path d='no'>",
        "<template><p>no</p></template>",
        "<select><option>no<option>no</select>",
        "<button><div>no<div></button>",
        "<textarea><p>no</p></textarea>",
        "<iframe><p>no</p></iframe>",
        "<div style='display:none'><p>no<div>no</div></div>",
        "<div hidden>no</div>",
        "<div hidden id=S:0>no</div>",
        "<span class='visually-hidden'>no</span>",
        "<p style='font-size: 0px'>no</p>",
        "<img alt='a > b'>",
    ],
)
def test_what_is_not_shown_ends_where_it_ends(unread: str):
    assert outline(f"<p>before</p>{unread}<p>after</p>").replace("img[] ", "") == "p[before] p[after]"


def test_a_part_that_a_script_of_the_page_shows_is_not_hidden():
    source = '<div hidden id="S:0"><p>late</p></div><script>$RC("B:0","S:0")</script>'
    assert outline(source) == "div[p[late]]"


@pytest.mark.parametrize(
    ("source", "href"),
    [
        ('<a href="/a?b=1&amp;copy=2&copy=3">x</a>', "/a?b=1&copy=2&copy=3"),
        ("<a title = 'x > y' HREF = /a/b>x</a>", "/a/b"),
        ('<a href="/first" href="/second">x</a>', "/first"),
        ("<a href=it's>x</a>", "it's"),
        ('<a class="a"href="/b">x</a>', "/b"),
    ],
)
def test_attributes_are_read_as_they_are_meant(source: str, href: str):
    [link] = parse_html(source).root.kids
    assert isinstance(link, HtmlNode)
    assert (link.attributes["href"], link.kids) == (href, ["x"])


def test_what_a_page_says_of_itself_is_kept_beside_the_tree():
    document = parse_html(
        "<html lang=vi><head><title> A &amp; B\n</title><meta name=author content=C><link rel=canonical href=/d>"
        "<script type=application/ld+json>{}</script><script>1</script></head>"
        "<body class=e><noscript><p>f</p></noscript><svg><title>g</title></svg>"
    )
    assert (document.title, document.metas, document.relations, document.structured, document.noscript) == (
        "A & B",
        [{"name": "author", "content": "C"}],
        [{"rel": "canonical", "href": "/d"}],
        ["{}"],
        ["<p>f</p>"],
    )
    assert (document.attributes, document.scripts) == ({"lang": "vi", "class": "e"}, 2)
