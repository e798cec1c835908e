import { useSyncExternalStore } from "react";
import { NARROW, OVERLAY, PHONE } from "../state/view";

/** Whether the list of conversations lies over the page, too. */
export const usePhone = () => useWidth(PHONE);

/** Whether the panel of sources and files lies over the conversation. */
export const useOverlay = () => useWidth(OVERLAY);

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
