"""Documents: their text, and the conversion of markdown to PDF and DOCX.

- `extract`     the text of web pages and of uploaded files
- `inspection`  what an uploaded file really is, before any of it is stored
- `markdown`    markdown parsed into a document tree (`tree`), which `out/pdf` and `out/docx` write
- `worker`      what a sandboxed process does for each kind of job
"""
