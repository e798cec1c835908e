import { useEffect, useRef, useState } from "react";
import { useWords } from "../../lib/i18n";
import { moreSessions } from "../../state/sessions";
import { Spinner } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { words } from "./words";

/** The end of what is loaded. It loads on when it comes into sight, and by hand where it could not. `shown`: how many there are
 * before it. */
export function More({ shown }: { shown: number }) {
  const t = useWords(words);
  const button = useRef<HTMLButtonElement>(null);
  const [state, setState] = useState<"ready" | "loading" | "failed">("ready");
  const load = async () => {
    setState("loading");
    try {
      await moreSessions();
      setState("ready");
    } catch {
      setState("failed");
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: with more before it, it may still be in sight, and is looked at anew.
  useEffect(() => {
    if (state !== "ready" || !button.current) return;
    const watch = new IntersectionObserver((seen) => {
      if (seen.some((one) => one.isIntersecting)) void load();
    });
    watch.observe(button.current);
    return () => watch.disconnect();
  }, [state, shown]);
  return (
    <div className="sessions-more">
      {state === "failed" && <span role="alert">{t.notMore}</span>}
      <Button ref={button} small look="quiet" disabled={state === "loading"} onClick={() => void load()}>
        {state === "loading" && <Spinner />}
        {state === "failed" ? t.retry : t.more}
      </Button>
    </div>
  );
}
