"""The database: the only package that contains SQL.

- `engine`      `Database`: opens a database, reads, writes
- `script`      a transaction as a generator of statements, independent of a driver
- `schema`      every table and column, and the migrations that create them
- `errors`      what can go wrong, and what an operator does about it
- `sqlite`      the embedded engine
- `postgresql`  the engine that several replicas share

Each of the other modules holds the transactions of one subject.
"""
