"""The files of a session: a virtual tree that agents and users write, and that users download.

- `files`      the page to read first: the tree and its versions (`stored` holds them), and images for models
- `paths`      the only place where a user's or a model's path becomes a key
- `blobs`      contents, stored once each by their hash; temporary files for incoming data
- `uploads`    files that users send, and their text
- `text`       edits, numbered lines, and diffs between versions; pure functions
- `downloads`  signed URLs; `export` all files as a zip file, or as files of the host
"""
