import { newId } from "../lib/id";
import { Store } from "../lib/store";

/** A short notice. It goes by itself; one that `stays`, or tells of an error, does when it is closed. */
export interface Toast {
  id: string;
  text: string;
  tone: "plain" | "error";
  stays?: boolean;
  /** What the notice is about, so that it can be withdrawn. */
  topic?: string;
  action?: { label: string; run: () => void };
}

const SHOWN_MS = 5000;

export const toasts = new Store<readonly Toast[]>([]);

export function toast(text: string, options: Partial<Omit<Toast, "id" | "text">> = {}): void {
  const one: Toast = { tone: "plain", ...options, id: newId(), text };
  toasts.set((shown) => [...shown.filter((other) => other.text !== text), one].slice(-4));
  if (one.tone === "plain" && !one.stays) setTimeout(() => dismiss(one.id), SHOWN_MS);
}

export function dismiss(id: string): void {
  toasts.set((shown) => shown.filter((one) => one.id !== id));
}
