import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { useWords } from "../../../lib/i18n";
import { router } from "../../../state/router";
import { Confirm } from "../Confirm";
import { words } from "./words";

export interface Guard {
  onDirty: (dirty: boolean) => void;
  /** Does it, after asking where something would be lost. */
  leave: (then: () => void) => void;
  question: ReactNode;
}

/** Keeps changes that are not saved from being lost by a click elsewhere. */
export function useGuard(): Guard {
  const t = useWords(words);
  const dirty = useRef(false);
  const [waiting, setWaiting] = useState<{ then: () => void } | null>(null);
  const onDirty = useCallback((now: boolean) => {
    dirty.current = now;
  }, []);
  useEffect(() => {
    return router.block(({ leavesFile }) => {
      if (!leavesFile || !dirty.current) return false;
      // The browser is brought back to the file, and sent there again if that is wanted.
      const then = () => {
        dirty.current = false;
        history.back();
      };
      setWaiting({ then });
      return true;
    });
  }, []);
  const leave = (then: () => void) => {
    if (dirty.current) setWaiting({ then });
    else then();
  };
  const question = waiting && (
    <Confirm
      title={t.discardQuestion}
      verb={t.discard}
      onClose={() => setWaiting(null)}
      onConfirm={() => {
        setWaiting(null);
        waiting.then();
      }}
    >
      {t.discardMeans}
    </Confirm>
  );
  return { onDirty, leave, question };
}
