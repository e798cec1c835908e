"""JSON from and to providers: strict and fast first, lenient where servers are known to send invalid JSON."""

import json
from typing import Any, Generic, TypeVar, cast

import msgspec

T = TypeVar("T")


class MalformedJson(ValueError):
    """Not JSON, or not of the shape that the API documents."""


def replace_surrogates(value: Any) -> Any:
    """`value` with lone surrogates replaced, which UTF-8 cannot encode.

    They come from servers and tools that cut UTF-16 text in the middle of an emoji.
    """
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case dict():
            return {
                replace_surrogates(key): replace_surrogates(item) for key, item in cast("dict[Any, Any]", value).items()
            }
        case list() | tuple():
            return [replace_surrogates(item) for item in cast("list[Any]", value)]
        case _:
            return value


def loads(text: str | bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return _loads_lenient(text)
    except RecursionError:
        raise MalformedJson("nested too deeply") from None


def dumps(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(replace_surrogates(msgspec.to_builtins(value)))


class Decoder(Generic[T]):
    """Decodes payloads of one shape: a Struct whose fields are all optional."""

    __slots__ = ("_decoder", "_shape")

    def __init__(self, shape: type[T]) -> None:
        self._shape = shape
        self._decoder = msgspec.json.Decoder(shape, strict=False)

    def __call__(self, payload: bytes) -> T:
        try:
            return self._decoder.decode(payload)
        except msgspec.DecodeError:
            pass
        except RecursionError:
            raise MalformedJson("nested too deeply") from None
        try:
            return msgspec.convert(_loads_lenient(payload), self._shape, strict=False)
        except msgspec.ValidationError as error:
            raise MalformedJson(str(error)) from None


def _loads_lenient(text: str | bytes) -> Any:
    try:
        return replace_surrogates(json.loads(text, parse_constant=_reject_constant))
    except (ValueError, RecursionError) as error:
        raise MalformedJson(str(error)) from None


def _reject_constant(constant: str) -> Any:
    raise MalformedJson(f"{constant} is not JSON")
