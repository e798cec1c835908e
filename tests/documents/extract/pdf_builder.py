"""Builds PDFs: each page is a list of lines, each line its position, size and text."""

LEADING = 14
SONG = (
    "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Song /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1)"
    " /Supplement 2 >> /FontDescriptor << /Type /FontDescriptor /FontName /Song /Flags 4 >> >>"
)


def make_pdf(*pages: list[tuple[float, float, float, str]], facts: str = "", trailer: str = "") -> bytes:
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Type /Font /Subtype /Type0 /BaseFont /Song /Encoding /UniGB-UCS2-H /DescendantFonts [{SONG}] >>",
        f"<< {facts} >>",
    ]
    for number, lines in enumerate(pages):
        drawn = "\n".join(_draw_text(*line) for line in lines)
        look = "/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {look} /Contents {7 + 2 * number} 0 R >>",
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    body = "%PDF-1.4\n"
    table = "0000000000 65535 f \n"
    for number, content in enumerate(objects, 1):
        table += f"{len(body):010} 00000 n \n"
        body += f"{number} 0 obj\n{content}\nendobj\n"
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 5 0 R {trailer} >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {len(objects) + 1}\n{table}{end}".encode("cp1252")


def lines(*texts: str, top: float = 700, left: float = 72, size: float = 11) -> list[tuple[float, float, float, str]]:
    return [(left, top - LEADING * number, size, text) for number, text in enumerate(texts)]


def _draw_text(x: float, y: float, size: float, text: str) -> str:
    if any(character > "\u2e80" for character in text):
        return f"BT /F2 {size} Tf {x} {y} Td <{text.encode('utf-16-be').hex()}> Tj ET"
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /F1 {size} Tf {x} {y} Td ({escaped}) Tj ET"
