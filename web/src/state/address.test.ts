import { expect, test } from "vitest";
import { isOpening, type Open, openFrom, queryOf } from "./address";

const NONE: Open = { drawer: null, file: null, beside: null, sheet: false, dialog: null };
const source = { number: 3, citation: null, passage: "2" };

test.each<[string, Open]>([
  ["", NONE],
  ["?source=3&passage=2", { ...NONE, drawer: { kind: "source", ...source } }],
  ["?file=/a/b+c.md", { ...NONE, file: "/a/b c.md" }],
  ["?file=/a.md&source=3&passage=2", { ...NONE, file: "/a.md", beside: source }],
  ["?panel=sources", { ...NONE, drawer: { kind: "sources" } }],
  ["?panel=conversations", { ...NONE, sheet: true }],
  ["?panel=settings", { ...NONE, dialog: "settings" }],
])("what is open on a phone and %j are the same", (query, open) => {
  expect(queryOf(open, true)).toBe(query);
  expect(openFrom(query, NONE, true)).toEqual(open);
});

test("a list beside the conversation is not in the address, and stays", () => {
  const list: Open = { ...NONE, drawer: { kind: "files" } };
  expect(queryOf(list, false)).toBe("");
  expect(openFrom("", list, false)).toEqual(list);
  expect(openFrom("?file=/a.md", list, false)).toEqual({ ...list, file: "/a.md" });
});

test.each(["?source=x", "?source=0", "?source=-1", "?passage=2", "?panel=other", "?source=1e9"])(
  "%s opens nothing",
  (query) => {
    expect(openFrom(query, NONE, true)).toEqual(NONE);
  },
);

test("a passage of a form that there is none of is passed over", () => {
  expect(openFrom("?source=3&passage=<b>", NONE, false).drawer).toEqual({ kind: "source", number: 3, citation: null });
});

test("from file to file and from passage to passage is no step of its own", () => {
  const file: Open = { ...NONE, file: "/a.md" };
  const beside: Open = { ...file, beside: source };
  expect([
    isOpening(NONE, file, false),
    isOpening(file, { ...file, file: "/b.md" }, false),
    isOpening(file, beside, false),
    isOpening(beside, { ...beside, beside: { ...source, number: 4 } }, false),
    isOpening(beside, file, false),
  ]).toEqual([true, false, true, false, false]);
});
