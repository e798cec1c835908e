"""Moves the clock of the event loop, so that a timeout passes without waiting for it."""

import asyncio

import pytest


def advance_loop_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """From now on the running loop is ahead by so many seconds: timers that are due by then fire at its next turn."""
    loop = asyncio.get_running_loop()
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + seconds)
