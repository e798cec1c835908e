import { useSyncExternalStore } from "react";
import { NARROW, PHONE } from "../state/view";

/** Whether panels lie over the page instead of beside it. */
export const usePhone = () => useWidth(PHONE);

/** Whether there is room for one panel beside the conversation, and not for two. */
export const useNarrow = () => useWidth(NARROW);

function useWidth(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const wanted = matchMedia(query);
      wanted.addEventListener("change", listener);
      return () => wanted.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}
