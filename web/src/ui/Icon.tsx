import type { LucideIcon } from "lucide-react";
import "./ui.css";

/** A picture beside words. It says nothing by itself. */
export function Icon({ of: Shape }: { of: LucideIcon }) {
  return <Shape className="ui-icon" aria-hidden="true" strokeWidth={1.75} />;
}
