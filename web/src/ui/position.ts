const GAP = 6;
const MARGIN = 8;

/** Puts a floating element below its anchor, or above where there is more room, and keeps it inside the window. */
export function positionBeside(anchor: Element, floating: HTMLElement): void {
  const box = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = floating;
  const below = innerHeight - box.bottom - GAP - MARGIN;
  const top = below >= height || below >= box.top ? box.bottom + GAP : Math.max(MARGIN, box.top - GAP - height);
  const start = getComputedStyle(anchor).direction === "rtl" ? box.right - width : box.left;
  const left = Math.max(MARGIN, Math.min(start, innerWidth - width - MARGIN));
  floating.style.top = `${top}px`;
  floating.style.left = `${left}px`;
}
