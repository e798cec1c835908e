"""HTML: its content as markdown, and the facts that the page tells about itself."""

from footnote.documents.extract import walls
from footnote.documents.extract.content import content
from footnote.documents.extract.document import MAX_CHARACTERS, Extracted, Unreadable
from footnote.documents.extract.facts import facts
from footnote.documents.extract.markdown import Piece, as_links, markdown
from footnote.documents.extract.tree import Document, Node, parse

LITTLE = 400
"""A page with less content than this may be nothing but a wall."""
SMALL = 4_000
BLANK = 50
"""Letters of a page that shows nothing."""


def read(text: str, url: str) -> Extracted:
    document = _parsed(text)
    # Choosing the content takes the page apart, so that what all of it says is looked at before.
    size, prose = document.root.size, document.root.prose
    everything = _text(document.root) if size <= SMALL else ""
    found = facts(document, url, everything)
    chosen = markdown(content(document, url), url)
    if len(chosen.text) < LITTLE and size <= SMALL:
        walls.check(document, everything, prose, chosen.text)
    if not chosen.text:
        raise Unreadable("empty", "there is no text in it")
    kept = _cut(chosen)
    return Extracted(
        text=kept.text,
        title=found.title,
        author=found.author,
        published=found.published,
        language=found.language,
        site_name=found.site_name,
        canonical_url=found.canonical_url,
        icon=found.icon,
        links=as_links(kept),
        cut=document.cut or len(kept.text) < len(chosen.text),
    )


def _parsed(text: str) -> Document:
    """The page as a browser shows it that runs no scripts. Forums keep whole threads for it, most pages a sentence. A
    page that shows nothing at all waits for a script to show it."""
    document = parse(text)
    if document.root.prose < LITTLE and document.noscript:
        instead = parse("".join(document.noscript)).root
        if instead.prose > 2 * document.root.prose:
            document.root = instead
    if document.root.size < BLANK:
        instead = parse(text, with_hidden=True).root
        if instead.prose >= LITTLE:
            document.root = instead
    return document


def _text(node: Node) -> str:
    return " ".join(kid if isinstance(kid, str) else _text(kid) for kid in node.kids)


def _cut(piece: Piece) -> Piece:
    """At the end of a block, if it is too long."""
    if len(piece.text) <= MAX_CHARACTERS:
        return piece
    end = piece.text.rfind("\n\n", MAX_CHARACTERS // 2, MAX_CHARACTERS)
    end = end if end > 0 else MAX_CHARACTERS
    return Piece(piece.text[:end], tuple(link for link in piece.links if link[1] <= end))
