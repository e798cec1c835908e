import { describe, expect, test } from "vitest";
import { EventDecoder } from "./sse";

const STREAM =
  'id: 1\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Nước\\n\\n氧 🫧"}}\n\n' +
  'event: ping\ndata: {"type":"ping"}\n\nid: 7\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';

describe("the decoder of events", () => {
  test("gives the same events wherever the text is cut", () => {
    const whole = new EventDecoder().push(STREAM);
    expect(whole.map(({ id, event }) => [id, event.type])).toEqual([
      [1, "content_block_delta"],
      [null, "ping"],
      [7, "message_stop"],
    ]);
    for (let size = 1; size < 30; size += 1) {
      const decoder = new EventDecoder();
      const pieces = Array.from({ length: Math.ceil(STREAM.length / size) }, (_, at) =>
        STREAM.slice(at * size, (at + 1) * size),
      );
      expect(pieces.flatMap((piece) => decoder.push(piece))).toEqual(whole);
    }
  });

  test("keeps an event back until it is whole", () => {
    const decoder = new EventDecoder();
    expect(decoder.push('data: {"type":"ping"}\n')).toEqual([]);
    expect(decoder.push("\n")).toHaveLength(1);
  });

  test("passes over frames without data", () => {
    expect(new EventDecoder().push(": a comment\n\nretry: 100\n\n")).toEqual([]);
  });
});
