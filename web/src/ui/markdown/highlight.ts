import type { ElementContent } from "hast";
import { createElement, type ReactNode, useMemo } from "react";
import { LazyModule, useLazyModule } from "./lazyModule";

/** Longer code is not highlighted: that would take too long. */
const LONGEST = 50_000;

const languages = new LazyModule(() => import("./languages"));

/** Highlighted code. Plain until the highlighter is loaded, and where the language is unknown. */
export function useHighlighted(code: string, language: string | null, wanted: boolean): ReactNode {
  const isWanted = wanted && language !== null && code.length <= LONGEST;
  const lowlight = useLazyModule(languages, isWanted)?.lowlight;
  return useMemo(() => {
    if (!isWanted || !lowlight?.registered(language)) return code;
    return drawn(lowlight.highlight(language, code).children as ElementContent[]);
  }, [code, language, isWanted, lowlight]);
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
