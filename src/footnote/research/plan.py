"""The plan of a research run, and the changes that its owner and its user make to it."""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from footnote.protocol.plans import PlanItem

PlanPhase: TypeAlias = Literal["planning", "investigating", "filling", "writing"]
"""How far a run is. `filling`: it was asked for gaps, and reads for the items that were added. From `writing` on, the
plan stays as it is."""


class PlanState(Struct, frozen=True):
    """The plan as it is stored. `is_finishing`: the user wants the report now. `steering`: what the user said while the
    run went on. `template`: the name of that of the report."""

    items: tuple[PlanItem, ...] = ()
    steering: tuple[str, ...] = ()
    is_finishing: bool = False
    template: str = ""
    phase: PlanPhase = "planning"


class PlanBoard(Protocol):
    """The stored plan of one run. Its owner changes it, and so does its user, on any replica."""

    async def read(self) -> PlanState | None:
        """None: nothing is planned yet."""
        ...

    async def change(self, change: Callable[[PlanState], PlanState]) -> PlanState:
        """Changes the plan in one transaction. Without a plan, `change` gets one of no items."""
        ...

    async def wait_for_change(self) -> None:
        """Returns when somebody else may have changed the plan."""
        ...
