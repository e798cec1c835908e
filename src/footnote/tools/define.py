"""`@tool`: one function, its docstring and the types of its parameters become a tool."""

import inspect
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast, get_type_hints

from msgspec import Struct

from footnote.protocol.tools import LOCALES, Locale, ToolResult
from footnote.tools.base import Abilities, Outcome, Reuse, Tool, ToolContext, always
from footnote.tools.lenient import LenientArguments, add_notes, parse_leniently
from footnote.tools.schema import parse_arguments, schema_of

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The names of tools that both model APIs accept."""

P = TypeVar("P", bound=Struct)
Work: TypeAlias = Callable[[P, ToolContext], Awaitable[ToolResult]] | Callable[[P, ToolContext], AsyncIterator[Outcome]]


def tool(
    *,
    titles: Mapping[Locale, str],
    when: Callable[[Abilities], bool] = always,
    exclusive: bool = False,
    idempotent: bool = False,
    bounded: bool = False,
    approval: bool = False,
    needs_files: bool = False,
    lenient: bool = False,
    reuse: Reuse = "never",
    timeout: float = 60.0,
) -> Callable[[Work[P]], Tool]:
    """A tool from `async def name(params, context)`: either it returns a `ToolResult`, or it yields `Progress` on
    the way and a `ToolResult` at the end. The docstring is the description that the model reads.

    `lenient`: the arguments are read kindly, as `tools/lenient.py` says. Not with `approval`: a user approves exactly
    what a model wrote."""
    if lenient and approval:
        raise TypeError("A tool that needs approval cannot be lenient.")

    def define(work: Work[P]) -> Tool:
        parameters = _parameters(work)
        return Tool(
            name=_name(work),
            description=_description(work),
            input_schema=schema_of(parameters),
            titles=_titles(work, titles),
            parse=partial(parse_leniently if lenient else parse_arguments, parameters),
            run=_with_notes(_as_generator(work)) if lenient else _as_generator(work),
            available=when,
            exclusive=exclusive,
            idempotent=idempotent,
            bounded=bounded,
            approval=approval,
            needs_files=needs_files,
            reuse=reuse,
            timeout=timeout,
        )

    return define


def _as_generator(work: Work[Any]) -> Callable[[Any, ToolContext], AsyncIterator[Outcome]]:
    if inspect.isasyncgenfunction(work):
        return work
    if not inspect.iscoroutinefunction(work):
        raise TypeError(f"The tool {work.__name__} must be an async function.")

    async def run(params: Any, context: ToolContext) -> AsyncIterator[Outcome]:
        yield await work(params, context)

    return run


def _with_notes(
    run: Callable[[Any, ToolContext], AsyncIterator[Outcome]],
) -> Callable[[LenientArguments, ToolContext], AsyncIterator[Outcome]]:
    async def run_with_notes(arguments: LenientArguments, context: ToolContext) -> AsyncIterator[Outcome]:
        async with aclosing(cast("AsyncGenerator[Outcome]", run(arguments.params, context))) as outcomes:
            async for outcome in outcomes:
                yield add_notes(outcome, arguments.notes) if isinstance(outcome, ToolResult) else outcome

    return run_with_notes


def _parameters(work: Work[P]) -> type[P]:
    first = next(iter(inspect.signature(work).parameters), "")
    kind = get_type_hints(work).get(first)
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        raise TypeError(f"The first parameter of the tool {_name(work)} must be annotated with a msgspec Struct.")
    return cast("type[P]", kind)


def validate_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise TypeError(f"{name!r} cannot be the name of a tool: 1 to 64 of a-z, A-Z, 0-9, _ and -.")
    return name


def _name(work: Work[Any]) -> str:
    return validate_name(str(getattr(work, "__name__", "")))


def _description(work: Work[Any]) -> str:
    if text := inspect.getdoc(work):
        return text
    raise TypeError(f"The tool {_name(work)} needs a docstring: it is the description that the model reads.")


def _titles(work: Work[Any], titles: Mapping[Locale, str]) -> Mapping[Locale, str]:
    if missing := [locale for locale in LOCALES if not titles.get(locale)]:
        raise TypeError(f"The tool {_name(work)} has no title in {', '.join(missing)}.")
    return dict(titles)
