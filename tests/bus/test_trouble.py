"""A bus that is missing, disappears, hangs or comes back: the replicas are slower meanwhile, and keep working."""

import logging
from pathlib import Path

import pytest
from service_kinds import Postgres, Redis

from bus.buses import (
    PASSWORD,
    SECONDS,
    bus_server,
    next_message,
    running_service,
    wait_for_log,
    wait_for_state,
    wait_live,
)
from footnote.bus import open_bus
from footnote.bus.remote import MAX_MESSAGES, MAX_OUTBOX_BYTES, Outbox
from footnote.db.engine import Database
from footnote.protocol.errors import ConfigError


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Redis, Postgres])
async def test_when_it_comes_back_listeners_are_told_to_look_and_hear_again(
    kind: type[Redis] | type[Postgres], tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    with running_service(kind) as server:
        assert isinstance(server, Redis | Postgres)
        async with bus_server(server.url(), tmp_path) as meeting:
            here, there = await meeting.open(), await meeting.open()
            with there.listen("run:a") as listener:
                await wait_live(listener)
                here.publish("run:a", b"before")
                assert await next_message(listener) == b"before"
                await wait_for_state(
                    here, lambda state: state.published == 1
                )  # otherwise it would count as dropped, too
                server.kill()
                for bus in (here, there):
                    await wait_for_state(bus, lambda state: not state.is_connected)
                here.publish("run:a", b"meanwhile")
                await wait_for_state(here, lambda state: state.dropped == 1)
                # Two replicas without a connection to each other.
                assert [await bus.acquire_token("ann", 1, 1) for bus in (here, there)] == [0, 0]
                assert await here.acquire_token("ann", 1, 1) > 0
                server.start()
                assert await listener.next(SECONDS) == b"", "something may have been missed"
                await wait_for_state(here, lambda state: state.is_connected)
                here.publish("run:a", b"after")
                assert await next_message(listener) == b"after"
            assert (here.state.reconnects, there.state.reconnects) == (1, 1)
    assert PASSWORD not in caplog.text
    for said_once in ("Other replicas are not heard of at once", "is there again"):
        assert sum(said_once in record.message for record in caplog.records) == 2, "once by each"


@pytest.mark.slow
async def test_one_that_hangs_holds_nobody_up(tmp_path: Path):
    with running_service(Redis) as server:
        assert isinstance(server, Redis)
        async with bus_server(server.url(), tmp_path) as meeting:
            bus = await meeting.open()
            with bus.listen("run:a") as listener:
                await wait_live(listener)
                assert await bus.acquire_token("ann", 3, 1) == 0
                server.pause()
                for _ in range(MAX_MESSAGES + 500):
                    bus.publish("run:a", b"x")
                assert await bus.acquire_token("ann", 3, 1) == 0
                assert await bus.acquire_token("ann", 3, 1) == 0
                assert await bus.acquire_token("ann", 3, 1) > 0, "counted here meanwhile"
                await wait_for_state(bus, lambda state: not state.is_connected)
                server.go_on()
                await wait_for_state(bus, lambda state: state.is_connected)
                assert await bus.acquire_token("bob", 1, 1) == 0


async def test_one_that_never_was_there_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    async with bus_server(f"redis://ann:{PASSWORD}@127.0.0.1:1/0", tmp_path) as meeting:
        bus = await meeting.open()
        with bus.listen("run:a") as listener:
            assert not await listener.wait_ready(1.5)
            await wait_for_log(caplog, "cannot be used")
            bus.publish("run:a", b"x")
            await wait_for_state(bus, lambda state: state.dropped == 1)
    [record] = caplog.records
    assert record.message == (
        "Other replicas are not heard of at once, and limits are not shared: "
        "the bus at 127.0.0.1:1 cannot be used (ConnectionError)."
    )


async def test_a_wrong_password_is_no_secret_that_is_told(
    redis: Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    wrong = redis.url().replace(PASSWORD, "wrong-password-0123")
    async with bus_server(wrong, tmp_path) as meeting:
        bus = await meeting.open()
        with bus.listen("run:a") as listener:
            await wait_for_log(caplog, "cannot be used (AuthenticationError)")
            assert not await listener.wait_ready(0.1)
    assert "wrong-password-0123" not in caplog.text


async def test_databases_of_one_redis_do_not_hear_each_other(redis: Redis, tmp_path: Path):
    async with bus_server(redis.url(1), tmp_path) as one, bus_server(redis.url(2), tmp_path) as other:
        here, there = await one.open(), await other.open()
        with here.listen("run:a") as first, there.listen("run:a") as second:
            await wait_live(first)
            await wait_live(second)
            here.publish("run:a", b"x")
            assert await next_message(first) == b"x"
            assert await second.next(0.1) is None
            assert [await bus.acquire_token("ann", 1, 1) for bus in (here, there)] == [0, 0]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql:", "database.url names none of PostgreSQL"),
        ("redis://localhost/path", "the number of a database"),
        ("redis://localhost?password=p", "'password' is not known there"),
        ("rediss://localhost?ssl_check_hostname=maybe&timeout=3", "'timeout' is not known there"),
        ("nats://localhost", "write local:"),
    ],
)
async def test_an_address_that_makes_no_sense_is_refused_with_a_reason(url: str, reason: str, tmp_path: Path):
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        with pytest.raises(ConfigError, match=r"bus\.url cannot be used") as refused:
            open_bus(url, "sqlite:footnote.db", database)
    assert reason in refused.value.message


def test_an_outbox_drops_the_oldest():
    outbox = Outbox()
    for number in range(MAX_MESSAGES + 3):
        outbox.add("topic", b"%d" % number)
    assert outbox.dropped == 3
    assert outbox.next_batch()[0] == ("topic", b"3")
    large = Outbox()
    for _ in range(3):
        large.add("topic", bytes(MAX_OUTBOX_BYTES // 2))
    assert (large.dropped, len(large.next_batch()), bool(large)) == (1, 2, False)
