import type { ElementContent } from "hast";
import { createElement, type ReactNode, useEffect, useMemo, useSyncExternalStore } from "react";

type Lowlight = typeof import("./languages").lowlight;

/** Longer code stays plain: colours would cost more than they help. */
const LONGEST = 50_000;

let loaded: Lowlight | null = null;
let loading = false;
const waiting = new Set<() => void>();

function load(): void {
  if (loading) return;
  loading = true;
  import("./languages").then(
    ({ lowlight }) => {
      loaded = lowlight;
      for (const tell of waiting) tell();
    },
    () => {
      // Code can be read without colours; the next one asks again.
      loading = false;
    },
  );
}

function subscribe(tell: () => void): () => void {
  waiting.add(tell);
  return () => waiting.delete(tell);
}

/** Code with its colours, once the languages are there; plain until then, and where the language is not known. */
export function useHighlighted(code: string, language: string | null, wanted: boolean): ReactNode {
  const lowlight = useSyncExternalStore(
    subscribe,
    () => loaded,
    () => null,
  );
  const wants = wanted && language !== null && code.length <= LONGEST;
  useEffect(() => {
    if (wants) load();
  }, [wants]);
  return useMemo(() => {
    if (!wants || !lowlight?.registered(language)) return code;
    return drawn(lowlight.highlight(language, code).children as ElementContent[]);
  }, [code, language, wants, lowlight]);
}

function drawn(nodes: readonly ElementContent[]): ReactNode[] {
  return nodes.map((node, at) => {
    if (node.type === "text") return node.value;
    if (node.type !== "element") return null;
    const names = node.properties.className;
    const className = Array.isArray(names) ? names.join(" ") : undefined;
    return createElement("span", { key: at, className }, ...drawn(node.children));
  });
}
