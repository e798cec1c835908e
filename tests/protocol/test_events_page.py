"""docs/events.md lists every event, block and delta with every field, and no other."""

import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from footnote.protocol.events import ContentBlock, ContextReport, Event, Growth, MessageHead, TurnStopReason, TurnUsage

PAGE = (Path(__file__).parents[2] / "docs" / "events.md").read_text(encoding="utf-8")
ROWS = {
    tag: set(re.findall(r"`(\w+)`", fields))
    for tag, fields in re.findall(r"^\| `(\w+)` \| ([^|]*)\|", PAGE, re.MULTILINE)
}


@pytest.mark.parametrize("kind", [*get_args(Event), *get_args(ContentBlock), *get_args(Growth)], ids=str)
def test_every_kind_has_its_row_with_its_fields(kind: Any):
    assert ROWS[str(kind.__struct_config__.tag)] == {field.encode_name for field in msgspec.structs.fields(kind)}


def test_there_is_no_row_of_something_else():
    kinds = [*get_args(Event), *get_args(ContentBlock), *get_args(Growth)]
    assert set(ROWS) == {str(kind.__struct_config__.tag) for kind in kinds}


@pytest.mark.parametrize("kind", [MessageHead, TurnUsage, ContextReport], ids=str)
def test_every_field_inside_is_named(kind: Any):
    assert [field.name for field in msgspec.structs.fields(kind) if f"`{field.name}`" not in PAGE] == []


def test_every_stop_reason_is_explained():
    assert [reason for reason in get_args(TurnStopReason) if f"`{reason}`" not in PAGE] == []
