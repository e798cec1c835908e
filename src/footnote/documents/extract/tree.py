"""An HTML page as a tree of its visible elements, each with the amount of text in it."""

import re
from collections.abc import Sequence
from copy import copy

from footnote.documents.extract.notation import Formula, image_formula
from footnote.documents.extract.tokens import Attributes, is_hidden, parse_attributes, revealed_ids, tokenize


def name_set(text: str) -> frozenset[str]:
    """Names, written one after the other."""
    return frozenset(text.split())


WIDE = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
PAUSE = re.compile("[.,;:!?\u2026\u3002\uff0c\u3001\uff1b\uff1a\uff01\uff1f\u060c\u061b\u061f\u06d4\u0964]")

BLOCKS = name_set(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol p pre search section summary"
    " table tbody td tfoot th thead tr ul"
)
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
VOID = name_set("area base br col embed frame hr img input link meta param source track wbr")
SKIPPED_TAGS = name_set(
    "applet audio button canvas datalist iframe map math meter noembed noframes noscript object progress rp rt script"
    " select style svg template textarea title video"
)
PLAIN_TAGS = name_set(
    "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike"
    " strong sub time tt u var"
)
"""Elements that are dropped if they have no attributes."""

CLOSES_PARAGRAPH = BLOCKS - {"caption", "tbody", "td", "tfoot", "th", "thead", "tr", "legend"}
TABLE_PARENTS = {
    "caption": ("table",),
    "tbody": ("table",),
    "thead": ("table",),
    "tfoot": ("table",),
    "tr": ("tbody", "thead", "tfoot", "table"),
    "td": ("tr", "tbody", "thead", "tfoot", "table"),
    "th": ("tr", "tbody", "thead", "tfoot", "table"),
}
SCOPES = {"p": ("button",), "li": ("ul", "ol"), "dd": ("dl",), "dt": ("dl",)}
"""Elements that an end tag does not close from inside, beside tables."""
CLOSED_BY_SAME = {"li": ("ul", "ol", "menu", "dir"), "dd": ("dl",), "dt": ("dl",), "option": ("select",)}
TRANSPARENT = frozenset(("html", "head", "body"))
CELLS = frozenset(("td", "th", "caption", "table"))
BUTTON_PARENTS = HEADINGS | {"summary", "dt"}
"""A button in a heading is how a page unfolds the section below it: its text is the heading."""

MAX_DEPTH = 200
"""Deeper elements become part of the one at this depth, since later steps are recursive."""

MAX_ELEMENTS = 250_000
"""Elements beyond this number are dropped. The largest pages that people read have a fifth of it."""

MIN_PROSE_CHARS = 20
MIN_UNPUNCTUATED_PROSE_CHARS = 80
WIDE_WEIGHT = 2
"""A character of Chinese, Japanese or Korean counts as three Latin letters."""

NO_ATTRIBUTES: Attributes = {}
MEASURES = ("size", "linked", "prose", "headings", "titles")


class HtmlNode:
    """A visible element. Sizes count letters, wide ones threefold.

    `own` is the text of this block itself, inline elements included; `size` is all text below, `prose` the part of it
    in paragraphs, `linked` the part in links.
    """

    __slots__ = ("attributes", "headings", "kids", "linked", "own", "own_linked", "pauses", "prose", "size",
                 "solid", "tag", "titles")  # fmt: skip

    def __init__(self, tag: str, attributes: Attributes) -> None:
        self.tag = tag
        self.attributes = attributes
        self.kids: list[HtmlNode | str] = []
        self.solid = tag in BLOCKS
        """Whether the element is a block, or has one inside."""
        self.size = self.linked = self.prose = self.own = self.own_linked = self.pauses = self.headings = (
            self.titles
        ) = 0

    def with_kids(self, kids: "Sequence[HtmlNode | str]") -> "HtmlNode":
        """A copy of this element with other children, most of which are its own."""
        changed = copy(self)
        changed.kids = [*kids]
        removed = {id(kid): kid for kid in self.kids if isinstance(kid, HtmlNode)}
        for kid in kids:
            if isinstance(kid, HtmlNode) and removed.pop(id(kid), None) is None:
                changed.add_measures(kid, 1)
        for kid in removed.values():
            changed.add_measures(kid, -1)
        return changed

    def add_measures(self, kid: "HtmlNode", sign: int) -> None:
        for measure in MEASURES if kid.solid else (*MEASURES, "own", "own_linked"):
            setattr(self, measure, getattr(self, measure) + sign * getattr(kid, measure))


class PageTree:
    """A page: its tree, and the elements that declare metadata."""

    __slots__ = ("attributes", "cut", "metas", "noscript", "relations", "root", "scripts", "structured", "title")

    def __init__(self) -> None:
        self.root = HtmlNode("body", {})
        self.attributes: Attributes = {}
        """The attributes of `html` and `body`, merged."""
        self.title = ""
        self.metas: list[Attributes] = []
        self.relations: list[Attributes] = []
        """The `link` elements."""
        self.structured: list[str] = []
        """JSON-LD, unparsed."""
        self.noscript: list[str] = []
        self.scripts = 0
        self.cut = False


class _PageTreeBuilder:
    """Builds the tree as browsers do where end tags are missing or wrong, without hidden elements."""

    def __init__(self, revealed: frozenset[str], *, include_hidden: bool) -> None:
        self.document = PageTree()
        self._revealed = revealed
        self._include_hidden = include_hidden
        root = self.document.root
        self._tags = ["body"]
        self._nodes: list[HtmlNode] = [root]
        self._current = root
        self._open: dict[str, int] = {}
        self._plain: dict[str, int] = {}
        self._deeper: dict[str, int] = {}
        self._skipped_from = 0
        """The depth of the hidden element whose content is being skipped."""
        self._links = 0
        self._formula: Formula | None = None
        """The formula that is being read."""
        self._raw_target = ""
        """Where the raw text that comes next belongs: the title, JSON-LD, a `noscript`."""

    def start(self, tag: str, source: str) -> None:
        if tag in PLAIN_TAGS and not source and not self._open.get(tag):
            self._plain[tag] = self._plain.get(tag, 0) + 1
            return
        if tag in TRANSPARENT:
            self.document.attributes.update(parse_attributes(source))
            return
        self._close_implied(tag)
        named = parse_attributes(source) if source else NO_ATTRIBUTES
        if self._formula is not None:
            self._formula.start(tag, named, closed=source.endswith("/"))
        if tag in VOID:
            self._void(tag, named)
            return
        if tag == "a" and "href" not in named and not self._is_hidden(tag, named):
            self._plain[tag] = self._plain.get(tag, 0) + 1
            return
        if len(self._tags) >= MAX_DEPTH:
            self._deeper[tag] = self._deeper.get(tag, 0) + 1
            return
        if not self._skipped_from and self._should_skip(tag, named):
            self._skipped_from = len(self._tags)
        self._tags.append(tag)
        self._open[tag] = self._open.get(tag, 0) + 1
        if self._skipped_from:
            self._nodes.append(self._current)
            return
        if tag == "a":
            self._links += 1
        self._current = HtmlNode(tag, named)
        self._nodes.append(self._current)

    def end(self, tag: str) -> None:
        if self._formula is not None:
            self._formula.end(tag)
        if self._deeper.get(tag):
            self._deeper[tag] -= 1
        elif tag in HEADINGS:
            self._close_heading()
        elif not self._open.get(tag):
            if self._plain.get(tag):
                self._plain[tag] -= 1
            elif tag == "br":
                self._void("br", NO_ATTRIBUTES)
        else:
            self._close(tag)

    def text(self, text: str) -> None:
        if self._raw_target:
            self._store_raw_text(text)
            return
        if self._skipped_from:
            if self._formula is not None:
                self._formula.text(text)
            return
        node = self._current
        node.kids.append(text)
        size = len(text.strip())
        if not size:
            return
        if not text.isascii():
            size += WIDE_WEIGHT * len(WIDE.findall(text))
        node.own += size
        if self._links:
            node.own_linked += size
        if size > 3:
            node.pauses += len(PAUSE.findall(text))

    def finish(self) -> PageTree:
        self._close_to_depth(1)
        root = self.document.root
        root.size += root.own
        root.linked += root.own_linked
        return self.document

    def _close_implied(self, tag: str) -> None:
        """Closes the elements that a start tag ends implicitly."""
        tags = self._tags
        if tag in CLOSES_PARAGRAPH and self._open.get("p"):
            self._close("p")
        if tag in CLOSED_BY_SAME:
            self._close_item(tag)
        elif tag in TABLE_PARENTS:
            self._close_implied_in_table(tag)
        elif tag in HEADINGS:
            if tags[-1] in HEADINGS:
                self._close_to_depth(len(tags) - 1)
        elif tag in ("a", "button") and self._open.get(tag):
            self._close(tag)
        elif self._skipped_from and tags[self._skipped_from] in ("svg", "math") and tag in BLOCKS:
            self._close_to_depth(self._skipped_from)

    def _close_item(self, tag: str) -> None:
        rivals = ("dd", "dt") if tag in ("dd", "dt") else (tag,)
        if not any(self._open.get(rival) for rival in rivals):
            return
        for at in range(len(self._tags) - 1, 0, -1):
            if self._tags[at] in rivals:
                self._close_to_depth(at)
                return
            if self._tags[at] in CLOSED_BY_SAME[tag] or self._tags[at] in CELLS:
                return

    def _close_heading(self) -> None:
        """Browsers let `</h3>` close an `<h2>`."""
        for at in range(len(self._tags) - 1, 0, -1):
            if self._tags[at] in HEADINGS:
                self._close_to_depth(at)
                return
            if self._tags[at] in CELLS:
                return

    def _close_implied_in_table(self, tag: str) -> None:
        if not self._open.get("table"):
            return
        for at in range(len(self._tags) - 1, 0, -1):
            if self._tags[at] in TABLE_PARENTS[tag]:
                self._close_to_depth(at + 1)
                return

    def _close(self, tag: str) -> None:
        """The end tag of a block closes the blocks inside it, but never a table around it."""
        tags = self._tags
        solid = tag in BLOCKS or tag in SKIPPED_TAGS
        for at in range(len(tags) - 1, 0, -1):
            found = tags[at]
            if found == tag:
                if at >= len(self._tags) - 1 or solid or not self._blocks_above(at):
                    self._close_to_depth(at)
                else:
                    self._close_inline(at)
                return
            if found == "table" or found in SCOPES.get(tag, ()):
                return

    def _blocks_above(self, at: int) -> bool:
        return any(tag in BLOCKS for tag in self._tags[at + 1 :])

    def _close_inline(self, at: int) -> None:
        """Closes a link or a font while blocks inside stay open."""
        tag = self._tags[at]
        if tag == "a" and not 0 < self._skipped_from <= at:
            self._links -= 1
            self._nodes[at].tag = "span"
        self._tags[at] = ""
        self._open[tag] -= 1

    def _close_to_depth(self, depth: int) -> None:
        """Closes every element from `depth` on."""
        tags, nodes = self._tags, self._nodes
        while len(tags) > depth:
            tag = tags.pop()
            node = nodes.pop()
            if tag:
                self._open[tag] -= 1
            if self._skipped_from:
                if self._skipped_from == len(tags):
                    self._skipped_from = 0
                    if self._formula is not None:
                        self._emit_formula(self._formula)
                continue
            if tag == "a":
                self._links -= 1
            parent = self._current = nodes[-1]
            if node.kids:
                parent.kids.append(node)
                _finish_measures(node, parent)

    def _emit_formula(self, formula: Formula) -> None:
        self._formula = None
        self.text(formula.to_text())

    def _void(self, tag: str, attributes: Attributes) -> None:
        if tag == "meta":
            self.document.metas.append(attributes)
        elif tag == "link":
            self.document.relations.append(attributes)
        elif tag == "base":
            self.document.relations.append({**attributes, "rel": "base"})
        elif (tag in ("br", "img", "hr")) and not self._skipped_from:
            formula = image_formula(attributes) if tag == "img" else ""
            self.text(formula) if formula else self._current.kids.append(HtmlNode(tag, attributes))

    def _should_skip(self, tag: str, attributes: Attributes) -> bool:
        if tag in SKIPPED_TAGS:
            if tag == "script":
                self.document.scripts += 1
                if "ld+json" in attributes.get("type", ""):
                    self._raw_target = tag
            elif tag == "math":
                self._formula = Formula(attributes)
            elif tag == "noscript" or (tag == "title" and not self.document.title):
                self._raw_target = tag
            return not (tag == "button" and self._tags[-1] in BUTTON_PARENTS)
        return bool(attributes) and self._is_hidden(tag, attributes)

    def _is_hidden(self, tag: str, attributes: Attributes) -> bool:
        return not self._include_hidden and is_hidden(tag, attributes, self._revealed)

    def _store_raw_text(self, text: str) -> None:
        document, awaited = self.document, self._raw_target
        self._raw_target = ""
        if awaited == "title":
            document.title = " ".join(text.split())
        elif awaited == "noscript":
            document.noscript.append(text)
        else:
            document.structured.append(text)


def _finish_measures(node: HtmlNode, parent: HtmlNode) -> None:
    """Adds the sizes of a finished element to those of its parent."""
    own = node.own
    if not node.solid:
        parent.own += own
        parent.own_linked += node.own_linked
        parent.pauses += node.pauses
        return
    parent.solid = True
    if own:
        node.size += own
        node.linked += node.own_linked
        plain = own - node.own_linked
        if own >= 12 and plain * 10 <= own:
            node.titles += 1
        if node.tag in HEADINGS:
            node.headings += 1
        elif plain * 2 >= own and plain >= MIN_PROSE_CHARS and (node.pauses or plain >= MIN_UNPUNCTUATED_PROSE_CHARS):
            node.prose += plain
    parent.size += node.size
    parent.linked += node.linked
    parent.prose += node.prose
    parent.headings += node.headings
    parent.titles += node.titles


def parse_html(source: str, *, include_hidden: bool = False) -> PageTree:
    builder = _PageTreeBuilder(revealed_ids(source), include_hidden=include_hidden)
    start, end, text = builder.start, builder.end, builder.text
    remaining = MAX_ELEMENTS
    for token in tokenize(source):
        if isinstance(token, str):
            text(token)
        elif token[1]:
            end(token[0])
        elif remaining:
            start(token[0], token[2])
            remaining -= 1
        else:
            builder.document.cut = True
            break
    return builder.finish()
