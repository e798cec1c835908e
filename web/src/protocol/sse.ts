import type { StreamEvent } from "./events.gen";

/** An event and its place in the run. A `ping`, and an error about the stream itself, have none. */
export interface Envelope {
  id: number | null;
  event: StreamEvent;
}

/** Takes the text of a stream in pieces of any size, and gives the events that are whole. Lines end with LF alone. */
export class EventDecoder {
  private rest = "";

  push(text: string): Envelope[] {
    const frames = (this.rest + text).split("\n\n");
    this.rest = frames.pop() ?? "";
    return frames.map(envelope).filter((one) => one !== null);
  }
}

function envelope(frame: string): Envelope | null {
  let id: number | null = null;
  const data: string[] = [];
  for (const line of frame.split("\n")) {
    if (line.startsWith("data: ")) data.push(line.slice(6));
    else if (line.startsWith("id: ")) id = Number(line.slice(4));
  }
  return data.length === 0 ? null : { id, event: JSON.parse(data.join("\n")) as StreamEvent };
}
