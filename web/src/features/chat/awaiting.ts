/** How long the model has been silent: a small model on a slow machine may take minutes to read before its first word. */

import { useEffect, useState } from "react";
import { type Answer, isAwaitingModel } from "../../state/answer";

const SECOND = 1000;

/** The seconds for which nothing has come although a round has begun; null: something has, or nothing is awaited. */
export function useAwaitedSeconds(answer: Answer | null): number | null {
  const since = answer && isAwaitingModel(answer) ? answer.lastEventAt : null;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (since === null) return;
    let timer: ReturnType<typeof setTimeout>;
    const tick = () => {
      const next = Date.now();
      setNow(next);
      timer = setTimeout(tick, SECOND - (Math.max(0, next - since) % SECOND));
    };
    tick();
    return () => clearTimeout(timer);
  }, [since]);
  return since === null ? null : Math.max(0, Math.floor((now - since) / SECOND));
}
