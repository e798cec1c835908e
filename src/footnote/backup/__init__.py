"""All that a Footnote knows as one file, from either database and either storage, and back into either.

- `form`       the page to read first: what stands in such a file
- `frames`     its parts, each with a checksum over all that came before it
- `making`     from database and storage to the file
- `checking`   a file looked through from its first byte to its last
- `restoring`  from the file to an empty database and its storage
"""
