import type { ReactNode } from "react";
import "./ui.css";

export type Tone = "plain" | "outline" | "good" | "warn" | "bad";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className="ui-badge" data-tone={tone}>
      {children}
    </span>
  );
}

/** For short waits that surely end: what may not end says so in words. */
export function Spinner() {
  return <span className="ui-spinner" aria-hidden="true" />;
}
