"""What is kept: SQL, and the only place that speaks it.

- `engine`    `Database`: opens it, reads, writes
- `script`    what a transaction is written in: a generator of statements, which knows no driver
- `library`   the transactions of the library
- `failures`  what can go wrong, and what to do about it
- `sqlite`    the embedded driver
"""
