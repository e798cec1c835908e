import { useSyncExternalStore } from "react";

const narrow = matchMedia("(max-width: 760px)");

function subscribe(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}

/** Whether panels lie over the page instead of beside it. */
export function usePhone(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}
