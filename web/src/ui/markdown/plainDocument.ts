import type { Paragraph, PhrasingContent } from "mdast";
import { isMarker, numbersOf } from "./syntax/mark";
import type { Document, Mark } from "./tree";

const BRACKETS = /\[[^[\]\n]{1,300}\]|【[^【】\n]{1,300}】|［[^［］\n]{1,300}］/g;

/** A text without markup: each line is a paragraph, and only its footnotes are more than words. */
export function plainDocument(text: string): Document {
  const marks: Mark[] = [];
  let start = 0;
  const blocks = text.split("\n").map((line): Paragraph => {
    const place = start;
    start += line.length + 1;
    return {
      type: "paragraph",
      children: lineOf(line, place, marks),
      position: positionOf(place, place + line.length),
    };
  });
  return { blocks, marks, notes: new Map() };
}

function lineOf(line: string, place: number, marks: Mark[]): PhrasingContent[] {
  const nodes: PhrasingContent[] = [];
  let done = 0;
  const addText = (until: number) => {
    if (until <= done) return;
    const position = positionOf(place + done, place + until);
    nodes.push({ type: "text", value: line.slice(done, until), position });
  };
  for (const { 0: value, index } of line.matchAll(BRACKETS)) {
    const numbers = isMarker(value) ? numbersOf(value) : [];
    if (numbers.length === 0) continue;
    addText(index);
    done = index + value.length;
    const start = place + index;
    const mark: Mark = { type: "footnoteMark", value, start, numbers, position: positionOf(start, place + done) };
    nodes.push(mark);
    marks.push(mark);
  }
  addText(line.length);
  return nodes;
}

function positionOf(start: number, end: number) {
  return { start: { line: 1, column: 1, offset: start }, end: { line: 1, column: 1, offset: end } };
}
