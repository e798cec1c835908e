import { describe, expect, test } from "vitest";
import { repair } from "./repair";

describe("what is open is closed", () => {
  test.each([
    ["a **bold te", "a **bold te**"],
    ["a **bold *both", "a **bold *both***"],
    ["a **bold ", "a **bold**"],
    ["a ~~gone", "a ~~gone~~"],
    ["这是**粗体（括", "这是**粗体（括**"],
    ["use `code", "use `code`"],
    ["use ``co`de", "use ``co`de``"],
    ["- item **one", "- item **one**"],
    ["| a |\n|---|\n| **x", "| a |\n|---|\n| **x**"],
    ["# Title *so", "# Title *so*"],
  ])("%j", (source, healed) => expect(repair(source)).toMatchObject({ text: healed, whole: true }));
});

describe("what is not known yet is left out", () => {
  test.each([
    ["a **", "a "],
    ["a *", "a "],
    ["a **bold*", "a **bold**"],
    ["see [the page](https://exam", "see the page"],
    ["see [the page]", "see the page"],
    ["see [the pa", "see the pa"],
    ["so it is [1", "so it is "],
    ["so it is [1, 2", "so it is "],
    ["so it is [^not", "so it is "],
    ["据报道【3†L", "据报道"],
    ["a picture ![of so", "a picture "],
    ["a picture ![of](http", "a picture "],
    ["text\n-", "text"],
    ["text\n==", "text"],
    ["text\n\n##", "text\n"],
    ["- one\n- ", "- one"],
    ["- one\n- [", "- one"],
    ["1. one\n2", "1. one"],
    ["text\n\n| a | b |", "text\n"],
    ["text\n\n| a | b |\n|--", "text\n"],
    ["| a |\n|---|\n| 1 |\n|", "| a |\n|---|\n| 1 |"],
    ["a formula $x^2 + ", "a formula "],
    ["a formula \\(x", "a formula "],
    ["a tag <sp", "a tag "],
    ["text\n\n```py", "text\n"],
    ["```py\na = 1\n``", "```py\na = 1"],
  ])("%j", (source, healed) => expect(repair(source)).toMatchObject({ text: healed, whole: false }));
});

describe("what is fine stays as it is", () => {
  test.each([
    "costs $5 and 3 * 4 or snake_case_name",
    "**bold** and *this* and `code` [link](https://a.org/b_(c)) [1]",
    "a[i] is [not] closed here",
    "```py\nx = '**' + `a",
    "5 < 6 and a > b",
    "A – B… “C” 你好。",
  ])("%j", (source) => expect(repair(source).text).toBe(source));
});
