"""Conversations: what was said, who said it, and the life of every run.

- `store`     sessions: make, list, find, rename, delete
- `branches`  the way through the tree of turns that is shown
- `history`   a session as it is shown after a reload
- `runner`    runs: start, cancel, take over after a crash
- `log`       the events of a run: one writer, any number of followers
"""
