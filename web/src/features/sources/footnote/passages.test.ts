import { expect, test } from "vitest";
import type { Citation, EvidencePassage, SourceSnapshot, SourceView } from "../../../protocol/events.gen";
import { type Opening, readingOf, snapshotFor } from "./passages";

const TEXT = "😀 First page.\n\nOxygen was named in 1777.\n\n𠀀 Second page says 氧气 too.";
const QUOTE = "Oxygen was named in 1777.";

/** As the server counts. */
const at = (part: string) => [...TEXT.slice(0, TEXT.indexOf(part))].length;

const snapshot = (fields: Partial<SourceSnapshot> = {}): SourceSnapshot => ({
  id: "one",
  title: "",
  text: TEXT,
  media_type: "application/pdf",
  fetched_at: "",
  links: [{ url: "https://a.b", start: at("氧气"), end: at("氧气") + 2 }],
  pages: [0, at("𠀀")],
  quotes: [{ text: "氧气", start: at("氧气"), end: at("氧气") + 2 }],
  ...fields,
});

const citation = (fields: Partial<Citation> = {}): Citation => ({
  marker: "[1]",
  number: 1,
  start: 0,
  end: 0,
  verdict: "supported",
  quote: QUOTE,
  quote_start: at(QUOTE),
  quote_end: at(QUOTE) + [...QUOTE].length,
  snapshot_id: "one",
  passage: null,
  by: "text",
  missing: null,
  suggestion: null,
  differences: [],
  ...fields,
});

const evidence = (text: string, fields: Partial<EvidencePassage> = {}): EvidencePassage => ({
  id: "1.2",
  number: 1,
  text,
  start: at(text),
  end: at(text) + [...text].length,
  snapshot_id: "one",
  ...fields,
});

const opening = (citation: Citation | null, pointed: EvidencePassage | null = null, named?: string): Opening => ({
  citation,
  pointed,
  named,
});

test("the passage of the citation comes first, among all in the order of the text", () => {
  const reading = readingOf(snapshot(), opening(citation()));
  expect(reading.passages.map(({ text, page }) => [text, page])).toEqual([
    [QUOTE, 1],
    ["氧气", 2],
  ]);
  expect(reading.first).toBe(0);
  const link = reading.links[0];
  expect(TEXT.slice(link?.start, link?.end)).toBe("氧气");
});

test("a quote that is known already is not doubled", () => {
  const quotes = [{ text: QUOTE, start: at(QUOTE), end: at(QUOTE) + QUOTE.length }];
  expect(readingOf(snapshot({ quotes }), opening(citation())).passages).toHaveLength(1);
});

test("an unsupported citation has no passage, those of others are still there", () => {
  const none = citation({ verdict: "unsupported", quote: null, quote_start: null, quote_end: null });
  const reading = readingOf(snapshot(), opening(none));
  expect([reading.first, reading.passages.length]).toEqual([-1, 1]);
});

test("without a citation the first quotation is shown, if there is one", () => {
  expect(readingOf(snapshot(), opening(null)).first).toBe(0);
  expect(readingOf(snapshot({ quotes: [] }), opening(null)).first).toBe(-1);
});

test("a passage is named by its number among the quotations, or else by its place, and found by either name", () => {
  const apart = { text: "Else", start: 0, end: 4 };
  const { passages, first } = readingOf(snapshot({ quotes: [apart] }), opening(citation()));
  const place = `${at(QUOTE)}-${at(QUOTE) + QUOTE.length}`;
  expect(passages.map(({ name }) => name)).toEqual(["1", place]);
  expect(passages[first]?.name).toBe(place);
  const linked = readingOf(snapshot({ quotes: [apart] }), opening(null, null, place));
  expect(linked.passages.find(({ name }) => name === place)?.text).toBe(QUOTE);
});

test("in another reading the quotation is looked for by its words", () => {
  const other = snapshot({ text: `Something new. ${TEXT}`, quotes: [], pages: [] });
  const reading = readingOf(other, opening(citation()));
  expect(reading.passages.map(({ text }) => text)).toEqual([QUOTE]);
  expect(readingOf(snapshot({ text: "All changed.", quotes: [], pages: [] }), opening(citation())).first).toBe(-1);
});

test("the reading is the one that was checked", () => {
  const view = (...snapshots: SourceSnapshot[]) => ({ snapshots }) as unknown as SourceView;
  const newer = snapshot({ id: "two", text: "All changed." });
  expect(snapshotFor(view(newer, snapshot()), opening(citation()))?.id).toBe("one");
  expect(snapshotFor(view(newer, snapshot()), opening(citation({ snapshot_id: "gone" })))?.id).toBe("one");
  expect(snapshotFor(view(newer, snapshot()), opening(null))?.id).toBe("two");
  expect(snapshotFor(view(), opening(citation()))).toBeNull();
});

test("a quotation inside of the passage that the footnote points to is shown, and no second passage beside it", () => {
  const around = TEXT.slice(TEXT.indexOf("Oxygen") - 2, TEXT.indexOf("Second"));
  const reading = readingOf(snapshot(), opening(citation(), evidence(around)));
  expect(reading.passages.map(({ text }) => text)).toEqual([QUOTE, "氧气"]);
  expect([reading.first, reading.cited]).toEqual([0, 0]);
});

test("a footnote that points elsewhere than its quotation opens there, and one without a quotation too", () => {
  const pointed = evidence("Second page says 氧气 too.");
  const elsewhere = readingOf(snapshot(), opening(citation(), pointed));
  expect(elsewhere.passages.map(({ text }) => text)).toEqual([QUOTE, pointed.text, "氧气"]);
  expect([elsewhere.first, elsewhere.cited]).toEqual([1, 0]);
  expect(elsewhere.passages[1]?.page).toBe(2);
  const none = citation({ verdict: "unsupported", quote: null, quote_start: null, quote_end: null });
  const without = readingOf(snapshot(), opening(none, pointed));
  expect([without.first, without.cited]).toEqual([0, -1]);
  expect(without.passages[0]?.text).toBe(pointed.text);
});

test("a passage opens without a footnote, and one that is not in the text changes nothing", () => {
  const pointed = evidence("Second page says 氧气 too.");
  expect(readingOf(snapshot(), opening(null, pointed)).passages[0]?.text).toBe(pointed.text);
  const gone = readingOf(snapshot(), opening(citation(), evidence("First", { text: "No such words." })));
  expect(gone).toEqual(readingOf(snapshot(), opening(citation())));
});

test("the reading is the one that has the passage which the footnote points to", () => {
  const view = (...snapshots: SourceSnapshot[]) => ({ snapshots }) as unknown as SourceView;
  const other = snapshot({ id: "two", text: "All changed." });
  const given = evidence("First", { text: "All changed.", start: 0, end: 12, snapshot_id: "two" });
  expect(snapshotFor(view(snapshot(), other), opening(citation(), given))?.id).toBe("two");
  expect(snapshotFor(view(snapshot(), other), opening(citation(), { ...given, snapshot_id: "gone" }))?.id).toBe("two");
  expect(snapshotFor(view(snapshot()), opening(citation(), given))?.id).toBe("one");
});
