"""HTML: its content as markdown, and the facts that the page tells about itself."""

import re

from footnote.documents.extract.content import MIN_TEXT_CHARS, main_content
from footnote.documents.extract.document import MAX_CHARACTERS, ExtractedPage, UnreadableDocument
from footnote.documents.extract.markdown import MarkdownPiece, as_links, to_markdown
from footnote.documents.extract.metadata import page_metadata
from footnote.documents.extract.tree import HtmlNode, PageTree, parse_html

SCRIPT_PAGE_CHARS = 200
"""Below this many letters a page with scripts is most likely made by them."""
MAX_WALL_CHARS = 1_500
"""What is longer says something, whatever else it asks for."""

_NEEDS_SCRIPT = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without) (?:\w+ ){0,3}javascript"
    r"|javascript (?:is |to be )?(?:\w+ ){0,2}(?:disabled|required|enabled|off)"
    r"|bật javascript|启用\s*javascript|開啟\s*javascript|javascript を有効",
    re.IGNORECASE,
)
_WALL = re.compile(
    r"(?:accept|allow|consent to|agree to) (?:\w+ ){0,3}cookies|cookies? (?:policy|consent|preferences|settings)"
    r"|(?:uses?|using) (?:\w+ ){0,2}cookies|we value your privacy|our \d+ partners|access information on a device"
    r"|before you continue|verify (?:that )?you are (?:a )?human|are you a robot"
    r"|not a robot|checking your browser|unusual traffic|complete the (?:security check|captcha)|just a moment"
    r"|(?:log|sign) in to (?:continue|read|view)|subscribe to (?:continue|read)|create (?:an|a free) account to"
    r"|chấp nhận (?:tất cả )?cookie|đăng nhập để|xác minh (?:rằng )?bạn (?:là|không phải)"
    r"|接受(?:所有|全部)?\s*cookie|登录后(?:查看|继续|阅读)|验证您是真人|请完成安全验证",
    re.IGNORECASE,
)


def reject_walls(document: PageTree, everything: str, prose: int, content: str) -> None:
    """Raises `Unreadable` for a page without content. `everything` is all the text that it shows, frame included, and
    `prose` how much of it stands in paragraphs; `content` is what would be read of it. A notice about cookies beside a
    short text is no wall."""
    shown = " ".join(everything.split())
    says_something = len(content) >= MIN_TEXT_CHARS and not _WALL.search(content)
    if len(shown) <= MAX_WALL_CHARS and (_WALL.search(document.title) or (_WALL.search(shown) and not says_something)):
        raise UnreadableDocument("consent_wall", "it asks for consent, a login or a proof of being human first")
    wants_script = any(_NEEDS_SCRIPT.search(text) for text in (*document.noscript, shown))
    if len(shown) < SCRIPT_PAGE_CHARS and (wants_script or (document.scripts and not prose)):
        raise UnreadableDocument("needs_javascript", "its text is made by a script, which is not run here")
    if not shown:
        raise UnreadableDocument("empty", "there is no text in it")


LOW_CONTENT_CHARS = 400
"""A page with less content than this may be nothing but a wall."""
SMALL_PAGE_CHARS = 4_000
BLANK_PAGE_CHARS = 50
"""Letters of a page that shows nothing."""


def read(text: str, url: str) -> ExtractedPage:
    document = _parse_page(text)
    # Choosing the content takes the page apart, so that what all of it says is looked at before.
    size, prose = document.root.size, document.root.prose
    everything = _all_text(document.root) if size <= SMALL_PAGE_CHARS else ""
    found = page_metadata(document, url, everything)
    chosen = to_markdown(main_content(document, url), url)
    if len(chosen.text) < LOW_CONTENT_CHARS and size <= SMALL_PAGE_CHARS:
        reject_walls(document, everything, prose, chosen.text)
    if not chosen.text:
        raise UnreadableDocument("empty", "there is no text in it")
    kept = _truncate(chosen)
    return ExtractedPage(
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


def _parse_page(text: str) -> PageTree:
    """The page as a browser shows it that runs no scripts. Forums keep whole threads for it, most pages a sentence. A
    page that shows nothing at all waits for a script to show it."""
    document = parse_html(text)
    if document.root.prose < LOW_CONTENT_CHARS and document.noscript:
        instead = parse_html("".join(document.noscript)).root
        if instead.prose > 2 * document.root.prose:
            document.root = instead
    if document.root.size < BLANK_PAGE_CHARS:
        instead = parse_html(text, include_hidden=True).root
        if instead.prose >= LOW_CONTENT_CHARS:
            document.root = instead
    return document


def _all_text(node: HtmlNode) -> str:
    return " ".join(kid if isinstance(kid, str) else _all_text(kid) for kid in node.kids)


def _truncate(piece: MarkdownPiece) -> MarkdownPiece:
    """At the end of a block, if it is too long."""
    if len(piece.text) <= MAX_CHARACTERS:
        return piece
    end = piece.text.rfind("\n\n", MAX_CHARACTERS // 2, MAX_CHARACTERS)
    end = end if end > 0 else MAX_CHARACTERS
    return MarkdownPiece(piece.text[:end], tuple(link for link in piece.links if link[1] <= end))
