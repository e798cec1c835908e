import { expect, test, vi } from "vitest";
import { lengthOfLines, NoText, textIn } from "./pieces";

// Here is no browser to ask for its languages.
vi.hoisted(() => {
  const navigator = { languages: ["en"] };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
});

const bytes = (text: string) => new TextEncoder().encode(text);

test("a piece ends with its last whole line", () => {
  expect(lengthOfLines(bytes("one\ntwo\nthr"))).toBe(8);
  expect(lengthOfLines(bytes("one\n"))).toBe(4);
});

test("a line without an end is cut between characters", () => {
  const whole = bytes("a天气🎉");
  expect(lengthOfLines(whole.subarray(0, 3))).toBe(1);
  expect(lengthOfLines(whole.subarray(0, 6))).toBe(4);
  expect(lengthOfLines(whole.subarray(0, 10))).toBe(7);
  expect(lengthOfLines(bytes("abc"))).toBe(3);
  expect(lengthOfLines(bytes("天").subarray(0, 2))).toBe(2);
});

test("a few bytes that are no UTF-8 do not keep a text from being read", () => {
  const log = bytes(`${"GET /index.html 200\n".repeat(10)}GET /caf`);
  expect(textIn(new Uint8Array([...log, 0xe9, 10]))).toContain("GET /caf\ufffd");
});

test("what is no text is said to be none", () => {
  expect(() => textIn(new Uint8Array([80, 75, 0, 1]))).toThrow(NoText);
  expect(() => textIn(new Uint8Array(100).fill(0xff))).toThrow(NoText);
});
