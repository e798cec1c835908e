"""Processes in which documents of others are read and made, and in which a hostile one can do no harm.

- `workshop`  the page to read first: work in, documents and texts out
- `forging`   the server's end of such a process
- `forge`     its own end: one parent that has all loaded, one fork for each job
- `sandbox`   what a job gives up before it begins: memory, time, the network, files, other programs
"""
