/** Tabs of one browser notify each other of changes, so that all of them show the same. */

export interface Notice {
  sessionId: string;
  /** `removed`: the session was deleted. `changed`: it has a new run, branch, title or file. */
  kind: "changed" | "removed";
}

const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("footnote") : null;

export function notifyTabs(notice: Notice): void {
  channel?.postMessage(notice);
}

export function onNotice(listener: (notice: Notice) => void): void {
  channel?.addEventListener("message", ({ data }) => listener(data as Notice));
}
