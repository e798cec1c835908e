import { lazy } from "react";

const load = () => import("../features/sources");

/** They come after the page is shown, mostly before somebody opens one. */
export const SourcePanel = lazy(async () => ({ default: (await load()).SourcePanel }));
export const SourcesPanel = lazy(async () => ({ default: (await load()).SourcesPanel }));

const AFTER_MS = 1000;

/** A server that cannot be reached for now is asked again when somebody opens one. */
export function loadSourcesSoon(): () => void {
  const timer = setTimeout(() => void load().catch(() => undefined), AFTER_MS);
  return () => clearTimeout(timer);
}
