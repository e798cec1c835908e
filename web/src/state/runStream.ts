/** Streams the events of a run to its end, over lost connections, without losing or doubling an event. */

import { RequestFailed, refusal } from "../protocol/client";
import { type Envelope, EventDecoder } from "../protocol/sse";

/** The server pings every 15 seconds: a connection that is silent for longer than this is dead. */
const SILENCE_MS = 40_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** A browser has six connections to a server for all its tabs: a hidden tab closes its own after this time, and polls. */
const HIDDEN_MS = 5000;
const POLL_MS = 8000;
/** A connection that is restored within this time is not reported as broken. */
const REPORT_AFTER_MS = 1200;

export interface StreamHandlers {
  /** The id of the last event that was received. */
  after: () => number;
  receive: (envelopes: readonly Envelope[]) => void;
  connection: (isBroken: boolean) => void;
  signal: AbortSignal;
}

/** `ended`: the last event was received. `lost`: the missing events are in the history only. */
type Outcome = "ended" | "lost" | "aborted";

export async function followRun(runId: string, handlers: StreamHandlers): Promise<Outcome> {
  let ms = FIRST_PAUSE_MS;
  const report = new ConnectionReport(handlers.connection);
  try {
    while (!handlers.signal.aborted) {
      try {
        const outcome = await listen(runId, handlers, () => {
          ms = FIRST_PAUSE_MS;
          report.restored();
        });
        if (outcome === "hidden") {
          await pause(POLL_MS, handlers.signal);
          continue;
        }
        if (outcome) return outcome;
      } catch (error) {
        if (handlers.signal.aborted) break;
        if (error instanceof RequestFailed && (error.status === 401 || error.status === 404)) return "lost";
      }
      report.broken();
      // The jitter keeps clients from reconnecting at the same moment when a server comes back.
      await pause(ms * (0.5 + Math.random()), handlers.signal);
      ms = Math.min(LONGEST_PAUSE_MS, ms * 2);
    }
    return "aborted";
  } finally {
    report.restored();
  }
}

/** Reads one connection to its end. Null: the connection ended before the run did. `hidden`: the tab was hidden. */
async function listen(runId: string, handlers: StreamHandlers, onData: () => void): Promise<Outcome | "hidden" | null> {
  const cut = new AbortController();
  const hidden = watchHidden(() => cut.abort());
  const signal = AbortSignal.any([cut.signal, handlers.signal]);
  let timer = setTimeout(() => cut.abort(), SILENCE_MS);
  try {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (handlers.after() > 0) headers["last-event-id"] = String(handlers.after());
    const response = await fetch(`/v2/runs/${runId}/events`, { headers, signal, credentials: "same-origin" });
    if (!response.ok) throw await refusal(response);
    const decoder = new EventDecoder();
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => cut.abort(), SILENCE_MS);
      onData();
      const envelopes = decoder.push(chunk.value);
      if (envelopes.some(({ event }) => event.type === "gap")) return "lost";
      handlers.receive(envelopes);
      if (envelopes.some(({ event }) => event.type === "message_stop")) return "ended";
    }
    return null;
  } catch (error) {
    if (hidden.isReached() && !handlers.signal.aborted) return "hidden";
    throw error;
  } finally {
    clearTimeout(timer);
    hidden.end();
    cut.abort();
  }
}

/** Calls `onHidden` once, when the tab has been hidden for `HIDDEN_MS`. */
function watchHidden(onHidden: () => void): { isReached: () => boolean; end: () => void } {
  let isReached = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = () => {
    clearTimeout(timer);
    if (!document.hidden) return;
    timer = setTimeout(() => {
      isReached = true;
      onHidden();
    }, HIDDEN_MS);
  };
  check();
  document.addEventListener("visibilitychange", check);
  const end = () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", check);
  };
  return { isReached: () => isReached, end };
}

/** Reports a broken connection when it stays broken for `REPORT_AFTER_MS`. */
class ConnectionReport {
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly report: (isBroken: boolean) => void) {}

  broken(): void {
    this.timer ??= setTimeout(() => this.report(true), REPORT_AFTER_MS);
  }

  restored(): void {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.report(false);
  }
}

/** The pauses that `retryNow` ends. */
const pauses = new Set<() => void>();

/** Waits until the time is over, the network is back, the tab is shown or hidden, `retryNow` is called, or `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      pauses.delete(wake);
      removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    pauses.add(wake);
    addEventListener("online", wake);
    document.addEventListener("visibilitychange", wake);
    signal.addEventListener("abort", wake);
  });
}

export function retryNow(): void {
  for (const wake of [...pauses]) wake();
}
