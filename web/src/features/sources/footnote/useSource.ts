import { useEffect, useState } from "react";
import { api, RequestFailed } from "../../../protocol/client";
import type { SourceView } from "../../../protocol/events.gen";

export type Failure = "gone" | "offline" | "other";

export interface Opening {
  source: SourceView | null;
  failure: Failure | null;
  retry: () => void;
}

/** Texts may be long: only the last few footnotes stay at hand. */
const KEPT = 8;
const kept = new Map<string, SourceView>();

/** What was read from a source. What is known is there at once, and asked for again: a later search may have read more. */
export function useSource(sessionId: string | null, number: number): Opening {
  const key = `${sessionId}/${number}`;
  const [answer, setAnswer] = useState<{ key: string; source: SourceView | null; failure: Failure | null } | null>(
    null,
  );
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try asks again.
  useEffect(() => {
    if (sessionId === null) return;
    let left = false;
    api.source(sessionId, number).then(
      (source) => {
        const known = kept.get(key);
        const fresh = known && isSame(known, source) ? known : source;
        remember(key, fresh);
        if (!left) setAnswer({ key, source: fresh, failure: null });
      },
      (error: unknown) => {
        if (!left) setAnswer({ key, source: kept.get(key) ?? null, failure: failureOf(error) });
      },
    );
    return () => {
      left = true;
    };
  }, [sessionId, number, key, tries]);
  const mine = answer?.key === key ? answer : null;
  return {
    source: mine?.source ?? kept.get(key) ?? null,
    failure: mine?.failure ?? null,
    retry: () => {
      setAnswer(null);
      setTries(tries + 1);
    },
  };
}

function remember(key: string, source: SourceView): void {
  kept.delete(key);
  kept.set(key, source);
  for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest);
}

function isSame(one: SourceView, other: SourceView): boolean {
  const shape = ({ snapshots, status }: SourceView) =>
    `${status} ${snapshots.map(({ id, fetched_at, quotes }) => `${id} ${fetched_at} ${quotes.length}`).join()}`;
  return shape(one) === shape(other);
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof RequestFailed)) return "other";
  if (error.status === 404) return "gone";
  return error.isOffline ? "offline" : "other";
}
