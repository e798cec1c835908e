"""Conversations and their runs.

- `store`     sessions: make, list, find, rename, delete
- `turns`     the stored turns of a session: branches, and the conversation that a model reads
- `history`   a session as it is shown after a reload
- `runner`    runs: start, cancel, decide, adopt after a crash
- `run`       one run as a state machine; `executor` runs it in a task, `supervisor` holds its lease
- `event_log` the events of a run: one writer, any number of followers (`journal` stores them, `follow` reads them)
"""
