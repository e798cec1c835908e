/** Tabs of one browser tell each other what they did, so that all of them show it. */

export interface Notice {
  sessionId: string;
  /** `removed`: the session is gone. `changed`: it has a new run, branch, name or file. */
  kind: "changed" | "removed";
}

const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("footnote") : null;

export function tell(notice: Notice): void {
  channel?.postMessage(notice);
}

export function whenTold(listener: (notice: Notice) => void): void {
  channel?.addEventListener("message", ({ data }) => listener(data as Notice));
}
