"""The footnotes of a document, in a part of their own."""

from msgspec.structs import replace

from footnote.documents.docx.blocks import Place, written
from footnote.documents.docx.markup import DECLARATION, NAMESPACES, Look, run
from footnote.documents.docx.relations import Relations
from footnote.documents.docx.writing import Writing
from footnote.documents.tree import Block, Paragraph, Text

_CLOSE = '<w:pPr><w:spacing w:after="0" w:line="240" w:lineRule="auto"/></w:pPr>'
_SEPARATORS = (
    f'<w:footnote w:type="separator" w:id="-1"><w:p>{_CLOSE}<w:r><w:separator/></w:r></w:p></w:footnote>'
    f'<w:footnote w:type="continuationSeparator" w:id="0"><w:p>{_CLOSE}<w:r><w:continuationSeparator/></w:r></w:p>'
    "</w:footnote>"
)
_PLACE = Place(style="FootnoteText")


def footnotes(writing: Writing) -> tuple[str, Relations]:
    """After the body, which says which notes there are. With the relations of the part."""
    outside, writing.relations, writing.in_note = writing.relations, Relations(), True
    try:
        made = "".join(_note(number, key, writing) for key, number in writing.note_numbers.items())
        relations = writing.relations
    finally:
        writing.relations, writing.in_note = outside, False
    return f"{DECLARATION}<w:footnotes {NAMESPACES}>{_SEPARATORS}{made}</w:footnotes>", relations


def _note(number: int, key: str, writing: Writing) -> str:
    content = writing.document.notes[key]
    if not content or not isinstance(content[0], Paragraph):
        content = (Paragraph(()), *content)
    label = writing.note_labels.get(key)
    shown = f"<w:t>{label}</w:t>" if label else "<w:footnoteRef/>"
    begins = f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>{shown}</w:r>{run(" ", Look())}'
    made = [
        written(content[:1], writing, replace(_PLACE, begins=begins)),
        written(content[1:], writing, _PLACE),
    ]
    # A note inside a note is none in Word. It stands below the one that refers to it, and may refer to others.
    done = 0
    while done < len(writing.inner_notes):
        inner = list(writing.inner_notes.values())[done]
        done += 1
        made.append(written(_labelled(done, inner), writing, _PLACE))
    writing.inner_notes.clear()
    return f'<w:footnote w:id="{number}">{"".join(made)}</w:footnote>'


def _labelled(number: int, content: tuple[Block, ...]) -> tuple[Block, ...]:
    match content:
        case (Paragraph(words), *others):
            return Paragraph((Text(f"[{number}] "), *words)), *others
        case _:
            return Paragraph((Text(f"[{number}]"),)), *content
