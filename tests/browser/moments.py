"""Places in a turn at which the model waits until it is told to go on."""

import asyncio
from collections.abc import Sequence

from upstream import hold
from upstream.steps import Step


class Moments:
    """`Moments("text")`: the model waits there. `go("text")` lets it on, `go()` everywhere."""

    def __init__(self, *places: str) -> None:
        self._events = {place: asyncio.Event() for place in places}

    def before(self, place: str) -> Sequence[Step]:
        return (hold(self._events[place]),) if place in self._events else ()

    def release(self, *places: str) -> None:
        for place in places or self._events:
            self._events[place].set()
