import type { KeyboardEvent, PointerEvent } from "react";
import "./ui.css";

const STEP = 16;

export interface ResizerProps {
  label: string;
  width: number;
  min: number;
  max: number;
  onResize: (width: number) => void;
}

/** The edge of a panel at the end of the page: drag it, or move it with the arrow keys. */
export function Resizer({ label, width, min, max, onResize }: ResizerProps) {
  const drag = (event: PointerEvent<HTMLElement>) => {
    const edge = event.currentTarget;
    const sign = getComputedStyle(edge).direction === "rtl" ? -1 : 1;
    const from = event.clientX;
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = (move) => onResize(width + sign * (from - move.clientX));
    edge.onpointerup = edge.onpointercancel = () => {
      edge.onpointermove = null;
    };
  };
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const sign = getComputedStyle(event.currentTarget).direction === "rtl" ? -1 : 1;
    const steps: Record<string, number> = {
      ArrowLeft: width + sign * STEP,
      ArrowRight: width - sign * STEP,
      Home: min,
      End: max,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onResize(next);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be focused and has no value.
    <div
      className="ui-resizer"
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={drag}
      onKeyDown={press}
    />
  );
}
