"""Documents of all kinds: what they say, and markdown as PDF and DOCX.

- `extract`     the text of pages of the web
- `inspection`  what an uploaded file really is, before any of it is kept
- `reading`     the text of an uploaded file
- `markdown`    reports as a document tree (`tree`), which `pdf` and `docx` write
- `worker`      what a sandboxed process does for each kind of job
"""
