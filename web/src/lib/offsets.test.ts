import { expect, test } from "vitest";
import { Offsets } from "./offsets";

/** What the server means by an offset. */
const cut = (text: string, start: number, end: number) => [...text].slice(start, end).join("");

test.each(["plain", "", "né à Hà Nội", "中文𠀀字𠀁", "😀", "a😀b👩‍👩‍👧c", "😀😀😀", "𝒳 and é"])(
  "every range of %j is the same",
  (text) => {
    const offsets = new Offsets(text);
    const length = [...text].length;
    for (let start = 0; start <= length; start += 1)
      for (let end = start; end <= length; end += 1)
        expect(text.slice(offsets.unit(start), offsets.unit(end))).toBe(cut(text, start, end));
    for (let start = 0; start <= length; start += 1) expect(offsets.point(offsets.unit(start))).toBe(start);
  },
);

test("an offset behind the end is the end", () => {
  expect(new Offsets("a😀").unit(99)).toBe(3);
});

test("half a pair counts as one, as it does on the server", () => {
  const text = "a\ud83db😀c";
  expect(text.slice(new Offsets(text).unit(4))).toBe("c");
});
