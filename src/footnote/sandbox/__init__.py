"""Processes in which every foreign byte is parsed, and in which a hostile document can do no harm.

- `pool`        the page to read first: jobs in, results out
- `queue`       which job is next: one queue for each kind of job, fair among users
- `client`      the server's end of the fork server
- `forkserver`  its own end: one parent that has the parsers loaded, one fork for each job
- `confine`     what a job gives up before it begins: memory, time, the network, files, other programs
- `jobs`        the jobs and their results, as values
"""
