"""Page layout and styles: the part of the Typst source that is the same for every document."""

from collections.abc import Iterable

from footnote.documents.languages import is_right_to_left_language

_SCRIPTS = (
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Thai",
    "Noto Sans Devanagari",
    "Noto Sans Bengali",
    "Noto Sans Tamil",
    "Noto Sans Telugu",
    "Noto Sans Kannada",
    "Noto Sans Malayalam",
    "Noto Sans Gujarati",
    "Noto Sans Gurmukhi",
    "Noto Sans Oriya",
    "Noto Sans Sinhala",
    "Noto Sans Khmer",
    "Noto Sans Lao",
    "Noto Sans Myanmar",
    "Noto Sans Georgian",
    "Noto Sans Armenian",
    "Noto Sans Ethiopic",
    "Noto Sans Symbols",
    "Noto Emoji",
    # Last of all, and never for Vietnamese: it splits accents from letters in the text that is copied from a page.
    "Noto Sans",
    "Libertinus Serif",
    "New Computer Modern Math",
    "DejaVu Sans Mono",
)
_FACES = {"zh-Hant": "TC", "ja": "JP", "ko": "KR"}
_REGIONS = {"zh-Hans": ("zh", "CN"), "zh-Hant": ("zh", "TW"), "ja": ("ja", "JP"), "ko": ("ko", "KR")}
# Quiet: one family, one accent colour for links, and space instead of lines wherever space will do.
_PAGE = """
#let ink = rgb("#1d2530")
#let soft = rgb("#667085")
#let hair = 0.5pt + rgb("#d5dae1")
#let shade = rgb("#f5f7f9")
#let accent = rgb("#1f5fa8")
#set page(
  paper: "a4",
  margin: (x: 26mm, top: 27mm, bottom: 25mm),
  header: context if here().page() > 1 {
    set text(size: 8pt, fill: soft)
    set par(leading: 0.5em)
    block(width: 100%, inset: (bottom: 5pt), stroke: (bottom: hair), short-title)
  },
  footer: context {
    set align(center)
    set text(size: 8pt, fill: soft)
    [#here().page() / #counter(page).final().first()]
  },
)
#set text(size: 10.5pt, fill: ink, number-type: "lining")
#set par(leading: 0.78em, spacing: 1.35em, linebreaks: "optimized")
#set heading(numbering: none)
#show heading: set block(above: 1.7em, below: 0.85em, sticky: true)
#show heading: set par(leading: 0.5em, justify: false)
#show heading: set text(weight: 600, size: 10.5pt, hyphenate: false)
#show heading.where(level: 1): set text(size: 20pt, weight: 650)
#show heading.where(level: 1): set block(above: 1.5em, below: 0.8em)
#show heading.where(level: 2): set text(size: 15pt)
#show heading.where(level: 3): set text(size: 12.5pt)
#show heading.where(level: 4): set text(size: 11pt)
#show title: set text(size: 20pt, weight: 650, hyphenate: false)
#show title: set par(leading: 0.5em, justify: false)
#show title: set block(below: 1em)
#let untitled(body) = {
  show heading.where(level: 1): set text(size: 15pt, weight: 600)
  show heading.where(level: 1): set block(above: 1.7em, below: 0.85em)
  show heading.where(level: 2): set text(size: 12.5pt)
  show heading.where(level: 3): set text(size: 11pt)
  body
}
#set list(indent: 0.3em, body-indent: 0.65em, marker: ([•], [\\u{2013}], [◦]))
#set enum(indent: 0.3em, body-indent: 0.65em)
#show link: set text(fill: accent)
#show link: it => if type(it.dest) == str {
  underline(stroke: 0.4pt + accent.lighten(55%), offset: 2pt, it)
} else { it }
#set strong(delta: 250)
#set raw(tab-size: 4)
#show raw: set text(features: (calt: 0), dir: ltr, size: 1.1em)
#show raw.where(block: false): it => highlight(
  fill: rgb("#eef1f5"), extent: 1.5pt, radius: 2pt, top-edge: 0.95em, bottom-edge: -0.28em, it,
)
#show raw.where(block: true): it => {
  set text(size: 8.6pt)
  set align(left)
  set par(leading: 0.62em, justify: false)
  block(width: 100%, fill: shade, inset: (x: 10pt, y: 9pt), radius: 3pt, above: 1.2em, below: 1.2em, it)
}
#set table(
  stroke: (_, y) => (bottom: if y == 0 { 0.8pt + rgb("#98a2b3") } else { hair }),
  inset: (x: 5.7pt, y: 5.5pt),
)
#set table.cell(breakable: false)
#let high(body) = table.cell(breakable: true, body)
#show table: set block(above: 1.3em, below: 1.3em)
#show table: set par(leading: 0.55em, spacing: 0.7em, justify: false)
#show table: set text(size: 9.2pt)
#show table.cell.where(y: 0): set text(weight: 600)
#show math.equation: set text(size: 1.05em)
#show math.equation.where(block: true): set block(above: 1.3em, below: 1.3em, breakable: true)
#set footnote.entry(separator: line(length: 22%, stroke: hair), gap: 0.6em, indent: 0em)
#show footnote.entry: set text(size: 8.2pt)
#show footnote.entry: set par(leading: 0.55em, spacing: 0.5em, justify: false)
#set super(size: 0.62em)
#let quoted(body) = block(
  width: 100%, above: 1.2em, below: 1.2em, inset: (SIDE: 12pt, y: 2pt), stroke: (SIDE: 2.5pt + rgb("#cfd6df")),
  quote(block: false, quotes: false, { set text(fill: rgb("#475467")); body }),
)
#let rule = block(above: 1.6em, below: 1.6em, width: 100%, line(length: 100%, stroke: hair))
#let small-table(size: 8pt, inset: 4pt, ..parts) = {
  show table: set text(size: size)
  table(inset: (x: inset, y: inset), ..parts)
}
#let comma = super[,]
#let thin = h(0.15em)
#let note-mark(label) = if "0123456789".contains(label.first()) { label } else {
  // A sign and its letters.
  TOGETHER({
    set text(dir: ltr)
    text(size: 1.2em, baseline: 0.25em, label.first())
    label.slice(label.first().len())
  })
}
#let underlined(paint, dash, body) = underline(
  offset: 2.6pt, evade: false, stroke: (paint: paint, thickness: 0.9pt, dash: dash), body,
)
#let partial = underlined.with(rgb("#b54708"), "dotted")
#let contradicted = underlined.with(rgb("#b42318"), "solid")
#let unsupported = underlined.with(rgb("#b42318"), "dashed")
#let uncited = underlined.with(rgb("#b54708"), "dotted")
#let unread = underlined.with(rgb("#667085"), "dash-dotted")
#let unseen(mark) = { show footnote: none; mark }
#let shown(path, width, alt) = block(
  above: 1.4em, below: 1.4em, width: 100%, breakable: false, align(center, image(path, width: width, alt: alt)),
)
#let inlined(path, height, alt) = box(baseline: 15%, image(path, height: height, alt: alt))
#let formula(source, latex) = math.equation(block: false, alt: latex, maths(source))
#let display(source, latex) = math.equation(block: true, alt: latex, maths(source))
#let missing(alt) = text(fill: soft, style: "italic", alt)
#let task(done, body, ..rest) = {
  let sign = if done { text(fill: accent, "☑") } else { text(fill: soft, "☐") }
  let sign = text(font: "DejaVu Sans Mono", size: 1.35em, baseline: 0.05em, sign)
  par(hanging-indent: 1.65em, box(width: 1.65em, sign) + body)
  for more in rest.pos() { pad(SIDE: 1.65em, more) }
}
#let byline(body) = block(below: 2em, text(size: 9.5pt, fill: soft, body))
#let contents(title, depth, base, lines) = {
  // A mark in a heading is not made twice.
  show outline.entry: it => {
    let line = lines.at(str(it.element.label), default: none)
    if line == none { it } else {
      let dots = box(width: 1fr, it.fill)
      link(it.element.location(), it.indented(it.prefix(), line + sym.space + dots + sym.space + it.page()))
    }
  }
  show outline.entry.where(level: base + 1): set text(weight: 600)
  show outline.entry.where(level: base + 1): set block(above: 1em)
  set outline.entry(fill: repeat(text(fill: rgb("#b5bdc9"), "."), gap: 3pt))
  set par(leading: 0.6em)
  block(above: 1.8em, below: 1.2em, text(size: 12.5pt, weight: 600, title))
  outline(title: none, depth: depth, indent: n => calc.max(0, n - base) * 1.3em)
  pagebreak(weak: true)
}
"""


def _tag_and_region(language: str) -> tuple[str, str | None]:
    """The language and the region as the typesetter wants them."""
    tag, _, region = language.partition("-")
    return _REGIONS.get(language, (tag.lower(), region.upper() if len(region) == 2 else None))


def _font_list(language: str, families: frozenset[str], *, code: bool = False) -> str:
    """The families of a text in a language, first choice first, as source."""
    cjk = f"Noto Sans CJK {_FACES.get(language, 'SC')}"
    own = "JetBrains Mono" if code else "Inter"
    # With the first choice missing, the typesetter's own letters come before those that are meant for other scripts.
    instead = () if own in families else (("DejaVu Sans Mono",) if code else ("Libertinus Serif",))
    chosen = [family for family in (own, *instead, cjk, *_SCRIPTS) if family in families]
    # Quotation marks and dashes in Chinese and Japanese are as wide as their letters.
    wide = not code and language in ("zh-Hans", "zh-Hant", "ja")
    return _list(
        f'(name: "{family}", covers: "latin-in-cjk")' if wide and family == "Inter" else f'"{family}"'
        for family in dict.fromkeys(chosen)
    )


def page_template(language: str, families: frozenset[str]) -> str:
    """The settings of a document in a language."""
    tag, region = _tag_and_region(language)
    place = f'"{region}"' if region else "none"
    is_rtl = is_right_to_left_language(language)
    # A box keeps a sign before its letters, and makes the line a little higher.
    page = _PAGE.replace("SIDE", "right" if is_rtl else "left").replace("TOGETHER", "box" if is_rtl else "")
    lines = [
        page,
        f'#set text(lang: "{tag}", region: {place}, font: {_font_list(language, families)})',
        f"#show raw: set text(font: {_font_list(language, families, code=True)})",
    ]
    if tag in ("zh", "ja"):
        lines.append("#set par(justify: true)")
    for name, (tongue, country) in _REGIONS.items():
        key = name.lower()
        lines.append(f'#let in-{key} = (lang: "{tongue}", region: "{country}", font: {_font_list(name, families)})')
    return "\n".join(lines)


def _list(items: Iterable[str]) -> str:
    return "(" + "".join(f"{item}, " for item in items) + ")"
