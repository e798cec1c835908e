import { expect, test } from "vitest";
import { fold, placesOf } from "./fold";

const marked = (query: string, text: string) => placesOf(query, text).map(({ start, end }) => text.slice(start, end));

test("case, width and diacritics do not count", () => {
  expect(fold("Điện Biên PHỦ ＡＢＣ")).toBe("dien bien phu abc");
});

test.each([
  ["dien phu", "Trận Điện Biên Phủ", ["Điện", "Phủ"]],
  ["ca phe", "Cà phê (phê)".normalize("NFD"), ["Cà", "phê", "phê"].map((word) => word.normalize("NFD"))],
  ["氧", "氧气和氧化", ["氧", "氧"]],
  ["b", "😀b𠀀B", ["b", "B"]],
  ["ox oxygen", "oxygen", ["oxygen"]],
  ["  ", "anything", []],
  ["zebra", "oxygen", []],
])("%j in %j", (query, text, words) => {
  expect(marked(query, text)).toEqual(words);
});
