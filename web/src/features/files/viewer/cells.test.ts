import { expect, test } from "vitest";
import { columnName, isNumeric, looksLikeHeading, textOf } from "./cells";

test("numbers are told from words, dates and codes", () => {
  for (const cell of [1, -2.5, "1,234.50", "−7", "12 %", "$ 3.20", "1.5e-7", "1 234"])
    expect(isNumeric(cell)).toBe(true);
  for (const cell of ["2024-01-05", "A1", "", "1/2", "v2", null, true, "3 apples"]) expect(isNumeric(cell)).toBe(false);
});

test("a row of words over others is taken for a heading", () => {
  expect(
    looksLikeHeading([
      ["name", "year"],
      ["a", "2020"],
    ]),
  ).toBe(true);
  expect(
    looksLikeHeading([
      ["name", "2020"],
      ["a", "1"],
    ]),
  ).toBe(false);
  expect(looksLikeHeading([["name"]])).toBe(false);
  expect(looksLikeHeading([])).toBe(false);
});

test("columns are named as in a spreadsheet", () => {
  expect([0, 25, 26, 51, 52, 701, 702].map(columnName)).toEqual(["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
});

test("fractions are written without what their sums are off by", () => {
  expect(textOf(0.1 + 0.2)).toBe("0.3");
  expect(textOf(123456789012)).toBe("123456789012");
  expect(textOf(null)).toBe("");
});
