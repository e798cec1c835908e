import katex from "katex";
import "katex/dist/katex.min.css";

/** Draws a formula into an element. Throws if it is none. */
export function drawFormula(source: string, display: boolean, into: HTMLElement): void {
  katex.render(source, into, {
    displayMode: display,
    output: "htmlAndMathml",
    throwOnError: true,
    strict: "ignore",
    trust: false,
    maxExpand: 500,
    maxSize: 40,
  });
}
