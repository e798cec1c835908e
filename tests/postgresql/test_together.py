"""Several replicas on the same rows: what SQLite guarantees by its single writer."""

import asyncio

from msgspec.structs import replace

from footnote.db import blobs, leases, runs
from footnote.db.engine import Database
from footnote.db.script import Steps, lock, script, sql
from sessions.turn_writer import add_user


@script
def session(name: str) -> Steps[None]:
    yield sql(
        """
        INSERT INTO session (id, user_id, agent_id, title, created_at, changed_at) VALUES (?, 'ann', 'a', '', '', 0)
        """,
        name,
    )


def new_run(number: int, session_id: str, owner: str = "me", seconds: float = 100) -> runs.NewRun:
    return runs.NewRun(
        id=f"run_{number}",
        session_id=session_id,
        user_id="ann",
        question_id=f"question_{number}",
        message_id=f"message_{number}",
        asked=b"{}",
        owner=owner,
        lease_seconds=seconds,
        now=0,
    )


def question(number: int) -> runs.NewQuestion:
    return runs.NewQuestion(f"question_{number}", b"{}", b"[]", "")


async def _add_users(database: Database, sessions: int) -> None:
    await database.write(add_user("ann"))
    for number in range(sessions):
        await database.write(session(f"session_{number}"))


async def test_a_limit_holds_over_replicas(database: Database, other: Database) -> None:
    await _add_users(database, 12)
    results = await asyncio.gather(
        *(
            replica.write(runs.create_run(new_run(number, f"session_{number}"), question(number), max_active=5))
            for number, replica in enumerate([database, other] * 6)
        ),
        return_exceptions=True,
    )
    assert [type(one).__name__ for one in results].count("NoneType") == 5
    assert [type(one).__name__ for one in results].count("LimitReached") == 7


async def test_a_session_has_one_run_over_replicas(database: Database, other: Database) -> None:
    await _add_users(database, 1)
    results = await asyncio.gather(
        *(
            replica.write(runs.create_run(new_run(number, "session_0"), question(number), max_active=100))
            for number, replica in enumerate([database, other] * 4)
        ),
        return_exceptions=True,
    )
    assert sorted(type(one).__name__ for one in results) == ["NoneType"] + ["RunActive"] * 7


async def test_one_of_many_takes_an_orphan_over(database: Database, other: Database) -> None:
    await _add_users(database, 20)
    for number in range(20):
        await database.write(
            runs.create_run(new_run(number, f"session_{number}", "gone", -1), question(number), max_active=100)
        )
    claimed = await asyncio.gather(
        *(
            replica.write(leases.claim(f"owner_{number}", [], 100, 0))
            for number, replica in enumerate([database, other])
        )
    )
    assert sorted(claimed[0] + claimed[1]) == sorted(f"run_{number}" for number in range(20))


async def test_an_owner_that_lives_keeps_its_runs(database: Database, other: Database) -> None:
    await _add_users(database, 1)
    await database.write(runs.create_run(new_run(0, "session_0", "here"), question(0), max_active=1))
    # The time of the database counts, whatever the clock of the replica says.
    assert await other.write(leases.claim("there", [], 100, 1e12)) == []
    assert await database.write(leases.heartbeat("here", 100, 0)) == [("run_0", 0, False)]


async def test_who_was_taken_over_from_writes_nothing_more(database: Database, other: Database) -> None:
    """However close together: a row is written before the run changes hands, or it is refused."""
    await _add_users(database, 30)
    for number in range(30):
        await database.write(
            runs.create_run(new_run(number, f"session_{number}", "gone", -1), question(number), max_active=100)
        )

    async def write(number: int) -> bool:
        row = runs.EventRow(f"run_{number}", 1, 1, b"x")
        try:
            await database.write(runs.append_events_and(runs.Lease(row.run_id, 0), [row]))
        except runs.LeaseLost:
            return False
        return True

    @script
    def take_over() -> Steps[set[str]]:
        yield from leases.claim("next", [], 100, 0)
        rows = yield sql("SELECT run.id FROM run JOIN run_events ON run_events.run = run.number")
        return {run_id for (run_id,) in rows}

    *written, found = await asyncio.gather(*map(write, range(30)), other.write(take_over()))
    assert found == {f"run_{number}" for number, was in enumerate(written) if was}


@script
def _file(session_id: str, file_id: str) -> Steps[None]:
    yield sql(
        "INSERT INTO workspace_file (session_id, path, id, source, created_at, current) VALUES (?, '/a', ?, '', '', 0)",
        *(session_id, file_id),
    )


async def test_a_content_that_comes_while_it_goes(database: Database, other: Database) -> None:
    """One replica needs the blob for a rendition while another deletes its last reference."""
    await _add_users(database, 1)
    await database.write(_file("session_0", "file_0"))
    blob = blobs.StoredBlob("hash", 1, content=b"x")
    for round_ in range(20):
        await database.write(blobs.store_rendition("session_0", "file_0", "first", blob, b"[]", 1.0))
        await asyncio.gather(
            database.write(blobs.delete_renditions(2.0)),
            other.write(blobs.store_rendition("session_0", "file_0", "second", blob, b"[]", 3.0 + round_)),
        )
        assert await database.read(blobs.blob_location("hash")) is not None


async def test_two_that_wait_for_each_other_both_get_through(database: Database, other: Database) -> None:
    order: list[str] = []

    @script
    def both(first: str, second: str) -> Steps[None]:
        yield lock("test", first)
        # In the first round both hold their first lock before either requests its second one.
        yield sql("SELECT pg_sleep(0.3)")
        yield lock("test", second)
        order.append(first)

    await asyncio.gather(database.write(both("a", "b")), other.write(both("b", "a")))
    assert sorted(order) == ["a", "b"]


async def test_a_client_id_is_one_run_over_replicas(database: Database, other: Database) -> None:
    await _add_users(database, 1)
    results = await asyncio.gather(
        *(
            replica.write(
                runs.create_run(
                    replace(new_run(number, "session_0"), client_id="first"), question(number), max_active=100
                )
            )
            for number, replica in enumerate([database, other] * 4)
        )
    )
    created = results.index(None)
    assert [one.id for one in results if one is not None] == [f"run_{created}"] * 7
