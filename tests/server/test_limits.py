"""Limits of requests and of logins."""

import pytest

from accounts.users import SettableClock
from footnote.bus.base import MAX_BUCKETS, LocalBus
from footnote.protocol.errors import LimitReached
from footnote.server.limits import LoginLimits, RequestLimits, client_network


async def test_a_bucket_is_emptied_at_once_and_fills_with_time():
    clock = SettableClock()
    buckets = RequestLimits(LocalBus(clock=clock), "requests", 3, 60)
    for _ in range(3):
        await buckets.acquire("ann", "requests", code="too_many_requests")
    with pytest.raises(LimitReached, match="Too many requests: wait 1 second") as refused:
        await buckets.acquire("ann", "requests", code="too_many_requests")
    assert refused.value.retry_after == pytest.approx(1.0)
    await buckets.acquire("bob", "requests", code="too_many_requests")
    clock.time += 1
    await buckets.acquire("ann", "requests", code="too_many_requests")
    with pytest.raises(LimitReached):
        await buckets.acquire("ann", "requests", code="too_many_requests")
    clock.time += 1000
    for _ in range(3):
        await buckets.acquire("ann", "requests", code="too_many_requests")
    with pytest.raises(LimitReached):
        await buckets.acquire("ann", "requests", code="too_many_requests")


async def test_many_strangers_do_not_fill_the_memory_nor_lift_the_limit_of_the_last():
    clock = SettableClock()
    bus = LocalBus(clock=clock)
    buckets = RequestLimits(bus, "requests", 2, 60)
    for number in range(3 * MAX_BUCKETS):
        await buckets.acquire(f"address {number}", "requests", code="too_many_requests")
    assert len(bus.buckets) <= MAX_BUCKETS
    await buckets.acquire("ann", "requests", code="too_many_requests")
    await buckets.acquire("ann", "requests", code="too_many_requests")
    for number in range(MAX_BUCKETS // 4):
        await buckets.acquire(f"another {number}", "requests", code="too_many_requests")
    with pytest.raises(LimitReached):
        await buckets.acquire("ann", "requests", code="too_many_requests")


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("unknown", "unknown"),
    ],
)
def test_a_subscribers_network_counts_as_one(address: str, place: str):
    assert client_network(address) == place


async def test_logins_are_limited_by_address_and_by_name():
    clock = SettableClock()
    limits = LoginLimits(LocalBus(clock=clock))
    for _ in range(5):
        await limits.acquire("10.0.0.1", "Ann")
    with pytest.raises(LimitReached):
        await limits.acquire("10.0.0.1", "ANN")
    await limits.acquire("10.0.0.2", "ann")
    for number in range(14):
        await limits.acquire("10.0.0.1", f"user {number}")
    with pytest.raises(LimitReached, match="from here"):
        await limits.acquire("10.0.0.1", None)
    for number in range(100):
        if number < 54:
            await limits.acquire(f"10.0.1.{number}", "ann")
    with pytest.raises(LimitReached):
        await limits.acquire("10.0.2.1", "ann")
