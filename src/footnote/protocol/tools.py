"""A tool as a model sees it, its progress while it works, and its result."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from footnote.protocol.files import FileRecord, ToolImage
from footnote.protocol.messages import Part, Text, Usage

Locale: TypeAlias = Literal["en", "vi", "zh"]
LOCALES: tuple[Locale, ...] = ("en", "vi", "zh")


class ToolSpec(Struct, frozen=True):
    """A tool as a model sees it."""

    name: str
    description: str
    input_schema: dict[str, Any]


class Progress(Struct, frozen=True):
    """Yielded by a tool while it works."""

    stage: str
    done: int = 0
    total: int | None = None
    label: str = ""


class ToolResult(Struct, frozen=True):
    """`content` is for the model, `artifact` for the user.

    `usage`: the tokens of a tool that called the run's model itself. `images`: the files of the images in `content`,
    for the user; `tools/wrappers.py` adds them unless the tool does.
    """

    content: tuple[Part, ...]
    is_error: bool = False
    artifact: dict[str, Any] | None = None
    files: tuple[FileRecord, ...] = ()
    usage: Usage | None = None
    images: tuple[ToolImage, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


def text_result(text: str, *, artifact: dict[str, Any] | None = None, files: tuple[FileRecord, ...] = ()) -> ToolResult:
    """A successful result of one text."""
    return ToolResult((Text(text),), artifact=artifact, files=files)


def error_result(text: str) -> ToolResult:
    """An error that the model can read and react to."""
    return ToolResult((Text(text),), is_error=True)
