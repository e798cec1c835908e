"""The files of a session: a virtual tree that agents write and people take away.

- `paths`   the only place where a user's or a model's path becomes a key
- `files`   the tree itself: write, read, list
- `text`    edits and numbered lines, as pure functions
- `icons`   what kind of file a name stands for
- `export`  the files as real ones below a folder of the host
"""
