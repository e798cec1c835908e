"""What a tool is to the loop: a frozen value with a schema, titles, conditions and one async function."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from footnote.evidence.sources import Sources
from footnote.protocol.tools import Locale, Progress, ToolResult, ToolSpec
from footnote.workspace.files import Workspace

if TYPE_CHECKING:
    from footnote.tools.provenance import Addresses
    from footnote.web_search.pipeline import WebSearch


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the tools of a run have to work with. A tool exists exactly when its conditions hold on this.

    `sources` are those of the session: what any of its tools read, and what its answers are checked against.
    `addresses`: from where a model may have a page read; None: from anywhere, as a person may.
    """

    workspace: Workspace | None = None
    web: "WebSearch | None" = None
    sources: Sources = field(default_factory=Sources)
    addresses: "Addresses | None" = None


def always(_: Abilities) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call is told beside its arguments."""

    abilities: Abilities
    call_id: str
    message_id: str
    locale: Locale


Reuse: TypeAlias = Literal["never", "until_change", "always"]
"""`until_change`: until a call that may change a file was carried out."""
Outcome: TypeAlias = Progress | ToolResult


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `run` yields any number of `Progress` and then one `ToolResult`; it may raise `ToolFailed`.

    `exclusive`: runs with no other call beside it. `idempotent`: may be tried again after a transient failure.
    `bounded`: keeps its own output short, so that nobody else has to cut it. `approval`: the user is asked first.
    `reuse`: how long the result of a call stands for the same call of the same turn.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    titles: Mapping[Locale, str]
    parse: Callable[[dict[str, Any]], Any]
    run: Callable[[Any, ToolContext], AsyncIterator[Outcome]]
    available: Callable[[Abilities], bool] = always
    exclusive: bool = False
    idempotent: bool = False
    bounded: bool = False
    approval: bool = False
    reuse: Reuse = "never"
    timeout: float = 60.0

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.input_schema)

    def title(self, locale: Locale) -> str:
        return self.titles.get(locale) or self.titles.get("en") or self.name
