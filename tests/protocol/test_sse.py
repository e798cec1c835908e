"""The decoder gives the same payloads for any chunks; the encoder writes what the decoder reads."""

from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from footnote.protocol.events import BlockDelta, BlockStop, TextGrowth
from footnote.protocol.sse import SseDecoder, encode, frame

LINE = st.text(st.characters(blacklist_characters="\n\r", blacklist_categories=["Cs"]), max_size=30)
PAYLOAD = st.lists(LINE, min_size=1, max_size=3)


def decode_chunks(*chunks: bytes) -> list[bytes]:
    decoder = SseDecoder()
    payloads = [payload for chunk in chunks for payload in decoder.push(chunk)]
    return payloads + decoder.flush()


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A stream in a random style, and its payloads."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    space = draw(st.sampled_from(["", " "]))
    text: list[str] = []
    payloads: list[bytes] = []
    for lines in draw(st.lists(PAYLOAD, max_size=5)):
        text += draw(st.sampled_from([[], [": note"], [": note", ""], ["event: delta"], ["id: 7", "retry: 10"]]))
        sent = [line if space or not line.startswith(" ") else "x" + line for line in lines]
        text += [f"data:{space}{line}" for line in sent] + [""]
        payloads.append("\n".join(sent).encode())
    return (end.join([*text, ""])).encode(), payloads


@given(streams(), st.data())
def test_payloads_are_the_same_wherever_the_stream_is_cut(stream: tuple[bytes, list[bytes]], data: st.DataObject):
    sent, payloads = stream
    cuts = sorted(data.draw(st.sets(st.integers(0, len(sent)), max_size=8)))
    chunks = [sent[start:end] for start, end in pairwise([0, *cuts, len(sent)])]

    assert decode_chunks(sent) == payloads
    assert decode_chunks(*chunks) == payloads
    assert decode_chunks(*(sent[at : at + 1] for at in range(len(sent)))) == payloads


@given(streams())
def test_the_last_newlines_may_be_missing(stream: tuple[bytes, list[bytes]]):
    sent, payloads = stream

    assert decode_chunks(sent.rstrip(b"\r\n")) == payloads or not payloads or payloads[-1] == b""


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_any_bytes_at_all_are_read_without_an_error(chunks: list[bytes]):
    assert decode_chunks(*chunks) == decode_chunks(b"".join(chunks))


def test_only_a_line_feed_ends_a_line():
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\rg"

    assert decode_chunks(f"data: {text}\n\n".encode()) == [text.encode()]


def test_comments_names_and_ids_are_not_data():
    assert decode_chunks(b": ping\n\nevent: x\nid: 1\nretry: 5\ndata\ndatax: 1\n\ndata: yes\n\n") == [b"yes"]


def test_a_half_line_is_held_back_until_it_is_whole():
    decoder = SseDecoder()

    assert decoder.push(b"data: one\n\ndata: tw") == [b"one"]
    assert decoder.push(b"o\n") == []
    assert decoder.push(b"\n") == [b"two"]
    assert decoder.flush() == []


def test_a_decoder_that_was_flushed_begins_anew():
    decoder = SseDecoder()
    decoder.push(b"data: one")

    assert decoder.flush() == [b"one"]
    assert decoder.flush() == []
    assert decoder.push(b"data: two\n\n") == [b"two"]


def test_a_frame_of_ours_has_its_number_its_name_and_one_line_of_json():
    event = BlockDelta(4, TextGrowth("a\nb\u2028c\u2029d\x85e ậ 氧"))

    encoded = frame(17, event)

    assert encoded.startswith(b"id: 17\nevent: content_block_delta\ndata: {")
    assert encoded.endswith(b"}\n\n")
    assert encoded.count(b"\n") == len(encoded.decode().splitlines()) == 4
    assert decode_chunks(encoded) == [encode(event)]
    assert msgspec.json.decode(encode(event), type=BlockDelta) == event


def test_many_frames_are_read_back_in_order():
    events = [BlockStop(index) for index in range(100)]

    assert decode_chunks(b"".join(frame(n, one) for n, one in enumerate(events))) == [encode(one) for one in events]
