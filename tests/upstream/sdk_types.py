"""The official SDKs' request types as closed, eager validators.

The SDKs describe requests as TypedDicts that allow unknown keys, hold `Iterable` fields (which pydantic checks
lazily, that is never) and accept the SDK's response objects beside plain JSON. None of that is what the API does
with a body, so each type is rebuilt: closed, with lists, of JSON only.
"""

from collections.abc import Iterable
from functools import cache
from inspect import isclass
from os import PathLike
from types import UnionType
from typing import IO, Annotated, Any, Never, Required, Union, get_args, get_origin

from anthropic.types.message_create_params import MessageCreateParamsStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict, get_type_hints, is_typeddict


def anthropic_problems(body: Any) -> list[str]:
    return _problems(_validator(MessageCreateParamsStreaming), body)


def openai_problems(body: Any) -> list[str]:
    return _problems(_validator(CompletionCreateParamsStreaming), body)


@cache
def _validator(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(_forbid_extra(kind))


@cache
def _forbid_extra(kind: Any) -> Any:
    """`kind` with every TypedDict in it closed, every iterable a list, and no model classes."""
    if is_typeddict(kind):
        fields = {name: _forbid_extra(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}
        closed = TypedDict(kind.__name__, fields, total=False)
        closed.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
        return closed
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Required:
        return Required[_forbid_extra(arguments[0])]
    if origin in (Union, UnionType):
        members = [_forbid_extra(one) for one in arguments if _is_json(one)]
        allowed = tuple(one for one in members if one is not Never)
        return Union[allowed] if allowed else Never  # noqa: UP007 - the members are only known at run time
    if origin is Annotated:
        return _forbid_extra(arguments[0])
    if origin in (list, Iterable) or getattr(origin, "__name__", "") == "SequenceNotStr":
        return list[_forbid_extra(arguments[0])]
    return kind


def _is_json(kind: Any) -> bool:
    """Besides JSON the SDKs accept their own response objects, open files and paths."""
    plain = get_origin(kind) or kind
    return not (isclass(plain) and issubclass(plain, BaseModel | IO | PathLike))


def _problems(validator: TypeAdapter[Any], body: Any) -> list[str]:
    try:
        validator.validate_python(body)
    except ValidationError as error:
        return [_describe(one) for one in _relevant(error)]
    return []


def _relevant(error: ValidationError) -> list[Any]:
    """The errors of the intended union members: a member whose tag does not match was not intended."""
    errors = error.errors(include_url=False, include_input=False)
    unmeant = [
        one["loc"][:-1] for one in errors if one["type"] == "literal_error" and one["loc"][-1] in ("type", "role")
    ]
    meant = [one for one in errors if not any(one["loc"][: len(place)] == place for place in unmeant)]
    return (meant or errors)[:5]


def _describe(one: Any) -> str:
    place = ".".join(str(part) for part in one["loc"] if not str(part).startswith("list["))
    return f"{place}: {one['msg']}"
