/** Following a run: to its end, over lost connections, without a lost or doubled event. */

import { RequestFailed, refusal } from "../protocol/client";
import { type Envelope, EventDecoder } from "../protocol/sse";

/** The server pings every 15 seconds: a line that is silent for longer than this is dead, whatever it says. */
const SILENCE_MS = 40_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** A browser has six connections to a server for all its tabs: one that nobody looks at lets go of its own, and looks
 * in from time to time. */
const UNSEEN_MS = 5000;
const LOOKS_IN_MS = 8000;
/** A drop that is mended within this time is nobody's concern. */
const UNNOTICED_MS = 1200;

export type Link = "fine" | "reconnecting";

export interface Following {
  /** The id of the last event that is known. */
  after: () => number;
  take: (envelopes: readonly Envelope[]) => void;
  link: (link: Link) => void;
  signal: AbortSignal;
}

/** `ended`: its last event came. `lost`: what was said stands in the history only. */
export type Outcome = "ended" | "lost" | "left";

export async function follow(runId: string, following: Following): Promise<Outcome> {
  let pause = FIRST_PAUSE_MS;
  const trouble = new Trouble(following.link);
  try {
    while (!following.signal.aborted) {
      try {
        const outcome = await listen(runId, following, () => {
          pause = FIRST_PAUSE_MS;
          trouble.over();
        });
        if (outcome === "unseen") {
          await rest(LOOKS_IN_MS, following.signal);
          continue;
        }
        if (outcome) return outcome;
      } catch (error) {
        if (following.signal.aborted) break;
        if (error instanceof RequestFailed && (error.status === 401 || error.status === 404)) return "lost";
      }
      trouble.begin();
      // Not everybody at the same moment, when a server that was away comes back.
      await rest(pause * (0.5 + Math.random()), following.signal);
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    }
    return "left";
  } finally {
    trouble.over();
  }
}

/** One connection, to its end. Null: it ended before the run did. `unseen`: nobody looks at the page. */
async function listen(runId: string, following: Following, alive: () => void): Promise<Outcome | "unseen" | null> {
  const cut = new AbortController();
  const unseen = watchUnseen(() => cut.abort());
  const signal = AbortSignal.any([cut.signal, following.signal]);
  let watch = setTimeout(() => cut.abort(), SILENCE_MS);
  try {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (following.after() > 0) headers["last-event-id"] = String(following.after());
    const response = await fetch(`/v2/runs/${runId}/events`, { headers, signal, credentials: "same-origin" });
    if (!response.ok) throw await refusal(response);
    const decoder = new EventDecoder();
    const text = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await text?.read(); piece && !piece.done; piece = await text?.read()) {
      clearTimeout(watch);
      watch = setTimeout(() => cut.abort(), SILENCE_MS);
      alive();
      const envelopes = decoder.push(piece.value);
      if (envelopes.some(({ event }) => event.type === "gap")) return "lost";
      following.take(envelopes);
      if (envelopes.some(({ event }) => event.type === "message_stop")) return "ended";
    }
    return null;
  } catch (error) {
    if (unseen.isTrue() && !following.signal.aborted) return "unseen";
    throw error;
  } finally {
    clearTimeout(watch);
    unseen.end();
    cut.abort();
  }
}

/** Tells once when the page has not been looked at for a while. */
function watchUnseen(tell: () => void): { isTrue: () => boolean; end: () => void } {
  let told = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (!document.hidden) return;
    timer = setTimeout(() => {
      told = true;
      tell();
    }, UNSEEN_MS);
  };
  look();
  document.addEventListener("visibilitychange", look);
  const end = () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
  return { isTrue: () => told, end };
}

/** Says that the line is broken, if it stays so. */
class Trouble {
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly say: (link: Link) => void) {}

  begin(): void {
    this.timer ??= setTimeout(() => this.say("reconnecting"), UNNOTICED_MS);
  }

  over(): void {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.say("fine");
  }
}

/** Waits, but no longer than until the network is back, somebody looks at the page again, or asks to try now. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      for (const name of WAKING) removeEventListener(name, wake);
      document.removeEventListener("visibilitychange", wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    for (const name of WAKING) addEventListener(name, wake);
    document.addEventListener("visibilitychange", wake);
    signal.addEventListener("abort", wake);
  });
}

const TRY_NOW = "footnote:try-now";
const WAKING = ["online", TRY_NOW] as const;

export function tryNow(): void {
  dispatchEvent(new Event(TRY_NOW));
}
