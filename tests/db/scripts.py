"""Small scripts on one table, for tests of how scripts are run."""

from footnote.db.script import Steps, lock, script, sql, sql_many


@script
def note(name: str, value: str = "") -> Steps[None]:
    yield sql("INSERT INTO library_fact (name, value) VALUES (?, ?)", name, value)


@script
def note_all(names: list[str]) -> Steps[None]:
    yield sql_many("INSERT INTO library_fact (name, value) VALUES (?, '')", [(name,) for name in names])


@script
def names() -> Steps[list[str]]:
    rows = yield sql("SELECT name FROM library_fact ORDER BY name")
    return [name for (name,) in rows]


@script
def count_up() -> Steps[int]:
    """Reads a number and writes the next one: two concurrent transactions must not read the same."""
    yield lock("test", "count")
    rows = yield sql("SELECT value FROM library_fact WHERE name = 'count'")
    number = int(rows[0][0]) + 1 if rows else 1
    yield sql(
        "INSERT INTO library_fact (name, value) VALUES ('count', ?) ON CONFLICT (name) DO UPDATE SET value = ?",
        str(number),
        str(number),
    )
    return number
