"""The plan of a research run, and budgets: how much time, money and how many pages a run may use."""

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

MAX_PLAN_ITEMS = 20
MAX_ITEM_LENGTH = 500
MAX_STEERING_LENGTH = 2_000
MAX_STEERING_MESSAGES = 20

PlanItemStatus: TypeAlias = Literal["pending", "running", "done", "failed", "dropped"]


class PlanItem(Struct, frozen=True):
    """One question of a plan. `note` says why it failed or was dropped, or what else there is to know about it."""

    id: str
    question: str
    status: PlanItemStatus = "pending"
    note: str | UnsetType = UNSET


class WantedItem(Struct, frozen=True, forbid_unknown_fields=True):
    """An item as a client sends it: one without an `id` is new. `status` is that of the server, but for `dropped`."""

    id: str | None = None
    question: Annotated[str, Meta(min_length=1, max_length=MAX_ITEM_LENGTH)] | None = None
    status: PlanItemStatus | None = None
    note: str | None = None


class PlanChanges(Struct, frozen=True, forbid_unknown_fields=True):
    """The items as the user wants them, in this order. A pending item that is left out is dropped; items that have
    begun stay, listed or not."""

    items: Annotated[tuple[WantedItem, ...], Meta(max_length=100)]


class PlanView(Struct, frozen=True):
    """`steering`: what the user said while the run went on."""

    items: tuple[PlanItem, ...]
    steering: tuple[str, ...] = ()


class Steering(Struct, frozen=True, forbid_unknown_fields=True):
    """A message to a research run that goes on."""

    content: Annotated[str, Meta(min_length=1, max_length=MAX_STEERING_LENGTH)]


class Clarification(Struct, frozen=True):
    """A question to the user before a research run, with suggested answers; null: the question is clear."""

    question: str | None = None
    answers: tuple[str, ...] = ()


class Budget(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run may use: seconds from its start, US dollars, pages that are read. Left out: no limit."""

    seconds: Annotated[float, Meta(gt=0, le=86_400)] | UnsetType = UNSET
    usd: Annotated[float, Meta(ge=0, le=10_000)] | UnsetType = UNSET
    pages: Annotated[int, Meta(ge=0, le=1_000)] | UnsetType = UNSET


class Spent(Struct, frozen=True):
    """What a run has used. `usd`: null if the price of a model is not known."""

    seconds: float = 0.0
    usd: float | None = 0.0
    pages: int = 0
