"""The plan of a research run, and the changes that its owner and its user make to it. Pure."""

from msgspec import Struct

from footnote.protocol.plans import PlanItem


class PlanState(Struct, frozen=True):
    """The plan as it is stored. `is_finishing`: the user wants the report now. `steering`: what the user said while the
    run went on. `template`: the name of that of the report."""

    items: tuple[PlanItem, ...]
    steering: tuple[str, ...] = ()
    is_finishing: bool = False
    template: str = ""
