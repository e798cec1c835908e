"""One file of every kind that the viewer shows."""

from documents.office import cells, docx, paragraph, xlsx
from documents.samples import png
from web.pdf import pdf

MARKDOWN = "# Notes\n\nA *short* list:\n\n- one\n- two\n\n```python\nprint('three')\n```\n"
CODE = "def double(number: int) -> int:\n    return number * 2\n"
TABLE = "city,river,length\nHà Nội,Sông Hồng,1149\nParis,Seine,777\n"
WEB_PAGE = (
    "<!doctype html><title>A page</title><h1 id=head>Built by hand</h1><script>head.append(' and alive')</script>"
)

FILES: dict[str, bytes] = {
    "notes.md": MARKDOWN.encode(),
    "double.py": CODE.encode(),
    "rivers.csv": TABLE.encode(),
    "budget.xlsx": xlsx(
        {
            "Costs": cells(1, "what", "amount") + cells(2, "paper", 12.5) + cells(3, "ink", 7),
            "Income": cells(1, "who", "amount") + cells(2, "a reader", 100),
        }
    ),
    "bridges.pdf": pdf("Concrete bridges of the nineteenth century", "The oldest stands at Chazelet."),
    "letter.docx": docx(paragraph("Dear reader,") + paragraph("footnotes are kind to you.")),
    "chart.png": png(320, 200),
    "page.html": WEB_PAGE.encode(),
}
