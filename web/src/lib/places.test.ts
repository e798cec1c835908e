import { expect, test } from "vitest";
import { placesIn } from "./places";

const at = (text: string, words: string, from = 0) => {
  const start = text.indexOf(words, from);
  return { start, end: start + words.length };
};

test("words are found again without the markup around them", () => {
  const written = "**Forty** of *forty-two* said so in `1999` [2].";
  const shown = "Forty of forty-two said so in 1999.";
  expect(placesIn(shown, written, [at(written, "1999"), at(written, "Forty")])).toEqual([
    at(shown, "Forty"),
    at(shown, "1999"),
  ]);
});

test("a word that stands there twice is the same one again", () => {
  const written = "In **1999** and then in 1999 [1].";
  const shown = "In 1999 and then in 1999.";
  expect(placesIn(shown, written, [at(written, "1999", 10)])).toEqual([at(shown, "1999", 10)]);
});

test("what is not shown, is empty or overlaps is left out", () => {
  const text = "one two three";
  expect(placesIn(text, "one [1] two", [at("one [1] two", "[1]"), { start: 2, end: 2 }])).toEqual([]);
  expect(placesIn(text, text, [at(text, "two three"), at(text, "three")])).toEqual([at(text, "two three")]);
});
