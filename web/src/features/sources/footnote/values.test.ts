import { expect, test } from "vitest";
import { differencesOf } from "./values";

function differing(claim: string, quote: string): [string[], string[]] {
  const { claim: said, quote: read } = differencesOf(claim, quote);
  const words = (text: string, ranges: typeof said) => ranges.map(({ start, end }) => text.slice(start, end));
  return [words(claim, said), words(quote, read)];
}

test.each([
  [
    "Recyclers in Europe have shelved forty plants since early 2024.",
    "European recyclers have delayed or shelved nine plants since early 2024, citing low metal prices.",
    ["forty"],
    ["nine"],
  ],
  ["It has 9 plants.", "It has nine plants and 3 offices.", [], []],
  ["It was invented in Hanoi in 1999.", "The name was coined in 1777 by 12 people.", ["Hanoi", "1999"], ["1777"]],
  ["It grew by 1,500 in 2020.", "It grew by 1500 in 2021.", ["2020"], ["2021"]],
  ["Có 8 nhà máy.", "Có chín nhà máy.", ["8"], ["chín"]],
  ["氧气在1999年命名。", "氧气在1777年由拉瓦锡命名。", ["1999"], ["1777"]],
  ["Paris is far.\nHanoi is near. « Kyoto »", "Nothing.", [], []],
  ["It is in\nHanoi.", "It is in Huế.", ["Hanoi"], []],
  ["Nothing of it differs.", "Nothing of it differs here.", [], []],
])("%s", (claim, quote, said, read) => expect(differing(claim, quote)).toEqual([said, read]));
