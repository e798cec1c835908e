"""Everything that a Footnote stores as one file, from either database and either storage, and back into either.

- `format`   read this first: the parts of the file, each with a checksum over everything before it
- `create`   from database and storage to the file
- `verify`   checks a file from its first byte to its last
- `restore`  from the file to an empty database and its storage
"""
