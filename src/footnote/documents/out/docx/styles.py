"""Styles, with the names of Word's own, so that its navigation, table of contents and themes work."""

from msgspec import Struct

from footnote.documents.languages import is_right_to_left_language
from footnote.documents.out.docx.markup import CODE_FONT, DECLARATION, LINK_COLOUR, W

_EAST_ASIAN = {
    "ja": ("ja-JP", "Yu Gothic"),
    "ko": ("ko-KR", "Malgun Gothic"),
    "zh-Hant": ("zh-TW", "Microsoft JhengHei"),
}
_CHINESE = "zh-CN", "Microsoft YaHei"
_COMPLEX = {
    "ar": ("ar-SA", "Arial"),
    "fa": ("fa-IR", "Arial"),
    "ur": ("ur-PK", "Arial"),
    "he": ("he-IL", "Arial"),
    "th": ("th-TH", "Leelawadee UI"),
    "lo": ("lo-LA", "Leelawadee UI"),
    "km": ("km-KH", "Leelawadee UI"),
    "my": ("my-MM", "Myanmar Text"),
    "hi": ("hi-IN", "Nirmala UI"),
    "bn": ("bn-IN", "Nirmala UI"),
    "ta": ("ta-IN", "Nirmala UI"),
}
_ARABIC = "ar-SA", "Arial"
_REGIONS = {
    "en": "en-US", "vi": "vi-VN", "de": "de-DE", "fr": "fr-FR", "es": "es-ES", "it": "it-IT", "pt": "pt-PT",
    "ru": "ru-RU", "el": "el-GR", "pl": "pl-PL", "nl": "nl-NL", "tr": "tr-TR", "uk": "uk-UA", "am": "am-ET",
    "ka": "ka-GE", "hy": "hy-AM", "id": "id-ID",
}  # fmt: skip
LATIN_FONT = "Calibri"


class FontLanguages(Struct, frozen=True):
    """Language tags and fonts of the three script groups of Word."""

    latin: str
    east_asian: str
    complex: str
    east_asian_font: str
    complex_font: str
    is_rtl: bool


def language_fonts(language: str) -> FontLanguages:
    """`language` is a BCP 47 tag."""
    base = language.partition("-")[0].lower()
    east_asian, east_asian_font = _EAST_ASIAN.get(language) or _EAST_ASIAN.get(base) or _CHINESE
    complex_, complex_font = _COMPLEX.get(base) or _ARABIC
    latin = _REGIONS.get(base, "en-US") if language.isalpha() else language
    return FontLanguages(
        latin="en-US" if base in ("zh", "ja", "ko") or base in _COMPLEX else latin,
        east_asian=east_asian,
        complex=complex_,
        east_asian_font=east_asian_font,
        complex_font=complex_font,
        is_rtl=is_right_to_left_language(language),
    )


_INK, _HEADING, _FAINT, _LINE, _PALE = "1F2328", "14284B", "5B6470", "C3CAD3", "F3F5F8"
_SIZES = 40, 32, 27, 24, 22, 22
"""Of headings, in half points."""

_SPACES = (480, 160), (400, 120), (320, 100), (280, 80), (240, 80), (240, 80)


def styles_xml(font_languages: FontLanguages) -> str:
    return "".join(
        (
            f'{DECLARATION}<w:styles xmlns:w="{W}">',
            _defaults(font_languages),
            *_headings(),
            *_paragraphs(font_languages),
            *_characters(font_languages),
            _TABLES,
            "</w:styles>",
        )
    )


def _defaults(font_languages: FontLanguages) -> str:
    fonts = _fonts(LATIN_FONT, font_languages, font_languages.complex_font)
    tags = f'w:val="{font_languages.latin}" w:eastAsia="{font_languages.east_asian}" w:bidi="{font_languages.complex}"'
    return (
        f'<w:docDefaults><w:rPrDefault><w:rPr>{fonts}<w:color w:val="{_INK}"/>{_size(22)}<w:lang {tags}/></w:rPr>'
        "</w:rPrDefault><w:pPrDefault><w:pPr>"
        '<w:spacing w:after="140" w:line="276" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>'
    )


def _fonts(latin: str, font_languages: FontLanguages, complex_: str) -> str:
    east = font_languages.east_asian_font
    return f'<w:rFonts w:ascii="{latin}" w:hAnsi="{latin}" w:eastAsia="{east}" w:cs="{complex_}"/>'


def _size(half_points: int) -> str:
    return f'<w:sz w:val="{half_points}"/><w:szCs w:val="{half_points}"/>'


def _colour(colour: str) -> str:
    return f'<w:color w:val="{colour}"/>'


def _style(
    id: str,  # noqa: A002 - the word of the format
    name: str,
    *,
    kind: str = "paragraph",
    based_on: str = "Normal",
    next_style: str = "",
    primary: bool = False,
    paragraph: str = "",
    run: str = "",
) -> str:
    own = "" if name in _BUILT_IN else ' w:customStyle="1"'
    return "".join(
        (
            f'<w:style w:type="{kind}"{own} w:styleId="{id}"><w:name w:val="{name}"/>',
            f'<w:basedOn w:val="{based_on}"/>' if based_on else "",
            f'<w:next w:val="{next_style}"/>' if next_style else "",
            '<w:uiPriority w:val="99"/>' if not primary else '<w:uiPriority w:val="9"/>',
            "<w:qFormat/>" if primary else "",
            f"<w:pPr>{paragraph}</w:pPr>" if paragraph else "",
            f"<w:rPr>{run}</w:rPr>" if run else "",
            "</w:style>",
        )
    )


_BUILT_IN = frozenset(
    (
        *(f"heading {level}" for level in range(1, 7)),
        *(f"toc {level}" for level in range(1, 7)),
        *("TOC Heading", "List Paragraph", "Quote", "footnote text", "footnote reference", "Hyperlink", "footer"),
        *("Title", "Subtitle"),
    )
)


def _headings() -> list[str]:
    styles = [
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>'
    ]
    for level, (size, (before, after)) in enumerate(zip(_SIZES, _SPACES, strict=True), 1):
        spacing = _spacing(before, after, 252)
        paragraph = f'<w:keepNext/><w:keepLines/>{spacing}<w:outlineLvl w:val="{level - 1}"/>'
        properties = f"<w:b/><w:bCs/>{_colour(_HEADING if level < 6 else _FAINT)}{_size(size)}"
        styles.append(
            _style(
                f"Heading{level}",
                f"heading {level}",
                next_style="Normal",
                primary=True,
                paragraph=paragraph,
                run=properties,
            )
        )
    return styles


def _paragraphs(font_languages: FontLanguages) -> list[str]:
    """All paragraph styles but those of headings."""
    edges = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:space="6" w:color="E1E5EA"/>'
        for side in ("top", "left", "bottom", "right")
    )
    code = (
        f'<w:pBdr>{edges}</w:pBdr><w:shd w:val="clear" w:color="auto" w:fill="{_PALE}"/>'
        f'{_spacing(120, 180, 252)}<w:ind w:left="113" w:right="113"/><w:contextualSpacing/><w:jc w:val="left"/>'
    )
    rule = (
        f'<w:pBdr><w:bottom w:val="single" w:sz="6" w:space="1" w:color="{_LINE}"/></w:pBdr>'
        '<w:spacing w:before="120" w:after="240" w:line="120" w:lineRule="exact"/>'
    )
    small = f"{_colour(_FAINT)}{_size(18)}"
    listed = f"{_spacing(0, 80, 276)}<w:contextualSpacing/>"
    contents = f"<w:b/><w:bCs/>{_colour(_HEADING)}{_size(27)}"
    return [
        _style(
            "Title", "Title", paragraph=_spacing(240, 160, 252), run=f"<w:b/><w:bCs/>{_colour(_HEADING)}{_size(48)}"
        ),
        _style("Subtitle", "Subtitle", paragraph=_spacing(0, 320, 276), run=_colour(_FAINT)),
        _style("ListParagraph", "List Paragraph", paragraph=listed),
        _style("Quote", "Quote", run=_colour("3B434D")),
        _style("SourceCode", "Source Code", paragraph=code, run=f"{_code_font(font_languages)}{_size(18)}"),
        _style("Formula", "Formula", paragraph=f'{_spacing(80, 180, 276)}<w:jc w:val="center"/>'),
        _style("Rule", "Rule", paragraph=rule),
        _style("TableText", "Table Text", paragraph=_spacing(40, 40, 252), run=_size(20)),
        _style("TableTextSmaller", "Table Text Smaller", based_on="TableText", run=_size(18)),
        _style("TableTextSmallest", "Table Text Smallest", based_on="TableText", run=_size(15)),
        _style("AfterTable", "After Table", paragraph=_spacing(0, 120, 240), run=f"{_colour(_FAINT)}{_size(16)}"),
        _style("FootnoteText", "footnote text", paragraph=_spacing(0, 40, 240), run=_size(18)),
        _style("Footer", "footer", paragraph=f'{_spacing(0, 0, 240)}<w:jc w:val="center"/>', run=small),
        _style("TOCHeading", "TOC Heading", paragraph=f"<w:keepNext/>{_spacing(240, 120, 252)}", run=contents),
        *(_contents_entry(level) for level in range(1, 7)),
    ]


def _contents_entry(level: int) -> str:
    """The style has a tab stop for the page number, which Word adds."""
    tab_stop = '<w:tabs><w:tab w:val="right" w:leader="dot" w:pos="9070"/></w:tabs>'
    paragraph = f'{tab_stop}{_spacing(0, 60, 252)}<w:ind w:left="{(level - 1) * 240}"/>'
    return _style(f"TOC{level}", f"toc {level}", next_style="Normal", paragraph=paragraph)


def _spacing(before: int, after: int, line: int) -> str:
    return f'<w:spacing w:before="{before}" w:after="{after}" w:line="{line}" w:lineRule="auto"/>'


def _code_font(font_languages: FontLanguages) -> str:
    return f"{_fonts(CODE_FONT, font_languages, CODE_FONT)}<w:noProof/>"


def _characters(font_languages: FontLanguages) -> list[str]:
    code = f'{_code_font(font_languages)}<w:shd w:val="clear" w:color="auto" w:fill="EEF1F5"/>'
    link = f'{_colour(LINK_COLOUR)}<w:u w:val="single"/>'
    raised = '<w:vertAlign w:val="superscript"/>'
    return [
        _style("VerbatimChar", "Verbatim Char", kind="character", based_on="", run=code),
        _style("Hyperlink", "Hyperlink", kind="character", based_on="", run=link),
        _style("FootnoteReference", "footnote reference", kind="character", based_on="", run=raised),
    ]


_EDGES = "".join(
    f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="{_LINE}"/>'
    for side in ("top", "left", "bottom", "right", "insideH", "insideV")
)
_TABLES = (
    '<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/>'
    '<w:uiPriority w:val="99"/><w:semiHidden/><w:unhideWhenUsed/><w:tblPr><w:tblInd w:w="0" w:type="dxa"/>'
    '<w:tblCellMar><w:top w:w="0" w:type="dxa"/><w:left w:w="108" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/>'
    '<w:right w:w="108" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>'
    '<w:style w:type="table" w:customStyle="1" w:styleId="ReportTable"><w:name w:val="Report Table"/>'
    '<w:basedOn w:val="TableNormal"/><w:uiPriority w:val="59"/>'
    f'<w:tblPr><w:tblStyleRowBandSize w:val="1"/><w:tblBorders>{_EDGES}</w:tblBorders></w:tblPr>'
    '<w:tblStylePr w:type="firstRow"><w:rPr><w:b/><w:bCs/></w:rPr><w:tcPr><w:shd w:val="clear" w:color="auto" '
    'w:fill="E8EDF4"/></w:tcPr></w:tblStylePr></w:style>'
)
