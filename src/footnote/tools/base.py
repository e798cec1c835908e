"""A tool: a frozen value with a schema, titles, a condition and one async function; and what a tool works with."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from footnote.cancel import CancelScope
from footnote.evidence.second_look import SecondLook
from footnote.evidence.sources import Sources
from footnote.protocol.errors import ToolFailed
from footnote.protocol.files import FileCitations, FileRecord
from footnote.protocol.messages import Text, Usage
from footnote.protocol.tools import Locale, Progress, ToolResult, ToolSpec
from footnote.workspace.files import Workspace

if TYPE_CHECKING:
    from footnote.tools.provenance import Addresses
    from footnote.web_search.pipeline import SearchAnswer, WebSearch


class ReviewedFile(Struct, frozen=True):
    """The newest version of a file with its verdicts, and what a second look at it used. `cost` is in US dollars, None
    if the price is not known."""

    proof: FileCitations
    usage: Usage = Usage()
    cost: float | None = 0.0


class FileProofs(Protocol):
    """Judges the files of a session."""

    async def judge(self, path: str, max_seconds: float) -> FileCitations | None:
        """The proof of the newest version. None: the file is not judged, or not within this time."""
        ...

    async def review(
        self,
        path: str,
        second_look: SecondLook | None,
        cancel: CancelScope,
        artifact: dict[str, Any] | None = None,
    ) -> ReviewedFile | None:
        """The same after a second look at statements that had none yet. None: the file is not judged. `artifact`: that
        of the call that asks, whose sources are not stored yet."""
        ...


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the tools of a run work with. A tool exists if its condition holds for this.

    `sources` are those of the session: what any of its tools read, and what its answers are checked against.
    `addresses`: the addresses that a model may read; None: any, as a user may. `second_look`: who reviews statements
    that comparing texts does not prove; None: nobody. `proofs` judges written files; None: they are not judged.
    """

    workspace: Workspace | None = None
    web: "WebSearch | None" = None
    sources: Sources = field(default_factory=Sources)
    addresses: "Addresses | None" = None
    second_look: SecondLook | None = None
    proofs: FileProofs | None = None


def always(_: Abilities) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call is given beside its arguments."""

    abilities: Abilities
    call_id: str
    message_id: str
    locale: Locale


Reuse: TypeAlias = Literal["never", "until_change", "always"]
"""`until_change`: until a call that may change a file was executed."""
Outcome: TypeAlias = Progress | ToolResult


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `run` yields any number of `Progress` and then one `ToolResult`; it may raise `ToolFailed`.

    `exclusive`: runs with no other call beside it. `idempotent`: may be tried again after a transient failure.
    `bounded`: limits its own output, so that no wrapper has to. `approval`: the user is asked first.
    `needs_files`: can do nothing in a session without files, and is then not offered to the model.
    `reuse`: how long the result of a call is reused for the same call of the same turn.
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
    needs_files: bool = False
    reuse: Reuse = "never"
    timeout: float = 60.0

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.input_schema)

    def title(self, locale: Locale) -> str:
        return self.titles.get(locale) or self.titles.get("en") or self.name


# The workspace of a call ---------------------------------------------------------------------------------------------


FILE_PATH_ALIASES = ("path", "filename", "file", "name")
"""What models call the parameter `file_path`."""


def has_workspace(abilities: Abilities) -> bool:
    return abilities.workspace is not None


def workspace_of(context: ToolContext) -> Workspace:
    if context.abilities.workspace is None:
        raise ToolFailed("This agent has no workspace, so there are no files.")
    return context.abilities.workspace


def artifact_of(record: FileRecord) -> dict[str, Any]:
    """The artifact for a file."""
    return {
        "path": record.path,
        "filename": record.filename,
        "icon_type": record.icon_type,
        "source": record.source,
    }


# The search of a call ------------------------------------------------------------------------------------------------


def has_web_search(abilities: Abilities) -> bool:
    return abilities.web is not None


def web_search_of(context: ToolContext) -> "WebSearch":
    if context.abilities.web is None:
        raise ToolFailed("Search is switched off for this agent.")
    return context.abilities.web


async def search_outcomes(steps: "AsyncGenerator[Progress | SearchAnswer, None]") -> AsyncIterator[Outcome]:
    async with aclosing(steps):
        async for step in steps:
            yield step if isinstance(step, Progress) else search_result(step)


def search_result(answer: "SearchAnswer") -> ToolResult:
    artifact = msgspec.json.decode(msgspec.json.encode(answer.artifact))  # plain JSON: lists, and no tuples
    return ToolResult((Text(answer.content),), is_error=answer.failed, artifact=artifact, usage=answer.usage)
