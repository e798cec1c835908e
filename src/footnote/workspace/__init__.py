"""The files of a session: a virtual tree that agents and people write, and that people take away.

- `files`      the page to read first: the tree and its versions (`stored` and `in_memory` hold them)
- `paths`      the only place where a user's or a model's path becomes a key
- `blobs`      contents, kept once each
- `uploads`    what users bring (`spool` holds it meanwhile), `pictures` of it for models
- `text`       edits and numbered lines, `diffs` what versions differ in; pure
- `downloads`  addresses for an hour, `archive` everything as one zip, `export` files of the host
"""
