import { expect, test } from "vitest";
import { indented } from "./json";

test("it is written as JSON.stringify would", () => {
  const values = [
    {},
    [],
    [[]],
    [{}],
    { a: [], b: {} },
    { a: [1, [2, [3]], { b: null }], 'c"d\\': "x, [y]: {z}" },
    "text",
    12,
    [[], [1], {}, { a: {} }],
  ];
  for (const value of values) {
    const wanted = JSON.stringify(value, null, 2);
    expect(indented(JSON.stringify(value))).toBe(wanted);
    expect(indented(wanted)).toBe(wanted);
  }
});

test("large numbers keep their digits", () => {
  expect(indented('{"id":12345678901234567890,"x":1.10}')).toBe('{\n  "id": 12345678901234567890,\n  "x": 1.10\n}');
});

test("what is no JSON is left alone", () => {
  expect(indented("{a: 1}")).toBeNull();
  expect(indented('{"a":1}\n{"a":2}')).toBeNull();
});
