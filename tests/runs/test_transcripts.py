"""Golden transcripts: the bytes on the wire, which must also match the schemas."""

import json
from pathlib import Path

import jsonschema
import pytest

from footnote.protocol.events import event_schemas
from runs.transcripts import FOLDER, TRANSCRIPTS, mask_volatile


@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_a_turn_goes_over_the_wire_as_it_was_recorded(name: str, tmp_path: Path):
    assert mask_volatile(await TRANSCRIPTS[name](tmp_path)) == (FOLDER / f"{name}.sse").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_every_event_is_what_its_schema_says(name: str):
    schemas = event_schemas()
    lines = (FOLDER / f"{name}.sse").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert events
    for event in events:
        jsonschema.validate(event, schemas[event["type"]])


def test_together_they_show_every_event_that_is_stored():
    text = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.sse"))
    shown = {line.removeprefix("event: ") for line in text.splitlines() if line.startswith("event: ")}
    assert shown == set(event_schemas()) - {"gap", "ping"}
