"""What an uploaded file really is, before any of it is kept.

- `inspection`  the page to read first: by its first bytes, and by the list of what is in it
- `signatures`  what first bytes say
- `archives`    zip files: looked at without unpacking them, and unpacked without trusting them
- `old_office`  documents of before 2007, by the names of their streams
- `without_text`  kinds that are kept and not read
"""
