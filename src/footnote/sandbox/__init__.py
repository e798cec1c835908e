"""The sandbox: confined processes that parse untrusted documents, so that a hostile one can do no harm.

- `pool`        read this first: runs jobs, with one queue for each kind of job that is fair among users
- `client`      the server's end: the fork server, the processes of jobs, and the sockets to them
- `forkserver`  the other end: one parent that has the parsers loaded, and one fork for each job
- `confine`     what a job gives up before it begins: memory, time, the network, files, other programs
- `jobs`        the jobs and their results, as values
"""
