"""Generates TypeScript types of the server's events from its own values.

python scripts/generate_types.py           writes web/src/protocol/events.gen.ts
python scripts/generate_types.py --check   exits with 1 if that file is not what would be written
"""

import sys
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import inspect

from footnote.protocol import accounts, events, files, history, plans, sessions, sources
from footnote.server.routes import about, catalog, research
from footnote.server.routes import accounts as account_routes

TARGET = Path(__file__).parents[1] / "web/src/protocol/events.gen.ts"
HEAD = "// Made by scripts/generate_types.py from the server's own values. `make types` writes it again.\n"

ANSWERS: tuple[type[msgspec.Struct], ...] = (
    history.History,
    sessions.SessionPage,
    sessions.ImportedSession,
    sessions.SourceView,
    sessions.RunView,
    sessions.StartedRun,
    plans.PlanChanges,
    plans.PlanView,
    plans.Clarification,
    files.FileList,
    files.FileContent,
    files.FileVersions,
    files.FileCitations,
    files.FileDiff,
    files.FileText,
    files.FileTable,
    files.ConvertedFile,
    sources.SearchArtifact,
    accounts.Principal,
    accounts.IssuedToken,
    accounts.TokenHead,
    account_routes.UserList,
    about.About,
    catalog.AgentList,
    catalog.ModelList,
    catalog.ToolList,
    research.TemplateList,
)

UNIONS: dict[str, Any] = {
    "StreamEvent": events.Event,
    "ContentBlock": events.ContentBlock,
    "Growth": events.Growth,
    "PastMessage": history.PastMessage,
    "PastBlock": history.PastBlock,
}
ALIASES: dict[str, Any] = {
    "TurnStopReason": events.TurnStopReason,
    "CallStatus": events.CallStatus,
    "IconType": files.IconType,
    "ConvertType": files.ConvertType,
    "Verdict": sources.Verdict,
}


def typescript() -> str:
    structs = _structs((*ANSWERS, *(kind for union in UNIONS.values() for kind in get_args(union))))
    parts = [HEAD]
    parts += (f"export type {name} = {_type_name(inspect.type_info(kind))};\n" for name, kind in ALIASES.items())
    parts += (f"export type {name} = {_type_name(inspect.type_info(kind))};\n" for name, kind in UNIONS.items())
    parts += (_interface(structs[name]) for name in sorted(structs))
    return "\n".join(parts)


def _structs(roots: tuple[type[msgspec.Struct], ...]) -> dict[str, inspect.StructType]:
    """All structs that these refer to, by their names."""
    found: dict[str, inspect.StructType] = {}
    waiting: list[inspect.Type] = list(inspect.multi_type_info(roots))
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, inspect.StructType):
            name = kind.cls.__name__
            if name in found:
                if found[name].cls is not kind.cls:
                    sys.exit(f"Two values are called {name}: rename one of them.")
                continue
            found[name] = kind
            waiting += (field.type for field in kind.fields)
        else:
            waiting += _inner(kind)
    return found


def _inner(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    match kind:
        case inspect.UnionType():
            return kind.types
        case inspect.Metadata():
            return (kind.type,)
        case inspect.VarTupleType() | inspect.ListType():
            return (kind.item_type,)
        case inspect.TupleType():
            return kind.item_types
        case inspect.DictType():
            return (kind.value_type,)
        case _:
            return ()


def _interface(kind: inspect.StructType) -> str:
    lines = [f"export interface {kind.cls.__name__} {{"]
    if kind.tag is not None:
        lines.append(f'  {kind.tag_field}: "{kind.tag}";')
    omits = kind.cls.__struct_config__.omit_defaults
    for field in kind.fields:
        # A field that may be unset is not required, and has no default either.
        is_unset = not field.required and field.default is field.default_factory is msgspec.NODEFAULT
        mark = "?" if is_unset or (omits and not field.required) else ""
        lines.append(f"  {field.encode_name}{mark}: {_type_name(field.type)};")
    return "\n".join((*lines, "}\n"))


def _type_name(kind: inspect.Type) -> str:  # noqa: PLR0911 - one line for each kind of type
    """The type in TypeScript."""
    match kind:
        case inspect.StructType():
            return kind.cls.__name__
        case inspect.UnionType():
            return " | ".join(dict.fromkeys(_type_name(one) for one in kind.types))
        case inspect.Metadata():
            return _type_name(kind.type)
        case inspect.LiteralType():
            return " | ".join(f'"{value}"' for value in kind.values)
        case inspect.VarTupleType() | inspect.ListType():
            inner = _type_name(kind.item_type)
            return f"readonly ({inner})[]" if "|" in inner else f"readonly {inner}[]"
        case inspect.DictType():
            return f"Readonly<Record<string, {_type_name(kind.value_type)}>>"
        case inspect.IntType() | inspect.FloatType():
            return "number"
        case inspect.BoolType():
            return "boolean"
        case inspect.StrType():
            return "string"
        case inspect.NoneType():
            return "null"
        case inspect.AnyType():
            return "unknown"
        case _:
            sys.exit(f"There is no TypeScript for {kind!r} yet.")


def main() -> None:
    wanted = typescript()
    if "--check" not in sys.argv:
        TARGET.write_text(wanted)
    elif TARGET.read_text() != wanted:
        sys.exit(f"{TARGET.name} is not what the server says: run `make types` and commit what it writes.")


if __name__ == "__main__":
    main()
